-- SPDX-License-Identifier: MIT
-- The fields of CORS on every kind of response, what a preflight is told, and policies
-- that are functions, on the wire.  Fetch, CORS protocol; RFC 9110 §12.5.5.
local browser = require "spec.support.browser"
local test = require "luaweb.test"
local web = require "luaweb"
local wire = require "spec.support.machine_wire"

local APP = "https://app.example"
local ORIGIN = { Origin = APP }
local PREFLIGHT = { Origin = APP, ["Access-Control-Request-Method"] = "PUT",
  ["Access-Control-Request-Headers"] = "x-token" }

local function nothing() end

local function done() return 204 end

local function fields_of(res)
  local found = {}
  for name, value in pairs(res.headers) do
    local short = name:match "^access%-control%-(.*)$"
    if short then found[short] = value end
  end
  return found
end

local policy = web.cors { origins = { APP }, methods = { "PUT", "BREW" },
  headers = { "X-Token" }, expose = { "X-Shown" }, credentials = true, max_age = 60 }

local LET_IN = { ["allow-origin"] = APP, ["allow-credentials"] = "true",
  ["expose-headers"] = "X-Shown" }

describe("whatever the response is, it lets the origin in", function()
  local TAGGED = { handle_ok = "0123456789", entity_tag = '"v1"', accept_ranges = true,
    do_put = done, do_post = done, do_patch = done }
  local CHUNKED = { body = "1\r\nx\r\n0\r\n\r\n",
    headers = { ["Transfer-Encoding"] = "chunked" } }
  -- status, method, what the machine has, fields of the request, its content
  local RESPONSES = {
    { 200, "GET" }, { 200, "HEAD" }, { 204, "PUT" }, { 204, "OPTIONS" },
    { 206, "GET", nil, { Range = "bytes=0-1" } },
    { 304, "GET", nil, { ["If-None-Match"] = "*" } },
    { 400, "GET", { well_formed = false } },
    { 401, "GET", { authorized = false, challenge = { "Basic" } } },
    { 403, "GET", { allowed = function() return false end } },
    { 404, "GET", { exists = false } }, { 405, "DELETE" },
    { 406, "GET", { available_media_types = { "a/b" } }, { Accept = "c/d" } },
    { 409, "PUT", { conflict_free = false } }, { 410, "GET", { exists = false,
      never_was = false } },
    { 411, "PUT", { length_required = true }, CHUNKED.headers, CHUNKED.body },
    { 412, "PUT", nil, { ["If-Match"] = '"v0"' } },
    { 413, "PUT", { body_limit = 1 }, nil, "xx" },
    { 414, "GET", { uri_fits = false } },
    { 415, "PUT", { acceptable_media_types = { "a/b" } },
      { ["Content-Type"] = "c/d" }, "x" },
    { 416, "GET", nil, { Range = "bytes=99-" } },
    { 417, "PUT", nil, { Expect = "more" }, "x" },
    { 422, "PUT", { content_valid = false } }, { 428, "PUT",
      { precondition_optional = false } },
    { 429, "GET", { within_rate = false } }, { 451, "GET",
      { legally_available = false } },
    { 500, "PUT", { do_put = function() return false end } }, { 501, "BREWS" },
    { 503, "GET", { service_available = false } },
    { 505, "GET", { http_version_supported = false } },
    { 308, "GET", { stays_for_good = false, location = "/there" } },
    { 402, "GET", { allowed = function() return web.status(402) end } },
  }
  for _, case in ipairs(RESPONSES) do
    local status, method, keys, headers, body = unpack(case, 1, 5)
    it(("%s with %d"):format(method, status), function()
      local client = wire.client(wire.with({ policy }, TAGGED, keys or {}))
      local res = client:request(method, "/x",
        { headers = wire.with(ORIGIN, headers or {}), body = body })
      assert.same({ status, LET_IN }, { res.status, fields_of(res) })
      assert(wire.has(wire.members(res.headers.vary), "origin"))
      res = client:request(method, "/x", { headers = headers, body = body })
      assert.same({ status, {} }, { res.status, fields_of(res) })
      assert(wire.has(wire.members(res.headers.vary), "origin"))
    end)
  end

  it("but of two origins none is let in", function()
    local client = wire.client { policy, handle_ok = "x" }
    for _, origins in ipairs { { APP, APP }, { APP, "https://evil.example" } } do
      for _, method in ipairs { "GET", "OPTIONS" } do
        local res = client:request(method, "/x", { headers = { Origin = origins,
          ["Access-Control-Request-Method"] = "PUT" } })
        assert.same({ {}, "Origin" }, { fields_of(res), res.headers.vary })
      end
    end
  end)

  it("but for another host's, whose policy is not ours", function()
    local res = wire.client { policy, handle_ok = "x", hosts = { "a.example" } }
      :get("/x", { headers = ORIGIN })
    assert.same({ 421, {} }, { res.status, fields_of(res) })
  end)
end)

