-- SPDX-License-Identifier: MIT
-- Writes a Lua value as JSON text. Owns a buffer while it writes and a bounded table of
-- object keys that are already quoted. Must never call back, wait, or write text that
-- luaweb.json.decode refuses. RFC 8259 §3 to §8, §10.
local buffer = require "string.buffer"
local clear = require "table.clear"
local json_number = require "luaweb.json.number"
local json_string = require "luaweb.json.string"
local value = require "luaweb.json.value"

local format, floor = string.format, math.floor
local escape, write_number = json_string.escape, json_number.write

local M = {}

local QUOTED_KEYS = 1024                       -- how many quoted keys are remembered
local QUOTED_KEY_SIZE = 64                     -- the longest key that is
local SPARE_SIZE = 1024 * 1024                 -- the largest text whose buffer is kept

---@class luaweb.JsonWriter
---@field out string.buffer   the text so far
---@field path any[]          path[1..depth] are the keys that lead to a value
---@field parents table[]     parents[0..depth-1] are the tables it lies in
---@field max_depth integer   how deep tables may be nested

-- One function for each type: write(writer, v, depth).
local write = {}

-- One step of a path as Lua would write it: .name, [3] or ["a b"].
local function step(key)
  if type(key) == "number" then return format("[%d]", key) end
  if key:find "^[%a_][%w_]*$" then return "." .. key end
  local quoted = key:gsub('[%c"\\\128-\255]', function(octet)
    return format("\\%03d", octet:byte())
  end)
  return '["' .. quoted .. '"]'
end

local function fail(writer, depth, what, ...)
  local path = {}
  for i = 1, depth do path[i] = step(writer.path[i]) end
  error("json.encode: value" .. table.concat(path) .. " " .. format(what, ...), 0)
end

local function refuse(writer, v, depth)
  local kind = v == nil and "nil" or "a " .. type(v)
  fail(writer, depth, "is %s, which JSON has no form for", kind)
end

function write.string(writer, s, depth)
  local text, invalid_at = escape(s)
  if not text then fail(writer, depth, "is not UTF-8 at octet %d", invalid_at) end
  writer.out:put('"', text, '"')
end

function write.number(writer, n, depth)
  if not write_number(writer.out, n) then
    fail(writer, depth, "is the number %s, which JSON has no form for", tostring(n))
  end
end

function write.boolean(writer, b)
  writer.out:put(b and "true" or "false")
end

function write.userdata(writer, v, depth)
  if v ~= value.null then refuse(writer, v, depth) end
  writer.out:put("null")
end

local quoted_keys, quoted_count = {}, 0

-- The key with quotes and colon. Remembered: an app writes the same few keys often.
local function quote_key(writer, key, depth)
  local text = escape(key)
  if not text then
    fail(writer, depth, "has the key %s, which is not UTF-8", step(key))
  end
  local quoted = '"' .. text .. '":'
  if #key <= QUOTED_KEY_SIZE then
    if quoted_count == QUOTED_KEYS then
      clear(quoted_keys)
      quoted_count = 0
    end
    quoted_keys[key] = quoted
    quoted_count = quoted_count + 1
  end
  return quoted
end

local function write_object(writer, t, depth)
  local separator = "{"
  for key, v in next, t do
    if type(key) ~= "string" then
      fail(writer, depth, "is an object, but has the key %s", tostring(key))
    end
    writer.out:put(separator, quoted_keys[key] or quote_key(writer, key, depth))
    writer.path[depth + 1] = key
    local write_member = write[type(v)] or refuse
    write_member(writer, v, depth + 1)
    separator = ","
  end
  writer.out:put("}")
end

-- The size of an array whose keys 1..n may come in any order.
local function check_keys(writer, t, depth)
  local count, last = 0, 0
  for key in next, t do
    if type(key) ~= "number" or key < 1 or key ~= floor(key) then
      fail(writer, depth, "is an array, but has the key %s",
        type(key) == "string" and step(key) or tostring(key))
    end
    count = count + 1
    last = key > last and key or last
  end
  if count ~= last then
    fail(writer, depth, "is an array with holes: %d of %.14g elements", count, last)
  end
  return last
end

local function write_element(writer, v, depth, index)
  writer.out:put(index == 1 and "[" or ",")
  writer.path[depth] = index
  local write_v = write[type(v)] or refuse
  write_v(writer, v, depth)
end

-- Elements are met in order unless they were stored in disorder; then, from the first
-- unexpected key on, they are looked up.
local function write_array(writer, t, depth)
  local size = 0
  for key, v in next, t do
    if key ~= size + 1 then
      local last = check_keys(writer, t, depth)
      for index = size + 1, last do
        write_element(writer, rawget(t, index), depth + 1, index)
      end
      break
    end
    size = key
    write_element(writer, v, depth + 1, key)
  end
  writer.out:put("]")
end

local function check_nesting(writer, t, depth)
  if depth >= writer.max_depth then
    fail(writer, depth, "is nested deeper than %d", writer.max_depth)
  end
  for i = 0, depth - 1 do
    if writer.parents[i] == t then fail(writer, depth, "is a table that holds it") end
  end
end

-- The first key tells arrays from objects.
function write.table(writer, t, depth)
  check_nesting(writer, t, depth)
  writer.parents[depth] = t
  local mark = getmetatable(t)
  if mark == value.Results then t = value.array_of(t) end
  local first = next(t)
  local is_array = type(first) == "number" or mark == value.Array
    or mark == value.Results
  if first == nil then
    writer.out:put(is_array and "[]" or "{}")
  elseif is_array then
    write_array(writer, t, depth)
  else
    write_object(writer, t, depth)
  end
  writer.parents[depth] = nil
end

-- The writer that is not in use: an encode takes it and gives it back. One that fails
-- does not, and a finalizer that encodes meanwhile finds none; then a new one is made.
local spare

--- Writes a value as JSON text. Raises an error that names the value by its path when
--- JSON has no form for it.
---@param v any               what luaweb.json describes
---@param max_depth integer   how deep tables may be nested
---@return string text
---source: RFC 8259
function M.encode(v, max_depth)
  local writer = spare or { out = buffer.new(), path = {}, parents = {}, max_depth = 0 }
  spare = nil
  writer.max_depth = max_depth
  local write_v = write[type(v)] or refuse
  write_v(writer, v, 0)
  local text = writer.out:get()
  if #text > SPARE_SIZE then writer.out:free() end
  spare = writer
  return text
end

return M
