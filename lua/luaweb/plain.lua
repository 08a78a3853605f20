-- SPDX-License-Identifier: MIT
-- Plain data: values that can be copied from one Lua state into another, as octets.
-- Nil, booleans, numbers (also 64-bit integers), strings, and tables of these without
-- metatables, to a bounded depth; JSON arrays and results keep their mark.  Knows of
-- no loop: both states use it.
local buffer = require "string.buffer"
local ffi = require "ffi"
local json_value = require "luaweb.json.value"

local M = {
  --- What is said behind a fault.
  RULE = "only nil, booleans, numbers, strings and tables of these can be copied",
}

local MOST_DEPTH = 100   -- tables in tables; what LuaJIT's encoder takes, too
local KEPT       = 65536 -- octets of a buffer that is used again

local Array, Results, null = json_value.Array, json_value.Results, json_value.null
local SIMPLE = { ["nil"] = true, boolean = true, number = true, string = true }
local KEYS = { boolean = true, number = true, string = true }
local int64, uint64 = ffi.typeof "int64_t", ffi.typeof "uint64_t"
local CODEC = { metatable = { Array, Results } }

local function kind_of(value)
  if value == null then return "is JSON's null" end
  return "is a " .. type(value)
end

-- How a member is written behind its table.
local function step_to(key)
  if type(key) == "string" and key:find "^[%a_][%w_]*$" then return "." .. key end
  return ("[%s]"):format(type(key) == "string" and ("%q"):format(key) or tostring(key))
end

local fault_in

-- `open` are the tables that the value is in.
local function fault_in_table(value, depth, open)
  local metatable = getmetatable(value)
  if metatable ~= nil and metatable ~= Array and metatable ~= Results then
    return "", "has a metatable"
  end
  if open[value] then return "", "contains itself" end
  if depth == MOST_DEPTH then
    return "", ("is nested deeper than %d tables"):format(MOST_DEPTH)
  end
  open[value] = true
  for key, member in next, value do
    if not KEYS[type(key)] then return "", "has a key that " .. kind_of(key) end
    local path, why = fault_in(member, depth + 1, open)
    if why then return step_to(key) .. path, why end
  end
  open[value] = nil
end

-- Where and why it is not plain, or nil.
function fault_in(value, depth, open)
  local kind = type(value)
  if SIMPLE[kind] then return nil end
  if kind == "table" then return fault_in_table(value, depth, open) end
  if kind == "cdata" and (ffi.istype(int64, value) or ffi.istype(uint64, value)) then
    return nil
  end
  return "", kind_of(value)
end

--- Why values can't be copied.
---@param what string   what they are, e.g. "argument"
---@param ... any
---@return string? fault   e.g. "argument 2.list[3] is a function", or nil: they can
function M.fault(what, ...)
  for i = 1, select("#", ...) do
    local path, why = fault_in((select(i, ...)), 0, {})
    if why then return ("%s %d%s %s"):format(what, i, path, why) end
  end
end

local written, read = buffer.new(CODEC), buffer.new(CODEC)

--- A buffer with values that have no fault, for M.decode; lent until the next call, or
--- M.free.
---@param ... any
---@return string.buffer
function M.encode(...)
  local octets = written:reset()
  for i = 1, select("#", ...) do octets:encode((select(i, ...))) end
  return octets
end

--- Gives the memory of that buffer back, where it is much.  The collector would, too,
--- but not for sure: LuaJIT loses it where that happens as a stack overflows.
function M.free()
  if #written > KEPT then written:free() end
end

--- The values in such octets.
---@param data ffi.cdata*   const char *
---@param size integer
---@return any[] values     and `n`
function M.decode(data, size)
  local octets, values = read:set(data, size), { n = 0 }
  while #octets > 0 do
    values.n = values.n + 1
    values[values.n] = octets:decode()
  end
  return values
end

return M
