-- SPDX-License-Identifier: MIT
-- Paths that nobody serves, on the wire: what the app includes goes for them too, and a
-- value that does not fit its parameter is one of them.  RFC 9110 §15.5.5; Fetch.
local flows = require "spec.support.flows"
local test = require "luaweb.test"
local web = require "luaweb"
local wire = require "spec.support.machine_wire"

local ORIGIN = "http://a.example"

local core = web.machine {
  web.cors { origins = { ORIGIN }, methods = { "PUT" }, expose = { "X-A" } },
  cache_control = "max-age=9", entity_tag = '"v1"', vary = { "X-V" },
  available_languages = { "en", "de" },
}

local function fail() error "asked" end

-- Resources whose parameters do not fit what is asked for below.
local function resources()
  local machine = { handle_ok = fail, do_put = fail, do_post = fail, do_delete = fail,
    exists = fail, allowed = fail, service_available = fail }
  local function with(params)
    return web.machine(wire.with(machine, { params = params }))
  end
  return web.resource("/int/{id}", with { id = "int" }),
    web.resource("/number/{id}", with { id = "number" }),
    web.resource("/uuid/{id}", with { id = "uuid" }),
    web.resource("/pattern/{id}", with { id = "%l+" }),
    web.resource("/both/{id}/{name}", with { id = "int", name = "%l+" }),
    web.resource("/list/{id*}", with { id = "%l+" })
end

local PATHS = { "/missing", "/", "/int/x", "/int/1.5", "/int/", "/number/x", "/uuid/1",
  "/pattern/A1", "/pattern/%00", "/both/1/A", "/both/x/a", "/list/A,b" }

local function app_of(keys)
  return test.app(web.app(wire.with({ resources() }, keys)))
end

-- What a client sees of a response, but for its date.
local function seen(res)
  local headers = wire.with(res.headers)
  headers.date = nil
  return { res.status, res.body, headers }
end

for title, keys in pairs {
  ["alone"]                = {},
  ["with what it includes"] = { includes = { core } },
  ["with a text"]          = { includes = { core },
    not_found = web.machine { handle_not_found = "nothing here" } },
  ["with a function"]      = { includes = { core },
    not_found = web.machine { handle_not_found = function(req)
      web.sleep(0.0001)
      return web.html("no " .. req.method):header("X-A", "a")
    end } },
  ["with something to ask first"] = { includes = { core },
    not_found = web.machine { allowed = function(req)
      return req.query.secret == nil
    end } },
} do
  describe("an app " .. title, function()
    local client = app_of(keys)
    for _, method in ipairs { "GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "BREW",
      "OPTIONS" } do
      it("says the same of all paths that nobody serves: " .. method, function()
        local request = method .. " %s\nOrigin: " .. ORIGIN
          .. "\nIf-Match: \"v0\"\nIf-None-Match: *\nAccept: application/json"
        local first = flows.ask(client, request:format "/nothing")
        assert.equal(404, first.status)
        for _, path in ipairs(PATHS) do
          assert.same(seen(first), seen(flows.ask(client, request:format(path))), path)
        end
      end)
    end

    it("says so to a method that it does not know, and to content", function()
      assert.equal(404, flows.ask(client, "POST /missing\nExpect: more\n"
        .. "Content-Type: a/b\nContent-Encoding: c\n\ncontent").status)
    end)
  end)
end

describe("a path that nobody serves", function()
  it("has the fields of CORS, and no others of what the app includes", function()
    local client = app_of { includes = { core } }
    for _, path in ipairs(PATHS) do
      local res = flows.ask(client, ("GET %s\nOrigin: %s"):format(path, ORIGIN))
      assert.same({ ORIGIN, "X-A" }, { res.headers["access-control-allow-origin"],
        res.headers["access-control-expose-headers"] })
      for _, name in ipairs { "cache-control", "etag", "allow", "content-language" } do
        assert.is_nil(res.headers[name])
      end
    end
  end)

  it("is answered as any other where the client asks before it asks", function()
    local client = app_of { includes = { core } }
    for _, path in ipairs(PATHS) do
      local res = flows.ask(client, ("OPTIONS %s\nOrigin: %s\n"
        .. "Access-Control-Request-Method: PUT"):format(path, ORIGIN))
      assert.same({ 204, ORIGIN, "PUT" }, { res.status,
        res.headers["access-control-allow-origin"],
        res.headers["access-control-allow-methods"] })
    end
  end)

  it("may be refused before anybody says that nothing is there", function()
    local login = web.machine { web.auth { web.bearer { verify = function(token)
      return token == "t"
    end } } }
    local client = app_of { includes = { login } }
    for _, path in ipairs(PATHS) do
      assert.equal(401, flows.ask(client, "GET " .. path).status)
      assert.equal(404,
        flows.ask(client, ("GET %s\nAuthorization: Bearer t"):format(path)).status)
    end
  end)

  it("keeps its query and its parameters to itself", function()
    local client = app_of { not_found = web.machine { handle_not_found = function(req)
      return ("%s %s %s"):format(req.path, req.query.q, next(req.params))
    end } }
    assert.equal("/int/x 1 nil", flows.ask(client, "GET /int/x?q=1").body)
    assert.equal("/missing 1 nil", flows.ask(client, "GET /missing?q=1").body)
  end)

  it("has nothing of what a resource offered to the same connection", function()
    local offers = web.machine { params = { id = "%d+" },
      available_languages = { "en", "de" }, handle_ok = function(req)
        return "in " .. req.accepted.language
      end }
    local client = test.app(web.app { web.resource("/y/{id}", offers),
      not_found = web.machine { handle_not_found = function(req)
        return "in " .. tostring(req.accepted.language)
      end } })
    local conn, bodies = client:connect(), {}
    for _, path in ipairs { "/y/1", "/y/2", "/y/a" } do
      conn:send(("GET %s HTTP/1.1\r\nHost: a\r\nAccept-Language: de\r\n\r\n"):format(
        path))
      bodies[#bodies + 1] = conn:receive(5):match "\r\n\r\n(.*)$"
    end
    conn:close()
    assert.same({ "in de", "in de", "in nil" }, bodies)
  end)

  it("leaves the connection to the next request", function()
    local client = app_of {}
    local conn = client:raw("POST /int/x HTTP/1.1\r\nHost: a\r\n"
      .. "Content-Length: 5\r\n\r\nabcdeGET /missing HTTP/1.1\r\nHost: a\r\n"
      .. "Connection: close\r\n\r\n")
    local all = ""
    repeat
      local octets = conn:receive(5)
      all = all .. (octets or "")
    until not octets
    conn:close()
    local _, count = all:gsub("HTTP/1.1 404 Not Found", "")
    assert.equal(2, count)
  end)
end)
