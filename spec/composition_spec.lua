-- SPDX-License-Identifier: MIT
-- Machines that are made of others, and what they say to the rows of the graph, on the
-- wire (lua/luaweb/machine.lua, assembly.lua, handover.lua): RFC 9110 §11.6.1, §12.5.5,
-- §15.
local test = require "luaweb.test"
local web = require "luaweb"

local function name_it(req) return req.method end

local function client_of(machine)
  return test.app(web.app { web.resource("/x", web.machine(machine)) })
end

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

describe("two keys add up", function()
  local function verify_of(name)
    return function(token) return token == name and name end
  end

  it("schemes: one of them lets in, and a 401 has all the challenges", function()
    local first = web.machine { web.auth { web.bearer { verify = verify_of "a" } } }
    local second = web.auth { web.basic { realm = "r",
      verify = function(_, password) return password == "b" end } }
    local client = client_of { first, second, handle_ok = function(req)
      return tostring(req.user)
    end }
    local refused = client:get "/x"
    assert.equal(401, refused.status)
    assert.equal('Bearer realm="restricted", Basic realm="r", charset="UTF-8"',
      refused.headers["www-authenticate"])
    local function with(credentials)
      return client:get("/x", { headers = { Authorization = credentials } }).body
    end
    assert.equal("a", with "Bearer a")
    assert.equal("me", with "Basic bWU6Yg==")
  end)

  it("schemes: `authorized` of the machine wins, the challenges stay", function()
    local core = web.machine { web.auth { web.bearer { verify = verify_of "a" } } }
    local res = client_of { core, authorized = false, handle_ok = "x" }:get("/x",
      { headers = { Authorization = "Bearer a" } })
    assert.equal(401, res.status)
    assert.matches("^Bearer ", res.headers["www-authenticate"])
  end)

  it("vary: each field once", function()
    local core = web.machine { vary = { "X-A", "X-B" } }
    local client = client_of { core, vary = { "X-B", "X-C" }, handle_ok = name_it }
    assert.equal("X-A, X-B, X-C", client:get("/x").headers.vary)
  end)
end)

describe("decisions", function()
  it("may be literals, and end the walk with another status", function()
    assert.equal(403, client_of { handle_ok = "x", allowed = false }:get("/x").status)
    assert.equal(404, client_of { handle_ok = "x", allowed = 404 }:get("/x").status)
    local response = web.status(402):text "no"
    assert.equal("no", client_of { handle_ok = "x", allowed = response }:get("/x").body)
  end)

  it("may be functions of the request", function()
    local client = client_of { handle_ok = "x", exists = function(req)
      return req.query.there ~= nil
    end }
    assert.equal(404, client:get("/x").status)
    assert.equal(200, client:get("/x?there").status)
  end)

  it("have handlers that speak at their end", function()
    local client = client_of { handle_ok = "x", allowed = false,
      handle_forbidden = "Superuser privileges required",
      handle_not_implemented = function(req) return "no " .. req.method end }
    local res = client:get "/x"
    assert.same({ "Superuser privileges required", "text/plain; charset=utf-8" },
      { res.body, res.headers["content-type"] })
    assert.equal("no BREW", client:request("BREW", "/x").body)
  end)

  it("may be those of a component of the app's own", function()
    local teapot = web.component { name = "teapot", in_front_of = "exists",
      { "composition_spec_makes_coffee", "___", 418, "app", true, "RFC 2324 2.3.2",
        yes_for = "GET HEAD" },
    }
    local client = client_of { teapot, do_any = name_it, handle_ok = "tea",
      composition_spec_makes_coffee = false }
    assert.equal("tea", client:get("/x").body)
    assert.equal(418, client:request("BREW", "/x").status)
  end)

  it("may be told apart by methods that a component names", function()
    local teapot = web.component { name = "brewing", in_front_of = "exists",
      { "composition_spec_brews", "___", 418, "method", nil, "RFC 2324 2.3.2",
        no_for = "BREW WHEN", yes_for = "*" },
    }
    local client = client_of { teapot, do_any = name_it, do_when = name_it }
    assert.equal(418, client:request("BREW", "/x").status)
    assert.equal(418, client:request("WHEN", "/x").status)
    assert.equal("BREWS", client:request("BREWS", "/x").body)
    assert.equal("GET", client:get("/x").body)
  end)

  it("may say that there is nothing to reply", function()
    assert.equal(204, client_of { handle_ok = "x", has_reply = false }:get("/x").status)
    for _, shown in ipairs { "text", function() return "text" end,
      { ["text/plain"] = "text" } } do
      local client = client_of { handle_ok = shown, has_reply = function(req)
        return req.query.wanted ~= nil
      end }
      assert.equal(204, client:get("/x").status)
      assert.equal("text", client:get("/x?wanted").body)
    end
  end)
end)
