-- SPDX-License-Identifier: MIT
-- Reads JSON text into a Lua value, strictly. Owns nothing. Must never accept what the
-- grammar does not, nor raise an error about the text. RFC 8259 §2 to §9.
--
-- A reader takes the text, where its part begins, and how many levels of nesting are
-- left. It returns what it read and where the rest begins; or nil, where it broke, and
-- why.
local new_table = require "table.new"
local json_number = require "luaweb.json.number"
local json_string = require "luaweb.json.string"
local value = require "luaweb.json.value"

local byte, sub = string.byte, string.sub
local read_number, read_string = json_number.read, json_string.read

local M = {}

local SPACE, TAB, NEWLINE, RETURN = byte " ", byte "\t", byte "\n", byte "\r"
local QUOTE, COMMA, COLON = byte '"', byte ",", byte ":"
local OPEN_ARRAY, CLOSE_ARRAY = byte "[", byte "]"
local OPEN_OBJECT, CLOSE_OBJECT = byte "{", byte "}"
local MINUS, ZERO, NINE = byte "-", byte "0", byte "9"
local BYTE_ORDER_MARK = "\239\187\191"
local FIRST_MEMBERS = 4                        -- the room that an object starts with

-- The first octet from `pos` on that is no white space (nil: the end), and where it is.
local function skip_space(text, pos)
  local octet = byte(text, pos)
  while octet == SPACE or octet == NEWLINE or octet == RETURN or octet == TAB do
    pos = pos + 1
    octet = byte(text, pos)
  end
  return octet, pos
end

local read_value

local function read_array(text, pos, levels)
  if levels == 0 then return nil, pos, "arrays and objects are nested too deep" end
  local list, size, octet = setmetatable({}, value.Array), 0
  octet, pos = skip_space(text, pos + 1)
  if octet == CLOSE_ARRAY then return list, pos + 1 end
  while true do
    local v, rest, why = read_value(text, pos, levels - 1)
    if v == nil then return nil, rest, why end
    size = size + 1
    list[size] = v
    octet, pos = skip_space(text, rest)
    if octet == CLOSE_ARRAY then return list, pos + 1 end
    if octet ~= COMMA then return nil, pos, "',' or ']' is expected" end
    pos = pos + 1
  end
end

-- A member whose name's quote is at `pos`: the name, the value, where the rest begins;
-- or the name or nil, nil, where it broke, and why.
local function read_member(text, pos, levels)
  local name, rest, why = read_string(text, pos)
  if not name then return nil, nil, rest, why end
  local octet
  octet, rest = skip_space(text, rest)
  if octet ~= COLON then return nil, nil, rest, "':' is expected" end
  local v
  v, rest, why = read_value(text, rest + 1, levels)
  return name, v, rest, why
end

local function read_object(text, pos, levels)
  if levels == 0 then return nil, pos, "arrays and objects are nested too deep" end
  local octet
  octet, pos = skip_space(text, pos + 1)
  if octet == CLOSE_OBJECT then return {}, pos + 1 end
  local object = new_table(0, FIRST_MEMBERS)
  while true do
    if octet ~= QUOTE then return nil, pos, "a name in quotes is expected" end
    local name, v, rest, why = read_member(text, pos, levels - 1)
    if v == nil then return nil, rest, why end
    object[name] = v
    octet, pos = skip_space(text, rest)
    if octet == CLOSE_OBJECT then return object, pos + 1 end
    if octet ~= COMMA then return nil, pos, "',' or '}' is expected" end
    octet, pos = skip_space(text, pos + 1)
  end
end

-- By first octet: what reads the value.
local WORDS = { ["true"] = true, ["false"] = false, null = value.null }
local readers = {
  [QUOTE] = read_string, [MINUS] = read_number, [OPEN_ARRAY] = read_array,
  [OPEN_OBJECT] = read_object,
}
for digit = ZERO, NINE do readers[digit] = read_number end
for word, v in pairs(WORDS) do
  readers[byte(word)] = function(text, pos)
    local rest = pos + #word
    if sub(text, pos, rest - 1) ~= word then return nil, pos, "a value is expected" end
    return v, rest
  end
end

function read_value(text, pos, levels)
  local octet
  octet, pos = skip_space(text, pos)
  local read = readers[octet]
  if not read then return nil, pos, "a value is expected" end
  return read(text, pos, levels)
end

-- Where `pos` is, for people: lines and characters count from 1.
local function describe(text, pos)
  local _, line = sub(text, 1, pos - 1):gsub("\n", "")
  local before = sub(text, 1, pos - 1):match "[^\n]*$"
  local _, characters = before:gsub("[^\128-\191]", "")
  local place = ("line %d, column %d"):format(line + 1, characters + 1)
  return pos > #text and place .. " (the end)" or place
end

--- Reads one JSON text. A byte order mark in front is ignored.
---@param text string
---@param max_depth integer   how deep arrays and objects may be nested
---@return any value          nil: refused; JSON's null is luaweb.json_value.null
---@return string? message    what is wrong and where
---source: RFC 8259
function M.decode(text, max_depth)
  local is_marked = byte(text, 1) == 0xEF and sub(text, 1, 3) == BYTE_ORDER_MARK
  local v, pos, why = read_value(text, is_marked and 4 or 1, max_depth)
  if v ~= nil then
    local octet
    octet, pos = skip_space(text, pos)
    if not octet then return v end
    why = "nothing more is expected"
  end
  return nil, describe(text, pos) .. ": " .. why
end

return M
