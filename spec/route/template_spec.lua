-- SPDX-License-Identifier: MIT
-- Reading URI templates (core/route/template.h): RFC 6570 §2.
local ffi = require "ffi"
local pure = require "spec.support.pure"
local templates = require "spec.route.templates"

local C = templates.C

local function fault(text)
  local template, why = templates.template(text)
  return template == nil and why or nil
end

-- Why a template is no resource's, or nil and the parts of its path.
local function path_fault(text)
  local why = ffi.new "const char *[1]"
  local parts = C.lw_template_path(assert(templates.template(text)), why)
  if parts < 0 then return ffi.string(why[0]) end
  return nil, parts
end

describe("a template", function()
  for text, why in pairs {
    ["/{x"]       = "has a { without its }",
    ["/x}"]       = "has a } without its {",
    ["/{x}}"]     = "has a } without its {",
    ["/{}"]       = "has an expression that is not {names}",
    ["/{/}"]      = "has an expression that is not {names}",
    ["/{a{b}}"]   = "has an expression that is not {names}",
    ["/{a b}"]    = "has an expression that is not {names}",
    ["/{a,}"]     = "has an expression that is not {names}",
    ["/{a,,b}"]   = "has an expression that is not {names}",
    ["/{x.}"]     = "has an expression that is not {names}",
    ["/{.x.}"]    = "has an expression that is not {names}",
    ["/{x..y}"]   = "has an expression that is not {names}",
    ["/{?.x}"]    = "has an expression that is not {names}",
    ["/{x-y}"]    = "has an expression that is not {names}",
    ["/{%4}"]     = "has an expression that is not {names}",
    ["/{x*:3}"]   = "has an expression that is not {names}",
    ["/{x:3*}"]   = "has an expression that is not {names}",
    ["/{x**}"]    = "has an expression that is not {names}",
    ["/{x:12345}"] = "has an expression that is not {names}",
    ["/{x:}"]     = "has a prefix that is not :1 to :9999",
    ["/{x:0}"]    = "has a prefix that is not :1 to :9999",
    ["/{x:a}"]    = "has a prefix that is not :1 to :9999",
    ["/{=x}"]     = "has an operator that RFC 6570 keeps for later",
    ["/{,x}"]     = "has an operator that RFC 6570 keeps for later",
    ["/{!x}"]     = "has an operator that RFC 6570 keeps for later",
    ["/{@x}"]     = "has an operator that RFC 6570 keeps for later",
    ["/{|x}"]     = "has an operator that RFC 6570 keeps for later",
    ["/{x}/{x}"]  = "names a variable twice",
    ["/{x}{?y,x}"] = "names a variable twice",
    ["/{%C3%A9}{%c3%a9}"] = "names a variable twice",
    ["/a b"]      = "has a space or a control octet",
    ["/a\0b"]     = "has a space or a control octet",
    ["/a\127"]    = "has a space or a control octet",
    ["/a|b"]      = "has one of the octets \" < > \\ ^ ` | outside of an expression",
    ["/<a>"]      = "has one of the octets \" < > \\ ^ ` | outside of an expression",
    ["/a%2"]      = "has a % that is not followed by two hexadecimal digits",
    ["/a%zz"]     = "has a % that is not followed by two hexadecimal digits",
    ["/%ff"]      = "is not UTF-8",
    ["/\255{x}"]  = "is not UTF-8",
    ["/{%ff}"]    = "has a name that is not UTF-8",
  } do
    it(("%q is none: it %s"):format(text, why), function()
      assert.equal(why, fault(text))
    end)
  end

  for _, text in ipairs {
    "", "x", "/", "{x}", "/{x}", "/{+x}", "{#x}", "/{.x}", "{/x}", "/{;x}", "/{?x}",
    "/{&x}", "/{x,y,z}", "/{x*}", "/{x:3}", "/{x:9999}", "/{a.b_1}", "/{%41.b}",
    "/?q=1#f", "/'it'", "/[a]", "/{/x*,y:4}", "/é{é}" } do
    local is_one = text ~= "/é{é}"
    it(("%q is %s"):format(text, is_one and "one" or "none"), function()
      assert.equal(is_one, fault(text) == nil)
    end)
  end

  it("has up to 16 variables", function()
    for _, form in ipairs { "{/v%d}", "/{v%d}/x" } do
      local list = {}
      for i = 1, 16 do list[i] = form:format(i) end
      assert.is_nil(fault(table.concat(list)))
      list[17] = "/{v17}"
      assert.equal("has more than 16 variables", fault(table.concat(list)))
    end
    local names = {}
    for i = 1, 16 do names[i] = "v" .. i end
    assert.is_nil(fault("/{" .. table.concat(names, ",") .. "}"))
    names[17] = "v17"
    assert.equal("has more than 16 variables",
      fault("/{" .. table.concat(names, ",") .. "}"))
  end)

  it("has up to 8192 octets", function()
    assert.is_nil(fault("/" .. ("a"):rep(8191)))
    assert.equal("is longer than 8192 octets", fault("/" .. ("a"):rep(8192)))
  end)

  it("is taken apart: literals in normal form, names as written", function()
    local t = templates.template "/caf%c3%a9/%41{/x*,y:4}{?Stra%C3%9Fe}"
    assert.same({ 3, 2, 3 }, { t.part_count, t.expression_count, t.variable_count })
    assert.equal("/café/A", pure.string(t.parts[0].literal))
    assert.equal(0, tonumber(t.parts[1].literal.size))
    assert.same({ C.LW_OPERATOR_SEGMENT, 0, 2 },
      { t.expressions[0].op, t.expressions[0].first, t.expressions[0].count })
    assert.same({ "x", true, 0 }, { pure.string(t.variables[0].name),
      t.variables[0].is_exploded, t.variables[0].prefix })
    assert.same({ "y", false, 4 }, { pure.string(t.variables[1].name),
      t.variables[1].is_exploded, t.variables[1].prefix })
    assert.equal("Stra%C3%9Fe", pure.string(t.variables[2].name))
    assert.equal("Straße", pure.string(t.variables[2].key))
    assert.equal("/caf%c3%a9/%41{/x*,y:4}{?Stra%C3%9Fe}", pure.string(t.text))
  end)
end)

