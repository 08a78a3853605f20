-- SPDX-License-Identifier: MIT
-- JSON merge patch: RFC 7396, its examples and what it leaves alone.
local json = require "luaweb.json"
local json_merge = require "luaweb.json.merge"
local json_text = require "spec.support.json_text"

local read, write = json_text.read, json_text.write

local function merge(target, patch, limits)
  return json_merge.merge(target, patch, limits)
end

describe("A merge patch, RFC 7396 Appendix A:", function()
  for _, row in ipairs {
    -- target              patch                             result
    { '{"a":"b"}',         '{"a":"c"}',                      '{"a":"c"}' },
    { '{"a":"b"}',         '{"b":"c"}',                      '{"a":"b","b":"c"}' },
    { '{"a":"b"}',         '{"a":null}',                     '{}' },
    { '{"a":"b","b":"c"}', '{"a":null}',                     '{"b":"c"}' },
    { '{"a":["b"]}',       '{"a":"c"}',                      '{"a":"c"}' },
    { '{"a":"c"}',         '{"a":["b"]}',                    '{"a":["b"]}' },
    { '{"a":{"b":"c"}}',   '{"a":{"b":"d","c":null}}',       '{"a":{"b":"d"}}' },
    { '{"a":[{"b":"c"}]}', '{"a":[1]}',                      '{"a":[1]}' },
    { '["a","b"]',         '["c","d"]',                      '["c","d"]' },
    { '{"a":"b"}',         '["c"]',                          '["c"]' },
    { '{"a":"foo"}',       'null',                           'null' },
    { '{"a":"foo"}',       '"bar"',                          '"bar"' },
    { '{"e":null}',        '{"a":1}',                        '{"a":1,"e":null}' },
    { '[1,2]',             '{"a":"b","c":null}',             '{"a":"b"}' },
    { '{}',                '{"a":{"bb":{"ccc":null}}}',      '{"a":{"bb":{}}}' },
  } do
    it(("%s with %s is %s"):format(unpack(row)), function()
      assert.equal(row[3], write(merge(read(row[1]), read(row[2]))))
    end)
  end
end)

describe("A merge patch", function()
  it("does what the examples in the text of RFC 7396 do", function()
    assert.equal('{"a":"z","c":{"d":"e"}}',
      write(merge(read '{"a":"b","c":{"d":"e","f":"g"}}',
        read '{"a":"z","c":{"f":null}}')))
    local target = read [[{"title":"Goodbye!", "author":{"givenName":"John",
      "familyName":"Doe"}, "tags":["example","sample"],
      "content":"This will be unchanged"}]]
    local patch = read [[{"title":"Hello!", "phoneNumber":"+01-123-456-7890",
      "author":{"familyName":null}, "tags":["example"]}]]
    assert.equal('{"author":{"givenName":"John"},"content":"This will be unchanged",'
      .. '"phoneNumber":"+01-123-456-7890","tags":["example"],"title":"Hello!"}',
      write(merge(target, patch)))
  end)

  for _, row in ipairs {
    { "keeps nulls within arrays", '{"a":1}', '{"a":[null,{"b":null}]}',
      '{"a":[null,{"b":null}]}' },
    { "keeps empty arrays and objects", '{"a":[],"b":{}}', '{"c":[],"d":{}}',
      '{"a":[],"b":{},"c":[],"d":{}}' },
    { "makes an object of an array that it names members of", '{"a":[1]}',
      '{"a":{"b":2}}', '{"a":{"b":2}}' },
    { "leaves a false where it was, and puts one", '{"a":false}', '{"b":false}',
      '{"a":false,"b":false}' },
    { "may turn a whole document into false", '{"a":1}', 'false', 'false' },
    { "names what is not there without harm", '{}', '{"a":null}', '{}' },
    { "replaces a null by an object", '{"a":null}', '{"a":{"b":1}}', '{"a":{"b":1}}' },
    { "may be empty", '{"a":[{"b":1}]}', '{}', '{"a":[{"b":1}]}' },
  } do
    it(row[1], function()
      assert.equal(row[4], write(merge(read(row[2]), read(row[3]))))
    end)
  end

  it("makes a new document where there was none", function()
    assert.equal('{"a":{"b":1}}', write(merge(nil, read '{"a":{"b":1},"c":null}')))
  end)

  it("is an error when it is missing", function()
    assert.error_matches(function() merge({}, nil) end, "there is no patch")
  end)

  it("changes neither the target nor itself, and shares nothing with them", function()
    local target, patch = read '{"a":{"x":[1]},"b":{"y":2}}', read '{"a":{"z":[3]}}'
    local result = merge(target, patch)
    table.insert(result.a.x, 4)
    table.insert(result.a.z, 4)
    result.b.y, result.a.new = 4, 4
    assert.equal('{"a":{"x":[1]},"b":{"y":2}}', write(target))
    assert.equal('{"a":{"z":[3]}}', write(patch))
  end)

  it("keeps arrays arrays when they are emptied later", function()
    local result = merge(read '{"a":[1]}', { b = { 2 } })
    result.a[1], result.b[1] = nil, nil
    assert.equal('{"a":[],"b":[]}', write(result))
  end)

  it("asks no metamethods", function()
    local asked = { __index = error, __newindex = error, __len = error, __eq = error }
    local target = setmetatable({ a = 1 }, asked)
    assert.equal('{"a":1,"b":2}', write(merge(target, setmetatable({ b = 2 }, asked))))
  end)

  for _, v in ipairs { print, 1LL, newproxy(), { 1, x = 2 }, { [1] = 1, [3] = 3 },
    { [0] = 0, 1 }, { [1.5] = 1 }, { [true] = 1 }, { 1, [3] = 3, [5] = 5 },
    { [0] = 0, [1] = 1, [3] = 3 }, { [0.5] = 0, [2] = 2 } } do
    it("is an error with what JSON has no form for: " .. type(v), function()
      assert.error_matches(function() merge({ a = v }, {}) end, "^json: ")
      assert.error_matches(function() merge({}, { a = v }) end, "^json: ")
      assert.error_matches(function() merge(nil, v) end, "^json: ")
    end)
  end
end)

