-- SPDX-License-Identifier: MIT
-- Machines as an app declares them (lua/luaweb/machine.lua), and the methods that
-- follow on the wire: RFC 9110 §9, §10.2.1 (Allow), §15.5.6 (405), §15.6.2 (501).
local test = require "luaweb.test"
local web = require "luaweb"

local function name_it(req) return req.method end

local function client_of(machine)
  return test.app(web.app { web.resource("/x", web.machine(machine)) })
end

--- Status and Allow of the answer to a method.
local function answer(client, method)
  local res = client:request(method, "/x")
  return res.status, res.headers.allow
end

describe("a machine with handle_ok", function()
  local client = client_of { handle_ok = name_it }

  it("answers GET", function()
    assert.equal("GET", client:get("/x").body)
  end)

  it("answers HEAD with the head of GET", function()
    local res = client:head "/x"
    assert.equal(200, res.status)
    assert.equal("4", res.headers["content-length"])
    assert.equal("", res.body)
  end)

  it("answers OPTIONS, which is implied, with 204 and its methods", function()
    assert.same({ 204, "GET, HEAD, OPTIONS" }, { answer(client, "OPTIONS") })
  end)

  for _, method in ipairs { "POST", "PUT", "PATCH", "DELETE" } do
    it("answers " .. method .. " with 405 and its methods", function()
      assert.same({ 405, "GET, HEAD, OPTIONS" }, { answer(client, method) })
    end)
  end

  for _, method in ipairs { "TRACE", "BREW", "get", "GETS", "PROPFIND" } do
    it("answers " .. method .. ", which it does not know, with 501", function()
      assert.equal(501, (answer(client, method)))
    end)
  end

  it("answers CONNECT with 501", function()
    local conn = client:raw "CONNECT localhost:80 HTTP/1.1\r\nHost: localhost\r\n\r\n"
    assert.matches("^HTTP/1.1 501 ", conn:receive(5))
    conn:close()
  end)

  it("takes a string for what never changes", function()
    local res = client_of { handle_ok = "always the same" }:get "/x"
    assert.equal("always the same", res.body)
  end)
end)

describe("operations", function()
  it("are found by the name of the method", function()
    local client = client_of {
      do_post = name_it, do_put = name_it, do_patch = name_it, do_delete = name_it,
    }
    for _, method in ipairs { "POST", "PUT", "PATCH", "DELETE" } do
      assert.equal(method, client:request(method, "/x").body)
    end
    assert.same({ 405, "DELETE, PATCH, POST, PUT, OPTIONS" }, { answer(client, "GET") })
    assert.equal(405, (answer(client, "HEAD")))
  end)

  it("serve custom methods, with _ for -", function()
    local client = client_of { do_version_control = name_it, do_brew = name_it }
    assert.equal("VERSION-CONTROL", client:request("VERSION-CONTROL", "/x").body)
    assert.equal("BREW", client:request("BREW", "/x").body)
    assert.equal(501, (answer(client, "brew")))
  end)

  it("may speak for OPTIONS", function()
    local client = client_of {
      handle_ok = "x", do_options = function() return "mine" end,
    }
    assert.equal("mine", client:options("/x").body)
    assert.equal("GET, HEAD, OPTIONS", client:delete("/x").headers.allow)
  end)

  it("of one machine make its method known to the others: 405 there", function()
    local client = test.app(web.app {
      web.get("/x", name_it),
      web.resource("/y", web.machine { do_brew = name_it }),
    })
    assert.same({ 405, "GET, HEAD, OPTIONS" }, { answer(client, "BREW") })
    assert.equal(501, (answer(client, "BREWS")))
  end)
end)

describe("methods", function()
  it("as a list leave out what is not listed", function()
    local client = client_of { methods = { "GET" }, handle_ok = name_it }
    assert.same({ 405, "GET, OPTIONS" }, { answer(client, "HEAD") })
  end)

  it("may list custom tokens that do_any serves", function()
    local client = client_of { methods = { "M-SEARCH", "a!b" }, do_any = name_it }
    assert.equal("M-SEARCH", client:request("M-SEARCH", "/x").body)
    assert.equal("a!b", client:request("a!b", "/x").body)
    assert.same({ 405, "M-SEARCH, a!b, OPTIONS" }, { answer(client, "GET") })
    assert.equal(501, (answer(client, "A!B")))
  end)

  it("may list tokens with an underscore that have their operation", function()
    local client = client_of { methods = { "FOO_BAR" }, do_foo_bar = name_it }
    assert.equal("FOO_BAR", client:request("FOO_BAR", "/x").body)
  end)

  it("that are \"*\" give every token but TRACE and CONNECT to do_any", function()
    local client = client_of { methods = "*", do_any = name_it, handle_ok = "got" }
    assert.equal("got", client:get("/x").body)
    assert.equal("WHATEVER", client:request("WHATEVER", "/x").body)
    assert.equal("get", client:request("get", "/x").body)
    assert.same({ 204, "GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS" },
      { answer(client, "OPTIONS") })
    assert.equal(501, (answer(client, "TRACE")))
  end)

  it("of web.any are the same", function()
    local client = test.app(web.app { web.any("/x", name_it) })
    assert.equal("GET", client:get("/x").body)
    assert.equal("QUERY", client:request("QUERY", "/x").body)
    assert.equal("", client:head("/x").body)
  end)
end)

