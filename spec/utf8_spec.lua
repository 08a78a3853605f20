-- SPDX-License-Identifier: MIT
-- UTF-8 (RFC 3629): luaweb.utf8, and what req:text does with other octets.
local find_invalid = require("luaweb.utf8").find_invalid
local test = require "luaweb.test"
local web = require "luaweb"

local function invalid_at(s)
  return find_invalid(s, 1, #s)
end

describe("UTF-8", function()
  it("is found in text of any length of character", function()
    for _, s in ipairs { "", "plain", "gr\195\188n", "\226\130\172", "\240\159\152\128",
      "\239\191\191", "\244\143\191\191", "\0" } do
      assert.is_nil(invalid_at(s), ("%q"):format(s))
    end
  end)

  local wrong = {
    { "a\128", 2 },             -- a character that never began
    { "\195", 1 },              -- one that is cut off
    { "\195a", 2 },             -- one that is broken off
    { "\192\128", 1 },          -- longer than need be
    { "\224\128\128", 2 },
    { "\240\128\128\128", 2 },
    { "\237\160\128", 2 },      -- a surrogate
    { "\244\144\128\128", 2 },  -- beyond U+10FFFF
    { "ok\255", 3 },
  }
  for _, case in ipairs(wrong) do
    it(("is not %q, and the place is told"):format(case[1]), function()
      assert.equal(case[2], invalid_at(case[1]))
    end)
  end

  it("is what req:text gives; other octets are a 400 that names the place", function()
    local client = test.app(web.app {
      web.post("/", function(req) return web.text(req:text()) end),
    })
    assert.equal("gr\195\188n", client:post("/", { body = "gr\195\188n" }).body)
    local refused = client:post("/", { body = "gr\252n" })
    assert.equal(400, refused.status)
    assert.matches("not UTF%-8 at octet 3", refused.body)
  end)
end)
