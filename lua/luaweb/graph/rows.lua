-- SPDX-License-Identifier: MIT
-- A graph as C takes it: rows as structs, arrows and answers as numbers, methods as
-- bits.  Made once of each graph, which lives as long as the Lua state.
local abi = require "luaweb.abi"
local ffi = require "ffi"
local graph = require "luaweb.graph"

local C = abi.C
local M = {}

local MOST_BITS = 32
local OTHER = "*" -- no token that a row names: stands for any

local usual = {
  GET = tonumber(C.LUAWEB_METHOD_GET),
  HEAD = tonumber(C.LUAWEB_METHOD_HEAD),
  POST = tonumber(C.LUAWEB_METHOD_POST),
  PUT = tonumber(C.LUAWEB_METHOD_PUT),
  PATCH = tonumber(C.LUAWEB_METHOD_PATCH),
  DELETE = tonumber(C.LUAWEB_METHOD_DELETE),
  OPTIONS = tonumber(C.LUAWEB_METHOD_OPTIONS),
  [OTHER] = tonumber(C.LUAWEB_METHOD_OTHER),
}
local LAST_USUAL = tonumber(C.LUAWEB_METHOD_OTHER)

local never = { ["*"] = true, TRACE = true, CONNECT = true }

---@class luaweb.Rows
---@field graph luaweb.Graph
---@field list ffi.cdata*                 struct luaweb_row[], names lent by the graph
---@field bits table<string, integer>     by method; "*": any that has none of its own
---@field custom string[]                 methods that rows name, beside the usual ones
---@field answers table<string, table<integer, boolean>>   by method and row: fixed ones

local function custom_methods(rows)
  local list, seen = {}, {}
  for _, row in ipairs(rows) do
    for _, names in ipairs { row.yes_for or "", row.no_for or "", row.ask or "" } do
      for method in names:gmatch "%S+" do
        if not (usual[method] or never[method] or seen[method]) then
          list[#list + 1], seen[method] = method, true
        end
      end
    end
  end
  table.sort(list)
  return list
end

local function bits_of(custom)
  local bits, bit = {}, LAST_USUAL
  for method, value in pairs(usual) do bits[method] = value end
  for _, method in ipairs(custom) do
    bit = bit * 2
    if bit >= 2 ^ MOST_BITS then error("its rows name too many methods", 0) end
    bits[method] = bit
  end
  return bits
end

-- The method's answers to all rows that it answers alone.
local function fixed_answers(rows, method)
  local answers = {}
  for i, row in ipairs(rows) do answers[i] = graph.fixed(row, method) end
  return answers
end

local function arrow(target)
  return target > 0 and target - 1 or target
end

local defaults = {
  [true] = tonumber(C.LUAWEB_ANSWER_YES),
  [false] = tonumber(C.LUAWEB_ANSWER_NO),
}

local function flags_of(row)
  return (row.keep and tonumber(C.LUAWEB_ROW_KEEP) or 0)
    + (row.acts and tonumber(C.LUAWEB_ROW_ACTS) or 0)
    + (row.reads and tonumber(C.LUAWEB_ROW_READS) or 0)
    + (row.who:find "core" and tonumber(C.LUAWEB_ROW_CORE) or 0)
end

local function fill(struct, row, i, rows)
  struct.name = row.name
  struct.yes, struct.no = arrow(row.yes), arrow(row.no)
  struct.flags = flags_of(row)
  struct.default_answer = defaults[row.default] or C.LUAWEB_ANSWER_UNSET
  for method, bit in pairs(rows.bits) do
    local answer = rows.answers[method][i]
    if answer == true then struct.yes_for = struct.yes_for + bit end
    if answer == false then struct.no_for = struct.no_for + bit end
  end
end

local known = {} -- by graph

--- The rows of a graph for C.
---@param of luaweb.Graph
---@return luaweb.Rows   lent: it is read only
function M.of(of)
  if known[of] then return known[of] end
  local custom = custom_methods(of.rows)
  local rows = { graph = of, custom = custom, bits = bits_of(custom), answers = {},
    list = ffi.new("struct luaweb_row[?]", #of.rows) }
  for method in pairs(rows.bits) do
    rows.answers[method] = fixed_answers(of.rows, method)
  end
  for i, row in ipairs(of.rows) do fill(rows.list[i - 1], row, i, rows) end
  known[of] = rows
  return rows
end

return M
