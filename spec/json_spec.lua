-- SPDX-License-Identifier: MIT
-- JSON: what is written, what is read, what is refused and how that is said.
local json = require "luaweb.json"

--- The message that encode raises for a value.
local function complaint(v, limits)
  local ok, message = pcall(json.encode, v, limits)
  assert.is_false(ok)
  return (message:gsub("^json%.encode: ", ""))
end

--- The message that decode gives for a text.
local function fault(text, limits)
  local v, message = json.decode(text, limits)
  assert.is_nil(v)
  return message
end

local function nested(levels)
  return ("["):rep(levels) .. ("]"):rep(levels)
end

describe("json.encode", function()
  local TEXTS = {
    { "writes true and false", { true, false }, "[true,false]" },
    { "writes null", { json.null }, "[null]" },
    { "writes a table with keys 1..n as an array", { 1, { 2 } }, "[1,[2]]" },
    { "writes a table with names as an object", { a = { b = 1 } }, '{"a":{"b":1}}' },
    { "writes an empty plain table as an object", {}, "{}" },
    { "writes an empty marked table as an array", json.array {}, "[]" },
    { "writes an array stored in disorder", { [3] = 3, [1] = 1, [2] = 2 }, "[1,2,3]" },
    { "writes whole numbers up to 2^53 in full", 2 ^ 53, "9007199254740992" },
    { "writes negative ones too", -2 ^ 53, "-9007199254740992" },
    { "writes 1e15 without an exponent", 1e15, "1000000000000000" },
    { "writes larger ones as they read back", 1e22, "1e+22" },
    { "writes no more digits than are needed", 0.1, "0.1" },
    { "writes 16 digits when they are needed", 1 / 3, "0.3333333333333333" },
    { "writes 17 digits when they are needed", 0.1 + 0.2, "0.30000000000000004" },
    { "keeps the sign of -0", -0.0, "-0" },
    { "escapes quote and backslash", 'a"b\\c', [["a\"b\\c"]] },
    { "escapes control characters", "\b\f\n\r\t\0\31", [["\b\f\n\r\t\u0000\u001f"]] },
    { "escapes in names", { ["\n\""] = 1 }, [[{"\n\"":1}]] },
    { "leaves DEL and the slash as they are", "</a>\127", '"</a>\127"' },
    { "leaves UTF-8 as it is", "é€😀", '"é€😀"' },
    { "escapes beside UTF-8", 'é"€\n😀', [["é\"€\n😀"]] },
  }
  for _, row in ipairs(TEXTS) do
    it(row[1], function() assert.equal(row[3], json.encode(row[2])) end)
  end

  local tangled = { list = {} }
  tangled.list[1] = { tangled.list }
  local REFUSED = {
    { "a function", { on = { { print } } },
      "value.on[1][1] is a function, which JSON has no form for" },
    { "nil", nil, "value is nil, which JSON has no form for" },
    { "other userdata", { a = newproxy() },
      "value.a is a userdata, which JSON has no form for" },
    { "a 64-bit integer", { 1LL }, "value[1] is a cdata, which JSON has no form for" },
    { "NaN", { n = 0 / 0 }, "value.n is the number nan, which JSON has no form for" },
    { "an infinity", { -1 / 0 },
      "value[1] is the number -inf, which JSON has no form for" },
    { "a table that contains itself", tangled,
      "value.list[1][1] is a table that holds it" },
    { "names in an array", { 1, 2, x = 3 }, "value is an array, but has the key .x" },
    { "names in a marked array", json.array { x = 1 },
      "value is an array, but has the key .x" },
    { "holes", { a = { [1] = 1, [3] = 3 } },
      "value.a is an array with holes: 2 of 3 elements" },
    { "an array that begins at 0", { [0] = 0, 1 },
      "value is an array, but has the key 0" },
    { "a fraction as a key", { [1.5] = 1 }, "value is an array, but has the key 1.5" },
    { "true as a key", { [true] = 1 }, "value is an object, but has the key true" },
    { "a string that is not UTF-8", { ["a b"] = { "ok", "é\255" } },
      'value["a b"][2] is not UTF-8 at octet 3' },
    { "a surrogate in a string", "\237\160\128", "value is not UTF-8 at octet 2" },
    { "an overlong form", "\192\175", "value is not UTF-8 at octet 1" },
    { "one of three octets", "\224\159\191", "value is not UTF-8 at octet 2" },
    { "one of four octets", "\240\143\191\191", "value is not UTF-8 at octet 2" },
    { "a character that is cut off", "a\226\130", "value is not UTF-8 at octet 3" },
    { "a code point above U+10FFFF", "\244\144\128\128",
      "value is not UTF-8 at octet 2" },
    { "a name that is not UTF-8", { x = { ['"\255'] = 1 } },
      [[value.x has the key ["\034\255"], which is not UTF-8]] },
  }
  for _, row in ipairs(REFUSED) do
    it("refuses " .. row[1] .. " and says where", function()
      assert.equal(row[3], complaint(row[2]))
    end)
  end

  it("refuses nesting over 128 levels, or what the limit says", function()
    local deep = json.decode(nested(129), { depth = 129 })
    assert.matches("%[1%] is nested deeper than 128$", complaint(deep))
    assert.equal(nested(128), json.encode(deep[1]))
    assert.equal("value[1] is nested deeper than 1", complaint({ {} }, { depth = 1 }))
    assert.equal(nested(129), json.encode(deep, { depth = 129 }))
  end)

  it("writes a table that occurs twice", function()
    local t = { 1 }
    assert.equal("[[1],[1]]", json.encode { t, t })
  end)

  it("does not ask metamethods", function()
    local t = setmetatable({ 1 }, { __index = error, __len = error })
    assert.equal("[1]", json.encode(t))
  end)

  it("keeps nothing of what it wrote", function()
    local kept = setmetatable({ { { 1 } } }, { __mode = "v" })
    kept[2] = kept[1][1]
    assert.equal("[[1]]", json.encode(kept[1]))
    collectgarbage()
    assert.is_nil(kept[1] or kept[2])
  end)

  it("starts afresh after a refusal", function()
    complaint { 1, 2, print }
    assert.equal("[1]", json.encode { 1 })
  end)

  it("quotes more names than it remembers", function()
    for i = 1, 5000 do
      assert.equal('{"name' .. i .. '":1}', json.encode { ["name" .. i] = 1 })
    end
  end)

  it("writes texts of megabytes", function()
    local s = ("é\n"):rep(1000000)
    assert.equal('"' .. s:gsub("\n", "\\n") .. '"', json.encode(s))
  end)
end)

