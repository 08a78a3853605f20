-- SPDX-License-Identifier: MIT
-- Machines as an app declares them (lua/luaweb/machine.lua), and the methods that
-- follow on the wire (methods.lua): RFC 9110 §9, §10.2.1 (Allow), §15.5.6 (405),
-- §15.6.2 (501).
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

  it("takes a string for what never changes, which has a tag of its own", function()
    local constant = client_of { handle_ok = "always the same" }
    local res = constant:get "/x"
    assert.equal("always the same", res.body)
    assert.equal(web.etag "always the same", res.headers.etag)
    local again = { headers = { ["If-None-Match"] = res.headers.etag } }
    assert.equal(304, constant:get("/x", again).status)
  end)

  it("gives no tag where there are several representations, or one is given", function()
    local two = client_of { handle_ok = "x", available_languages = { "en", "de" } }
    assert.is_nil(two:get("/x").headers.etag)
    assert.equal('"own"', client_of { handle_ok = "x", entity_tag = '"own"' }
      :get("/x").headers.etag)
  end)

  it("takes a response, or a table as JSON", function()
    local html = client_of { handle_ok = web.html "<p>" }:get "/x"
    assert.same({ "<p>", "text/html; charset=utf-8" },
      { html.body, html.headers["content-type"] })
    local json = client_of { handle_ok = { a = { 1 } } }:get "/x"
    assert.same({ '{"a":[1]}', "application/json" },
      { json.body, json.headers["content-type"] })
    local with_header = client_of { handle_ok = web.text("x"):header("X-A", "1") }
    assert.equal("1", with_header:get("/x").headers["x-a"])
  end)
end)

describe("handle_ok for each media type", function()
  local function shown(client, accept)
    local res = client:get("/x", { headers = { Accept = accept } })
    return res.body, res.headers["content-type"]
  end

  it("answers with what is accepted, the first of the alphabet where all is", function()
    local client = client_of { handle_ok = {
      ["text/plain"] = function() return "plain" end,
      ["application/json"] = { json = true },
      ["text/html"] = web.html "<p>",
    } }
    assert.same({ '{"json":true}', "application/json" }, { shown(client, "*/*") })
    assert.same({ "<p>", "text/html; charset=utf-8" }, { shown(client, "text/html") })
    assert.equal("plain", (shown(client, "text/plain, text/html;q=0.5")))
    assert.equal(406, client:get("/x", { headers = { Accept = "a/b" } }).status)
  end)

  it("may be in the server's order of preference", function()
    local client = client_of { handle_ok = {
      { "text/plain", "plain" }, { "application/json", { json = true } } } }
    assert.equal("plain", (shown(client, "*/*")))
    client = client_of {
      handle_ok = { ["a/a"] = "a", ["b/b"] = "b" },
      available_media_types = { "b/b", "a/a" },
    }
    assert.same({ "b", "b/b" }, { shown(client, "*/*") })
  end)
end)

describe("operations", function()
  it("are found by the name of the method", function()
    local client = client_of {
      do_post = name_it, do_put = name_it, do_patch = name_it, do_delete = name_it,
    }
    local patch = { body = "x", headers = { ["Content-Type"] = "text/plain" } }
    for _, method in ipairs { "POST", "PUT", "PATCH", "DELETE" } do
      local options = method == "PATCH" and patch or nil
      assert.equal(method, client:request(method, "/x", options).body)
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

  it("are not asked for OPTIONS, but handle_options is", function()
    local client = client_of { do_any = name_it, handle_options = name_it }
    assert.equal("OPTIONS", client:options("/x").body)
    client = client_of { handle_ok = "x", handle_options = "mine" }
    assert.equal("mine", client:options("/x").body)
    assert.equal("GET, HEAD, OPTIONS", client:options("/x").headers.allow)
    client = client_of { handle_ok = "x", handle_options = { a = 1 } }
    assert.equal("application/json", client:options("/x").headers["content-type"])
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
    local client = client_of { methods = { "HEAD" }, handle_ok = name_it }
    assert.same({ 405, "HEAD, OPTIONS" }, { answer(client, "GET") })
  end)

  it("that list GET list HEAD too", function()
    local client = client_of { methods = { "PUT", "GET" }, handle_ok = name_it,
      do_put = name_it }
    assert.equal(200, (answer(client, "HEAD")))
    assert.same({ 204, "PUT, GET, HEAD, OPTIONS" }, { answer(client, "OPTIONS") })
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
