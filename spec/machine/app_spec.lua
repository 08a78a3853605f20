-- SPDX-License-Identifier: MIT
-- Who serves a request (core/machine/app.h): RFC 9110 §9.1, §15.5.5, §15.5.6, §15.6.2.
local ffi = require "ffi"
local pure = require "spec.support.pure"

local templates = require "spec.route.templates"

pure.load "base/arena"
pure.load "machine/machine"
local C, slice = pure.load "machine/app", templates.slice

local function new_app()
  local app = ffi.new "struct luaweb_app"
  C.lw_app_construct(app)
  return ffi.gc(app, C.lw_app_destruct)
end

local function add_machine(app, lines, body_limit)
  local why = ffi.new "const char *[1]"
  local number = C.lw_app_add_machine(app, slice(lines), body_limit or 0, why)
  return number, number < 0 and ffi.string(why[0]) or nil
end

--- Adds a resource with its machine: its number, or nil and why not.
local function add_resource(app, template, machine)
  local refusal = ffi.new "struct lw_refusal"
  local number = C.lw_app_add_resource(app, slice(template), refusal)
  if number < 0 then return nil, ffi.string(refusal.why), refusal.other end
  C.lw_app_assign(app, number, machine)
  return number
end

--- The number of a resource that nothing leads to, or nil.
local function build(app)
  local winner = ffi.new "int32_t[1]"
  local hidden = C.lw_app_build(app, winner)
  if hidden >= 0 then return hidden, winner[0] end
end

local function demand(app, resource, name, what)
  return C.lw_app_demand(app, resource, slice(name), C["LUAWEB_DEMAND_" .. what])
end

--- What is to be done: a table, whose `vars` are what was captured.
local function decide(app, method, target, is_server_wide)
  local request = ffi.new "struct luaweb_request"
  local decision = ffi.new "struct lw_decision"
  local path, query = target:match "^([^?]*)%??(.*)$"
  request.method, request.path, request.query = slice(method), slice(path), slice(query)
  request.has_query = target:find("?", 1, true) and 1 or 0
  local arena = ffi.new "struct lw_arena"
  C.lw_arena_construct(arena)
  C.lw_app_decide(app, request, is_server_wide or false, arena, decision)
  local vars = decision.status == 0 and templates.vars(decision.match) or nil
  C.lw_arena_destruct(arena)
  local allow = decision.allow ~= nil and ffi.string(decision.allow) or nil
  return { status = decision.status, fn = decision["function"], allow = allow,
    body_limit = tonumber(decision.body_limit), vars = vars,
    resource = pure.string(decision.resource) }
end

describe("an app", function()
  local app = new_app()
  local read = add_machine(app, "GET 1\nHEAD 1", 100)
  local write = add_machine(app, "PUT 2\nBREW 3", 200)
  local any = add_machine(app, "* 4", 300)
  add_resource(app, "/read/{x}", read)
  add_resource(app, "/also", read)
  add_resource(app, "/write", write)
  add_resource(app, "/any", any)
  build(app)

  it("gives the function for method and path, and what was captured", function()
    local found = decide(app, "GET", "/read/a%20b")
    assert.same({ 0, 1, 100, { x = "a b" } },
      { found.status, found.fn, found.body_limit, found.vars })
    assert.equal(3, decide(app, "BREW", "/write").fn)
    assert.equal(200, decide(app, "BREW", "/write").body_limit)
    assert.equal(4, decide(app, "QUERY", "/any").fn)
  end)

  it("may have one machine at several templates", function()
    assert.equal(1, decide(app, "HEAD", "/also").fn)
  end)

  it("answers 404 where no template matches, without Allow", function()
    for _, method in ipairs { "GET", "OPTIONS", "TRACE", "WHATEVER" } do
      local found = decide(app, method, "/missing")
      assert.same({ 404, nil }, { found.status, found.allow })
    end
  end)

  it("answers 405 and Allow for a method that the machine has not", function()
    for _, method in ipairs { "POST", "PUT", "PATCH", "DELETE" } do
      local found = decide(app, method, "/also")
      assert.same({ 405, "GET, HEAD, OPTIONS" }, { found.status, found.allow })
    end
    assert.equal("PUT, BREW, OPTIONS", decide(app, "GET", "/write").allow)
  end)

  it("answers 405 for a custom method that another machine has", function()
    assert.equal(405, decide(app, "BREW", "/also").status)
  end)

  it("answers 501 for methods that no machine has", function()
    for _, method in ipairs { "TRACE", "CONNECT", "QUERY", "get", "brew" } do
      assert.equal(501, decide(app, method, "/also").status)
    end
    assert.equal(501, decide(app, "TRACE", "/any").status)
    assert.equal(501, decide(app, "CONNECT", "").status)
  end)

  it("answers OPTIONS with 204 and Allow", function()
    local found = decide(app, "OPTIONS", "/any")
    assert.same({ 204, "GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS" },
      { found.status, found.allow })
  end)

  it("answers OPTIONS * with 204", function()
    assert.equal(204, decide(app, "OPTIONS", "*", true).status)
  end)

  it("gives OPTIONS to a machine that names it", function()
    local other = new_app()
    add_resource(other, "/x", (add_machine(other, "OPTIONS 9")))
    build(other)
    assert.same({ 0, 9 }, { decide(other, "OPTIONS", "/x").status,
      decide(other, "OPTIONS", "/x").fn })
  end)
end)

