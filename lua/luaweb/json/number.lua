-- SPDX-License-Identifier: MIT
-- The numbers of JSON text: reads them exactly as IEEE 754 doubles, and writes them so
-- that they read back equal. Owns nothing. Must never raise an error about the text.
-- RFC 8259 §6.
local ffi = require "ffi"

local byte, format, sub = string.byte, string.format, string.sub
local floor, huge = math.floor, math.huge
local C, cast = ffi.C, ffi.cast

local M = {}

ffi.cdef "double strtod(const char *text, char **stopped_at);"

local TEXT = ffi.typeof "const char *"
local stopped_at = ffi.new "char *[1]"

local MINUS, PLUS, POINT, ZERO, NINE = byte "-", byte "+", byte ".", byte "0", byte "9"
local LOWER_E, UPPER_E = byte "e", byte "E"
local EXACT = 2 ^ 53                           -- whole numbers up to here are exact

-- Whole numbers of this many digits, and these powers of ten, are exact; so is, by IEEE
-- 754, the rounding of one divided by the other.
local EXACT_SIZE = 15
local POWERS = {}
for exponent = 0, EXACT_SIZE do POWERS[exponent] = 10 ^ exponent end

-- The digits from `pos` on: their value (nil: none), where they end, the octet there.
local function read_digits(text, pos)
  local first, n, octet = pos, 0, byte(text, pos)
  while octet and octet >= ZERO and octet <= NINE do
    n = n * 10 + (octet - ZERO)
    pos = pos + 1
    octet = byte(text, pos)
  end
  if pos == first then return nil, pos, octet end
  return n, pos, octet
end

-- The digits after the decimal point at `pos`, added to the `whole` before it.
local function read_fraction(text, pos, whole)
  local fraction, rest, octet = read_digits(text, pos + 1)
  local power = POWERS[rest - pos - 1]
  if fraction and power then fraction = (whole * power + fraction) / power end
  return fraction, rest, octet
end

-- The number from `first` up to `rest`, its grammar checked already. Lua's own reader
-- takes 100 times as long as C's where exponents are large, enough to hold up a worker.
-- C's obeys the locale: where a comma is wanted it stops at the point, which is seen.
local function convert(text, first, rest)
  local start = cast(TEXT, text) + (first - 1)
  local n = C.strtod(start, stopped_at)
  if stopped_at[0] - start ~= rest - first then
    n = tonumber(sub(text, first, rest - 1)) or huge
  end
  if n == huge or n == -huge then return nil, first, "a number is out of range" end
  return n, rest
end

-- The exponent of the number that begins at `first`; its "e" is at `pos`.
local function read_exponent(text, first, pos)
  local sign = byte(text, pos + 1)
  if sign == MINUS or sign == PLUS then pos = pos + 1 end
  local digits, rest = read_digits(text, pos + 1)
  if not digits then return nil, rest, "a digit is expected" end
  return convert(text, first, rest)
end

--- Reads the number that begins at `first`.
---@param text string
---@param first integer
---@return number? n      nil: refused
---@return integer rest   where the rest of the text begins; or where the number broke
---@return string? why    what is wrong with it
---source: RFC 8259 §6
function M.read(text, first)
  local pos = first
  if byte(text, first) == MINUS then pos = first + 1 end
  local n, rest, octet = read_digits(text, pos)
  if rest - pos > 1 and byte(text, pos) == ZERO then
    return nil, pos, "a number has a needless zero in front"
  end
  if n and octet == POINT then n, rest, octet = read_fraction(text, rest, n) end
  if not n then return nil, rest, "a digit is expected" end
  if octet == LOWER_E or octet == UPPER_E then
    return read_exponent(text, first, rest)
  end
  if rest - first > EXACT_SIZE then return convert(text, first, rest) end
  if pos > first then n = -n end
  return n, rest
end

-- Whether a text that was just written reads back as `n`.
local function is_exact(text, n)
  return C.strtod(text, nil) == n
end

--- Writes a number: whole ones up to 2^53 in full, others with the fewest digits, from
--- 14 on, that read back as the same number.
---@param out string.buffer
---@param n number
---@return boolean done   false: NaN or an infinity, for which JSON has no form
---source: RFC 8259 §6
function M.write(out, n)
  if n == floor(n) and n >= -EXACT and n <= EXACT then
    if n == 0 and 1 / n < 0 then out:put("-0") else out:putf("%d", n) end
    return true
  end
  if n ~= n or n == huge or n == -huge then return false end
  local text = format("%.14g", n)
  if not is_exact(text, n) then text = format("%.15g", n) end
  if not is_exact(text, n) then text = format("%.16g", n) end
  if not is_exact(text, n) then text = format("%.17g", n) end
  out:put(text)
  return true
end

return M
