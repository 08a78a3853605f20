-- SPDX-License-Identifier: MIT
-- SipHash-1-3 (core/base/siphash.c): numbers of another implementation, CPython's.
local ffi = require "ffi"
local pure = require "spec.support.pure"

local lib = pure.load "base/siphash"

local function hash(key_low, key_high, text)
  local key = ffi.new("uint64_t[2]", key_low, key_high)
  return lib.lw_siphash(key, text, #text)
end

local every = {}
for i = 0, 63 do every[#every + 1] = string.char(i) end

describe("SipHash-1-3", function()
  for text, wanted in pairs {
    ["a"] = 0x407448d2b89b1813ULL,
    ["abc"] = 0xc03bc3a0042630f2ULL,
    ["1234567"] = 0xa33d651594fdae81ULL,
    ["12345678"] = 0x3489982430560a87ULL,
    ["123456789"] = 0x0fbc0f0007965fcfULL,
    [table.concat(every)] = 0x75e05fd5bbc870c6ULL,
  } do
    it(("of %d octets is what others find"):format(#text), function()
      assert.is_true(hash(0, 0, text) == wanted)
    end)
  end

  it("is another one under another key", function()
    assert.is_false(hash(1, 0, "a") == hash(0, 0, "a"))
    assert.is_false(hash(0, 1, "a") == hash(0, 0, "a"))
  end)
end)
