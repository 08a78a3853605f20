-- SPDX-License-Identifier: MIT
-- Whole texts against what they are: a few of ours, and the cases of the public JSON
-- test suite where its folder lies beside the checkout.  What the suite leaves open
-- ("either") must only not fail in another way.
local json = require "luaweb.json"

local SUITE = "../shared/datasets/json-test-suite/parsing.jsonl"

local DIGITS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"

--- The octets that a base64 text stands for: RFC 4648 §4.
local function from_base64(text)
  local octets, bits, count = {}, 0, 0
  for digit in text:gmatch "[%w+/]" do
    bits, count = bits * 64 + DIGITS:find(digit, 1, true) - 1, count + 6
    if count >= 8 then
      count = count - 8
      local octet = math.floor(bits / 2 ^ count)
      bits = bits - octet * 2 ^ count
      octets[#octets + 1] = string.char(octet)
    end
  end
  return table.concat(octets)
end

--- What came of a text: "accept" or "reject", and that either is as promised.
local function outcome_of(text)
  local v, message = json.decode(text)
  if v == nil then
    assert.matches("^line %d+, column %d+", message)
    return "reject"
  end
  assert.same(v, json.decode(json.encode(v)))
  return "accept"
end

local EXPECTED = {
  accept = function(outcome) assert.equal("accept", outcome) end,
  reject = function(outcome) assert.equal("reject", outcome) end,
  either = function(outcome) assert.is_string(outcome) end,
}

describe("a JSON text", function()
  local ours = {
    { '[1,{"a":[]}]', "accept" }, { " null ", "accept" },
    { '"\\ud83d\\ude00"', "accept" }, { "[1,]", "reject" }, { '{"a" 1}', "reject" },
    { "[1] x", "reject" }, { '"\\ud83d"', "reject" }, { "01", "reject" },
    { "", "reject" },
  }
  for _, case in ipairs(ours) do
    it(("is told from none: %s"):format(case[1]), function()
      assert.equal(case[2], outcome_of(case[1]))
    end)
  end
end)

describe("the JSON test suite", function()
  local file = io.open(SUITE, "rb")
  if not file then return end
  for line in file:lines() do
    local case = json.decode(line)
    it("has " .. case.name, function()
      EXPECTED[case.expect](outcome_of(from_base64(case.bytes_b64)))
    end)
  end
  file:close()
end)
