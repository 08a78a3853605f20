-- SPDX-License-Identifier: MIT
-- What templates capture, as handlers see it, what machines demand of it, and templates
-- that contradict each other (lua/luaweb/app.lua, params.lua, request.lua).
local cjson = require "cjson"
local pure = require "spec.support.pure"
local test = require "luaweb.test"
local web = require "luaweb"

local captured

local function capture(req)
  captured = req.params
  return 204
end

--- A client of an app with a resource for each template.
local function client_of(templates, machine)
  local list = {}
  for i, template in ipairs(templates) do
    list[i] = web.resource(template, machine or web.machine { do_any = capture })
  end
  return test.app(web.app(list))
end

--- What was captured, or the status of the answer.
local function params_of(client, target)
  captured = nil
  local status = client:get(target).status
  return status == 204 and captured or status
end

--- Why an app does not load, without the place in front.
local function fault(list)
  local ok, message = pcall(function() return web.app(list):install() end)
  assert.is_false(ok)
  return (message:gsub("^[^%s]*:%d+: ", ""))
end

describe("req.params", function()
  local client = client_of { "/t/{x}", "/l/{x*}", "/s{/x*}", "/m{;x*}", "/p/{+x}",
    "/two/{x,y}", "/q/{x}{?y,z*}", "/caf%C3%A9/{x}", "/f/{name}.{format}" }

  for target, params in pairs {
    ["/t/a%20b"]             = { x = "a b" },
    ["/t/a%2Fb"]             = { x = "a/b" },
    ["/t/%252F+"]            = { x = "%2F+" },
    ["/t/%E2%82%AC"]         = { x = "€" },
    ["/t/"]                  = {},
    ["/t/a,b"]               = { x = { "a", "b" } },
    ["/l/a"]                 = { x = { "a" } },
    ["/s"]                   = {},
    ["/s/a/b%2Fc"]           = { x = { "a", "b/c" } },
    ["/m;x=1;x=2"]           = { x = { "1", "2" } },
    ["/m;a=%2F;b=2"]         = { x = { a = "/", b = "2" } },
    ["/p/a/b"]               = { x = "a/b" },
    ["/two/1,2,3"]           = { x = "1", y = { "2", "3" } },
    ["/q/1"]                 = { x = "1" },
    ["/q/1?y=a+b&other=c"]   = { x = "1", y = "a b", z = { other = "c" } },
    ["/q/1?z=1&y=%26&z=2"]   = { x = "1", y = "&", z = { "1", "2" } },
    ["/caf%c3%a9/1"]         = { x = "1" },
    ["/f/a.tar.gz"]          = { name = "a.tar", format = "gz" },
  } do
    it("of " .. target, function()
      assert.same(params, params_of(client, target))
    end)
  end

  it("has lists that are JSON arrays, and maps that are objects", function()
    local function json(target)
      local asked = test.app(web.app {
        web.get("/l{/x*}{?m*}", function(req) return web.json(req.params) end),
      })
      return cjson.decode(asked:get(target).body)
    end
    assert.same({ x = { "a" } }, json "/l/a")
    assert.same({ m = { a = "1" } }, json "/l?a=1")
  end)

  it("may be kept when the request has ended", function()
    local params = params_of(client, "/two/1,2,3")
    params_of(client, "/two/7,8,9")
    assert.same({ x = "1", y = { "2", "3" } }, params_of(client, "/two/1,2,3"))
    assert.same({ x = "1", y = { "2", "3" } }, params)
  end)

  it("has all the segments of a long path", function()
    local params = params_of(client, "/s" .. ("/%C3%A9"):rep(1000))
    assert.equal(1000, #params.x)
    assert.equal("é", params.x[1000])
  end)

  for _, target in ipairs { "/t/%zz", "/t/%FF", "/T/a", "/t/a/b", "/m;=1", "/m;",
    "/t" } do
    it(("is of no use for %s: 404"):format(target), function()
      assert.equal(404, params_of(client, target))
    end)
  end

  it("ends with a 404 for a path that was made to make it slow", function()
    local slow = client_of { "/{a}-{b}-{c}-{d}-{e}-{f}.html" }
    assert.equal(404, params_of(slow, "/" .. ("-"):rep(8000)))
    assert.equal(404, params_of(slow, "/" .. ("-."):rep(4000)))
  end)
end)

describe("the corpus of templates, served", function()
  local SERVED = { level1 = true, level3 = true, level4 = true, route = true }

  for _, case in ipairs(pure.cases "uri-template-match") do
    local is_route = SERVED[case.kind] and case.template:find "^/"
      and not case.template:find "[?#].*{&" and case.match and not case.either
    if is_route then
      it(case.id, function()
        local params = params_of(client_of { case.template }, case.path)
        for _, accepted in ipairs { case.vars, unpack(case.also or {}) } do
          if pcall(assert.same, accepted, params) then return end
        end
        assert.same(case.vars, params)
      end)
    end
  end
end)

describe("params of a machine", function()
  local function machine(params)
    return web.machine { do_any = capture, params = params }
  end

  it("make numbers of what they demand", function()
    local client = client_of({ "/{id}" }, machine { id = "int" })
    assert.same({ id = 7 }, params_of(client, "/7"))
    assert.same({ id = -7 }, params_of(client, "/-007"))
    assert.equal("0", tostring(params_of(client, "/-0").id))
    assert.same({ id = 9007199254740992 }, params_of(client, "/9007199254740992"))
    for _, target in ipairs { "/", "/x", "/7.5", "/9007199254740993", "/1,2", "/7x" } do
      assert.equal(404, params_of(client, target))
    end
    client = client_of({ "/{n}" }, machine { n = "number" })
    assert.same({ n = -1.5e3 }, params_of(client, "/-1.5e3"))
    assert.equal(404, params_of(client, "/0x10"))
    client = client_of({ "{/ids*}{?page}" }, machine { ids = "int", page = "int" })
    assert.same({ ids = { 1, 2 }, page = 3 }, params_of(client, "/1/2?page=3"))
    assert.equal(404, params_of(client, "/1/b"))
    assert.equal(404, params_of(client, "/1?page=b"))
  end)

  it("leave UUIDs as they came", function()
    local client = client_of({ "/{u}" }, machine { u = "uuid" })
    local uuid = "F81D4FAE-7DEC-11D0-A765-00A0C91E6BF6"
    assert.same({ u = uuid }, params_of(client, "/" .. uuid))
    assert.equal(404, params_of(client, "/" .. uuid .. "0"))
  end)

  it("may be a Lua pattern, for the whole of a value", function()
    local client = client_of({ "/{x}{/y}" }, machine { x = "%a%d?", y = "^[%w_]+$" })
    assert.same({ x = "a" }, params_of(client, "/a"))
    assert.same({ x = "a1", y = "b_2" }, params_of(client, "/a1/b_2"))
    for _, target in ipairs { "/", "/aa", "/a12", "/a/", "/a/b-c", "/a,b" } do
      assert.equal(404, params_of(client, target))
    end
    client = client_of({ "/l{/x*}" }, machine { x = "%a+" })
    assert.same({ x = { "a", "b" } }, params_of(client, "/l/a/b"))
    assert.equal(404, params_of(client, "/l/a/1"))
    client = client_of({ "/d/{x}" }, machine { x = "a%$" })
    assert.same({ x = "a$" }, params_of(client, "/d/a$"))
    assert.equal(404, params_of(client, "/d/ab"))
  end)

  it("guard every handler, also a text", function()
    local client = client_of({ "/{x}" }, web.machine {
      params = { x = "%d+" }, handle_ok = "text", do_put = function() return "put" end,
    })
    assert.equal("text", client:get("/1").body)
    assert.equal("put", client:put("/1").body)
    assert.equal(404, client:get("/a").status)
    assert.equal(404, client:head("/a").status)
    assert.equal(404, client:put("/a").status)
  end)

  it("are the machine's: no other resource is tried", function()
    local client = test.app(web.app {
      web.resource("/{id}", machine { id = "int" }), web.any("/{+rest}", capture),
    })
    assert.equal(404, params_of(client, "/a"))
    assert.same({ rest = "a/b" }, params_of(client, "/a/b"))
  end)

  it("may be said twice for one template, if they say the same", function()
    local client = test.app(web.app {
      web.resource("/{id}", web.machine { params = { id = "int" }, handle_ok = "got" }),
      web.resource("/{id}", web.machine { params = { id = "int" }, do_put = capture }),
    })
    assert.equal("got", client:get("/1").body)
    assert.equal(404, client:put("/x").status)
    assert.matches('^params: "/{id}" has params already, declared at ', fault {
      web.resource("/{id}", machine { id = "int" }),
      web.resource("/{id}", machine { id = "number" }),
    })
  end)

  it("must name a variable of the template", function()
    assert.equal('params: the template "/{id}" has no variable name',
      fault { web.resource("/{id}", machine { name = "int" }) })
  end)

  for why, params in pairs {
    ['wants a table like { id = "int" }'] = "int",
    ['id: wants "int", "number", "uuid" or a Lua pattern'] = { id = 5 },
    ['1: wants "int", "number", "uuid" or a Lua pattern'] = { "int" },
    ['id: the pattern "[a" has a [ without its ]'] = { id = "[a" },
    ['id: the pattern "[^]a" has a [ without its ]'] = { id = "[^]a" },
    ['id: the pattern "[a%]" has a [ without its ]'] = { id = "[a%]" },
    ['id: the pattern "%a+%" ends with %'] = { id = "%a+%" },
    ['id: the pattern "(a" has a ( without its )'] = { id = "(a" },
    ['id: the pattern "a)" has a ) without its ('] = { id = "a)" },
    ['id: the pattern "%bx" has %b without two characters'] = { id = "%bx" },
    ['id: the pattern "%fa" has %f without a set'] = { id = "%fa" },
    ['id: the pattern "%1" has %1 without that capture'] = { id = "%1" },
    ['id: the pattern "(%1)" has %1 without that capture'] = { id = "(%1)" },
    ['id: "integer" is no pattern (did you mean "int"?)'] = { id = "integer" },
    ['id: "UUID" is no pattern (did you mean "uuid"?)'] = { id = "UUID" },
    ['id: "me" is no pattern, but a text: only one value would do'] = { id = "me" },
    ['id: "en|de" is no pattern: Lua patterns have no |'] = { id = "en|de" },
    [ [[id: the pattern "\\d+" has a \: Lua patterns have %d, no \d]] ] =
      { id = "\\d+" },
    ['id: the pattern "[a-z]{3}" has {3}: Lua patterns have no {n}'] =
      { id = "[a-z]{3}" },
  } do
    it(("are refused: %s"):format(why), function()
      local ok, message = pcall(web.resource, "/{id}", machine(params))
      assert.is_false(ok)
      assert.equal("/{id}: params: " .. why, (message:gsub("^[^%s]*:%d+: ", "")))
    end)
  end

  it("may be any Lua pattern", function()
    for _, pattern in ipairs { "%a", "[]]", "[^]]", "[%]]", "(a)%1", "%b()", "().",
      "%f[%w]a", "((a)b+)", "a-", "^a$", "$", "^", "%^", ".*", "[a-z%-]", "%%", "[[]",
      "%a%{3}", "a%\\b", "{%a}", "[{3}]",
    } do
      assert.is_truthy(web.resource("/{id}", machine { id = pattern }))
    end
  end)
end)

describe("templates of one app", function()
  local function nothing() end

  it("are one when they mean the same, however they are written", function()
    local client = test.app(web.app {
      web.get("/caf%C3%A9{?a,b}", function() return "got" end),
      web.put("/café{?b}{&a}", function() return "put" end),
    })
    assert.equal("got", client:get("/caf%C3%A9").body)
    assert.equal("put", client:put("/caf%c3%a9?b=1").body)
  end)

  it("are named with both places when only the names differ", function()
    assert.matches('^the template "/{b}" matches the same paths as a template declared '
      .. 'before: "/{a}" at [^ ]*params_spec.lua:%d+$',
      fault { web.get("/{a}", nothing), web.put("/{b}", nothing) })
    assert.matches('^the template "/s{%?q}" matches the same paths as a template '
      .. 'declared before: "/s" at [^ ]*params_spec.lua:%d+$',
      fault { web.get("/s", nothing), web.put("/s{?q}", nothing) })
  end)

  it("are named with both places when nothing leads to one of them", function()
    assert.matches('^the template "/{x,y}" is never reached: its paths go to "/{x}" '
      .. 'at [^ ]*params_spec.lua:%d+$',
      fault { web.get("/{x,y}", nothing), web.get("/{x}", nothing) })
  end)

  it("may not have text in their query, nor a fragment", function()
    assert.equal('the template "/s?a=1" has literal text in its query: only {?name} '
      .. 'and {&name} can be there', fault { web.get("/s?a=1", nothing) })
    assert.equal('the template "/s{#a}" has {#...}: no request carries a fragment',
      fault { web.get("/s{#a}", nothing) })
  end)

  it("are chosen by what is more specific", function()
    local list = {}
    for i, template in ipairs { "/{+any}", "/users/{id}", "/users/me",
      "/users/{id}.json", "/{y}-{m}", "/{y}-{m}-{d}" } do
      list[i] = web.get(template, function() return template end)
    end
    local client = test.app(web.app(list))
    for path, template in pairs {
      ["/users/me"] = "/users/me", ["/users/7"] = "/users/{id}",
      ["/users/7.json"] = "/users/{id}.json", ["/users/7/x"] = "/{+any}",
      ["/2024-05"] = "/{y}-{m}", ["/2024-05-06"] = "/{y}-{m}-{d}", ["/x"] = "/{+any}",
    } do
      assert.equal(template, client:get(path).body)
    end
  end)
end)
