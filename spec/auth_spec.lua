-- SPDX-License-Identifier: MIT
-- Who may enter (lua/luaweb/auth.lua): the corpus, the two schemes, their challenges.
local auth = require "luaweb.auth"
local job = require "luaweb.job"
local live_request = require "spec.support.live_request"
local pure = require "spec.support.pure"
local regex = require "spec.support.regex"
local secret = require "luaweb.auth.secret"
local test = require "luaweb.test"
local web = require "luaweb"

local request = live_request.authorized

after_each(live_request.release)

--- The schemes of a web.auth, and what decides by them.
local function decision(spec)
  local made = web.auth(spec)
  return auth.authorized(made.schemes), made.schemes
end

-- The corpus --------------------------------------------------------------------------

local function knows(case)
  local users = {}
  for name, password in pairs(case.users) do
    users[pure.octets(name)] = pure.octets(password)
  end
  return { web.basic {
    realm = "demo",
    verify = function(user, password) return users[user] == password end,
  } }
end

local function field_of(case)
  if case.authorization then return pure.octets(case.authorization) end
end

local FOO_BAR = "Basic Zm9vOmJhcg=="
local run, challenge = {}, {}

function run.accept(case)
  local req = request(field_of(case))
  assert.is_true(decision(knows(case))(req))
  assert.equal(pure.octets(case.user), req.user)
end

-- What is no 401 here is refused before, by the parser.
function run.reject(case)
  local req, refused = request(field_of(case))
  local decide, schemes = decision(knows(case))
  if refused then -- it is no head
    assert.is_true(refused == 400 or refused == 431)
    return
  end
  assert.is_false(decide(req))
  assert.is_nil(req.user)
  assert.equal(401, case.status[1])
  assert.equal('Basic realm="demo", charset="UTF-8"', auth.challenges(schemes, req)[1])
end

function run.challenge(case)
  challenge[case.case](case)
end

challenge["no credentials"] = function(case)
  local decide, schemes = decision(knows(case))
  assert.is_false(decide(request()))
  assert.is_true(regex.matches(case.header_re, auth.challenges(schemes)[1]))
end

challenge["realm cannot inject a header"] = function(case)
  assert.error_matches(function()
    web.basic { realm = pure.octets(case.realm), verify = print }
  end, "realm: can't hold control octets")
end

