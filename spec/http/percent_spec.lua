-- SPDX-License-Identifier: MIT
-- Percent-encoding (core/http/percent.h): RFC 3986 §2.1, WHATWG URL §5.
local ffi = require "ffi"
local pure = require "spec.support.pure"

local C = pure.load "http/percent"

local GUARD = "\1\2\3\4"

local function slice(text)
  return ffi.new("struct luaweb_slice", text, #text)
end

--- A buffer of `size` octets, with a guard behind it that must not change.
local function room(size)
  local out = ffi.new("char[?]", size + #GUARD)
  ffi.copy(out + size, GUARD, #GUARD)
  return out
end

local function content(out, size, written)
  assert.equal(GUARD, ffi.string(out + size, #GUARD))
  return ffi.string(out, written)
end

local function decode(text)
  local out, size = room(#text), ffi.new("size_t[1]", 4711)
  if C.lw_percent_decode(slice(text), out, size) then
    return content(out, #text, size[0])
  end
  assert.equal(4711, tonumber(size[0]))
  return nil
end

local function decode_form(text)
  local out = room(#text)
  return content(out, #text, C.lw_percent_decode_form(slice(text), out))
end

local function encode_form(text)
  local out = room(#text * 3)
  return content(out, #text * 3, C.lw_percent_encode_form(slice(text), out))
end

local all_octets = {}
for octet = 0, 255 do all_octets[#all_octets + 1] = string.char(octet) end
all_octets = table.concat(all_octets)

describe("Strict percent-decoding", function()
  it("leaves octets without a % as they are, plus included", function()
    local plain = all_octets:gsub("%%", "")
    assert.equal(plain, decode(plain))
  end)

  it("decodes every octet, in either case of the digits", function()
    for octet = 0, 255 do
      assert.equal(string.char(octet), decode(("%%%02X"):format(octet)))
      assert.equal(string.char(octet), decode(("%%%02x"):format(octet)))
    end
  end)

  it("decodes once", function()
    assert.equal("%41", decode "%2541")
  end)

  it("gives nothing for nothing", function()
    assert.equal("", decode "")
  end)

  for _, text in ipairs { "%", "a%", "%4", "%zz", "%4z", "%z4", "%%41", "%-1", "% 1",
                          "%0x41", "%\0\0", "a%20b%" } do
    it("refuses " .. ("%q"):format(text), function()
      assert.is_nil(decode(text))
    end)
  end

  it("does not look behind the end of its slice", function()
    local size = ffi.new("size_t[1]")
    local text = "%41"
    for shorter = 1, 2 do
      local cut = ffi.new("struct luaweb_slice", text, shorter)
      assert.is_false(C.lw_percent_decode(cut, room(shorter), size))
    end
  end)

  it("decodes in place", function()
    local text = "a%20b%2Fc"
    local out, size = room(#text), ffi.new("size_t[1]")
    ffi.copy(out, text, #text)
    local inside = ffi.new("struct luaweb_slice", out, #text)
    assert.is_true(C.lw_percent_decode(inside, out, size))
    assert.equal("a b/c", content(out, #text, size[0]))
  end)

  it("decodes a megabyte", function()
    assert.equal(("/"):rep(2 ^ 20), decode(("%2f"):rep(2 ^ 20)))
  end)
end)

describe("Form decoding", function()
  for text, expected in pairs {
    [""]                   = "",
    ["a+b"]                = "a b",
    ["%2B1"]               = "+1",
    ["%3B123"]             = ";123",
    ["se%l%e%ct%20*"]      = "se%l%e%ct *",
    ["%"]                  = "%",
    ["%4"]                 = "%4",
    ["%%41"]               = "%A",
    ["%+41"]               = "% 41",
    ["%4+"]                = "%4 ",
    ["%2541"]              = "%41",
    ["%25%34%31"]          = "%41",
    ["%00%ff"]             = "\0\255",
    ["\0%\0+"]             = "\0%\0 ",
  } do
    it("reads " .. ("%q"):format(text) .. " as " .. ("%q"):format(expected), function()
      assert.equal(expected, decode_form(text))
    end)
  end

  it("decodes in place", function()
    local text = "a+b%2Fc%"
    local out = room(#text)
    ffi.copy(out, text, #text)
    local inside = ffi.new("struct luaweb_slice", out, #text)
    assert.equal("a b/c%", content(out, #text, C.lw_percent_decode_form(inside, out)))
  end)
end)

describe("Form encoding", function()
  it("leaves letters, digits and * - . _ and nothing else", function()
    local encoded = encode_form(all_octets)
    local plain = encoded:gsub("%%%x%x", "")
    assert.equal("+*-.0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz",
                 plain)
  end)

  it("writes upper-case digits", function()
    assert.equal("%C3%A9%2F%7E", encode_form "\195\169/~")
  end)

  it("is undone by form decoding for every octet", function()
    assert.equal(all_octets, decode_form(encode_form(all_octets)))
  end)

  it("gives nothing for nothing", function()
    assert.equal("", encode_form "")
  end)
end)
