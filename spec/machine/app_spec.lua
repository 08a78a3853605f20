-- SPDX-License-Identifier: MIT
-- Who serves a request (core/machine/app.h, machine.h): RFC 9110 §9.1, §10.2.1,
-- §15.5.5, §15.5.6, §15.6.2.
local ffi = require "ffi"
local pure_app = require "spec.support.pure_app"

local READ = { { "GET", 0, 1 }, { "HEAD", 0, 1 }, { "OPTIONS" } }

describe("an app", function()
  local app = pure_app.new()
  local read = app:machine { methods = READ }
  local write = app:machine { methods = { { "PUT", 2 }, { "BREW", 3 }, { "OPTIONS" } } }
  local any = app:machine { methods = { { "*", 4 }, { "OPTIONS", 0, 5 } } }
  app:resource("/read/{x}", read)
  app:resource("/also", read)
  app:resource("/write", write)
  app:resource("/any", any)
  app:build()

  it("finds the machine by the path, its method by name, and what was captured",
    function()
      local found = app:decide("GET", "/read/a%20b")
      assert.same({ 1, "/read/{x}", { x = "a b" } },
        { found.reply, found.resource, found.vars })
      assert.equal(3, app:decide("BREW", "/write").operation)
      assert.equal(4, app:decide("QUERY", "/any").operation)
    end)

  it("may have one machine at several templates", function()
    assert.equal(1, app:decide("HEAD", "/also").reply)
  end)

  it("answers 404 where no template matches, whatever the method", function()
    for _, method in ipairs { "GET", "PUT", "OPTIONS", "TRACE", "BREW", "WHATEVER" } do
      local found = app:decide(method, "/missing")
      assert.is_true(found.is_unmatched)
      assert.equal("404 may_create", found.start)
    end
  end)

  it("answers 405 for a method that the machine has not", function()
    for _, method in ipairs { "POST", "PUT", "PATCH", "DELETE" } do
      assert.equal("405 method_allowed", app:decide(method, "/also").start)
    end
    assert.equal("405 method_allowed", app:decide("GET", "/write").start)
  end)

  it("answers 405 for a custom method that another machine has", function()
    assert.equal("405 method_allowed", app:decide("BREW", "/also").start)
  end)

  it("answers 501 for methods that no machine has", function()
    for _, method in ipairs { "TRACE", "CONNECT", "QUERY", "get", "brew", "", "*" } do
      assert.equal("501 method_implemented", app:decide(method, "/also").start)
    end
    assert.equal("501 method_implemented", app:decide("TRACE", "/any").start)
  end)

  it("answers CONNECT, which has no path, with 501", function()
    assert.equal("501 method_implemented", app:decide("CONNECT", "").start)
    assert.equal("501 method_implemented", app:decide("CONNECT", "/any").start)
  end)

  it("answers OPTIONS with 204, where nobody has more to say", function()
    assert.equal("204 has_reply", app:decide("OPTIONS", "/also").start)
    local found = app:decide("OPTIONS", "/any")
    assert.same({ "has_reply", 5 }, { found.start, found.reply })
  end)

  it("knows no machine for OPTIONS *", function()
    assert.is_nil(app:decide("OPTIONS", "*", true).start)
  end)
end)

describe("building an app", function()
  it("numbers machines and resources from 0", function()
    local app = pure_app.new()
    assert.equal(0, app:machine { methods = READ })
    assert.equal(1, app:machine { methods = READ })
    assert.equal(0, (app:resource("/a", 0)))
    assert.equal(1, (app:resource("/b", 1)))
  end)

  it("says why a template is refused, and stays as it is", function()
    local app = pure_app.new()
    local machine = app:machine { methods = READ }
    assert.same({ nil, "does not start with /", -1 }, { app:resource("x", machine) })
    assert.equal(0, (app:resource("/{x}", machine)))
    assert.same({ nil, "matches the same paths as a template declared before", 0 },
      { app:resource("/{y}", machine) })
    assert.is_nil(app:build())
    assert.equal(1, app:decide("GET", "/x").reply)
  end)

  it("holds many of both", function()
    local app = pure_app.new()
    for i = 0, 299 do
      local machine = app:machine { methods = { { "GET", 0, i + 1 } } }
      app:resource(("/r%d"):format(i), machine)
    end
    app:build()
    assert.equal(1, app:decide("GET", "/r0").reply)
    assert.equal(300, app:decide("GET", "/r299").reply)
  end)

  it("has one resource for templates of one meaning, and the last machine", function()
    local app = pure_app.new()
    local first = app:machine { methods = { { "GET", 0, 1 } } }
    local second = app:machine { methods = { { "GET", 0, 2 } } }
    assert.equal(0, (app:resource("/caf%C3%A9", first)))
    assert.equal(0, (app:resource("/café", second)))
    app:build()
    assert.equal(2, app:decide("GET", "/caf%c3%a9").reply)
  end)

  it("finds the resource that nothing leads to", function()
    local app = pure_app.new()
    local machine = app:machine { methods = READ }
    for _, template in ipairs { "/{x,y}", "/a", "/{x}" } do
      app:resource(template, machine)
    end
    assert.same({ 0, 2 }, { app:build() })
  end)
end)

