-- SPDX-License-Identifier: MIT
-- JSON patch: RFC 6902 with its examples, and the pointers of RFC 6901.
local json = require "luaweb.json"
local json_patch = require "luaweb.json.patch"
local json_text = require "spec.support.json_text"

local read, write = json_text.read, json_text.write

--- The result of a patch as text, or nil, the message and the index.
local function patch(document, operations, limits)
  local before = read(document)
  local result, message, index = json_patch.patch(before, read(operations), limits)
  assert.equal(write(read(document)), write(before))
  if result == nil then return nil, message, index end
  return write(result)
end

local function examples(list)
  for _, row in ipairs(list) do
    it(row[1], function()
      local result, message = patch(row[2], row[3])
      assert.equal(row[4] and write(read(row[4])), result)
      if not row[4] then assert.matches(row[5], message, 1, true) end
    end)
  end
end

describe("A JSON patch, RFC 6902 Appendix A:", function()
  examples {
    { "A.1 adds an object member", '{"foo":"bar"}',
      '[{"op":"add","path":"/baz","value":"qux"}]', '{"baz":"qux","foo":"bar"}' },
    { "A.2 adds an array element", '{"foo":["bar","baz"]}',
      '[{"op":"add","path":"/foo/1","value":"qux"}]', '{"foo":["bar","qux","baz"]}' },
    { "A.3 removes an object member", '{"baz":"qux","foo":"bar"}',
      '[{"op":"remove","path":"/baz"}]', '{"foo":"bar"}' },
    { "A.4 removes an array element", '{"foo":["bar","qux","baz"]}',
      '[{"op":"remove","path":"/foo/1"}]', '{"foo":["bar","baz"]}' },
    { "A.5 replaces a value", '{"baz":"qux","foo":"bar"}',
      '[{"op":"replace","path":"/baz","value":"boo"}]', '{"baz":"boo","foo":"bar"}' },
    { "A.6 moves a value",
      '{"foo":{"bar":"baz","waldo":"fred"},"qux":{"corge":"grault"}}',
      '[{"op":"move","from":"/foo/waldo","path":"/qux/thud"}]',
      '{"foo":{"bar":"baz"},"qux":{"corge":"grault","thud":"fred"}}' },
    { "A.7 moves an array element", '{"foo":["all","grass","cows","eat"]}',
      '[{"op":"move","from":"/foo/1","path":"/foo/3"}]',
      '{"foo":["all","cows","eat","grass"]}' },
    { "A.8 tests a value with success", '{"baz":"qux","foo":["a",2,"c"]}',
      '[{"op":"test","path":"/baz","value":"qux"},{"op":"test","path":"/foo/1",'
        .. '"value":2}]', '{"baz":"qux","foo":["a",2,"c"]}' },
    { "A.9 tests a value in vain", '{"baz":"qux"}',
      '[{"op":"test","path":"/baz","value":"bar"}]', nil, "the value is another one" },
    { "A.10 adds a nested member object", '{"foo":"bar"}',
      '[{"op":"add","path":"/child","value":{"grandchild":{}}}]',
      '{"foo":"bar","child":{"grandchild":{}}}' },
    { "A.11 ignores unrecognized elements", '{"foo":"bar"}',
      '[{"op":"add","path":"/baz","value":"qux","xyz":123}]',
      '{"foo":"bar","baz":"qux"}' },
    { "A.12 does not add to a target that is not there", '{"foo":"bar"}',
      '[{"op":"add","path":"/baz/bat","value":"qux"}]', nil,
      'operation 1 of 1 (op "add", path "/baz/bat"): there is no member "baz"' },
    { "A.13 refuses an operation that is two", '{"foo":"bar"}',
      '[{"op":"add","path":"/baz","value":"qux","op":"remove"}]', nil,
      'there is no member "baz"' },
    { "A.14 orders the escapes of ~", '{"/":9,"~1":10}',
      '[{"op":"test","path":"/~01","value":10}]', '{"/":9,"~1":10}' },
    { "A.15 tells strings from numbers", '{"/":9,"~1":10}',
      '[{"op":"test","path":"/~01","value":"10"}]', nil, "the value is another one" },
    { "A.16 adds an array value", '{"foo":["bar"]}',
      '[{"op":"add","path":"/foo/-","value":["abc","def"]}]',
      '{"foo":["bar",["abc","def"]]}' },
  }
end)

