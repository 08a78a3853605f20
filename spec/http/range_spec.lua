-- SPDX-License-Identifier: MIT
-- Byte ranges (core/http/range.h): RFC 9110 §14, §15.3.7, the corpus and the edges.
local cjson = require "cjson"
local ffi = require "ffi"
local pure = require "spec.support.pure"

pure.load "http/fields"
local C = pure.load "http/range"

local MAX = 16 -- LW_RANGES_MAX
local LARGEST = 0xffffffffffffffffULL
local STATUS = {
  [tonumber(C.LW_RANGE_IGNORED)] = 200,
  [tonumber(C.LW_RANGE_FITS)] = 206,
  [tonumber(C.LW_RANGE_UNSATISFIABLE)] = 416,
}

-- Slices point into texts, which therefore stay.
local texts = {}

-- Behind each slice there are octets that would change it.
local function slice(text)
  texts[#texts + 1] = text .. "9"
  return ffi.new("struct luaweb_slice", texts[#texts], #text)
end

local function headers_of(lines)
  local fields = ffi.new("struct luaweb_field[?]", #lines + 1)
  fields[#lines].name = slice "Range"
  for i, line in ipairs(lines) do
    fields[i - 1].name, fields[i - 1].value = slice(line[1]), slice(line[2])
  end
  texts[#texts + 1] = fields
  return ffi.new("struct luaweb_fields", fields, #lines)
end

--- Reads lines, or one Range of that value: status, the ranges in C, their number.
local function read(value, size)
  local headers = headers_of(type(value) == "table" and value or { { "Range", value } })
  local ranges = ffi.new("struct lw_range[?]", MAX + 1)
  ranges[MAX] = { 42, 42 }
  local count = ffi.new("uint32_t[1]", 42)
  local status = STATUS[tonumber(C.lw_range_read(headers, size, ranges, count))]
  assert.equal(42, tonumber(ranges[MAX].first))
  assert.equal(status ~= 200, C.lw_range_wanted(headers))
  assert.equal(status == 206, count[0] > 0)
  return status, ranges, count[0]
end

--- The same as "200", "416" or "0-4,9-9".
local function answer(value, size)
  local status, ranges, count = read(value, size)
  if status ~= 206 then return tostring(status) end
  local list = {}
  for i = 0, count - 1 do
    local text = ("%s-%s"):format(tostring(ranges[i].first), tostring(ranges[i].last))
    list[i + 1] = text:gsub("ULL", "")
  end
  return table.concat(list, ",")
end

local function content_range(range, size)
  local out = ffi.new("char[68]")
  local length = range and C.lw_range_write(range, size, out)
    or C.lw_range_write_unsatisfiable(size, out)
  return ffi.string(out, length)
end

--- The octets of a content of several parts.
local function parts_size(ranges, count, size)
  local parts = ffi.new("struct lw_range_parts", ranges, count, size,
    slice(("b"):rep(32)), slice "text/plain")
  return tonumber(C.lw_range_parts_size(parts))
end

-- The corpus --------------------------------------------------------------------------

-- How the answer holds what an accepted outcome wants; a case with other wishes is one
-- about methods or about other fields, to be played over HTTP.
local holds = {}

function holds.status(result, status)
  return result.status == status
end

function holds.ranges(result, ranges)
  local list = {}
  for i, range in ipairs(ranges) do list[i] = ("%d-%d"):format(range[1], range[2]) end
  return result.ranges == table.concat(list, ",")
end

function holds.content_range(result, text)
  return result.content_range == text
end

function holds.headers(result, headers)
  return result.content_range == headers["content-range"]
end

function holds.any_ranges()
  return true
end

function holds.max_total(result, most)
  return result.total <= most
end

function holds.must_not_content_type_re(result)
  return result.count == 1
end

local function result_of(case)
  local value = case.range
  if type(value) == "table" and not value["repeat"] and type(value[1]) == "string" then
    for i, line in ipairs(value) do value[i] = { "Range", pure.octets(line) } end
  else
    value = pure.octets(value)
  end
  local status, ranges, count = read(value, case.size)
  local result = { status = status, count = count, total = 0 }
  if status == 200 then result.total = case.size end
  if status == 416 then result.content_range = content_range(nil, case.size) end
  if status ~= 206 then return result end
  result.ranges = answer(value, case.size)
  result.total = tonumber(ranges[0].last - ranges[0].first + 1)
  if count == 1 then
    result.content_range = content_range(ranges[0], case.size)
  else
    result.total = parts_size(ranges, count, case.size)
  end
  return result
end

local function is_judged(case)
  for _, accepted in ipairs(case.accept) do
    if accepted.status == "same-as-without-range" then return false end
    for wish in pairs(accepted) do
      if not holds[wish] then return false end
    end
  end
  return true
end

local function is_met(accepted, result)
  for wish, value in pairs(accepted) do
    if not holds[wish](result, value) then return false end
  end
  return true
end

describe("Ranges, the corpus", function()
  local judged = 0
  for _, case in ipairs(pure.cases "range") do
    if is_judged(case) then
      judged = judged + 1
      it("answer " .. case.id, function()
        local result, is_accepted = result_of(case), false
        for _, accepted in ipairs(case.accept) do
          is_accepted = is_accepted or is_met(accepted, result)
        end
        assert.is_true(is_accepted, cjson.encode(result))
      end)
    end
  end

  it("are judged but for methods and other fields", function()
    assert.is_true(judged >= 62, tostring(judged))
  end)
end)

-- Reading -----------------------------------------------------------------------------

describe("A Range field", function()
  for _, row in ipairs {
    -- value                            size     answer
    { "bytes=0-0",                      1,       "0-0" },
    { "bytes=,, 2-3 ,\t,",              10,      "2-3" },
    { "bytes=\t0-4",                    10,      "0-4" },
    { "bytes=-3",                       10,      "7-9" },
    { "bytes=-00",                      10,      "416" },
    { "bytes=-0,10-,99-100",            10,      "416" },
    { "bytes=10-,-3,99-100",            10,      "7-9" },
    { "bytes=9-",                       10,      "9-9" },
    { "bytes=10-",                      10,      "416" },
    { "bytes=0-",                       0,       "416" },
    { "bytes=-1",                       0,       "416" },
    { "bytes=5-4",                      10,      "200" },
    { "bytes=0-1,5-4",                  10,      "200" },
    { "bytes=50-40",                    10,      "200" },
    { "bytes=0 -4",                     10,      "200" },
    { "bytes=0- 4",                     10,      "200" },
    { "bytes= =0-4",                    10,      "200" },
    { " bytes=0-4",                     10,      "200" },
    { "bytes =0-4",                     10,      "200" },
    { "bytes",                          10,      "200" },
    { "bytes0-4",                       10,      "200" },
    { "byte=0-4",                       10,      "200" },
    { "bytess=0-4",                     10,      "200" },
    { "bytes=0-4,x",                    10,      "200" },
    { "bytes=0-4 5-6",                  10,      "200" },
    { "bytes=0-4\0",                    10,      "200" },
    { "bytes=1",                        10,      "200" },
    { "bytes=-",                        10,      "200" },
    { "bytes=1-,-",                     10,      "200" },
    { "bytes=-1x",                      10,      "200" },
    { "bytes=-1-",                      10,      "200" },
    { "bytes=",                         10,      "200" },
    { "bytes=/-1",                      10,      "200" },
    { "bytes=:-1",                      10,      "200" },
    -- joined, in the place of the first
    { "bytes=0-4,5-9",                  10,      "0-9" },
    { "bytes=5-9,0-4",                  10,      "0-9" },
    { "bytes=0-3,5-9",                  10,      "0-3,5-9" },
    { "bytes=5-9,0-3",                  10,      "5-9,0-3" },
    { "bytes=8-9,0-1,4-5,1-4",          10,      "8-9,0-5" },
    { "bytes=8-9,4-5,0-1,2-2,6-7",      10,      "4-9,0-2" },
    { "bytes=4-5,0-0,8-8,-99",          10,      "0-9" },
    { "bytes=2-3,2-3,2-3",              10,      "2-3" },
    { "bytes=0-9,4-4",                  10,      "0-9" },
    -- numbers beyond 64 bits
    { "bytes=0-18446744073709551615",   10,      "0-9" },
    { "bytes=0-18446744073709551616",   10,      "0-9" },
    { "bytes=-18446744073709551617",    10,      "0-9" },
    { "bytes=18446744073709551615-",    10,      "416" },
    { "bytes=18446744073709551616-",    10,      "416" },
    { "bytes=18446744073709551616-4",   10,      "200" },
    { "bytes=184467440737095516160-5,1-2", 10,   "200" },
    { "bytes=99999999999999999999-,1-2", 10,     "1-2" },
    { "bytes=18446744073709551614-18446744073709551614", LARGEST,
      "18446744073709551614-18446744073709551614" },
    { "bytes=18446744073709551615-",    LARGEST, "416" },
    { "bytes=0-,-1",                    LARGEST, "0-18446744073709551614" },
  } do
    it(("%s of %s octets gives %s"):format(row[1]:gsub("%z", "\\0"),
      tostring(row[2]), row[3]), function()
      assert.equal(row[3], answer(row[1], row[2]))
    end)
  end

  it("is looked at only when it is the only one", function()
    assert.equal("200", answer({}, 10))
    assert.equal("200", answer({ { "If-Range", "bytes=0-1" } }, 10))
    assert.equal("1-2", answer({ { "Host", "a" }, { "rANGE", "bytes=1-2" } }, 10))
    local line = { "Range", "bytes=1-2" }
    assert.equal("200", answer({ line, { "Host", "a" }, line }, 10))
  end)

  it("is ignored when it asks for too many ranges, whether they are there or not",
    function()
      for _, text in ipairs { "0-", "-1", "3-3", "99-" } do
        local ranges = ("," .. text):rep(MAX)
        assert.not_equal("200", answer("bytes=" .. ranges, 10))
        assert.equal("200", answer("bytes=" .. ranges .. "," .. text, 10))
      end
    end)

  it("is read with any number of digits and empty members", function()
    local zeros, nines = ("0"):rep(2 ^ 16), ("9"):rep(2 ^ 16)
    assert.equal("1-2", answer("bytes=" .. zeros .. "1-" .. zeros .. "2", 10))
    assert.equal("1-9", answer("bytes=1-" .. nines, 10))
    assert.equal("416", answer("bytes=" .. nines .. "-" .. nines, 10))
    assert.equal("1-2", answer("bytes=" .. (","):rep(2 ^ 16) .. "1-2", 10))
  end)

  it("never gives an octet twice, and always every octet asked for", function()
    math.randomseed(7)
    for _ = 1, 3000 do
      local size, asked, specs = math.random(1, 40), {}, {}
      for i = 1, math.random(1, MAX) do
        local first = math.random(0, 45)
        local last = first + math.random(0, 8)
        specs[i] = first .. "-" .. last
        for at = first, math.min(last, size - 1) do asked[at] = true end
      end
      local value, given = "bytes=" .. table.concat(specs, ","), {}
      local _, ranges, count = read(value, size)
      for i = 0, count - 1 do
        for at = tonumber(ranges[i].first), tonumber(ranges[i].last) do
          assert.is_nil(given[at], value)
          given[at] = true
        end
      end
      assert.same(asked, given, value)
    end
  end)
end)
