-- SPDX-License-Identifier: MIT
-- The JSON values that Lua lacks, null and the array, how deep values may be nested,
-- and which octets are UTF-8. Owns the mark of arrays (a metatable). Must never read or
-- write JSON text. RFC 8259 §3, §8.1, §9; RFC 3629 §4.
local byte = string.byte

local M = {}

--- How deep arrays and objects may be nested unless the caller says otherwise.
M.DEFAULT_DEPTH = 128

--- The most that a caller may ask for: reader and writer recurse on Lua's bounded
--- stack.
M.HIGHEST_DEPTH = 1000

--- JSON's null: one unique value, true as a condition, printed as "null".
---@type userdata
M.null = newproxy(true)
getmetatable(M.null).__tostring = function() return "null" end

--- The metatable that marks a table as an array. It does nothing else.
---@type table
M.Array = {}

local SEQUENCES = {
  -- first octet   second octet  octets
  { 0xC2, 0xDF,    0x80, 0xBF,   2 },
  { 0xE0, 0xE0,    0xA0, 0xBF,   3 },            -- from A0: the shortest form only
  { 0xE1, 0xEC,    0x80, 0xBF,   3 },
  { 0xED, 0xED,    0x80, 0x9F,   3 },            -- to 9F: no surrogates
  { 0xEE, 0xEF,    0x80, 0xBF,   3 },
  { 0xF0, 0xF0,    0x90, 0xBF,   4 },            -- from 90: the shortest form only
  { 0xF1, 0xF3,    0x80, 0xBF,   4 },
  { 0xF4, 0xF4,    0x80, 0x8F,   4 },            -- to 8F: nothing above U+10FFFF
}

-- By first octet: how many octets (0: none starts so), and the bounds of the second
-- one.
local length_of, lowest, highest = {}, {}, {}
for octet = 0x00, 0xFF do length_of[octet] = octet < 0x80 and 1 or 0 end
for _, row in ipairs(SEQUENCES) do
  for octet = row[1], row[2] do
    lowest[octet], highest[octet], length_of[octet] = row[3], row[4], row[5]
  end
end

--- Finds the first octet that belongs to no whole UTF-8 character.
---@param s string
---@param first integer   the octet to begin with, counted from 1
---@param last integer    the octet to end with, at most #s
---@return integer? at    where it is in `s`; nil: all is UTF-8
---source: RFC 3629 §4
function M.find_invalid(s, first, last)
  local at = first
  while at <= last do
    local lead = byte(s, at)
    local length = length_of[lead]
    if length == 0 or at + length - 1 > last then return at end
    if length > 1 then
      local second = byte(s, at + 1)
      if second < lowest[lead] or second > highest[lead] then return at end
      for i = at + 2, at + length - 1 do
        local octet = byte(s, i)
        if octet < 0x80 or octet > 0xBF then return at end
      end
    end
    at = at + length
  end
end

return M