describe("A JSON patch", function()
  examples {
    { "does all operations of the example in RFC 6902 §3 but the failing test",
      '{"a":{"b":{"c":"foo","d":1}}}', [=[[
        {"op":"test","path":"/a/b/c","value":"foo"},
        {"op":"remove","path":"/a/b/c"},
        {"op":"add","path":"/a/b/c","value":["foo","bar"]},
        {"op":"replace","path":"/a/b/c","value":42},
        {"op":"move","from":"/a/b/c","path":"/a/b/d"},
        {"op":"copy","from":"/a/b/d","path":"/a/b/e"}]]=],
      '{"a":{"b":{"d":42,"e":42}}}' },
    { "is all or nothing (RFC 6902 §5)", '{"a":{"b":{"c":1}}}',
      '[{"op":"replace","path":"/a/b/c","value":42},'
        .. '{"op":"test","path":"/a/b/c","value":"C"}]', nil, "operation 2 of 2" },
    { "may be empty", '{"a":[]}', "[]", '{"a":[]}' },
    { "adds a member that is there already", '{"a":1}',
      '[{"op":"add","path":"/a","value":[]}]', '{"a":[]}' },
    { "adds null and false, which are values", '{}',
      '[{"op":"add","path":"/a","value":null},{"op":"add","path":"/b","value":false}]',
      '{"a":null,"b":false}' },
    { "adds the whole document anew", '{"a":1}',
      '[{"op":"add","path":"","value":[1]}]', '[1]' },
    { "replaces the whole document", '[1]',
      '[{"op":"replace","path":"","value":false}]', 'false' },
    { "adds at the end by the index behind it", '[1]',
      '[{"op":"add","path":"/1","value":2}]', '[1,2]' },
    { "adds to an array that is the document, in front", '[2]',
      '[{"op":"add","path":"/0","value":1}]', '[1,2]' },
    { "appends to an empty array", '{"a":[]}',
      '[{"op":"add","path":"/a/-","value":1}]', '{"a":[1]}' },
    { "adds to objects the members that arrays would call indexes", '{}',
      '[{"op":"add","path":"/-","value":1},{"op":"add","path":"/0","value":2}]',
      '{"-":1,"0":2}' },
    { "keeps an emptied array an array", '{"a":[1],"b":[2]}',
      '[{"op":"remove","path":"/a/0"},{"op":"move","from":"/b/0","path":"/c"}]',
      '{"a":[],"b":[],"c":2}' },
    { "keeps nulls in the place where they are", '[null,1,null]',
      '[{"op":"remove","path":"/1"},{"op":"add","path":"/1","value":0}]',
      '[null,0,null]' },
    { "moves over what is there", '{"a":1,"b":2}',
      '[{"op":"move","from":"/a","path":"/b"}]', '{"b":1}' },
    { "moves to the front", '[1,2,3]', '[{"op":"move","from":"/2","path":"/0"}]',
      '[3,1,2]' },
    { "moves to the end", '[1,2,3]', '[{"op":"move","from":"/0","path":"/-"}]',
      '[2,3,1]' },
    { "does not move an element into the one that would follow it", '[[1],[2],[3]]',
      '[{"op":"move","from":"/0","path":"/0/0"}]', nil, "can't be moved into itself" },
    { "counts without what moves", '[1,[2],[3]]',
      '[{"op":"move","from":"/0","path":"/1/-"}]', '[[2],[3,1]]' },
    { "moves a value to where it is", '{"a":[1]}',
      '[{"op":"move","from":"/a","path":"/a"},{"op":"move","from":"","path":""}]',
      '{"a":[1]}' },
    { "makes a part the whole", '{"a":{"b":[1]}}',
      '[{"op":"move","from":"/a/b","path":""}]', '[1]' },
    { "copies the whole into a part", '{"a":1}',
      '[{"op":"copy","from":"","path":"/b"}]', '{"a":1,"b":{"a":1}}' },
    { "copies, so that the copies change alone", '{"a":[1]}',
      '[{"op":"copy","from":"/a","path":"/b"},{"op":"add","path":"/b/-","value":2}]',
      '{"a":[1],"b":[1,2]}' },
    { "changes what it added itself", '{}',
      '[{"op":"add","path":"/a","value":{"b":[]}},'
        .. '{"op":"add","path":"/a/b/-","value":1}]', '{"a":{"b":[1]}}' },
  }

  it("shares no table with the document or the operations", function()
    local document = read '{"a":[1],"b":{"c":[2]}}'
    local operations = read [=[[{"op":"add","path":"/d","value":{"e":[3]}},
      {"op":"move","from":"/b","path":"/f"}]]=]
    local result = json_patch.patch(document, operations)
    for _, list in ipairs { result.a, result.d.e, result.f.c } do list[1] = 9 end
    assert.equal('{"a":[1],"b":{"c":[2]}}', write(document))
    assert.equal('[3]', write(operations[1].value.e))
  end)

  it("adds a value of the app's own making twice, as two values", function()
    local v = json.array { 1 }
    local result = json_patch.patch({}, {
      { op = "add", path = "/a", value = v }, { op = "add", path = "/b", value = v },
      { op = "add", path = "/a/-", value = 2 },
    })
    assert.equal('{"a":[1,2],"b":[1]}', write(result))
    assert.equal("[1]", write(v))
  end)

  it("asks no metamethods", function()
    local asked = { __index = { value = 1, from = "", x = 1 }, __newindex = error,
      __len = error, __eq = error }
    local function new(t) return setmetatable(t, asked) end
    local document, other = new { a = new { 1 } }, new { a = new {} }
    assert.is_nil((json_patch.patch(document, { new { op = "add", path = "/b" } })))
    assert.is_nil((json_patch.patch(document, { new { op = "copy", path = "/b" } })))
    assert.is_nil((json_patch.patch({ x = 1 },
      { new { op = "test", path = "", value = other } })))
    assert.is_nil((json_patch.patch({ x = 1 },
      { new { op = "test", path = "", value = new { y = 1 } } })))
    assert.equal('{"a":[1],"b":{"a":{}}}', write(json_patch.patch(document,
      { new { op = "add", path = "/b", value = other } })))
  end)

  it("is an error without a document, or with what JSON has no form for", function()
    assert.error_matches(function() json_patch.patch(nil, json.array {}) end,
      "there is no document")
    assert.error_matches(function() json_patch.patch({ a = print }, json.array {}) end,
      "a function is no JSON value")
    assert.error_matches(function()
      json_patch.patch({}, { { op = "add", path = "/a", value = print } })
    end, "a function is no JSON value")
  end)
end)

