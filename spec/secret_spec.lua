-- SPDX-License-Identifier: MIT
-- Secrets that need no waiting: comparison, random tokens, digests
-- (lua/luaweb/auth/secret.lua, core/host/abi_secret.c).
local abi = require "luaweb.abi"
local ffi = require "ffi"
local web = require "luaweb"

local C, host = abi.C, abi.host

describe("web.secret_equal", function()
  for _, case in ipairs {
    { "", "", true }, { "a", "a", true }, { "a\0b", "a\0b", true },
    { "a\0b", "a\0c", false }, { "a", "b", false }, { "a", "", false },
    { "", "a", false }, { "a", "aa", false }, { "aa", "a", false }, { "a", "A", false },
  } do
    it(("says %s of %q and %q"):format(tostring(case[3]), case[1], case[2]), function()
      assert.equal(case[3], web.secret_equal(case[1], case[2]))
    end)
  end

  it("finds a difference in any octet", function()
    local token = web.random_token()
    assert.is_true(web.secret_equal(token, token .. ""))
    for i = 1, #token do
      local other = token:sub(1, i - 1) .. "\0" .. token:sub(i + 1)
      assert.is_false(web.secret_equal(token, other))
    end
  end)

  it("wants two strings", function()
    assert.error_matches(function() web.secret_equal("a", nil) end, "not a nil")
    assert.error_matches(function() web.secret_equal(1, "1") end, "not a number")
  end)
end)

describe("web.random_token", function()
  it("has as many characters as its octets want, without padding", function()
    for bytes, size in pairs { [1] = 2, [2] = 3, [3] = 4, [32] = 43, [1024] = 1366 } do
      local token = web.random_token(bytes)
      assert.matches("^[%w_-]+$", token)
      assert.equal(size, #token)
    end
    assert.equal(43, #web.random_token())
  end)

  it("is never the same", function()
    local seen = {}
    for _ = 1, 1000 do seen[web.random_token(16)] = true end
    local count = 0
    for _ in pairs(seen) do count = count + 1 end
    assert.equal(1000, count)
  end)

  for _, value in ipairs { 0, -1, 1025, 1.5, 0 / 0, 1 / 0, "32", {}, false } do
    it("refuses " .. tostring(value), function()
      assert.error_matches(function() web.random_token(value) end,
        "web.random_token wants a whole number from 1 to 1024")
    end)
  end
end)

describe("a digest", function()
  local text = ffi.new "char[32]"

  local function digest_of(data, key)
    ffi.fill(text, 32, 120)
    if key then
      C.luaweb_keyed_digest(host, key, #key, data, #data, text)
    else
      C.luaweb_digest(host, data, #data, text)
    end
    return ffi.string(text)
  end

  it("is the same in every process: entity tags outlive them", function()
    assert.equal("ZF42O7vz5zYufqQCDFTNAg", digest_of "abc")
    assert.equal(22, #digest_of "")
    assert.not_equal(digest_of "", digest_of "\0")
  end)

  it("is another one with a key, and with another key", function()
    local one, other = ("k"):rep(32), ("l"):rep(32)
    assert.equal(digest_of("abc", one), digest_of("abc", one))
    assert.not_equal(digest_of "abc", digest_of("abc", one))
    assert.not_equal(digest_of("abc", one), digest_of("abc", other))
    assert.equal(22, #digest_of("abc", one))
  end)
end)