challenge["401 always carries WWW-Authenticate"] = function(case)
  local decide, schemes = decision(knows(case))
  for _, req in ipairs { request(), request "Basic", request "x", request("a", "b") } do
    assert.is_false(decide(req))
    assert.equal(1, #auth.challenges(schemes, req))
  end
end

-- They are right: it is for the next decision, `allowed`, to answer 403.
challenge["valid credentials without the right: 403, not 401"] = function(case)
  assert.is_true(decision(knows(case))(request(FOO_BAR)))
end

challenge["two Authorization lines"] = function(case)
  local decide = decision(knows(case))
  assert.is_true(decide(request(case.lines[1])))
  assert.is_false(decide(request(unpack(case.lines))))
end

describe("Basic authentication, the corpus", function()
  for _, case in ipairs(pure.cases "basic-auth") do
    it(("%ss %s"):format(case.kind, case.id), function() run[case.kind](case) end)
  end
end)

-- Schemes -----------------------------------------------------------------------------

describe("web.basic", function()
  local function user_after(result)
    local req = request(FOO_BAR)
    local is_in = decision { web.basic { realm = "r",
      verify = function(...)
        assert.same({ "foo", "bar" }, { (select(1, ...)), (select(2, ...)) })
        assert.equal(req, (select(3, ...)))
        return result
      end } }(req)
    return is_in, req.user
  end

  it("lets in whom verify gives, under that name or value", function()
    local account = { id = 1 }
    assert.same({ true, "foo" }, { user_after(true) })
    assert.same({ true, "root" }, { user_after "root" })
    assert.same({ true, 403 }, { user_after(403) })
    assert.equal(account, select(2, user_after(account)))
  end)

  it("refuses whom verify gives false or nothing for", function()
    assert.same({ false }, { user_after(false) })
    assert.same({ false }, { user_after(nil) })
  end)

  it("does not ask verify about what is no pair of user and password", function()
    local decide = decision { web.basic { realm = "r", verify = error } }
    for _, token in ipairs { "Zm9v", "Zm9vOmJhcg=", "Zm9vOmJhcgB4", "=", "" } do
      assert.is_false(decide(request("Basic " .. token)))
    end
  end)

  it("waits with verify, and raises what verify raises", function()
    local decide = decision { web.basic { realm = "r", verify = function(_, password)
      web.sleep(0.001)
      if password == "bar" then error({ "down" }, 0) end
      return true
    end } }
    local req = request "Basic YTpi"
    assert.is_true(job.spawn(decide, req):join())
    assert.equal("a", req.user)
    local ok, raised = pcall(decide, request(FOO_BAR))
    assert.is_false(ok)
    assert.same({ "down" }, raised)
  end)

  it("quotes its realm", function()
    local _, schemes = decision { web.basic { realm = 'a "b" \\c é', verify = print } }
    assert.same({ 'Basic realm="a \\"b\\" \\\\c é", charset="UTF-8"' },
      auth.challenges(schemes))
  end)
end)

describe("web.bearer", function()
  local sessions = { ["a.b-c_d~e+f/g=="] = "fred" }
  local decide, schemes = decision {
    web.bearer { realm = "api", scope = "read write",
      verify = function(token) return sessions[token] end },
  }
  local plain = 'Bearer realm="api", scope="read write"'

  it("lets in whom verify gives, by a token in any scheme's letter case", function()
    for _, scheme in ipairs { "Bearer", "bearer", "BEARER  " } do
      local req = request(scheme .. " a.b-c_d~e+f/g==")
      assert.is_true(decide(req))
      assert.equal("fred", req.user)
    end
  end)

  for line, expected in pairs {
    ["Bearer other"]      = plain .. ', error="invalid_token"',
    ["Bearer a b"]        = plain .. ', error="invalid_token"',
    ["bearer \195\169"]   = plain .. ', error="invalid_token"',
    ["Bearer"]            = plain,
    ["Basic YTpi"]        = plain,
    ["Bearerx y"]         = plain,
    ["Bearer\tother"]     = plain,
  } do
    it("says why " .. ("%q"):format(line) .. " is refused, where it came", function()
      local req = request(line)
      assert.is_false(decide(req))
      assert.same({ expected }, auth.challenges(schemes, req))
    end)
  end

  it("says nothing of a token where there was none", function()
    assert.same({ plain }, auth.challenges(schemes))
    assert.same({ plain }, auth.challenges(schemes, request()))
  end)

  it("says nothing of one where there were two", function()
    local req = request("Bearer a", "Bearer b")
    assert.is_false(decide(req))
    assert.same({ plain }, auth.challenges(schemes, req))
  end)

  it("has a parameter in any case (RFC 6750 §3)", function()
    local _, bare = decision { web.bearer { verify = print } }
    assert.same({ 'Bearer realm="restricted"' }, auth.challenges(bare))
  end)
end)

describe("web.auth", function()
  it("asks the schemes that the request has credentials for, in order", function()
    local asked = {}
    local function bearer(name)
      return web.bearer { verify = function(token)
        asked[#asked + 1] = name
        return token == name and name
      end }
    end
    local decide, schemes = decision { bearer "a", bearer "b",
      web.basic { realm = "r", verify = function(user) return user == "foo" end } }
    local req = request "Bearer b"
    assert.is_true(decide(req))
    assert.equal("b", req.user)
    assert.is_true(decide(request(FOO_BAR)))
    assert.is_false(decide(request 'Digest username="b"'))
    assert.same({ "a", "b" }, asked)
    assert.equal(3, #auth.challenges(schemes, req))
  end)

  it("asks and names a scheme once that came by two ways", function()
    local count = 0
    local scheme = web.bearer { verify = function() count = count + 1 end }
    local decide, schemes = decision { scheme, scheme }
    assert.is_false(decide(request "Bearer x"))
    assert.equal(1, count)
    assert.equal(1, #auth.challenges(schemes))
  end)

  it("works with the requests and passwords of an app", function()
    local hash = web.password_hash "bar"
    local decide, schemes = decision { web.basic { realm = "r", cache = 60,
      verify = function(user, password)
        return web.password_verify(password, user == "foo" and hash or nil)
      end } }
    local client = test.app(web.app { web.get("/", function(req)
      if decide(req) then return "Hello, " .. req.user end
      local challenge_text = auth.challenges(schemes, req)[1]
      return web.status(401):header("WWW-Authenticate", challenge_text)
    end) })
    local before = secret.computed()
    local tokens = { "Zm9vOmJhcg==", "Zm9vOmJhcg==", "Zm9vOmJheg==", "Zm94OmJhcg==" }
    for i, token in ipairs(tokens) do
      local res = client:get("/", { headers = { Authorization = "Basic " .. token } })
      assert.equal(i < 3 and "Hello, foo" or "401 Unauthorized\n", res.body)
      assert.equal(i >= 3, res.headers["www-authenticate"] ~= nil)
    end
    assert.equal(3, secret.computed() - before) -- the second was remembered
  end)
end)
