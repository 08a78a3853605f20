-- SPDX-License-Identifier: MIT
-- The table of octets (core/http/octets.h): RFC 9110 §5.6.2, RFC 3986 §2, §3.2.2.
local pure = require "spec.support.pure"

local C = pure.load "http/octets"

describe("an octet", function()
  -- kind, what it may be part of, the octets that may, as a pattern
  for _, row in ipairs {
    { "TOKEN", "a token", "[%w!#$%%&'*+%-.^_`|~]" },
    { "NAME", "a registered name", "[%w%-._~!$&'()*+,;=]" },
    { "TARGET", "a target", "[!-\"$-~]" },
    { "HEX", "a hexadecimal number", "%x" },
  } do
    local kind, what, pattern = unpack(row)
    it("is part of " .. what .. " or not", function()
      local bit_of = tonumber(C["LW_OCTET_" .. kind])
      for octet = 0, 255 do
        local wanted = string.char(octet):find(pattern) ~= nil
        assert.equal(wanted, bit.band(C.lw_octets[octet], bit_of) ~= 0, kind .. octet)
      end
    end)
  end
end)
