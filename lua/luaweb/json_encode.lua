-- SPDX-License-Identifier: MIT
-- Writes a Lua value as JSON text. Owns a buffer while it writes and a bounded table of
-- object keys that are already quoted. Must never call back, wait, or write text that
-- luaweb.json_decode refuses. RFC 8259 §3 to §8, §10.
local buffer = require "string.buffer"
local clear = require "table.clear"
local value = require "luaweb.json_value"

local byte, format, sub = string.byte, string.format, string.sub
local floor, huge = math.floor, math.huge
local find_invalid = value.find_invalid

local M = {}

local QUOTE, BACKSLASH = byte '"', byte "\\"
local EXACT = 2 ^ 53                           -- whole numbers up to here are exact
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
    return format("\\%03d", byte(octet))
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

-- By octet: what stands for it, or false: itself.
local ESCAPES = {}
for octet = 0x00, 0xFF do
  ESCAPES[octet] = octet < 0x20 and format("\\u%04x", octet)
end
for octet, escaped in pairs {
  ['"'] = '\\"', ["\\"] = "\\\\", ["\b"] = "\\b", ["\f"] = "\\f", ["\n"] = "\\n",
  ["\r"] = "\\r", ["\t"] = "\\t",
} do
  ESCAPES[byte(octet)] = escaped
end

-- As `escape`, for a string of which plain ASCII ends before `at`.
local function escape_special(s, at)
  local invalid_at = find_invalid(s, at, #s)
  if invalid_at then return nil, invalid_at end
  local out, from = nil, 1
  for i = at, #s do
    local escaped = ESCAPES[byte(s, i)]
    if escaped then
      out = out or buffer.new()
      out:put(sub(s, from, i - 1), escaped)
      from = i + 1
    end
  end
  if not out then return s end
  out:put(sub(s, from))
  local text = out:get()
  return text
end

-- The text between the quotes; nil and the octet where `s` is not UTF-8.
local function escape(s)
  for i = 1, #s do
    local octet = byte(s, i)
    if octet < 0x20 or octet > 0x7F or octet == QUOTE or octet == BACKSLASH then
      return escape_special(s, i)
    end
  end
  return s
end

function write.string(writer, s, depth)
  local text, invalid_at = escape(s)
  if not text then fail(writer, depth, "is not UTF-8 at octet %d", invalid_at) end
  writer.out:put('"', text, '"')
end

-- With the fewest digits, from 14 on, that read back as the same number.
function write.number(writer, n, depth)
  if n == floor(n) and n >= -EXACT and n <= EXACT then
    if n == 0 and 1 / n < 0 then writer.out:put("-0") else writer.out:putf("%d", n) end
    return
  end
  if n ~= n or n == huge or n == -huge then
    fail(writer, depth, "is the number %s, which JSON has no form for", tostring(n))
  end
  local text = format("%.14g", n)
  if tonumber(text) ~= n then text = format("%.15g", n) end
  if tonumber(text) ~= n then text = format("%.16g", n) end
  if tonumber(text) ~= n then text = format("%.17g", n) end
  writer.out:put(text)
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
  local first = next(t)
  local is_array = type(first) == "number" or getmetatable(t) == value.Array
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
