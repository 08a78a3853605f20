-- SPDX-License-Identifier: MIT
-- What names a request (core/http/request_id.h).
local ffi = require "ffi"
local pure = require "spec.support.pure"

local C = pure.load "http/request_id"

local function is_valid(text)
  return C.lw_request_id_valid(ffi.new("struct luaweb_slice", text, #text))
end

describe("the name of a request", function()
  it("may be a UUID, base64, a path of names", function()
    for _, id in ipairs { "a", "7f3a-1", "123e4567-e89b-12d3-a456-426614174000",
      "c29tZSBvY3RldHM+/w==", "Root=1-67891233-abcdef012345678912345678",
      "edge.1:node~2/3@x_y", ("x"):rep(128) } do
      assert.is_true(is_valid(id), id)
    end
  end)

  it("is neither empty nor above 128 octets", function()
    assert.is_false(is_valid "")
    assert.is_false(is_valid(("x"):rep(129)))
  end)

  it("has no octet that JSON, HTML, a header or a log would escape", function()
    local allowed = {}
    for octet = 0, 255 do
      local text = string.char(octet)
      if is_valid("a" .. text .. "b") then allowed[#allowed + 1] = text end
    end
    assert.equal("+-./0123456789:=@ABCDEFGHIJKLMNOPQRSTUVWXYZ_"
      .. "abcdefghijklmnopqrstuvwxyz~",
      table.concat(allowed))
  end)

  it("of ours is a prefix and a number in hex", function()
    for number, text in pairs { [0] = "0", [1] = "1", [15] = "f", [16] = "10",
      [2 ^ 52] = "10000000000000" } do
      local out = ffi.new("char[129]", ("?"):rep(128))
      assert.equal(7 + #text, tonumber(C.lw_request_id_write("00af3c", number, out)))
      assert.equal("00af3c-" .. text, ffi.string(out))
    end
    local out = ffi.new "char[129]"
    C.lw_request_id_write("00af3c", 0xffffffffffffffffULL, out)
    assert.equal("00af3c-ffffffffffffffff", ffi.string(out))
  end)
end)
