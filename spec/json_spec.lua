-- SPDX-License-Identifier: MIT
-- JSON: what is written, what is read, what is refused and how that is said. The cases of
-- the public JSON test suite run when its folder lies beside the checkout.
local json = require "luaweb.json"

local SUITE = "../shared/datasets/json-test-suite/parsing.jsonl"

--- The message that encode raises for a value.
local function complaint(v, limits)
  local ok, message = pcall(json.encode, v, limits)
  assert.is_false(ok)
  return message
end

--- The message that decode gives for a text.
local function fault(text, limits)
  local v, message = json.decode(text, limits)
  assert.is_nil(v)
  return message
end

local function nested(levels)
  local t = {}
  for _ = 2, levels do t = { t } end
  return t
end

describe("json.encode", function()
  local TEXTS = {
    -- title                                          value                      text
    { "writes true and false",                        { true, false },           "[true,false]" },
    { "writes null",                                  json.null,                 "null" },
    { "writes a table with keys 1..n as an array",    { 1, { 2 } },              "[1,[2]]" },
    { "writes a table with a name as an object",      { a = { b = 1 } },         '{"a":{"b":1}}' },
    { "writes an empty plain table as an object",     {},                        "{}" },
    { "writes an empty marked table as an array",     json.array {},             "[]" },
    { "marks a new table when it is given none",      json.array(),              "[]" },
    { "writes an array that was stored in disorder",  { [3] = 3, [1] = 1, [2] = 2 }, "[1,2,3]" },
    { "writes whole numbers up to 2^53 in full",      2 ^ 53,                    "9007199254740992" },
    { "writes negative ones too",                     -2 ^ 53,                   "-9007199254740992" },
    { "writes 1e15 without an exponent",              1e15,                      "1000000000000000" },
    { "writes 14 digits when they are enough",        0.1,                       "0.1" },
    { "writes 16 digits when they are needed",        1 / 3,                     "0.3333333333333333" },
    { "writes 17 digits when they are needed",        0.1 + 0.2,                 "0.30000000000000004" },
    { "keeps the sign of -0",                         -0.0,                      "-0" },
    { "escapes quote and backslash",                  'a"b\\c',                  [["a\"b\\c"]] },
    { "escapes control characters",                   "\b\f\n\r\t\0\31\127",     '"\\b\\f\\n\\r\\t\\u0000\\u001f\127"' },
    { "escapes in the names of members",              { ["\n\""] = 1 },          [[{"\n\"":1}]] },
    { "leaves UTF-8 as it is",                        "é€😀",                    '"é€😀"' },
    { "leaves the slash as it is",                    "</script>",               '"</script>"' },
  }
  for _, row in ipairs(TEXTS) do
    it(row[1], function() assert.equal(row[3], json.encode(row[2])) end)
  end
end)
