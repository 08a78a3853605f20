-- SPDX-License-Identifier: MIT
-- JSON patch: what is refused, in which words, and where the limits are.
local json = require "luaweb.json"
local json_patch = require "luaweb.json.patch"

local function operations_of(text)
  local v, message = json.decode(text)
  assert(v ~= nil, message)
  return v
end

--- The message and the index of a patch that is refused.
local function refusal(document, operations, limits)
  local result, message, index = json_patch.patch(document, operations, limits)
  assert.is_nil(result)
  return message, index
end

describe("A JSON patch is refused:", function()
  local DOCUMENT = '{"a":[1,2],"s":"x","n":null,"o":{}}'
  for _, row in ipairs {
    { "no object", "[1]", "operation 1 of 1: it is not an object" },
    { "an array in the place of an operation", "[[]]",
      "operation 1 of 1: it is not an object" },
    { "nothing at all", "[{}]", 'operation 1 of 1: "op" is missing' },
    { "no op", '[{"path":"/a"}]', 'operation 1 of 1 (path "/a"): "op" is missing' },
    { "an op that is no string", '[{"op":1,"path":"/a"}]',
      'operation 1 of 1 (path "/a"): "op" is not a string' },
    { "an unknown op", '[{"op":"spam","path":"/a"}]',
      'operation 1 of 1 (op "spam", path "/a"): there is no such operation' },
    { "an op in other letters", '[{"op":"Add","path":"/a","value":1}]',
      'operation 1 of 1 (op "Add", path "/a"): there is no such operation' },
    { "no path", '[{"op":"remove"}]',
      'operation 1 of 1 (op "remove"): "path" is missing' },
    { "a path that is null", '[{"op":"remove","path":null}]',
      'operation 1 of 1 (op "remove"): "path" is not a string' },
    { "an add without a value", '[{"op":"add","path":"/b"}]',
      'operation 1 of 1 (op "add", path "/b"): "value" is missing' },
    { "a replace without a value", '[{"op":"replace","path":"/a"}]',
      'operation 1 of 1 (op "replace", path "/a"): "value" is missing' },
    { "a test without a value", '[{"op":"test","path":"/n"}]',
      'operation 1 of 1 (op "test", path "/n"): "value" is missing' },
    { "a move without from", '[{"op":"move","path":"/b"}]',
      'operation 1 of 1 (op "move", path "/b"): "from" is missing' },
    { "a copy with from that is no string", '[{"op":"copy","path":"/b","from":[]}]',
      'operation 1 of 1 (op "copy", path "/b"): "from" is not a string' },
    { "a pointer that does not begin with a slash", '[{"op":"remove","path":"a"}]',
      'operation 1 of 1 (op "remove", path "a"): a pointer begins with "/"' },
    { "a pointer with an unknown escape", '[{"op":"remove","path":"/a~2"}]',
      'operation 1 of 1 (op "remove", path "/a~2"): in a pointer 0 or 1 follows "~"' },
    { "a pointer that ends in an escape", '[{"op":"remove","path":"/a~"}]',
      'operation 1 of 1 (op "remove", path "/a~"): in a pointer 0 or 1 follows "~"' },
    { "a from that is no pointer", '[{"op":"copy","path":"/b","from":"s"}]',
      'operation 1 of 1 (op "copy", from "s", path "/b"): a pointer begins with "/"' },
    { "an index with a zero in front", '[{"op":"remove","path":"/a/01"}]',
      'operation 1 of 1 (op "remove", path "/a/01"): "01" is no index of an element' },
    { "an index that is no number", '[{"op":"add","path":"/a/1e0","value":1}]',
      'operation 1 of 1 (op "add", path "/a/1e0"): "1e0" is no index of an element' },
    { "a negative index", '[{"op":"add","path":"/a/-1","value":1}]',
      'operation 1 of 1 (op "add", path "/a/-1"): "-1" is no index of an element' },
    { "an empty index", '[{"op":"remove","path":"/a/"}]',
      'operation 1 of 1 (op "remove", path "/a/"): "" is no index of an element' },
    { "an index beyond the end", '[{"op":"remove","path":"/a/2"}]',
      'operation 1 of 1 (op "remove", path "/a/2"): there is no element "2"' },
    { "an index to add beyond the end", '[{"op":"add","path":"/a/3","value":1}]',
      'operation 1 of 1 (op "add", path "/a/3"): there is no element "3"' },
    { "an index of many digits",
      '[{"op":"add","path":"/a/18446744073709551616","value":1}]',
      'operation 1 of 1 (op "add", path "/a/18446744073709551616"): there is no '
        .. 'element "18446744073709551616"' },
    { "the element behind the last where one must be",
      '[{"op":"replace","path":"/a/-","value":1}]',
      'operation 1 of 1 (op "replace", path "/a/-"): "-" is no index of an element' },
    { "the element behind the last on the way",
      '[{"op":"add","path":"/a/-/b","value":1}]',
      'operation 1 of 1 (op "add", path "/a/-/b"): "-" is no index of an element' },
    { "a member within a string", '[{"op":"add","path":"/s/b","value":1}]',
      'operation 1 of 1 (op "add", path "/s/b"): nothing lies within a string' },
    { "a member within null", '[{"op":"test","path":"/n/b","value":1}]',
      'operation 1 of 1 (op "test", path "/n/b"): nothing lies within null' },
    { "a member within a number", '[{"op":"remove","path":"/a/0/0"}]',
      'operation 1 of 1 (op "remove", path "/a/0/0"): nothing lies within a number' },
    { "to replace what is not there", '[{"op":"replace","path":"/b","value":1}]',
      'operation 1 of 1 (op "replace", path "/b"): there is no member "b"' },
    { "to test what is not there", '[{"op":"test","path":"/b","value":null}]',
      'operation 1 of 1 (op "test", path "/b"): there is no member "b"' },
    { "to copy what is not there", '[{"op":"copy","from":"/o/x","path":"/b"}]',
      'operation 1 of 1 (op "copy", from "/o/x", path "/b"): there is no member "x"' },
    { "to move what is not there", '[{"op":"move","from":"/b","path":"/b"}]',
      'operation 1 of 1 (op "move", from "/b", path "/b"): there is no member "b"' },
    { "to move to a deeper place what is not there",
      '[{"op":"move","from":"/b","path":"/o/b"}]',
      'operation 1 of 1 (op "move", from "/b", path "/o/b"): there is no member "b"' },
    { "to move a value into itself", '[{"op":"move","from":"/o","path":"/o/x/y"}]',
      'operation 1 of 1 (op "move", from "/o", path "/o/x/y"): '
        .. "a value can't be moved into itself" },
    { "to move the whole into a part", '[{"op":"move","from":"","path":"/b"}]',
      'operation 1 of 1 (op "move", from "", path "/b"): '
        .. "a value can't be moved into itself" },
    { "to remove the whole", '[{"op":"remove","path":""}]',
      'operation 1 of 1 (op "remove", path ""): '
        .. "the whole document can't be removed" },
  } do
    it(row[1], function()
      local message, index = refusal(operations_of(DOCUMENT), operations_of(row[2]))
      assert.equal(row[3], message)
      assert.equal(1, index)
    end)
  end

  for _, text in ipairs { "{}", '{"op":"remove","path":"/a"}', "1", '"[]"', "null",
    "false" } do
    it("it is " .. text .. " and not an array", function()
      local message, index = refusal({}, operations_of(text))
      assert.equal("a JSON patch is an array of operations", message)
      assert.is_nil(index)
    end)
  end

  it("a name that other tables have, as what is not there", function()
    for _, name in ipairs { "__index", "insert", "n" } do
      local message = refusal({}, { { op = "remove", path = "/" .. name } })
      assert.matches(('there is no member "%s"'):format(name), message, 1, true)
    end
  end)

  it("saying which operation it is", function()
    local document = operations_of '{"a":1}'
    local message, index = refusal(document, operations_of [=[[
      {"op":"remove","path":"/a"}, {"op":"add","path":"/b","value":1},
      {"op":"remove","path":"/a"}, {"op":"remove","path":"/b"}]]=])
    assert.matches("^operation 3 of 4 ", message)
    assert.equal(3, index)
    assert.same({ a = 1 }, document)
  end)
end)