describe("what is demanded of a variable", function()
  local app = pure_app.new()
  local machine = app:machine { methods = READ }

  local function add(template, demands)
    local number = app:resource(template, machine)
    for name, what in pairs(demands) do
      assert.is_true(app:demand(number, name, what))
    end
  end

  add("/int/{id}", { id = "INT" })
  add("/list/{id*}", { id = "INT" })
  add("/opt{/id}", { id = "UUID" })
  add("/two/{a,b}", { b = "NUMBER" })
  add("/text/{+t}", { t = "TEXT" })
  add("/q{?n,m*}", { n = "INT", m = "INT" })
  app:build()

  local function is_met(target) return not app:decide("GET", target).is_unmatched end

  it("is met, or nothing matches, whatever the method", function()
    assert.is_true(is_met "/int/7")
    assert.is_true(is_met "/int/%37")
    assert.is_false(is_met "/int/seven")
    assert.is_true(app:decide("DELETE", "/int/x").is_unmatched)
    assert.equal("/int/{id}", app:decide("GET", "/int/x").resource)
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
    assert.is_false(app:demand(0, "name", "INT"))
  end)
end)

-- The methods of one machine.
describe("a machine", function()
  local function built(methods)
    local app = pure_app.new()
    local machine = app:machine { methods = methods }
    if not machine then return nil end
    app:resource("/x", machine)
    app:build()
    return app
  end

  local function allow(methods) return built(methods):decide("GET", "/x").allow end

  it("compares methods with their case, and whole", function()
    local app = built { { "GET", 0, 1 } }
    for _, method in ipairs { "get", "Get", "GE", "GETT" } do
      assert.equal("501 method_implemented", app:decide(method, "/x").start)
    end
  end)

  it("gives * every method that it does not name but TRACE and CONNECT", function()
    local app = built { { "GET", 0, 1 }, { "*", 2 } }
    assert.equal(1, app:decide("GET", "/x").reply)
    for _, method in ipairs { "POST", "get", "OPTIONS" } do
      assert.equal(2, app:decide(method, "/x").operation)
    end
    for _, method in ipairs { "TRACE", "CONNECT" } do
      assert.equal("501 method_implemented", app:decide(method, "/x").start)
    end
  end)

  it("takes methods of 64 octets and no longer ones, and 32 at most", function()
    assert.truthy(built { { ("M"):rep(64), 1 } })
    assert.is_nil(built { { ("M"):rep(65), 1 } })
    local methods = {}
    for i = 1, 32 do methods[i] = { "M" .. i, i } end
    assert.equal(32, built(methods):decide("M32", "/x").operation)
    methods[33] = { "M33", 33 }
    assert.is_nil(built(methods))
  end)

  it("copies what it is given", function()
    local C, text = pure_app.C, ffi.new("char[5]", "BREW")
    local app = pure_app.new()
    local number = app:machine { methods = {} }
    local machine = app.app.machines[number]
    local name = ffi.new("struct luaweb_slice", text, 4)
    assert.is_true(C.lw_machine_add_method(machine, name, C.LUAWEB_METHOD_OTHER, 7, 0))
    app:resource("/x", number)
    app:build()
    ffi.fill(text, 4, 0x78)
    assert.equal(7, app:decide("BREW", "/x").operation)
  end)

  it("names its methods in Allow as they come, and OPTIONS, which is implied",
    function()
      assert.equal("GET, HEAD, OPTIONS", allow { { "GET" }, { "HEAD" } })
      assert.equal("POST, GET, OPTIONS", allow { { "POST" }, { "GET" } })
      assert.equal("GET, OPTIONS", allow { { "OPTIONS" }, { "GET" } })
      assert.equal("OPTIONS", allow {})
    end)

  it("names the usual methods in Allow where any is taken", function()
    assert.equal("GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS", allow { { "*" } })
    assert.equal("BREW, PUT, GET, HEAD, POST, PATCH, DELETE, OPTIONS",
      allow { { "BREW" }, { "PUT" }, { "*" } })
  end)

  it("names all of 32 methods in Allow, however long", function()
    local methods, names = {}, {}
    for i = 1, 32 do
      names[i] = ("M"):rep(62) .. ("%02d"):format(i)
      methods[i] = { names[i], 1 }
    end
    names[33] = "OPTIONS"
    assert.equal(table.concat(names, ", "), allow(methods))
  end)
end)
