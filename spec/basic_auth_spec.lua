-- SPDX-License-Identifier: MIT
-- Who may enter, on the wire: the corpus against an app for each set of users; what
-- other decisions make of who came.  RFC 9110 §11; RFC 7617; RFC 6750.
local pure = require "spec.support.pure"
local regex = require "spec.support.regex"
local test = require "luaweb.test"
local web = require "luaweb"
local wire = require "spec.support.machine_wire"

local CHALLENGE = 'Basic realm="demo", charset="UTF-8"'
local FOO_BAR = "Basic Zm9vOmJhcg=="

local seen -- what verify was asked about

local function login(users, realm)
  return web.auth { web.basic { realm = realm or "demo",
    verify = function(user, password)
      seen = { user, password }
      return users[user] == password
    end } }
end

local function users_of(case)
  local users = {}
  for name, password in pairs(case.users) do
    users[pure.octets(name)] = pure.octets(password)
  end
  return users
end

local client_of = wire.kept(function(state)
  return wire.client { login(state.users), allowed = state.allowed,
    handle_ok = function(req) return req.user end }
end)

local function ask(case, allowed)
  local lines = case.lines or { wire.given(case.authorization) }
  for i, line in ipairs(lines) do lines[i] = pure.octets(line) end
  seen = nil
  local client = client_of { users = users_of(case), allowed = allowed ~= false }
  return client:get("/x", { headers = { Authorization = lines } })
end

local function is_refused(case, res)
  assert(wire.has(case.status or { 401 }, res.status), res.status)
  if res.status == 401 then
    assert.equal(CHALLENGE, res.headers["www-authenticate"])
  end
end

local run, challenge = {}, {}

function run.accept(case)
  local res = ask(case)
  assert.same({ 200, pure.octets(case.user) }, { res.status, res.body })
  assert.same({ pure.octets(case.user), pure.octets(case.password) }, seen)
end

function run.reject(case)
  is_refused(case, ask(case))
end

function run.challenge(case) challenge[case.case](case) end

challenge["no credentials"] = function(case)
  local res = ask(case)
  assert.is_true(regex.matches(case.header_re, res.headers["www-authenticate"]))
end

-- What would end a field can't be a realm; what is only odd is quoted.
challenge["realm cannot inject a header"] = function(case)
  assert.error_matches(function() login({}, pure.octets(case.realm)) end,
    "realm: can't hold control octets")
  local client = wire.client { login({}, 'x", X-Evil="1'), handle_ok = "x" }
  local res = client:get "/x"
  assert.equal('Basic realm="x\\", X-Evil=\\"1", charset="UTF-8"',
    res.headers["www-authenticate"])
  for _, name in ipairs(case.absent) do assert.is_nil(res.headers[name]) end
end

challenge["401 always carries WWW-Authenticate"] = function(case)
  for _, authorization in ipairs { "", "Basic", "Basic x", "x y z", "Bearer x" } do
    local res = ask(wire.with(case, { authorization = authorization }))
    assert.same({ 401, CHALLENGE }, { res.status, res.headers["www-authenticate"] })
  end
end

challenge["valid credentials without the right: 403, not 401"] = function(case)
  local res = ask(wire.with(case, { authorization = FOO_BAR }), false)
  assert(wire.has(case.status, res.status), res.status)
  assert.is_nil(res.headers["www-authenticate"])
end

challenge["two Authorization lines"] = function(case)
  is_refused(case, ask(case))
  assert.is_nil(seen)
end

describe("Basic authentication", function()
  for _, case in ipairs(pure.cases "basic-auth") do
    it(("%ss %s"):format(case.kind, case.id), function() run[case.kind](case) end)
  end
end)

describe("a refusal", function()
  local METHODS = { "GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS" }
  local function fail() error "asked" end

  for _, method in ipairs(METHODS) do
    it("of " .. method .. " comes before anything is looked at", function()
      local client = wire.client { login {}, handle_ok = fail, do_post = fail,
        do_put = fail, do_patch = fail, do_delete = fail, handle_options = fail,
        allowed = fail, exists = fail, entity_tag = fail, stays_for_good = fail,
        location = "/there", cache_control = "max-age=60", last_modified = fail }
      local res = client:request(method, "/x", { headers = {
        ["If-Match"] = '"other"', ["If-None-Match"] = "*", Accept = "none/such" } })
      assert.same({ 401, CHALLENGE }, { res.status, res.headers["www-authenticate"] })
      assert.is_nil(res.headers["cache-control"])
    end)
  end

  it("may speak for itself, by a function or a constant", function()
    for _, speaker in ipairs { "who?", function() return web.text "who?" end } do
      local client = wire.client { login {}, handle_ok = "x",
        handle_unauthorized = speaker }
      local res = client:get "/x"
      assert.same({ 401, "who?", CHALLENGE },
        { res.status, res.body, res.headers["www-authenticate"] })
    end
  end)

  it("names all schemes, each on a line of its own, and why a token is none", function()
    local client = wire.client {
      web.auth { web.bearer { verify = function() end } }, login {}, handle_ok = "x" }
    local function challenges(headers)
      local list = {}
      for _, line in ipairs(client:get("/x", { headers = headers }).lines) do
        if line[1]:lower() == "www-authenticate" then list[#list + 1] = line[2] end
      end
      return list
    end
    assert.same({ 'Bearer realm="restricted"', CHALLENGE }, challenges())
    assert.same({ 'Bearer realm="restricted", error="invalid_token"', CHALLENGE },
      challenges { Authorization = "Bearer x" })
  end)

  it("that the app gives as a number has the machine's challenge", function()
    for _, keys in ipairs { { allowed = function() return 401 end },
      { exists = function() error(401) end },
      { handle_ok = function() return 401 end },
      { handle_ok = function() return web.status(401) end } } do
      local client = wire.client(wire.with({ login { foo = "bar" }, handle_ok = "x" },
        keys))
      local res = client:get("/x", { headers = { Authorization = FOO_BAR } })
      assert.same({ 401, CHALLENGE }, { res.status, res.headers["www-authenticate"] })
    end
  end)

  it("has the app's own challenge where it gave one", function()
    local client = wire.client { login { foo = "bar" }, handle_ok = function()
      return web.status(401):header("WWW-Authenticate", "Negotiate")
    end }
    local res = client:get("/x", { headers = { Authorization = FOO_BAR } })
    assert.equal("Negotiate", res.headers["www-authenticate"])
  end)
end)

describe("who came", function()
  it("is known to all that comes behind, and to nobody in front", function()
    local asked = {}
    local function note(name, answer)
      return function(req)
        asked[name] = tostring(req.user)
        return answer
      end
    end
    local client = wire.client { login { foo = "bar" },
      within_rate = note("within_rate", true), well_formed = note("well_formed", true),
      allowed = note("allowed", true), exists = note("exists", true),
      entity_tag = note("entity_tag", '"v1"'), handle_ok = note("handle_ok", "x") }
    client:get("/x", { headers = { Authorization = FOO_BAR } })
    assert.same({ within_rate = "nil", well_formed = "nil", allowed = "foo",
      exists = "foo", entity_tag = "foo", handle_ok = "foo" }, asked)
  end)

  it("may be asked of the whole app, unmatched paths too", function()
    local core = web.machine { login { foo = "bar" } }
    local client = test.app(web.app { includes = { core },
      web.get("/x", function(req) return req.user end) })
    for target, status in pairs { ["/x"] = 200, ["/missing"] = 404 } do
      assert.equal(401, client:get(target).status)
      assert.equal(status,
        client:get(target, { headers = { Authorization = FOO_BAR } }).status)
    end
  end)
end)
