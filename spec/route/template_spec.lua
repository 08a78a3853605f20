-- SPDX-License-Identifier: MIT
-- URI templates read backwards (core/route/template.h): literals, {name} and {/name} of
-- RFC 6570.
local ffi = require "ffi"
local pure = require "spec.support.pure"

local C = pure.load "route/template"

local function slice(text)
  return ffi.new("struct luaweb_slice", text, #text)
end

--- A template, or nil and why not.
local function construct(text)
  local template, why = ffi.new "struct lw_template", ffi.new "const char *[1]"
  if not C.lw_template_construct(template, slice(text), why) then
    assert.is_true(template.text == nil)
    return nil, ffi.string(why[0])
  end
  return ffi.gc(template, C.lw_template_destruct)
end

--- What a path gives: a list of "name=value", or nil.
local function match(text, path)
  local template = assert(construct(text))
  local pairs_, count = ffi.new "struct luaweb_field[16]", ffi.new "uint32_t[1]"
  if not C.lw_template_match(template, slice(path), pairs_, count) then return nil end
  local list = {}
  for i = 0, count[0] - 1 do
    list[i + 1] = pure.string(pairs_[i].name) .. "=" .. pure.string(pairs_[i].value)
  end
  return list
end

describe("a template", function()
  for template, why in pairs {
    [""]                = "is empty",
    ["x"]               = "does not start with /",
    ["{x}"]             = "does not start with /",
    ["/{x"]             = "has a { without its }",
    ["/x}"]             = "has a } without its {",
    ["/{}"]             = "has an expression that is neither {name} nor {/name}",
    ["/{/}"]            = "has an expression that is neither {name} nor {/name}",
    ["/{a{b}}"]         = "has an expression that is neither {name} nor {/name}",
    ["/{+x}"]           = "has an expression that is neither {name} nor {/name}",
    ["/{x,y}"]          = "has an expression that is neither {name} nor {/name}",
    ["/{x*}"]           = "has an expression that is neither {name} nor {/name}",
    ["/{x:3}"]          = "has an expression that is neither {name} nor {/name}",
    ["/{.x}"]           = "has an expression that is neither {name} nor {/name}",
    ["/{?x}"]           = "has an expression that is neither {name} nor {/name}",
    ["/{x.}"]           = "has an expression that is neither {name} nor {/name}",
    ["/{a b}"]          = "has an expression that is neither {name} nor {/name}",
    ["/{x}/{x}"]        = "names a variable twice",
    ["/{x}{/x}"]        = "names a variable twice",
    ["/{x}{y}"]         = "has two variables with nothing between them",
    ["{/x}{y}"]         = "has two variables with nothing between them",
    ["/x?q=1"]          = "has a literal ? or #: the query is not part of a route",
    ["/x#part"]         = "has a literal ? or #: the query is not part of a route",
    ["/a b"]            = "has a space or a control octet",
    ["/a\0b"]           = "has a space or a control octet",
    ["/a\127"]          = "has a space or a control octet",
    ["/a%2"]            = "has a % that is not followed by two hexadecimal digits",
    ["/a%zz"]           = "has a % that is not followed by two hexadecimal digits",
  } do
    it(("%q is none: it %s"):format(template, why), function()
      local made, reason = construct(template)
      assert.is_nil(made)
      assert.equal(why, reason)
    end)
  end

  it("has up to 16 variables and 32 parts", function()
    local parts = {}
    for i = 1, 16 do parts[i] = ("/{v%d}"):format(i) end
    assert.is_truthy(construct(table.concat(parts)))
    parts[17] = "/{v17}"
    assert.equal("has too many parts", select(2, construct(table.concat(parts))))
    for i = 1, 17 do parts[i] = ("{/v%d}"):format(i) end
    assert.equal("has too many variables", select(2, construct(table.concat(parts))))
  end)
end)

describe("a literal", function()
  it("matches itself and nothing else", function()
    assert.same({}, match("/a/b", "/a/b"))
    for _, path in ipairs { "/a/", "/a/bc", "/a/B", "a/b", "", "//a/b", "/a/b/" } do
      assert.is_nil(match("/a/b", path))
    end
  end)
end)

describe("{name}", function()
  it("captures a part of a segment", function()
    assert.same({ "x=fred" }, match("/hello/{x}", "/hello/fred"))
    assert.same({ "x=a" }, match("/f/{x}.txt", "/f/a.txt"))
    assert.same({ "x=a.b" }, match("/f/{x}.txt", "/f/a.b.txt"))
    assert.same({ "x=a", "y=b" }, match("/{x}/{y}", "/a/b"))
    assert.same({ "a.b_1=z" }, match("/{a.b_1}", "/z"))
  end)

  it("may be empty", function()
    assert.same({ "x=" }, match("/hello/{x}", "/hello/"))
    assert.same({ "x=" }, match("/f/{x}.txt", "/f/.txt"))
  end)

  it("never holds a slash", function()
    assert.is_nil(match("/hello/{x}", "/hello/a/b"))
    assert.is_nil(match("/hello/{x}", "/hello//"))
    assert.is_nil(match("/{x}.txt", "/a/b.txt"))
  end)

  it("takes as much as it can", function()
    assert.same({ "x=a-b", "y=c" }, match("/{x}-{y}", "/a-b-c"))
  end)

  it("keeps the octets as they came, and never cuts an escape in two", function()
    assert.same({ "x=a%2Fb%25" }, match("/{x}", "/a%2Fb%25"))
    assert.is_nil(match("/{x}2F", "/%2F"))
    assert.is_nil(match("/{x}F", "/%2F"))
    assert.same({ "x=%2F" }, match("/{x}F", "/%2FF"))
  end)

  it("is not fooled by a broken escape", function()
    for _, path in ipairs { "/%", "/%2", "/a%zz", "/%%41" } do
      assert.is_nil(match("/{x}", path))
    end
  end)
end)

describe("{/name}", function()
  it("captures a segment, or is not there at all", function()
    assert.same({ "x=fred" }, match("/hello{/x}", "/hello/fred"))
    assert.same({}, match("/hello{/x}", "/hello"))
    assert.same({ "x=" }, match("/hello{/x}", "/hello/"))
    assert.is_nil(match("/hello{/x}", "/hello/a/b"))
    assert.is_nil(match("/hello{/x}", "/hellofred"))
  end)

  it("may follow another one", function()
    assert.same({ "x=a", "y=b" }, match("/d{/x}{/y}", "/d/a/b"))
    assert.same({ "x=a" }, match("/d{/x}{/y}", "/d/a"))
    assert.same({}, match("/d{/x}{/y}", "/d"))
  end)

  it("may be first, and stand in the middle", function()
    assert.same({ "x=a" }, match("{/x}", "/a"))
    assert.same({ "x=en" }, match("/docs{/x}/index", "/docs/en/index"))
    assert.same({}, match("/docs{/x}/index", "/docs/index"))
  end)

  it("may follow {name}", function()
    assert.same({ "x=a", "y=b" }, match("/{x}{/y}", "/a/b"))
    assert.same({ "x=a" }, match("/{x}{/y}", "/a"))
  end)
end)

describe("matching", function()
  it("ends soon for a path that was made to make it slow", function()
    local dashes = ("-"):rep(8000)
    local start = os.clock()
    assert.is_nil(match("/{a}-{b}-{c}-{d}-{e}x", "/" .. dashes))
    assert.is_nil(match("/{a}%2D{b}%2D{c}%2D{d}x", "/" .. ("%2D"):rep(2600)))
    assert.is_true(os.clock() - start < 0.5)
  end)

  it("captures a value as long as a path may be", function()
    assert.same({ "x=" .. ("y"):rep(8000) }, match("/{x}", "/" .. ("y"):rep(8000)))
  end)
end)

describe("comparing", function()
  local function sign(a, b)
    local order = C.lw_template_compare((construct(a)), (construct(b)))
    return order < 0 and "first" or order > 0 and "second" or "equal"
  end

  for _, case in ipairs {
    { "/users/me", "/users/{id}" },
    { "/users/{id}", "/{any}/{id}" },
    { "/files", "/files{/name}" },
    { "/files/{name}", "/files{/name}" },
    { "/{x}/edit", "/{x}/{y}" },
    { "/{x}.txt", "/{x}" },
    { "/a{x}", "/{x}" },
  } do
    it(("tries %s before %s"):format(case[1], case[2]), function()
      assert.equal("first", sign(case[1], case[2]))
      assert.equal("second", sign(case[2], case[1]))
    end)
  end

  it("finds equal what differs only in names", function()
    assert.equal("equal", sign("/{a}/x{/b}", "/{c}/x{/d}"))
  end)
end)
