-- SPDX-License-Identifier: MIT
-- Tells UTF-8 from other octets. RFC 3629 §3, §4.
local byte = string.byte

local M = {}

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

-- UTF-8 as a machine: a state has, for each octet, the state that follows, or false.
local function new_state(from, to, following)
  local state = {}
  for octet = 0x00, 0xFF do
    state[octet] = octet >= from and octet <= to and following
  end
  return state
end

-- Between characters; and before the last one or two octets of a character.
local between = new_state(0x00, 0x7F, true)
for octet = 0x00, 0x7F do between[octet] = between end
local one_more = new_state(0x80, 0xBF, between)
local two_more = new_state(0x80, 0xBF, one_more)

local AFTER_SECOND = { [2] = between, [3] = one_more, [4] = two_more }
for _, row in ipairs(SEQUENCES) do
  local second = new_state(row[3], row[4], AFTER_SECOND[row[5]])
  for octet = row[1], row[2] do between[octet] = second end
end

--- Where `s` stops being UTF-8 between `first` and `last`: the octet that can't follow,
--- or `last` when a character is cut off there; nil: nowhere.
---@param s string
---@param first integer
---@param last integer
---@return integer?
function M.find_invalid(s, first, last)
  local state = between
  for at = first, last do
    state = state[byte(s, at)]
    if not state then return at end
  end
  if state ~= between then return last end
end

--- A text as UTF-8: where it is none, each octet that is not ASCII becomes U+FFFD.
---@param s string
---@return string
function M.mended(s)
  if not M.find_invalid(s, 1, #s) then return s end
  return (s:gsub("[\128-\255]", "\239\191\189"))
end

return M