describe("including", function()
  local base = web.machine { handle_ok = "base", body_limit = 1, do_put = name_it }

  it("takes over what the included machines have", function()
    local client = client_of { base }
    assert.equal("base", client:get("/x").body)
    assert.equal("PUT", client:put("/x").body)
    assert.equal(413, client:put("/x", { body = "ab" }).status)
  end)

  it("lets the machine's own keys win", function()
    local client = client_of { base, handle_ok = "own", body_limit = 2 }
    assert.equal("own", client:get("/x").body)
    assert.equal(200, client:put("/x", { body = "ab" }).status)
  end)

  it("lets later machines win over earlier ones", function()
    local later = web.machine { handle_ok = "later" }
    assert.equal("later", client_of { base, later }:get("/x").body)
    assert.equal("base", client_of { later, base }:get("/x").body)
  end)

  it("changes nothing in the included machine", function()
    client_of { base, handle_ok = "own" }
    assert.equal("base", client_of { base }:get("/x").body)
  end)
end)

describe("a declaration", function()
  --- The error of a machine that is used at /x, without the place of this file.
  local function fault(machine)
    local ok, message = pcall(client_of, machine)
    assert.is_false(ok)
    local place, rest = message:match "^(.-:%d+): (.*)$"
    assert.matches("machine_spec%.lua:%d+$", place)
    return rest
  end

  for key, case in pairs {
    hanlde_ok        = { 1, "no machine has this key" },
    do_Post          = { name_it, "no machine has this key" },
    do_              = { name_it, "no machine has this key" },
    handle_ok        = { 5, "wants a function of the request, or a string" },
    do_post          = { "x", "wants a function of the request" },
    do_any           = { {}, "wants a function of the request" },
    do_get           = { name_it, "handle_ok answers GET and HEAD" },
    do_head          = { name_it, "handle_ok answers GET and HEAD" },
    do_trace         = { name_it, "TRACE is never served" },
    do_connect       = { name_it, "CONNECT is never served" },
    body_limit       = { "8m", "wants a number of octets" },
  } do
    it("of " .. key .. " says what is wrong with it", function()
      assert.equal(key .. ": " .. case[2], fault { [key] = case[1] })
    end)
  end

  for _, limit in ipairs { -1, 0 / 0 } do
    it("refuses the body_limit " .. limit, function()
      assert.equal("body_limit: wants a number of octets", fault { body_limit = limit })
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
  } do
    it("of methods " .. title .. " is refused", function()
      assert.equal("methods: " .. case[2],
        fault { methods = case[1], handle_ok = "x", do_any = name_it })
    end)
  end

  it("refuses a key that is neither a name nor in the list", function()
    assert.matches("^0: a machine includes machines", fault { [0] = {} })
    assert.matches("^true: a machine includes", fault { [true] = {} })
  end)

  it("refuses to include what is no machine", function()
    assert.equal("[1]: a machine includes machines, not a table", fault { {} })
    assert.equal("[1]: a machine includes machines, not a nil",
      fault { nil, web.machine {} })
  end)

  it("refuses a method without its function, naming the resource", function()
    assert.equal("/x: methods: PUT has no function (do_put)",
      fault { methods = { "GET", "PUT" }, handle_ok = "x" })
    assert.equal("/x: methods: HEAD has no function (handle_ok)",
      fault { methods = { "HEAD", "PUT" }, do_put = name_it })
    assert.equal('/x: methods: "*" wants do_any',
      fault { methods = "*", handle_ok = "x" })
  end)

  it("refuses a function whose method is not listed, naming the resource", function()
    for key, machine in pairs {
      do_put    = { methods = { "GET" }, handle_ok = "x", do_put = name_it },
      handle_ok = { methods = { "PUT" }, handle_ok = "x", do_put = name_it },
      do_any    = { methods = { "PUT" }, do_any = name_it, do_put = name_it },
    } do
      assert.equal("/x: " .. key .. ": none of its methods is in `methods`: nothing "
        .. "can reach it", fault(machine))
    end
  end)

  it("refuses a machine that does nothing, naming the resource", function()
    assert.equal("/x: machine: it has neither handle_ok nor an operation", fault {})
  end)

  it("names the place of the key, which may be an included machine's", function()
    local line = debug.getinfo(1, "l").currentline + 1
    local included = web.machine { do_put = name_it }
    local ok, message = pcall(client_of,
      { included, methods = { "GET" }, handle_ok = "" })
    assert.is_false(ok)
    assert.matches("machine_spec%.lua:" .. line .. ": /x: do_put: ", message)
  end)

  it("of anything but a table is refused", function()
    assert.error_matches(function() web.machine "GET" end, "web.machine wants a table")
    assert.error_matches(function() web.machine() end, "web.machine wants a table")
  end)
end)
