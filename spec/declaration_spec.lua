-- SPDX-License-Identifier: MIT
-- What web.machine refuses, and where it says so (lua/luaweb/machine.lua, methods.lua).
local test = require "luaweb.test"
local web = require "luaweb"

local function name_it(req) return req.method end

local function client_of(machine)
  return test.app(web.app { web.resource("/x", web.machine(machine)) })
end

--- The error of a machine that is used at /x, without the place of this file.
local function fault(machine)
  local ok, message = pcall(client_of, machine)
  assert.is_false(ok)
  local place, rest = message:match "^(.-:%d+): (.*)$"
  assert.matches("declaration_spec%.lua:%d+$", place)
  return rest
end

describe("a declaration", function()
  local constant = "wants a function of the request, or a constant: a text, a "
    .. "response, or a table as JSON"
  local octets = "wants a number of octets, or a function of the request"

  for key, case in pairs {
    hanlde_ok        = { 1, "no machine has this key (did you mean handle_ok?)" },
    do_Post          = { name_it, "no machine has this key (did you mean do_post?)" },
    do_              = { name_it, "no machine has this key" },
    handle_ok        = { 5, constant },
    do_post          = { "x", "wants a function of the request" },
    do_any           = { {}, "wants a function of the request" },
    do_get           = { name_it, "handle_ok answers GET and HEAD" },
    do_head          = { name_it, "handle_ok answers GET and HEAD" },
    do_options       = { name_it, "handle_options answers OPTIONS" },
    do_trace         = { name_it, "TRACE is never served" },
    do_connect       = { name_it, "CONNECT is never served" },
    body_limit       = { "8m", octets },
    allowed          = { "yes", "wants true, false, a status, a response, or a "
      .. "function of the request" },
  } do
    it("of " .. key .. " says what is wrong with it", function()
      assert.equal(("/x: %s: %s"):format(key, case[2]), fault { [key] = case[1] })
    end)
  end

  for title, case in pairs {
    ["that is no list"]         = { "GET", 'wants a list of methods, or "*"' },
    ["that is empty"]           = { {}, 'wants a list of methods, or "*"' },
    ["with a named key"]        = { { "GET", x = 1 },
      'wants a list of methods, or "*"' },
    ["with an empty name"]      = { { "" }, " is not a method" },
    ["with a space"]            = { { "A B" }, "A B is not a method" },
    ["with a line break"]       = { { "A\nB" }, "A\nB is not a method" },
    ["with a number"]           = { { 1 }, "1 is not a method" },
    ["with \"*\" in the list"]  = { { "*" }, "* is not a method" },
    ["with TRACE"]              = { { "TRACE" }, "TRACE is never served" },
    ["with CONNECT"]            = { { "CONNECT" }, "CONNECT is never served" },
    ["that names one twice"]    = { { "GET", "GET" }, "GET is there twice" },
    ["in lower case"]           = { { "get" },
      "get is not GET: methods are case-sensitive" },
    ["in mixed case"]           = { { "GET", "Options" },
      "Options is not OPTIONS: methods are case-sensitive" },
    ["that is a function"]      = { name_it, 'wants a list of methods, or "*"' },
  } do
    it("of methods " .. title .. " is refused", function()
      assert.equal("/x: methods: " .. case[2],
        fault { methods = case[1], handle_ok = "x", do_any = name_it })
    end)
  end

  it("refuses a key that is neither a name nor in the list", function()
    assert.equal("/x: 0: a machine includes machines and has named keys",
      fault { [0] = {} })
    assert.matches("^/x: true: a machine includes", fault { [true] = {} })
  end)

  it("refuses to include what is no machine", function()
    assert.equal("/x: [1]: a machine includes machines, not a table", fault { {} })
    assert.equal("/x: [1]: a machine includes machines, not a nil",
      fault { nil, web.machine {} })
  end)

  it("tells where a scheme goes that stands in it", function()
    local basic = web.basic { realm = "r", verify = name_it }
    assert.equal("/x: [1]: put web.basic into web.auth { ... }",
      fault { basic, handle_ok = "x" })
    assert.equal("/x: [1]: put web.bearer into web.auth { ... }",
      fault { web.bearer { verify = name_it }, handle_ok = "x" })
    for _, value in ipairs { basic, web.auth { basic } } do
      assert.equal("/x: authorized: web.auth { ... } stands in the array part",
        fault { authorized = value, handle_ok = "x" })
    end
  end)

  it("refuses a method without its function", function()
    assert.equal("/x: methods: PUT has no function (do_put)",
      fault { methods = { "GET", "PUT" }, handle_ok = "x" })
    assert.equal("/x: methods: HEAD has no function (handle_ok)",
      fault { methods = { "HEAD", "PUT" }, do_put = name_it })
    assert.equal('/x: methods: "*" wants do_any',
      fault { methods = "*", handle_ok = "x" })
  end)

  it("refuses a function whose method is not listed", function()
    for key, machine in pairs {
      do_put    = { methods = { "GET" }, handle_ok = "x", do_put = name_it },
      handle_ok = { methods = { "DELETE" }, handle_ok = "x", do_delete = name_it },
      do_any    = { methods = { "PUT" }, do_any = name_it, do_put = name_it },
    } do
      assert.equal("/x: " .. key .. ": none of its methods is in `methods`: nothing "
        .. "can reach it", fault(machine))
    end
  end)

  it("takes a handle_ok that speaks after writes only", function()
    local client = client_of { methods = { "PUT" }, handle_ok = "stored",
      do_put = function() end }
    assert.equal("stored", client:put("/x").body)
    assert.equal(405, client:get("/x").status)
  end)

  it("refuses a machine that does nothing", function()
    assert.equal("/x: machine: it has neither handle_ok nor an operation", fault {})
  end)

  it("refuses it with the places of the resource and of its machines", function()
    local line = debug.getinfo(1, "l").currentline
    local empty = web.machine { entity_tag = '"v"' }
    local other = web.machine { cache_control = "no-store" }
    local app = web.app {
      web.resource("/x", empty),
      web.resource("/x", other),
    }
    local ok, message = pcall(test.app, app)
    assert.is_false(ok)
    local FILE = "spec/declaration_spec.lua:"
    assert.equal(("%s%d: /x: machine: it has neither handle_ok nor an operation "
      .. "(declared at %s%d, %s%d)"):format(FILE, line + 4, FILE, line + 1, FILE,
      line + 2), message)
    app = web.app { includes = { web.machine {} }, web.resource("/x", empty) }
    ok, message = pcall(test.app, app)
    assert.is_false(ok)
    assert.matches("%(declared at [^ ]*:" .. line + 1 .. "%)$", message)
  end)

  it("takes methods without a function where no request gets that far", function()
    local moved = { stays_for_good = false, location = "/y" }
    for status, machine in pairs {
      [401] = { authorized = false, challenge = { "Basic realm=r" } },
      [308] = moved,
      [503] = { methods = { "GET", "PUT" }, service_available = false },
    } do
      local client = client_of(machine)
      assert.equal(status, client:get("/x").status)
      assert.equal(status, client:head("/x").status)
    end
    assert.equal("GET, HEAD, OPTIONS", client_of(moved):delete("/x").headers.allow)
  end)

  it("refuses them where a function lets some requests through", function()
    local function sometimes() return true end
    assert.equal("/x: machine: it has neither handle_ok nor an operation",
      fault { allowed = sometimes })
    assert.equal("/x: methods: PUT has no function (do_put)",
      fault { methods = { "PUT" }, allowed = sometimes })
  end)

  it("names the place of the key, which may be an included machine's", function()
    local line = debug.getinfo(1, "l").currentline + 1
    local included = web.machine { do_put = name_it }
    local ok, message = pcall(client_of,
      { included, methods = { "GET" }, handle_ok = "" })
    assert.is_false(ok)
    assert.matches("declaration_spec%.lua:" .. line .. ": /x: do_put: ", message)
  end)

  it("of anything but a table is refused", function()
    assert.error_matches(function() web.machine "GET" end, "web.machine wants a table")
    assert.error_matches(function() web.machine() end, "web.machine wants a table")
  end)
end)