describe("json.decode", function()
  it("reads all kinds of values", function()
    local v = json.decode ' {"a" : [ 1 , true,false, null ],\r\n\t"b":"x"} '
    assert.same({ 1, true, false, json.null }, v.a)
    assert.equal("x", v.b)
  end)

  local NUMBERS = {
    { "0", 0 }, { "-1", -1 }, { "9007199254740992", 2 ^ 53 }, { "12.5", 12.5 },
    { "0.1", 0.1 }, { "-0.000001", -0.000001 }, { "123456789.12345", 123456789.12345 },
    { "1e3", 1000 }, { "1E-2", 0.01 }, { "-1.5e+300", -1.5e300 }, { "1e-400", 0 },
    { "1e-99999999999", 0 },
    { "3.141592653589793238462643383279", 3.141592653589793 },
    { "123456789012345678901234567890", 123456789012345678901234567890 },
  }
  for _, row in ipairs(NUMBERS) do
    it("reads the number " .. row[1], function()
      assert.equal(row[2], json.decode(row[1]))
    end)
  end

  it("keeps the sign of -0", function()
    for _, text in ipairs { "-0", "-0.0", "-0e1" } do
      assert.equal(-1 / 0, 1 / json.decode(text))
    end
  end)

  local STRINGS = {
    { [["\"\\\/\b\f\n\r\t"]], '"\\/\b\f\n\r\t' }, { [["\u0041\u00e9\u20AC"]], "Aé€" },
    { [["a\ud83d\uDE00b"]], "a😀b" }, { [["\u0000"]], "\0" },
    { '"é€😀\127"', "é€😀\127" },
    { [["\uffff\udbff\udfff"]], "\239\191\191\244\143\191\191" }, { '""', "" },
  }
  for _, row in ipairs(STRINGS) do
    it("reads the string " .. row[1], function()
      assert.equal(row[2], json.decode(row[1]))
    end)
  end

  it("keeps arrays arrays and objects objects, also when they are empty", function()
    for _, text in ipairs { "[]", "{}", '{"a":[]}', "[{},[]]" } do
      assert.equal(text, json.encode(json.decode(text)))
    end
  end)

  it("keeps an array an array when it is emptied", function()
    local list = json.decode "[1]"
    list[1] = nil
    assert.equal("[]", json.encode(list))
  end)

  it("takes the last of equal names", function()
    assert.same({ a = 2 }, json.decode '{"a":1,"a":2}')
  end)

  it("ignores a byte order mark in front", function()
    assert.equal(1, json.decode "\239\187\1911")
  end)

  local FAULTS = {
    { "", "line 1, column 1 (the end): a value is expected" },
    { "[1,\n 2 3]", "line 2, column 4: ',' or ']' is expected" },
    { '{"é":1,"ü" 2}', "line 1, column 12: ':' is expected" },
    { '{"a":1 "b"}', "line 1, column 8: ',' or '}' is expected" },
    { "{1:2}", "line 1, column 2: a name in quotes is expected" },
    { "[nul]", "line 1, column 2: a value is expected" },
    { "{} []", "line 1, column 4: nothing more is expected" },
    { '"abc', "line 1, column 5 (the end): a string is not closed" },
    { '"a\tb"', "line 1, column 3: a string holds a control character" },
    { [["\x"]], "line 1, column 2: there is no such escape" },
    { [["\u00g0"]], "line 1, column 2: an escape needs four hexadecimal digits" },
    { [["\ud800"]], "line 1, column 2: an escaped surrogate is not one of a pair" },
    { [["\ud800\u0041"]],
      "line 1, column 2: an escaped surrogate is not one of a pair" },
    { [["\udc00"]], "line 1, column 2: an escaped surrogate is not one of a pair" },
    { '"é\255"', "line 1, column 3: a string is not UTF-8" },
    { "01", "line 1, column 1: a number has a needless zero in front" },
    { "-", "line 1, column 2 (the end): a digit is expected" },
    { "[1.]", "line 1, column 4: a digit is expected" },
    { "[1e+]", "line 1, column 5: a digit is expected" },
    { "[-1e400]", "line 1, column 2: a number is out of range" },
    { "1e99999999999", "line 1, column 1: a number is out of range" },
  }
  for _, row in ipairs(FAULTS) do
    it("refuses " .. row[1]:gsub("%c", " ") .. " and says where", function()
      assert.equal(row[2], fault(row[1]))
    end)
  end

  it("refuses nesting over 128 levels, or what the limit says", function()
    local too_deep = "arrays and objects are nested too deep"
    assert.equal("line 1, column 129: " .. too_deep, fault(nested(129)))
    assert.equal("line 1, column 3: " .. too_deep, fault(nested(3), { depth = 2 }))
    assert.equal(nested(128), json.encode(json.decode(nested(128))))
    assert.truthy(json.decode(nested(1000), { depth = 1000 }))
  end)

  it("refuses more octets than the limit says", function()
    assert.equal("the text has 3 octets, more than 2", fault("[1]", { size = 2 }))
    assert.same({ 1 }, json.decode("[1]", { size = 3 }))
  end)

  it("raises an error for what only the caller can do wrong", function()
    assert.error_matches(function() json.decode(nil) end, "a string is expected")
    for _, depth in ipairs { 0, 1001, 1.5 } do
      assert.error_matches(function() json.decode("1", { depth = depth }) end,
        "a depth is 1..1000")
    end
  end)
end)

describe("json.null", function()
  it("is one value, true as a condition, and prints as null", function()
    assert.equal("null", tostring(json.null))
    assert.equal(json.null, json.decode "null")
    assert.is_true(json.null and true)
  end)
end)

describe("json.array", function()
  it("marks the table that it is given, or a new one", function()
    local t = {}
    assert.equal(t, json.array(json.array(t)))
    assert.equal("[]", json.encode(json.array()))
  end)

  it("refuses a table with a metatable of its own", function()
    assert.error_matches(function() json.array(setmetatable({}, {})) end, "metatable")
  end)
end)