describe("a preflight", function()
  local ANSWER = { ["allow-origin"] = APP, ["allow-credentials"] = "true",
    ["allow-methods"] = "PUT, BREW", ["allow-headers"] = "X-Token", ["max-age"] = "60" }

  local function preflight(keys, more)
    local client = wire.client(wire.with({ policy, handle_ok = "x", do_put = done },
      keys or {}))
    local res = client:options("/x", { headers = wire.with(PREFLIGHT, more or {}) })
    return res.status, fields_of(res), res
  end

  it("is told the lists as they are, whatever it asked for", function()
    for _, more in ipairs { {}, { ["Access-Control-Request-Method"] = "DELETE" },
      { ["Access-Control-Request-Headers"] = "x-evil" } } do
      local status, fields = preflight(nil, more)
      assert.same({ 204, ANSWER }, { status, fields })
    end
  end)

  for title, keys in pairs {
    ["who it is"]     = { authorized = false, challenge = { "Basic" } },
    ["what it may"]   = { allowed = function() error "asked" end },
    ["how often"]     = { within_rate = false },
    ["whether there is service"] = { service_available = false },
    ["whether it is there"]      = { exists = function() error "asked" end },
    ["the methods"]   = { methods = { "GET" } },
    ["a handler"]     = { handle_options = function() error "asked" end },
  } do
    it("does not ask " .. title, function()
      local client = wire.client(wire.with({ policy, handle_ok = "x" }, keys))
      local res = client:options("/x", { headers = PREFLIGHT })
      assert.same({ 204, ANSWER }, { res.status, fields_of(res) })
    end)
  end

  it("of another origin is an ordinary OPTIONS", function()
    local status, fields, res = preflight(nil, { Origin = "https://evil.example" })
    assert.same({ 204, {}, "GET, HEAD, PUT, OPTIONS" },
      { status, fields, res.headers.allow })
  end)

  it("of a path that nobody serves is answered as that of a resource", function()
    local client = test.app(web.app { includes = { policy },
      web.get("/{id}/x", nothing) })
    local res = client:options("/missing", { headers = PREFLIGHT })
    assert.same({ 204, ANSWER }, { res.status, fields_of(res) })
    res = client:options("/missing", { headers = ORIGIN })
    assert.same({ 404, LET_IN }, { res.status, fields_of(res) })
  end)

  it("lists the machine's methods where the policy names none", function()
    for _, methods in ipairs { false, "*" } do
      local own = web.cors { origins = { APP }, credentials = true,
        methods = methods or nil }
      local _, fields = preflight { own }
      assert.equal("GET, HEAD, PUT, OPTIONS", fields["allow-methods"])
    end
  end)

  it("is told the headers that it names, where all may be, with cookies", function()
    local own = web.cors { origins = { APP }, headers = "*", credentials = true }
    local _, fields, res = preflight { own }
    assert.equal("x-token", fields["allow-headers"])
    assert(wire.has(wire.members(res.headers.vary), "access-control-request-headers"))
    for _, bad in ipairs { "x-token, a b", "x(y)", "x;y" } do
      _, fields = preflight({ own }, { ["Access-Control-Request-Headers"] = bad })
      assert.is_nil(fields["allow-headers"])
    end
    local open = web.cors { origins = { APP }, headers = "*", methods = "*" }
    _, fields = preflight { open }
    assert.same({ "*", "*" }, { fields["allow-headers"], fields["allow-methods"] })
  end)

  it("from a public page to a private address wants leave of its own", function()
    local asked = { ["Access-Control-Request-Private-Network"] = "true" }
    assert.is_nil(select(2, preflight(nil, asked))["allow-private-network"])
    local own = web.cors { origins = { APP }, private_network = true }
    assert.equal("true", select(2, preflight({ own }, asked))["allow-private-network"])
    assert.is_nil(select(2, preflight { own })["allow-private-network"])
  end)
end)