describe("The message about a JSON patch", function()
  local function message_of(path)
    return (refusal({}, { { op = "remove", path = path } }))
  end

  it("is one line, whatever a pointer holds", function()
    assert.matches([[path "/\u0000\n\u001b\"\\"]], message_of '/\0\n\27"\\', 1, true)
  end)

  it("shows 100 octets of a pointer, whole characters", function()
    local message = message_of("/" .. ("a"):rep(98) .. "éb")
    assert.matches('"/' .. ("a"):rep(98) .. '..."', message, 1, true)
    assert.matches('"/' .. ("a"):rep(99) .. '"', message_of("/" .. ("a"):rep(99)), 1,
      true)
    assert.is_true(#message_of("/" .. ("é"):rep(1e6)) < 400)
  end)

  it("shows octets that are no UTF-8 as question marks", function()
    assert.matches('"/a?b"', message_of "/a\255b", 1, true)
  end)
end)

describe("The limits of a JSON patch", function()
  local function copies(count, from, path)
    local operations = {}
    for i = 1, count do
      operations[i] = { op = "copy", from = from, path = path .. i }
    end
    return operations
  end

  it("are 1000 operations, or what is said", function()
    local document = { a = 1 }
    assert.is_table((json_patch.patch(document, copies(1000, "/a", "/a"))))
    local message, index = refusal(document, copies(1001, "/a", "/a"))
    assert.equal("the patch has 1001 operations, more than 1000", message)
    assert.is_nil(index)
    assert.is_nil((json_patch.patch(document, copies(3, "/a", "/a"),
      { operations = 2 })))
    assert.is_table((json_patch.patch(document, copies(1001, "/a", "/a"),
      { operations = 1001 })))
  end)

  it("end a chain of copies that doubles the document each time", function()
    local message, index = refusal({ a = json.array { 1, 2, 3 } },
      copies(100, "", "/x"))
    assert.matches("more than 1000000 values would be copied", message)
    assert.is_true(index > 15 and index < 20)
  end)

  it("count long strings and names as many values", function()
    local text = ("x"):rep(2 ^ 20)
    for _, document in ipairs { { a = text }, { a = { [text] = 1 } } } do
      local message, index = refusal(document, copies(1000, "/a", "/a"))
      assert.matches("more than 1000000 values would be copied", message)
      assert.is_true(index > 50 and index < 70)
    end
  end)

  it("count the document, of which no copy could be made", function()
    local message, index = refusal({ 1, 2, 3 }, json.array {}, { values = 3 })
    assert.equal("the document is beyond a limit: more than 3 values would be copied",
      message)
    assert.is_nil(index)
    assert.same({ 1, 2, 3 },
      json_patch.patch({ 1, 2, 3 }, json.array {}, { values = 4 }))
  end)

  it("count what is shifted in arrays, sixteen elements as one value", function()
    local list = json.array {}
    for i = 1, 160 do list[i] = i end
    local insertion = { { op = "add", path = "/0", value = 0 } }
    local removal = { { op = "remove", path = "/0" } }
    assert.is_table((json_patch.patch(list, insertion, { values = 172 })))
    assert.matches("more than 171", (refusal(list, insertion, { values = 171 })))
    assert.is_table((json_patch.patch(list, removal, { values = 171 })))
    assert.matches("more than 170", (refusal(list, removal, { values = 170 })))
    local append = { { op = "add", path = "/-", value = 0 } }
    assert.is_table((json_patch.patch(list, append, { values = 162 })))
  end)

  it("are 128 levels in the result, so that it can be encoded", function()
    local document = json.decode(("["):rep(127) .. ("]"):rep(127))
    local pointer = ("/0"):rep(126)
    local ok = { { op = "add", path = pointer .. "/-", value = {} } }
    assert.is_string(json.encode((json_patch.patch(document, ok))))
    for _, value in ipairs { { {} }, { a = {} } } do
      for _, op in ipairs { "add", "replace" } do
        local path = pointer .. (op == "add" and "/-" or "")
        local deep = op == "add" and value or { value }
        assert.matches("nested deeper than 128",
          (refusal(document, { { op = op, path = path, value = deep } })))
      end
    end
  end)

  it("are 128 levels after a copy and a move too", function()
    local document = { a = json.decode(("["):rep(100) .. ("]"):rep(100)),
      b = json.decode(("["):rep(100) .. ("]"):rep(100)) }
    for _, op in ipairs { "copy", "move" } do
      local into = { { op = op, from = "/a", path = "/b" .. ("/0"):rep(27) .. "/-" } }
      assert.matches("nested deeper than 128", (refusal(document, into)))
      into[1].path = "/b" .. ("/0"):rep(26) .. "/0"
      assert.is_string(json.encode((json_patch.patch(document, into))))
    end
  end)

  it("are 128 steps of a pointer, or what the depth says", function()
    local message = refusal({}, { { op = "remove", path = ("/a"):rep(129) } })
    assert.matches("a pointer has at most 128 steps", message)
    assert.matches("at most 2 steps",
      (refusal({}, { { op = "remove", path = "/a/a/a" } }, { depth = 2 })))
    assert.matches("no member",
      (refusal({}, { { op = "remove", path = ("/a"):rep(128) } })))
  end)

  it("end a document and a value that contain themselves", function()
    local endless = {}
    endless.a = endless
    assert.matches("deeper than 128", (refusal(endless, json.array {})))
    assert.matches("deeper than 128",
      (refusal({}, { { op = "add", path = "/b", value = endless } })))
    assert.matches("another one",
      (refusal({ a = { a = 1 } }, { { op = "test", path = "", value = endless } })))
  end)
end)
