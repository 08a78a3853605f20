-- SPDX-License-Identifier: MIT
-- HTTP-date (core/base/date.h): RFC 9110 §5.6.7, the corpus and the edges beyond it.
local ffi = require "ffi"
local pure = require "spec.support.pure"

local C = pure.load "base/date"

local NOW = 1767225600            -- 2026-01-01T00:00:00Z
local FIRST = -62167219200        -- 0000-01-01T00:00:00Z
local LAST = 253402300799         -- 9999-12-31T23:59:59Z

local function format(epoch)
  local out = ffi.new("char[31]", ("#"):rep(31))
  if not C.lw_date_format(epoch, out) then
    assert.equal(("#"):rep(31), ffi.string(out, 31))
    return nil
  end
  assert.equal("##", ffi.string(out + 29, 2))
  return ffi.string(out, 29)
end

local function parse(text, now)
  local epoch = ffi.new("int64_t[1]", 4711)
  local slice = ffi.new("struct luaweb_slice", text, #text)
  if C.lw_date_parse(slice, now or NOW, epoch) then return tonumber(epoch[0]) end
  assert.equal(4711, tonumber(epoch[0]))
  return nil
end

describe("HTTP-date, the corpus", function()
  for _, case in ipairs(pure.cases "http-date") do
    if case.kind == "format" then
      it("writes " .. case.id, function()
        assert.equal(case.output, format(case.epoch))
      end)
    else
      local input = pure.octets(case.input)
      local epoch = type(case.epoch) == "number" and case.epoch or nil
      it((epoch and "reads " or "refuses ") .. case.id, function()
        assert.equal(epoch, parse(input, case.reference_now))
      end)
    end
  end
end)

describe("HTTP-date", function()
  it("reads the example of RFC 9110 in all three forms", function()
    assert.equal(784111777, parse "Sun, 06 Nov 1994 08:49:37 GMT")
    assert.equal(784111777, parse "Sunday, 06-Nov-94 08:49:37 GMT")
    assert.equal(784111777, parse "Sun Nov  6 08:49:37 1994")
  end)

  it("reads an asctime day of two digits, but not of one without its space", function()
    assert.equal(784975777, parse "Wed Nov 16 08:49:37 1994")
    assert.equal(784111777, parse "Sun Nov 06 08:49:37 1994")
    assert.is_nil(parse "Sun Nov 6 08:49:37 1994")
    assert.is_nil(parse "Sun Nov   08:49:37 1994")
  end)

  it("writes and reads the first and the last second of every year", function()
    for year = 0, 9999 do
      local first = ("01 Jan %04d 00:00:00 GMT"):format(year)
      local epoch = parse("Mon, " .. first)
      assert.equal(first, format(epoch):sub(6))
      assert.equal(epoch, parse(format(epoch)))
      if year > 0 then
        local last = ("31 Dec %04d 23:59:59 GMT"):format(year - 1)
        assert.equal(last, format(epoch - 1):sub(6))
        assert.equal(epoch - 1, parse(format(epoch - 1)))
      end
    end
  end)

  it("counts days and weekdays without a gap for 400 years", function()
    local names = { "Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed" }
    for day = 0, 146097 do
      local text = format(day * 86400)
      if text:sub(1, 3) ~= names[day % 7 + 1] or parse(text) ~= day * 86400 then
        error("day " .. day .. " is written as " .. text)
      end
    end
    assert.equal("Thu, 01 Jan 2370 00:00:00 GMT", format(146097 * 86400))
  end)

  it("writes nothing outside the years 0000 to 9999", function()
    assert.equal("Sat, 01 Jan 0000 00:00:00 GMT", format(FIRST))
    assert.equal("Fri, 31 Dec 9999 23:59:59 GMT", format(LAST))
    assert.is_nil(format(FIRST - 1))
    assert.is_nil(format(LAST + 1))
    assert.is_nil(format(0x7fffffffffffffffLL))
    assert.is_nil(format(-0x7fffffffffffffffLL - 1))
  end)

  it("refuses a day that the month does not have", function()
    local days = { Jan = 31, Feb = 28, Mar = 31, Apr = 30, May = 31, Jun = 30,
                   Jul = 31, Aug = 31, Sep = 30, Oct = 31, Nov = 30, Dec = 31 }
    for month, count in pairs(days) do
      local form = "Mon, %02d " .. month .. " 2023 00:00:00 GMT"
      assert.is_number(parse(form:format(count)))
      assert.is_nil(parse(form:format(count + 1)))
      assert.is_nil(parse(form:format(0)))
    end
  end)

  it("knows the leap years", function()
    local function february_29(year)
      return parse(("Mon, 29 Feb %04d 00:00:00 GMT"):format(year))
    end
    assert.is_number(february_29(2000))
    assert.is_number(february_29(2024))
    assert.is_number(february_29(0))
    assert.is_nil(february_29(2023))
    assert.is_nil(february_29(2100))
  end)

  it("refuses a time that no clock shows", function()
    for _, time in ipairs { "24:00:00", "23:60:00", "23:59:61", "99:99:99", "1:00:00",
                            "-1:00:00", "+1:00:00", " 1:00:00", "01 00 00" } do
      assert.is_nil(parse("Sun, 06 Nov 1994 " .. time .. " GMT"))
    end
  end)

  it("reads a leap second as the second after it", function()
    assert.equal(1483228800, parse "Sat, 31 Dec 2016 23:59:60 GMT")
  end)

  it("refuses the leap second after which no date can be written", function()
    assert.is_nil(parse "Fri, 31 Dec 9999 23:59:60 GMT")
  end)

  it("takes any name of a day, but not what is none", function()
    assert.equal(784111777, parse "Mon, 06 Nov 1994 08:49:37 GMT")
    assert.is_nil(parse "Xyz, 06 Nov 1994 08:49:37 GMT")
    assert.is_nil(parse "Sunday, 06 Nov 1994 08:49:37 GMT")
    assert.is_nil(parse "Sun, 06-Nov-94 08:49:37 GMT")
  end)

  it("is case-sensitive", function()
    assert.is_nil(parse "sun, 06 Nov 1994 08:49:37 GMT")
    assert.is_nil(parse "Sun, 06 NOV 1994 08:49:37 GMT")
    assert.is_nil(parse "Sun, 06 Nov 1994 08:49:37 gmt")
  end)

  it("refuses other time zones", function()
    assert.is_nil(parse "Sun, 06 Nov 1994 08:49:37 UTC")
    assert.is_nil(parse "Sun, 06 Nov 1994 08:49:37 CET")
  end)

  it("refuses every beginning of a date, and every date with one octet more", function()
    for _, text in ipairs { "Sun, 06 Nov 1994 08:49:37 GMT",
                            "Sunday, 06-Nov-94 08:49:37 GMT",
                            "Sun Nov  6 08:49:37 1994" } do
      for size = 0, #text - 1 do assert.is_nil(parse(text:sub(1, size))) end
      for _, octet in ipairs { " ", "\t", "\0", "0", "," } do
        assert.is_nil(parse(text .. octet))
        assert.is_nil(parse(octet .. text))
      end
    end
  end)

  it("refuses a megabyte", function()
    assert.is_nil(parse(("Sun, 06 Nov 1994 08:49:37 GMT"):rep(40000)))
  end)
end)

describe("A two-digit year", function()
  local function year_of(text, now)
    local epoch = parse(text, now)
    return epoch and tonumber(format(epoch):sub(13, 16))
  end

  it("lies up to 50 years ahead, to the second", function()
    local now = parse "Thu, 14 May 2026 12:00:00 GMT"
    assert.equal(2076, year_of("Monday, 14-May-76 12:00:00 GMT", now))
    assert.equal(1976, year_of("Monday, 14-May-76 12:00:01 GMT", now))
    assert.equal(2075, year_of("Monday, 31-Dec-75 23:59:59 GMT", now))
    assert.equal(1977, year_of("Monday, 01-Jan-77 00:00:00 GMT", now))
  end)

  it("moves with the clock into the next century", function()
    local now = parse "Sun, 01 Jan 2090 00:00:00 GMT"
    assert.equal(2100, year_of("Monday, 01-Jan-00 00:00:00 GMT", now))
    assert.equal(2139, year_of("Monday, 01-Jan-39 00:00:00 GMT", now))
    assert.equal(2041, year_of("Monday, 01-Jan-41 00:00:00 GMT", now))
  end)

  it("is refused where its century lacks the day or cannot be written", function()
    local now = parse "Sun, 01 Jan 2090 00:00:00 GMT"
    assert.is_nil(parse("Monday, 29-Feb-00 00:00:00 GMT", now))
    assert.is_nil(parse("Monday, 01-Jan-75 00:00:00 GMT", FIRST))
    assert.is_nil(parse("Monday, 01-Jan-00 00:00:00 GMT", LAST))
  end)

  it("is read by any clock", function()
    assert.equal(49, year_of("Monday, 01-Jan-49 00:00:00 GMT", -0x7fffffffffffffffLL))
    assert.equal(9999, year_of("Monday, 01-Jan-99 00:00:00 GMT", 0x7fffffffffffffffLL))
  end)
end)