describe("The limits of a merge", function()
  local function nested(levels)
    return ('{"a":'):rep(levels) .. "1" .. ("}"):rep(levels)
  end

  it("are 128 levels of nesting, in the target and in the patch", function()
    local deep = read(nested(128))
    assert.equal(nested(128), json.encode(merge(deep, {})))
    assert.equal(nested(128), json.encode(merge({}, deep)))
    assert.equal(nested(128), json.encode(merge(deep, deep)))
    for _, pair in ipairs { { { a = deep }, {} }, { {}, { a = deep } } } do
      local result, message = merge(pair[1], pair[2])
      assert.is_nil(result)
      assert.equal("values would be nested deeper than 128", message)
    end
  end)

  it("may be set, as those of json.encode", function()
    assert.is_nil((merge({ a = {} }, {}, { depth = 1 })))
    local deep = json.decode(nested(1000), { depth = 1000 })
    assert.equal(nested(1000), json.encode(merge({}, deep, { depth = 1000 }),
      { depth = 1000 }))
    for _, depth in ipairs { 0, 1001, 1.5 } do
      assert.error_matches(function() merge({}, {}, { depth = depth }) end, "1..1000")
    end
  end)

  it("end a table that contains itself", function()
    local target = {}
    target.a = target
    assert.is_nil((merge(target, {})))
    assert.is_nil((merge({}, target)))
    assert.is_nil((merge(target, target)))
  end)

  it("are a million values", function()
    local list = {}
    for i = 1, 999998 do list[i] = i end
    assert.equal(999998, #merge({ a = list }, {}).a)
    list[999999] = 1
    local result, message = merge({ a = list }, {})
    assert.is_nil(result)
    assert.equal("more than 1000000 values would be copied", message)
  end)

  it("count 64 octets of a string or a name as one more value", function()
    local long = ("x"):rep(64)
    assert.is_table(merge({ a = long }, {}, { values = 3 }))
    assert.is_nil((merge({ a = long }, {}, { values = 2 })))
    assert.is_nil((merge({ [long] = 1 }, {}, { values = 2 })))
    assert.is_nil((merge({}, { [long] = json.null }, { values = 1 })))
  end)
end)
