-- SPDX-License-Identifier: MIT
-- The lists that clients send (core/http/accept_list.h): weights (RFC 9110 §12.4.2),
-- malformed members, and how much is looked at.
local M = require "spec.support.negotiation"

local MEDIA, LANGUAGE = M.MEDIA, M.LANGUAGE
local choose, quality = M.choose, M.quality

describe("A weight", function()
  for text, weight in pairs {
    ["1"] = 1000, ["1."] = 1000, ["1.0"] = 1000, ["1.000"] = 1000, ["0"] = 0,
    ["0."] = 0, ["0.000"] = 0, ["0.001"] = 1, ["0.05"] = 50, ["0.999"] = 999,
    ["0.5;q=0.9"] = 500, ["0.5 ;\tx"] = 500, ["0.5;x=\"a,b\""] = 500, ["0.5 "] = 500,
  } do
    it(("of q=%s is %d thousandths"):format(text, weight), function()
      assert.equal(weight, quality(MEDIA, "a/b;q=" .. text, "a/b"))
      assert.equal(weight, quality(LANGUAGE, "en ;\tQ=" .. text, "en"))
    end)
  end

  for _, text in ipairs {
    "", "2", "00", "01", "1.001", "1.0000", "0.0001", ".5", "0.5x", "-0", "+1",
    "1e0", "0x1", " 1", "nan", "\"1\"", "0.-1", "0 5", "0\0", "0./", "0.0A", "0.00z",
  } do
    it(("makes its member malformed when it is %q"):format(text), function()
      assert.equal(300, quality(MEDIA, "*/*;q=0.3, a/b;q=" .. text, "a/b"))
    end)
  end
end)

describe("A list", function()
  it("is read up to its 64th member, whatever these are", function()
    for _, member in ipairs { "x/y,", "x,", ";,", "x/y;q=2," } do
      assert.equal(1000, quality(MEDIA, member:rep(63) .. ",,a/b,*/*;q=0", "a/b"))
      assert.equal(300, quality(MEDIA, { "*/*;q=0.3", member:rep(63), "a/b" }, "a/b"))
    end
  end)

  it("is read up to 4096 octets, without the line that passes them", function()
    local line = "*/*;q=0.3" .. (" "):rep(4086) .. ","
    assert.equal(300, quality(MEDIA, { line, "" }, "a/b"))
    assert.equal(300, quality(MEDIA, { line, "a/b" }, "a/b"))
    assert.equal(500, quality(MEDIA, { line .. " ", "a/b;q=0.5" }, "a/b"))
  end)

  it("has 64 parameters at most, and the member that passes them is ignored", function()
    local header = "*/*;q=0.3, a/b" .. (";x=1"):rep(64)
    assert.equal(1000, quality(MEDIA, header, "a/b;x=1"))
    assert.equal(300, quality(MEDIA, header .. ";x=1", "a/b;x=1"))
  end)

  it("goes on counting where a line is one octet again and again", function()
    for octet = 0, 255 do
      local line = string.char(octet):rep(4000)
      assert.equal("a/b", choose(MEDIA, { line, "*/*;q=0.5" }, { "a/b", "c/d" }))
      assert.equal("en", choose(LANGUAGE, { "*;q=0.5", line }, { "en", "fr" }))
    end
  end)
end)
