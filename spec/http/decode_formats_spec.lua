-- SPDX-License-Identifier: MIT
-- What each content coding may look like (core/http/decode_*.c): RFC 1950, RFC 1951,
-- RFC 1952, RFC 7932, RFC 8878, RFC 9659.
local bit = require "bit"
local decoder = require "spec.support.decoder"
local encode = require "spec.support.encode"

local decode, refusal = decoder.decode, decoder.refusal

-- With the octet at this place changed.
local function changed(octets, at, mask)
  return octets:sub(1, at - 1) .. string.char(bit.bxor(octets:byte(at), mask))
    .. octets:sub(at + 1)
end

local function each_step(octets, fn)
  for _, step in ipairs { 1, 2, 3, 7, #octets } do fn(step) end
end

describe("gzip", function()
  local member = encode.gzip "hello"

  it("may have several members, also empty ones", function()
    local octets = member .. encode.gzip "" .. encode.gzip " " .. encode.gzip "world"
    each_step(octets, function(step)
      assert.equal("hello world", decode("gzip", octets, step))
    end)
    assert.equal("", decode("gzip", encode.gzip "":rep(1000)))
  end)

  it("may have all that a member can say of itself", function()
    local head = "\31\139\8\28\1\2\3\4\0\3"
    local octets = head .. "\4\0abcd" .. "a name\0" .. "a comment\0" .. member:sub(11)
    each_step(octets, function(step)
      assert.equal("hello", decode("gzip", octets, step))
    end)
  end)

  it("is refused when the checksum or the size is another", function()
    for at = #member - 7, #member do
      assert.equal("its gzip or deflate stream is damaged",
        refusal("gzip", changed(member, at, 1)))
    end
  end)

  it("is refused when a later member is damaged, cut short, or none", function()
    for at = #member - 7, #member do
      refusal("gzip", member .. changed(member, at, 128), 1)
    end
    for size = 1, #member - 1 do
      assert.equal("it ends inside its gzip stream",
        refusal("gzip", member .. member:sub(1, size)))
    end
    refusal("gzip", member .. "\31\138" .. ("x"):rep(30))
  end)

  it("is not a zlib stream", function()
    refusal("gzip", encode.deflate "hello")
    refusal("deflate", member)
  end)
end)

describe("deflate", function()
  it("is a zlib stream, or one without head and checksum", function()
    for _, text in ipairs { "", "a", "hello", ("hello "):rep(20000) } do
      local whole, raw = encode.deflate(text), encode.raw_deflate(text)
      assert.are_not.equal(whole, raw)
      each_step(whole, function(step)
        assert.is_true(text == decode("deflate", whole, step))
      end)
      each_step(raw, function(step)
        assert.is_true(text == decode("deflate", raw, step))
      end)
    end
  end)

  it("may be stored as it is", function()
    assert.equal("abc", decode("deflate", "\1\3\0\252\255abc", 1))
  end)

  it("is refused without its checksum, and with another", function()
    local octets = encode.deflate "hello"
    assert.equal("it ends inside its deflate stream",
      refusal("deflate", octets:sub(1, -5)))
    refusal("deflate", changed(octets, #octets, 1))
  end)

  it("is refused with a dictionary that nobody has", function()
    assert.equal("its deflate stream wants a dictionary",
      refusal("deflate", "\120\187\1\2\3\4" .. encode.raw_deflate "hello"))
  end)

  it("is one stream only", function()
    local octets = encode.deflate "hello"
    assert.equal("something follows its deflate stream",
      refusal("deflate", octets .. octets))
  end)
end)

describe("br", function()
  it("is one stream only", function()
    local octets = encode.br "hello"
    assert.equal("something follows its br stream", refusal("br", octets .. octets))
  end)

  it("is refused when it is damaged", function()
    assert.equal("its br stream is damaged", refusal("br", ("\255"):rep(20)))
  end)

  it("is refused with a window larger than RFC 7932 has", function()
    -- 17 is how large windows begin.
    assert.equal("its br stream is damaged", refusal("br", "\17\30\3\0\0"))
  end)
end)

describe("zstd", function()
  local hello = encode.zstd_last "hello"

  it("may have several frames, also those to be skipped", function()
    local frame = encode.zstd "hello "
    local octets = encode.zstd_skipped "ignored" .. frame .. encode.zstd_skipped ""
      .. encode.zstd "" .. encode.zstd_frame(10, encode.zstd_last "world")
      .. encode.zstd_skipped "\0"
    each_step(octets, function(step)
      assert.equal("hello world", decode("zstd", octets, step))
    end)
  end)

  it("is refused when something stands between its frames", function()
    local why = "its zstd frames begin or go on with something else"
    assert.equal(why, refusal("zstd", encode.zstd "a" .. "\0" .. encode.zstd "b", 1))
    assert.equal(why, refusal("zstd", "\0" .. encode.zstd "b"))
    assert.equal("its zstd frame is damaged", refusal("zstd", "\40\181\47\252\0\0"))
  end)

  it("is refused in formats before RFC 8878", function()
    for first = 0x22, 0x27 do
      refusal("zstd", string.char(first) .. "\181\47\253" .. ("\0"):rep(20))
    end
  end)

  it("may have a window of 8 MiB, and no larger one", function()
    assert.equal("hello", decode("zstd", encode.zstd_frame(23, hello)))
    for log = 24, 41 do
      local _, status, why = decode("zstd", encode.zstd_frame(log, hello), 1)
      assert.same({ 413, "its zstd window is larger than 8 MiB" }, { status, why })
    end
  end)

  it("is refused when its frame has another size than it says", function()
    -- The descriptor says that the head has the size, in one octet.
    local function frame(size, blocks)
      return "\40\181\47\253\32" .. string.char(size) .. blocks
    end
    local empty = encode.zstd_last ""
    each_step(frame(5, hello), function(step)
      assert.equal("hello", decode("zstd", frame(5, hello), step))
      assert.equal("", decode("zstd", frame(0, empty), step))
      for _, size in ipairs { 0, 4, 6, 255 } do
        refusal("zstd", frame(size, hello), step)
      end
      refusal("zstd", frame(1, empty), step)
    end)
  end)

  it("is refused when its checksum is another", function()
    -- The descriptor says that there is one: of XXH64, the lower half.
    local frame, sum = "\40\181\47\253\4\0" .. hello, "\163\109\159\136"
    assert.equal("hello", decode("zstd", frame .. sum))
    for at = 1, 4 do refusal("zstd", frame .. changed(sum, at, 1)) end
    assert.equal("it ends inside a zstd frame", refusal("zstd", frame))
  end)
end)

describe("damaged content", function()
  local text = ("some text that repeats, some text that repeats; "):rep(9)

  -- Those have a checksum over all of what they decode to.
  for _, coding in ipairs { "gzip", "deflate" } do
    it("never gives other content in " .. coding, function()
      local octets = encode.all(coding, text)
      for at = 1, #octets do
        for shift = 0, 7 do
          local damaged = changed(octets, at, bit.lshift(1, shift))
          local content = decode(coding, damaged, 5, 100000)
          assert.is_true(content == nil or content == text
            or coding == "deflate" and at <= 2, at)
        end
      end
    end)
  end

  for _, coding in ipairs { "br", "zstd" } do
    it("ends in " .. coding .. ", with what comes to light or not", function()
      local octets = encode.all(coding, text)
      for at = 1, #octets do
        local content, status = decode(coding, changed(octets, at, 255), 5, 100000)
        assert.is_true(content ~= nil or status == 400 or status == 413)
      end
    end)
  end
end)
