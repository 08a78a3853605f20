-- SPDX-License-Identifier: MIT
-- The strings of JSON text: reads them, writes what stands between their quotes, and
-- sees to it that both are UTF-8. Owns nothing. Must never raise an error about the
-- text. RFC 8259 §7, §8.1, §8.2; RFC 3629 §3, §4.
--
-- A reader takes the text and where its part begins. It returns what it read and where
-- the rest begins; or nil, where it broke, and why.
local buffer = require "string.buffer"
local utf8 = require "luaweb.utf8"

local byte, char, find, sub = string.byte, string.char, string.find, string.sub
local format = string.format
local find_invalid = utf8.find_invalid

local M = {}

local QUOTE, BACKSLASH, LOWER_U = byte '"', byte "\\", byte "u"

-- Reading -----------------------------------------------------------------------------

local ESCAPED = {
  [QUOTE] = '"', [BACKSLASH] = "\\", [byte "/"] = "/", [byte "b"] = "\b",
  [byte "f"] = "\f", [byte "n"] = "\n", [byte "r"] = "\r", [byte "t"] = "\t",
}

local HEX = {}
for digit = 0, 15 do
  HEX[byte(("%x"):format(digit))] = digit
  HEX[byte(("%X"):format(digit))] = digit
end

-- The number that the four hexadecimal digits at `pos` stand for, or nil.
local function read_hex(text, pos)
  local unit = 0
  for i = pos, pos + 3 do
    local digit = HEX[byte(text, i)]
    if not digit then return nil end
    unit = unit * 16 + digit
  end
  return unit
end

-- A code point as UTF-8: RFC 3629 §3.
local function to_utf8(code)
  if code < 0x80 then return char(code) end
  local last = 0x80 + code % 0x40
  code = (code - code % 0x40) / 0x40
  if code < 0x20 then return char(0xC0 + code, last) end
  local third = 0x80 + code % 0x40
  code = (code - code % 0x40) / 0x40
  if code < 0x10 then return char(0xE0 + code, third, last) end
  local second = 0x80 + code % 0x40
  return char(0xF0 + (code - code % 0x40) / 0x40, second, third, last)
end

-- The escape whose backslash is at `pos`.
local function read_escape(text, pos)
  local kind = byte(text, pos + 1)
  local plain = ESCAPED[kind]
  if plain then return plain, pos + 2 end
  if kind ~= LOWER_U then return nil, pos, "there is no such escape" end
  local code = read_hex(text, pos + 2)
  if not code then return nil, pos, "an escape needs four hexadecimal digits" end
  if code < 0xD800 or code > 0xDFFF then return to_utf8(code), pos + 6 end
  local low = code < 0xDC00 and byte(text, pos + 6) == BACKSLASH
    and byte(text, pos + 7) == LOWER_U and read_hex(text, pos + 8)
  if not low or low < 0xDC00 or low > 0xDFFF then
    return nil, pos, "an escaped surrogate is not one of a pair"
  end
  return to_utf8(0x10000 + (code - 0xD800) * 0x400 + (low - 0xDC00)), pos + 12
end

-- What stands between the quotes, from `first` to `last`, with its escapes replaced.
local function unescape(text, first, last)
  local out = buffer.new()
  local pos, at = first, find(text, "\\", first, true)
  while at and at <= last do
    local plain, rest, why = read_escape(text, at)
    if not plain then return nil, rest, why end
    out:put(sub(text, pos, at - 1), plain)
    pos, at = rest, find(text, "\\", rest, true)
  end
  out:put(sub(text, pos, last))
  local s = out:get()
  return s, last + 2
end

-- A string that begins at `first` and is more than plain ASCII from `pos` on.
local function read_special(text, first, pos)
  local has_escapes, octet = false, byte(text, pos)
  while octet ~= QUOTE do
    if not octet then return nil, pos, "a string is not closed" end
    if octet < 0x20 then return nil, pos, "a string holds a control character" end
    if octet == BACKSLASH then
      has_escapes = true
      pos = pos + 1
    end
    pos = pos + 1
    octet = byte(text, pos)
  end
  local invalid_at = find_invalid(text, first, pos - 1)
  if invalid_at then return nil, invalid_at, "a string is not UTF-8" end
  if has_escapes then return unescape(text, first, pos - 1) end
  local s = sub(text, first, pos - 1)
  return s, pos + 1
end

--- Reads the string whose opening quote is at `pos`.
---@param text string
---@param pos integer
---@return string? s      nil: refused
---@return integer rest   where the rest of the text begins; or where the string broke
---@return string? why    what is wrong with it
---source: RFC 8259 §7
function M.read(text, pos)
  local first = pos + 1
  for i = first, #text do
    local octet = byte(text, i)
    if octet == QUOTE then
      local s = sub(text, first, i - 1)
      return s, i + 1
    end
    if octet < 0x20 or octet > 0x7F or octet == BACKSLASH then
      return read_special(text, first, i)
    end
  end
  return nil, #text + 1, "a string is not closed"
end

-- Writing -----------------------------------------------------------------------------

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

-- As M.escape, for a string of which plain ASCII ends before `at`.
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

--- Gives what a string is between the quotes. Only what must be is escaped.
---@param s string
---@return string? text          nil: `s` is not UTF-8
---@return integer? invalid_at   the octet that can't be there
---source: RFC 8259 §7, §8.1
function M.escape(s)
  for i = 1, #s do
    local octet = byte(s, i)
    if octet < 0x20 or octet > 0x7F or octet == QUOTE or octet == BACKSLASH then
      return escape_special(s, i)
    end
  end
  return s
end

return M