describe("The test of a JSON patch", function()
  local function is_equal(a, b)
    local operations = { { op = "test", path = "", value = read(b) } }
    return json_patch.patch(read(a), operations) ~= nil
  end

  for _, row in ipairs {
    { "1", "1.0", true }, { "100", "1e2", true }, { "0", "-0", true },
    { "1", '"1"', false }, { "1", "true", false }, { "0", "false", false },
    { "null", "null", true }, { "null", "false", false }, { '""', "null", false },
    { '"a\\u0062"', '"ab"', true }, { '"a"', '"A"', false },
    { [["\u00e9"]], [["e\u0301"]], false },
    { "{}", "{}", true }, { "[]", "[]", true }, { "{}", "[]", false },
    { "[]", "{}", false }, { "[]", "null", false },
    { '{"a":1,"b":[2]}', '{"b":[2],"a":1}', true },
    { '{"a":1}', '{"a":1,"b":2}', false }, { '{"a":1,"b":2}', '{"a":1}', false },
    { '{"a":null}', "{}", false }, { "{}", '{"a":null}', false },
    { '{"a":1}', '{"b":1}', false }, { "[1,2]", "[2,1]", false },
    { "[1,2]", "[1]", false }, { "[1]", "[1,2]", false },
    { '{"1":1}', "[1]", false }, { '[[{"a":[]}]]', '[[{"a":[]}]]', true },
    { '[[{"a":[]}]]', '[[{"a":{}}]]', false },
  } do
    it(("says that %s and %s are %s"):format(row[1], row[2],
      row[3] and "equal" or "not"), function()
      assert.equal(row[3], is_equal(row[1], row[2]))
    end)
  end
end)

describe("A JSON pointer, RFC 6901 §5:", function()
  local document = [[{"foo":["bar","baz"], "":0, "a/b":1, "c%d":2, "e^f":3, "g|h":4,
    "i\\j":5, "k\"l":6, " ":7, "m~n":8}]]
  for _, row in ipairs {
    { "", document }, { "/foo", '["bar","baz"]' }, { "/foo/0", '"bar"' }, { "/", "0" },
    { "/a~1b", "1" }, { "/c%d", "2" }, { "/e^f", "3" }, { "/g|h", "4" },
    { "/i\\j", "5" }, { "/k\"l", "6" }, { "/ ", "7" }, { "/m~0n", "8" },
  } do
    it(json.encode(row[1]) .. " leads to its value", function()
      local operations = { { op = "copy", from = row[1], path = "" } }
      local result = assert(json_patch.patch(read(document), operations))
      assert.equal(write(read(row[2])), write(result))
    end)
  end
end)

describe("Either kind of patch", function()
  it("is applied by its media type", function()
    local document = read '{"a":1}'
    assert.equal('{"a":2}', write(json_patch.apply("application/merge-patch+json",
      document, read '{"a":2}')))
    assert.equal('{"a":2}', write(json_patch.apply("Application/JSON-Patch+JSON; q=1",
      document, read '[{"op":"replace","path":"/a","value":2}]')))
    local result, message, index = json_patch.apply("application/json-patch+json",
      document, read '[{"op":"test","path":"/a","value":2}]', { operations = 1 })
    assert.is_nil(result)
    assert.matches("another one", message)
    assert.equal(1, index)
  end)

  it("is refused with another media type, or none", function()
    local result, message = json_patch.apply("application/json;\r\n", {}, {})
    assert.is_nil(result)
    assert.equal('"application/json" is no media type of a JSON patch', message)
    assert.is_nil((json_patch.apply(nil, {}, {})))
  end)

  it("has a media type that apply knows", function()
    assert.equal(2, #json_patch.media_types)
    for _, media_type in ipairs(json_patch.media_types) do
      assert.is_table(json_patch.apply(media_type, {}, json.array {}))
    end
  end)
end)