describe("a policy", function()
  local function slow(value)
    return function()
      web.sleep(0.0001)
      return value
    end
  end

  it("may be functions of the request, which may wait", function()
    local own = web.cors { enabled = slow(true), origins = slow { APP },
      methods = slow { "PUT" }, headers = slow { "X-Token", "X-B" },
      expose = slow { "X-Shown" }, credentials = slow(true), max_age = slow(5),
      private_network = slow(false) }
    local client = wire.client { own, handle_ok = "x" }
    local res = client:get("/x", { headers = ORIGIN })
    assert.same({ 200, LET_IN, "Origin" },
      { res.status, fields_of(res), res.headers.vary })
    res = client:options("/x", { headers = PREFLIGHT })
    assert.same({ ["allow-origin"] = APP, ["allow-credentials"] = "true",
      ["allow-methods"] = "PUT", ["allow-headers"] = "X-Token, X-B",
      ["max-age"] = "5" }, fields_of(res))
  end)

  it("may be asked whether this request is concerned at all", function()
    local own = web.cors { origins = { APP }, enabled = function(req)
      return req.query.public ~= nil
    end }
    local client = wire.client { own, handle_ok = "x" }
    for target, fields in pairs { ["/x"] = {},
      ["/x?public"] = { ["allow-origin"] = APP } } do
      local res = client:get(target, { headers = ORIGIN })
      assert.same({ fields, "Origin" }, { fields_of(res), res.headers.vary })
    end
  end)

  it("may choose the origin by itself", function()
    local own = web.cors { origins = {} }
    local client = wire.client { own, handle_ok = "x", origin_allowed = function(req)
      return req.headers.origin:find "%.example$" ~= nil
    end }
    local res = client:get("/x", { headers = ORIGIN })
    assert.same({ ["allow-origin"] = APP }, fields_of(res))
    res = client:get("/x", { headers = { Origin = "https://a.example.evil" } })
    assert.same({ {}, "Origin" }, { fields_of(res), res.headers.vary })
  end)

  it("that lets all in is the same for all: nothing varies", function()
    local open = web.cors { origins = "*", headers = { "X-Token" },
      methods = { "PUT" } }
    local client = test.app(web.app { includes = { open },
      web.resource("/x", web.machine { handle_ok = "x", do_put = done }) })
    for _, headers in ipairs { ORIGIN, {} } do
      for target, status in pairs { ["/x"] = 200, ["/missing"] = 404 } do
        local res = client:get(target, { headers = headers })
        assert.same({ status, { ["allow-origin"] = "*" } },
          { res.status, fields_of(res) })
        assert.is_false(wire.has(wire.members(res.headers.vary), "origin"))
      end
    end
    local res = client:options("/x", { headers = PREFLIGHT })
    assert.is_true(browser.allows({ method = "OPTIONS", headers = PREFLIGHT }, res))
  end)
end)
