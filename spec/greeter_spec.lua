-- SPDX-License-Identifier: MIT
-- The greeter (apps/greeter.lua), step by step.
local process = require "spec.support.process"

local client = require("luaweb.test").app "apps/greeter.lua"

local SUPER_USER = "Basic c3VwZXJVc2VyOnN1cGVyUGFzc3dvcmQ=" -- superUser:superPassword
local MARCUS     = "Basic bWFyY3VzOnRlc3Q="                 -- marcus:test
local ANONYMOUS  = "Basic YW5vbnltb3VzOndoYXRldmVy"         -- anonymous:whatever
local CHALLENGE  = 'Basic realm="demoRealm", charset="UTF-8"'

local ask = {} -- by method: who asks for what, with further headers

for _, method in ipairs { "get", "head", "options", "delete" } do
  ask[method] = function(target, credentials, headers)
    headers = headers or {}
    headers.Authorization = credentials
    return client[method](client, target, { headers = headers })
  end
end

local function is_challenge(res)
  assert.equal(401, res.status)
  assert.equal(CHALLENGE, res.headers["www-authenticate"])
end

describe("who asks", function()
  it("is asked for a password first", function()
    is_challenge(ask.get "/hello")
    is_challenge(ask.get "/hello/fred")
    is_challenge(ask.options "/hello")
  end)

  it("is asked again when it is wrong", function()
    is_challenge(ask.get("/hello", "Basic c3VwZXJVc2VyOnRlc3Q=")) -- superUser:test
    is_challenge(ask.get("/hello", "Basic bm9ib2R5OnRlc3Q="))     -- nobody:test
    is_challenge(ask.get("/hello", "Bearer x"))
  end)

  it("needs more than an account", function()
    for _, credentials in ipairs { MARCUS, ANONYMOUS } do
      local res = ask.get("/hello", credentials)
      assert.equal(403, res.status)
      assert.equal("Superuser privileges required", res.body)
      assert.is_nil(res.headers.etag)
      assert.equal(403, ask.options("/hello", credentials).status)
    end
  end)

  it("is let in again within a minute without another hash", function()
    local secret = require "luaweb.auth.secret"
    ask.get("/hello", SUPER_USER)
    local count = secret.computed()
    assert.equal(200, ask.get("/hello", SUPER_USER).status)
    assert.equal(count, secret.computed())
  end)

  it("is refused by logout, whoever it is and whatever they ask", function()
    for _, credentials in ipairs { SUPER_USER, MARCUS, ANONYMOUS, "Bearer x" } do
      is_challenge(ask.get("/logout", credentials))
      is_challenge(ask.head("/logout", credentials))
      is_challenge(ask.options("/logout", credentials))
    end
    is_challenge(ask.get "/logout")
  end)
end)

describe("the greeting", function()
  it("is for whom the path names", function()
    local res = ask.get("/hello/fred", SUPER_USER)
    assert.equal(200, res.status)
    assert.equal("Hello, fred!", res.body)
    assert.equal("text/plain; charset=utf-8", res.headers["content-type"])
  end)

  it("is for the user where the path names nobody", function()
    assert.equal("Hello, superUser!", ask.get("/hello", SUPER_USER).body)
  end)

  it("has a head of its own", function()
    local get = ask.get("/hello/fred", SUPER_USER)
    local head = ask.head("/hello/fred", SUPER_USER)
    assert.equal(200, head.status)
    assert.equal("", head.body)
    for _, name in ipairs { "content-type", "content-length", "etag", "vary" } do
      assert.is_string(get.headers[name])
      assert.equal(get.headers[name], head.headers[name])
    end
  end)

  it("has a weak entity tag, which is that of the name", function()
    local fred = ask.get("/hello/fred", SUPER_USER).headers.etag
    assert.matches('^W/"[^"]+"$', fred)
    assert.equal(fred, ask.get("/hello/fred", SUPER_USER).headers.etag)
    assert.not_equal(fred, ask.get("/hello/anna", SUPER_USER).headers.etag)
    assert.equal(ask.get("/hello", SUPER_USER).headers.etag,
      ask.get("/hello/superUser", SUPER_USER).headers.etag)
  end)

  it("is not sent to who has it", function()
    local tag = ask.get("/hello/fred", SUPER_USER).headers.etag
    for _, known in ipairs { tag, tag:sub(3), '"other", ' .. tag, "*" } do
      local res = ask.get("/hello/fred", SUPER_USER, { ["If-None-Match"] = known })
      assert.equal(304, res.status)
      assert.equal(tag, res.headers.etag)
      assert.equal("", res.body)
    end
    local other = { ["If-None-Match"] = tag }
    assert.equal(200, ask.get("/hello/anna", SUPER_USER, other).status)
  end)

  it("is not told to be known before it is known who asks", function()
    is_challenge(ask.get("/hello", nil, { ["If-None-Match"] = "*" }))
    assert.equal(403, ask.get("/hello", MARCUS, { ["If-None-Match"] = "*" }).status)
  end)
end)

