-- SPDX-License-Identifier: MIT
-- web.url (lua/luaweb/url.lua): URI templates expanded.  RFC 6570; the corpus, and the
-- public test set of URI templates where it lies beside the checkout.
local cjson = require "cjson"
local pure = require "spec.support.pure"
local web = require "luaweb"

local DATASET = "../shared/datasets/uritemplate-test/"

local function values(vars)
  local result = {}
  for name, value in pairs(vars) do
    if value ~= cjson.null then result[name] = value end
  end
  return result
end

local function is_one_of(text, list)
  for _, one in ipairs(list) do
    if one == text then return true end
  end
  return false
end

describe("the corpus of expansions", function()
  for _, case in ipairs(pure.cases "uri-template-match") do
    if case.kind == "expand" then
      it(("%s: %s"):format(case.id, case.template), function()
        assert.equal(case.path, web.url(case.template, values(case.vars)))
      end)
    end
  end
end)

-- A case of the test set: the expansion, several of them, or false: an error.
local function define(group, number, vars, template, expected)
  local title = ("%s, %d: %s"):format(group, number, template)
  if expected == false then
    return it(title .. " is an error", function()
      assert.has_error(function() web.url(template, vars) end)
    end)
  end
  it(title, function()
    local url = web.url(template, vars)
    if type(expected) == "table" then
      return assert.is_true(is_one_of(url, expected), url)
    end
    assert.equal(expected, url)
  end)
end

for _, name in ipairs { "spec-examples", "spec-examples-by-section", "extended-tests",
  "negative-tests" } do
  local file = io.open(DATASET .. name .. ".json")
  if file then
    local groups = cjson.decode(file:read "*a")
    file:close()
    describe(name, function()
      for group, content in pairs(groups) do
        for number, case in ipairs(content.testcases) do
          define(group, number, values(content.variables), case[1], case[2])
        end
      end
    end)
  end
end

describe("web.url", function()
  it("takes a resource for its template", function()
    local todo = web.get("/todo{/id}", function() end)
    assert.equal("/todo/7", web.url(todo, { id = 7 }))
    assert.equal("/todo", web.url(todo))
  end)

  it("writes numbers and booleans as people do", function()
    local function written(value) return web.url("{x}", { x = value }) end
    assert.equal("1000000000000000", written(1e15))
    assert.equal("9007199254740992", written(2^53))
    assert.equal("0", written(-0))
    assert.equal("0.1", written(0.1))
    assert.equal("-1.5e-07", written(-1.5e-7))
    assert.equal(tostring(2/3), tostring(tonumber(written(2/3))))
    assert.equal(2/3, tonumber(written(2/3)))
    assert.equal("true", written(true))
  end)

  it("writes lists in order, and maps by key unless they are lists of pairs", function()
    local map = { b = 2, a = 1, c = web.null }
    local list = { { "b", 2 }, { "a", 1 }, { "c", web.null } }
    assert.equal("/x?a=1&b=2", web.url("/x{?m*}", { m = map }))
    assert.equal("/x?b=2&a=1", web.url("/x{?m*}", { m = list }))
    assert.equal("/x?m=a,1,b,2", web.url("/x{?m}", { m = map }))
    assert.equal("/c/a/b", web.url("{/l*}", { l = { "c", "a", "b" } }))
  end)

  it("leaves out what is not there: nil, null, empty tables", function()
    assert.equal("/a", web.url("/a{/x}{?y,z*}{#w}",
      { x = web.null, y = {}, z = web.array {} }))
    assert.equal("/a/b", web.url("/a{/x*}", { x = { web.null, "b" } }))
  end)

  it("lets no value or key pass for something else", function()
    assert.equal("/a%2Fb%3Fc%23d%26e%3D%25", web.url("/{x}", { x = "a/b?c#d&e=%" }))
    assert.equal("/?a%26b%3Dc=1", web.url("/{?m*}", { m = { ["a&b=c"] = 1 } }))
    assert.equal("/%00%0D%0A", web.url("/{x}", { x = "\0\r\n" }))
  end)

  it("cuts prefixes between characters, kept escapes being one", function()
    assert.equal("/%C3%BC%E2%82%AC", web.url("/{x:2}", { x = "ü€a" }))
    assert.equal("/%20a", web.url("/{+x:2}", { x = "%20ab" }))
    assert.equal("/%2520", web.url("/{x:3}", { x = "%20ab" }))
  end)

  it("refuses what can't be written, naming it and who called", function()
    local function fault(...)
      local ok, message = pcall(web.url, ...)
      assert.is_false(ok)
      return (message:gsub("^.-:%d+: ", ""))
    end
    assert.equal("web.url: x: a function has no text", fault("/{x}", { x = print }))
    assert.equal("web.url: x: nan has no text",
      (fault("/{x}", { x = 0/0 }):gsub("%-nan", "nan")))
    assert.equal("web.url: x: a table has no text", fault("/{x}", { x = { a = {} } }))
    assert.equal("web.url: x: a prefix can't be taken of a table",
      fault("/{x:3}", { x = { 1 } }))
    assert.equal('web.url: "/{a b}" has an expression that is none: {a b}',
      fault("/{a b}", {}))
    assert.equal('web.url: "/a b" is no URI template', fault("/a b", {}))
    assert.equal("web.url wants a template or a resource first", fault(5))
    assert.equal("web.url wants a table of values second", fault("/{x}", "a"))
    local _, message = pcall(function() web.url("/{", {}) end)
    assert.matches("uritemplate_spec.lua:%d+: web.url", message)
  end)

  it("knows a template again after thousands of others", function()
    for i = 1, 2500 do assert.equal("/" .. i, web.url("/" .. i .. "{x}")) end
    assert.equal("/1v", web.url("/1{x}", { x = "v" }))
  end)
end)