describe("building an app", function()
  it("numbers machines from 0", function()
    local app = new_app()
    assert.equal(0, (add_machine(app, "GET 1")))
    assert.equal(1, (add_machine(app, "GET 1")))
  end)

  it("says why a machine or a template is refused, and stays as it is", function()
    local app = new_app()
    assert.same({ -1, "TRACE and CONNECT are never served" },
      { add_machine(app, "TRACE 1") })
    local machine = add_machine(app, "GET 1")
    assert.equal(0, machine)
    assert.same({ nil, "does not start with /", -1 },
      { add_resource(app, "x", machine) })
    assert.equal(0, (add_resource(app, "/{x}", machine)))
    assert.same({ nil, "matches the same paths as a template declared before", 0 },
      { add_resource(app, "/{y}", machine) })
    assert.is_nil(build(app))
    assert.equal(1, decide(app, "GET", "/x").fn)
  end)

  it("holds many of both", function()
    local app = new_app()
    for i = 0, 299 do
      local machine = add_machine(app, ("GET %d"):format(i))
      add_resource(app, ("/r%d"):format(i), machine)
    end
    build(app)
    assert.equal(0, decide(app, "GET", "/r0").fn)
    assert.equal(299, decide(app, "GET", "/r299").fn)
  end)

  it("has one resource for templates of one meaning, and the last machine", function()
    local app = new_app()
    local first, second = add_machine(app, "GET 1"), add_machine(app, "GET 2")
    assert.equal(0, (add_resource(app, "/caf%C3%A9", first)))
    assert.equal(0, (add_resource(app, "/café", second)))
    build(app)
    assert.equal(2, decide(app, "GET", "/caf%c3%a9").fn)
  end)

  it("finds the resource that nothing leads to", function()
    local app = new_app()
    local machine = add_machine(app, "GET 1")
    add_resource(app, "/{x,y}", machine)
    add_resource(app, "/a", machine)
    add_resource(app, "/{x}", machine)
    assert.same({ 0, 2 }, { build(app) })
  end)
end)

describe("what is demanded of a variable", function()
  local app = new_app()
  local machine = add_machine(app, "GET 1")

  local function add(template, demands)
    local number = add_resource(app, template, machine)
    for name, what in pairs(demands) do
      assert.is_true(demand(app, number, name, what))
    end
    return number
  end

  add("/int/{id}", { id = "INT" })
  add("/list/{id*}", { id = "INT" })
  add("/opt{/id}", { id = "UUID" })
  add("/two/{a,b}", { b = "NUMBER" })
  add("/text/{+t}", { t = "TEXT" })
  add("/q{?n,m*}", { n = "INT", m = "INT" })
  build(app)

  local function is_met(target) return decide(app, "GET", target).status == 0 end

  it("is met or gets a 404, whatever the method", function()
    assert.is_true(is_met "/int/7")
    assert.is_true(is_met "/int/%37")
    assert.is_false(is_met "/int/seven")
    assert.equal(404, decide(app, "DELETE", "/int/x").status)
    assert.equal("/int/{id}", decide(app, "GET", "/int/x").resource)
  end)

  it("holds for each of a list, which only an exploded variable may be", function()
    assert.is_true(is_met "/list/1,2,3")
    assert.is_false(is_met "/list/1,b,3")
    assert.is_false(is_met "/int/1,2")
    assert.is_false(is_met "/text/a,b")
  end)

  it("wants a value in {x} and {+x}, and in others only if there is one", function()
    assert.is_false(is_met "/int/")
    assert.is_false(is_met "/list/")
    assert.is_false(is_met "/text/")
    assert.is_true(is_met "/text/a")
    assert.is_false(is_met "/two/1")
    assert.is_true(is_met "/two/1,2")
    assert.is_true(is_met "/opt")
    assert.is_false(is_met "/opt/")
    assert.is_false(is_met "/opt/7")
    assert.is_true(is_met "/opt/f81d4fae-7dec-11d0-a765-00a0c91e6bf6")
  end)

  it("holds for the query as well", function()
    assert.is_true(is_met "/q")
    assert.is_true(is_met "/q?n=1&m=2&m=3")
    assert.is_false(is_met "/q?n=x")
    assert.is_false(is_met "/q?m=1&m=b")
    assert.is_true(is_met "/q?a=1&b=2")
    assert.is_false(is_met "/q?a=1&b=x")
  end)

  it("must be of a variable that is there", function()
    assert.is_false(demand(app, 0, "name", "INT"))
  end)
end)