describe("the resources", function()
  it("say what can be done with them", function()
    local res = ask.options("/hello", SUPER_USER)
    assert.equal(204, res.status)
    assert.equal("GET, HEAD, OPTIONS", res.headers.allow)
  end)

  it("take no other method, whoever asks", function()
    for _, target in ipairs { "/hello", "/hello/fred", "/logout" } do
      local res = ask.delete(target)
      assert.equal(405, res.status)
      assert.equal("GET, HEAD, OPTIONS", res.headers.allow)
    end
  end)

  it("do not know every method", function()
    assert.equal(501, client:request("BREW", "/hello").status)
  end)

  it("are two", function()
    for _, target in ipairs { "/", "/hello/fred/more", "/login", "/logout/fred" } do
      assert.equal(404, ask.get(target, SUPER_USER).status)
    end
  end)
end)

describe("pages of another origin", function()
  local function preflight(target, origin)
    return client:options(target, { headers = { Origin = origin,
      ["Access-Control-Request-Method"] = "GET" } })
  end

  it("ask what they may do without a password", function()
    for _, target in ipairs { "/hello", "/logout" } do
      local res = preflight(target, "http://example.com")
      assert.equal(204, res.status)
      assert.equal("http://example.com", res.headers["access-control-allow-origin"])
      assert.equal("GET, HEAD, OPTIONS", res.headers["access-control-allow-methods"])
      assert.equal("Server", res.headers["access-control-allow-headers"])
      assert.equal("86400", res.headers["access-control-max-age"])
      assert.equal("Origin", res.headers.vary)
    end
  end)

  it("may read what they get, refusals too", function()
    for status, credentials in pairs { [200] = SUPER_USER, [403] = MARCUS,
      [401] = "" } do
      local res = ask.get("/hello", credentials, { Origin = "http://example.com" })
      assert.equal(status, res.status)
      assert.equal("http://example.com", res.headers["access-control-allow-origin"])
    end
  end)

  it("of any other origin may not", function()
    is_challenge(preflight("/hello", "http://example.org"))
    local res = ask.get("/hello", SUPER_USER, { Origin = "http://example.org" })
    assert.equal(200, res.status)
    assert.is_nil(res.headers["access-control-allow-origin"])
  end)
end)

describe("a server of its own", function()
  after_each(process.clean)

  it("says all this, and ends without a fault", function()
    local child = process.serve "apps/greeter.lua"
    local function status_of(target, credentials)
      local line = credentials and ("Authorization: %s\r\n"):format(credentials)
      local answer = child:ask(process.get(target, line))
      return answer.status, answer.body
    end
    assert.equal(401, (status_of "/hello"))
    assert.same({ 403, "Superuser privileges required" },
      { status_of("/hello", MARCUS) })
    assert.same({ 200, "Hello, superUser!" }, { status_of("/hello", SUPER_USER) })
    assert.same({ 200, "Hello, fred!" }, { status_of("/hello/fred", SUPER_USER) })
    assert.equal(401, (status_of("/logout", SUPER_USER)))
    assert.equal(404, (status_of "/missing"))
    child:stop()
  end)
end)
