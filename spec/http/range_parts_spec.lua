-- SPDX-License-Identifier: MIT
-- Writing byte ranges (core/http/range.h): Content-Range and multipart/byteranges,
-- RFC 9110 §14.4, §14.6.
local ffi = require "ffi"
local pure = require "spec.support.pure"

pure.load "http/fields"
local C = pure.load "http/range"

local LARGEST = 0xffffffffffffffffULL
local CONTENT = "abcdefghijklmnopqrstuvwxyz"

-- Slices point into texts, which therefore stay.
local texts = {}

local function slice(text)
  texts[#texts + 1] = text
  return ffi.new("struct luaweb_slice", text, #text)
end

--- Calls `write(out)` with room for `most` octets, and gives what it wrote.
local function written(most, write)
  local out = ffi.new("char[?]", most + 1)
  out[most] = 42
  local size = tonumber(write(out))
  assert.is_true(size <= most)
  assert.equal(42, out[most])
  return ffi.string(out, size)
end

local function content_range(first, last, size)
  local range = ffi.new("struct lw_range", first, last)
  return written(68, function(out) return C.lw_range_write(range, size, out) end)
end

local function unsatisfiable(size)
  return written(68, function(out) return C.lw_range_write_unsatisfiable(size, out) end)
end

describe("Content-Range", function()
  it("says which octets of how many there are", function()
    assert.equal("bytes 0-99/1000", content_range(0, 99, 1000))
    assert.equal("bytes 9-9/10", content_range(9, 9, 10))
  end)

  it("says how many octets there are when no range can be sent", function()
    assert.equal("bytes */1000", unsatisfiable(1000))
    assert.equal("bytes */0", unsatisfiable(0))
  end)

  it("has room for the largest numbers", function()
    assert.equal("bytes 18446744073709551613-18446744073709551614/18446744073709551615",
      content_range(LARGEST - 2, LARGEST - 1, LARGEST))
    assert.equal(68, #content_range(LARGEST, LARGEST, LARGEST))
    assert.equal("bytes */18446744073709551615", unsatisfiable(LARGEST))
  end)
end)

--- The parts for { {first, last}, ... } of `size` octets.
local function parts_of(list, size, boundary, type)
  local ranges = ffi.new("struct lw_range[?]", #list, list)
  texts[#texts + 1] = ranges
  return ffi.new("struct lw_range_parts", ranges, #list, size, slice(boundary),
    slice(type))
end

local function part(parts, index)
  assert.is_true(index <= parts.count)
  local most = 179 + tonumber(parts.type.size)
  local text = written(most, function(out)
    return C.lw_range_part_write(parts, index, out)
  end)
  assert.equal(#text, tonumber(C.lw_range_part_write(parts, index, nil)))
  return text
end

--- The whole content: heads, octets of the ranges, closing line.
local function content(parts)
  local pieces = {}
  for i = 0, parts.count - 1 do
    local first, last = tonumber(parts.ranges[i].first), tonumber(parts.ranges[i].last)
    pieces[#pieces + 1] = part(parts, i) .. CONTENT:sub(first + 1, last + 1)
  end
  pieces[#pieces + 1] = part(parts, parts.count)
  return table.concat(pieces)
end

describe("multipart/byteranges", function()
  it("has a head in front of each range, and a closing line", function()
    local parts = parts_of({ { 0, 2 }, { 25, 25 } }, #CONTENT, "THIS", "text/plain")
    assert.equal(table.concat({
      "--THIS",
      "Content-Type: text/plain",
      "Content-Range: bytes 0-2/26",
      "",
      "abc",
      "--THIS",
      "Content-Type: text/plain",
      "Content-Range: bytes 25-25/26",
      "",
      "z",
      "--THIS--",
      "",
    }, "\r\n"), content(parts))
  end)

  it("names no type when the representation has none", function()
    local parts = parts_of({ { 0, 0 }, { 2, 2 } }, #CONTENT, "b", "")
    assert.equal("--b\r\nContent-Range: bytes 0-0/26\r\n\r\n", part(parts, 0))
    assert.equal("\r\n--b\r\nContent-Range: bytes 2-2/26\r\n\r\n", part(parts, 1))
    assert.equal("\r\n--b--\r\n", part(parts, 2))
  end)

  it("has the size that is said beforehand", function()
    local lists = { { { 0, 25 } }, { { 3, 4 }, { 0, 0 }, { 10, 20 } }, {} }
    for i = 0, 12 do lists[3][i + 1] = { 2 * i, 2 * i } end
    for _, list in ipairs(lists) do
      for _, type in ipairs { "", "text/html; charset=utf-8" } do
        local parts = parts_of(list, #CONTENT, "0123456789abcdef", type)
        assert.equal(#content(parts), tonumber(C.lw_range_parts_size(parts)))
      end
    end
  end)

  it("has heads within their room, however large the numbers", function()
    local boundary, type = ("b"):rep(70), ("t"):rep(1000)
    local list = { { 0, 0 }, { LARGEST, LARGEST } }
    local parts = parts_of(list, LARGEST, boundary, type)
    assert.equal(1179, #part(parts, 1))
  end)

  it("counts the octets of the largest representations", function()
    local size = 0x7fffffffffffffffULL
    local parts = parts_of({ { 0, size - 3 }, { size - 1, size - 1 } }, size, "b", "")
    local added = 0
    for i = 0, 2 do added = added + #part(parts, i) end
    assert.equal(size - 1 + added, C.lw_range_parts_size(parts))
  end)
end)