describe("a resource's template", function()
  for text, why in pairs {
    [""]              = "is empty",
    ["x"]             = "does not start with /",
    ["{x}"]           = "does not start with /",
    ["{.x}"]          = "does not start with /",
    ["{?x}"]          = "does not start with /",
    ["/x?q=1"]        = "has literal text in its query: only {?name} and {&name} "
                        .. "can be there",
    ["/x?{q}"]        = "has literal text in its query: only {?name} and {&name} "
                        .. "can be there",
    ["/x#part"]       = "has a #: no request carries a fragment",
    ["/x{#part}"]     = "has {#...}: no request carries a fragment",
    ["/x{?q}/y"]      = "has something behind its query",
    ["/x{?q}{y}"]     = "has something behind its query",
    ["/x{&q}"]        = "has {&...} without {?...} before it",
    ["/x{?p}{?q}"]    = "has {?...} behind its query: go on with {&...}",
    ["/{x}{y}"]       = "has two variables with nothing between them",
    ["/{+x}{y}"]      = "has two variables with nothing between them",
    ["/{+x}{+y}"]     = "has two variables with nothing between them",
  } do
    it(("is not %q: it %s"):format(text, why), function()
      assert.equal(why, path_fault(text))
    end)
  end

  for text, parts in pairs {
    ["/"] = 1, ["/a{x}"] = 2, ["{/x}"] = 1, ["/a{?x}"] = 1, ["/a{?x}{&y,z*}"] = 1,
    ["/{x}{+y}"] = 3, ["/{x:3}{y}"] = 3, ["/{x}{.y}{;z}"] = 4, ["/{x}/{y}{?z}"] = 4,
  } do
    it(("may be %q: %d parts are of the path"):format(text, parts), function()
      assert.same({ nil, parts }, { path_fault(text) })
    end)
  end
end)
