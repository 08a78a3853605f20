-- SPDX-License-Identifier: MIT
-- UTF-8, character by character (core/base/utf8.h), held against the same in Lua.
local pure = require "spec.support.pure"
local utf8 = require "luaweb.utf8"

local C = pure.load "base/utf8"

local function size_of(text)
  return tonumber(C.lw_utf8_size(text, #text))
end

describe("A UTF-8 character", function()
  for text, size in pairs {
    [""] = 0, ["\0"] = 1, ["a"] = 1, ["\127"] = 1, ["é"] = 2, ["€"] = 3, ["😀"] = 4,
    ["\194\128"] = 2, ["\223\191"] = 2, ["\224\160\128"] = 3, ["\237\159\191"] = 3,
    ["\238\128\128"] = 3, ["\239\191\191"] = 3, ["\240\144\128\128"] = 4,
    ["\244\143\191\191"] = 4, ["éa"] = 2, ["€é"] = 3, ["a\255"] = 1,
    ["\128"] = 0, ["\191"] = 0, ["\192\128"] = 0, ["\193\191"] = 0,
    ["\224\159\191"] = 0, ["\237\160\128"] = 0, ["\240\143\191\191"] = 0,
    ["\244\144\128\128"] = 0, ["\245\128\128\128"] = 0, ["\255"] = 0,
    ["\194"] = 0, ["\194a"] = 0, ["\226\130"] = 0, ["\226\130a"] = 0,
    ["\240\159\152"] = 0, ["\240\159\152a"] = 0, ["\240\159a\128"] = 0,
  } do
    it(("has %d octets where %q begins"):format(size, text), function()
      assert.equal(size, size_of(text))
    end)
  end

  it("is what luaweb.utf8 takes for one, whatever two octets come first", function()
    for first = 0, 255 do
      for second = 0, 255 do
        local text = string.char(first, second, 0x80, 0xBF)
        local expected = 0
        for size = 1, 4 do
          local is_valid = not utf8.find_invalid(text, 1, size)
          if is_valid and expected == 0 then expected = size end
        end
        assert.equal(expected, size_of(text))
      end
    end
  end)

  it("is not sought beyond the octets that are given", function()
    assert.equal(0, tonumber(C.lw_utf8_size("é", 1)))
    assert.equal(0, tonumber(C.lw_utf8_size("a", 0)))
  end)
end)
