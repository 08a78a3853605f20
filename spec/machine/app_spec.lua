-- SPDX-License-Identifier: MIT
-- Who serves a request (core/machine/app.h): RFC 9110 §9.1, §15.5.5, §15.5.6, §15.6.2.
local ffi = require "ffi"
local pure = require "spec.support.pure"

for _, name in ipairs { "route/template", "route/router", "machine/machine" } do
  pure.load(name)
end
local C = pure.load "machine/app"

local function slice(text)
  return ffi.new("struct luaweb_slice", text, #text)
end

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

local function add_resource(app, template, machine)
  local why = ffi.new "const char *[1]"
  local result = C.lw_app_add_resource(app, slice(template), machine, why)
  return result, result < 0 and ffi.string(why[0]) or nil
end

--- What is to be done: a table, whose `values` are what was captured.
local function decide(app, method, path, is_server_wide)
  local request = ffi.new "struct luaweb_request"
  request.method, request.path = slice(method), slice(path)
  local decision = ffi.new "struct lw_decision"
  local pairs_, count = ffi.new "struct luaweb_field[16]", ffi.new "uint32_t[1]"
  C.lw_app_decide(app, request, is_server_wide or false, decision, pairs_, count)
  local values = {}
  for i = 0, count[0] - 1 do values[i + 1] = pure.string(pairs_[i].value) end
  local allow = decision.allow ~= nil and ffi.string(decision.allow) or nil
  return { status = decision.status, fn = decision["function"], allow = allow,
    body_limit = tonumber(decision.body_limit), values = values }
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

  it("gives the function for method and path, and what was captured", function()
    local found = decide(app, "GET", "/read/a%20b")
    assert.same({ 0, 1, 100, { "a%20b" } },
      { found.status, found.fn, found.body_limit, found.values })
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
    assert.same({ -1, "does not start with /" }, { add_resource(app, "x", machine) })
    assert.equal(0, (add_resource(app, "/x", machine)))
    assert.same({ -1, "matches the same paths as a template declared before" },
      { add_resource(app, "/x", machine) })
    assert.equal(1, decide(app, "GET", "/x").fn)
  end)

  it("holds many of both", function()
    local app = new_app()
    for i = 0, 299 do
      local machine = add_machine(app, ("GET %d"):format(i))
      add_resource(app, ("/r%d"):format(i), machine)
    end
    assert.equal(0, decide(app, "GET", "/r0").fn)
    assert.equal(299, decide(app, "GET", "/r299").fn)
  end)
end)
