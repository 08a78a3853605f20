-- SPDX-License-Identifier: MIT
-- What authentication remembers, and what it is declared with (lua/luaweb/auth.lua).
local auth = require "luaweb.auth"
local job = require "luaweb.job"
local live_request = require "spec.support.live_request"
local web = require "luaweb"

--- A scheme of tokens that counts how often it is asked; it lets in all but "bad".
local function counting(options)
  local counter = { asked = 0 }
  options = options or {}
  options.verify = function(token)
    counter.asked = counter.asked + 1
    return token ~= "bad" and { token }
  end
  counter.scheme = web.bearer(options)
  return counter
end

local function ask(schemes, token)
  local req = live_request.authorized("Bearer " .. token)
  local is_in, user = auth.authorized(schemes)(req), req.user
  live_request.release(req)
  return is_in, user
end

describe("cache", function()
  it("remembers who was verified, and the value", function()
    local counter = counting { cache = 60 }
    local _, first = ask({ counter.scheme }, "a")
    local is_in, second = ask({ counter.scheme }, "a")
    assert.is_true(is_in)
    assert.equal(first, second)
    assert.equal(1, counter.asked)
  end)

  it("tells other credentials from these", function()
    local counter = counting { cache = 60 }
    for _, token in ipairs { "a", "b", "ab", "a=", "a", "b", "ab", "a=" } do
      local _, user = ask({ counter.scheme }, token)
      assert.same({ token }, user)
    end
    assert.equal(4, counter.asked)
  end)

  it("does not remember failures", function()
    local counter = counting { cache = 60 }
    assert.is_false(ask({ counter.scheme }, "bad"))
    assert.is_false(ask({ counter.scheme }, "bad"))
    assert.equal(2, counter.asked)
  end)

  it("asks each time without it", function()
    local counter = counting()
    ask({ counter.scheme }, "a")
    ask({ counter.scheme }, "a")
    assert.equal(2, counter.asked)
  end)

  it("forgets after its seconds", function()
    local counter = counting { cache = 0.05 }
    ask({ counter.scheme }, "a")
    web.sleep(0.06)
    ask({ counter.scheme }, "a")
    assert.equal(2, counter.asked)
  end)

  it("is not prolonged by being used", function()
    local counter = counting { cache = 0.1 }
    for _ = 1, 6 do
      ask({ counter.scheme }, "a")
      web.sleep(0.04)
    end
    assert.is_true(counter.asked >= 2)
  end)

  it("remembers a thousand; the oldest go", function()
    local counter = counting { cache = 60 }
    for i = 1, 1001 do ask({ counter.scheme }, "t" .. i) end
    for i = 2, 1001 do ask({ counter.scheme }, "t" .. i) end
    assert.equal(1001, counter.asked)
    ask({ counter.scheme }, "t1")
    assert.equal(1002, counter.asked)
  end)

  it("keeps its bound where some end while others come", function()
    local counter = counting { cache = 0.02 }
    for i = 1, 3000 do
      ask({ counter.scheme }, "t" .. i % 1500)
      if i % 500 == 0 then web.sleep(0.025) end
    end
    local cache, count = counter.scheme.cache, 0
    for _ in pairs(cache.entries) do count = count + 1 end
    assert.is_true(count <= 500)
    assert.is_true(cache.last - cache.first + 1 <= 500)
    assert.equal(3000, counter.asked)
  end)

  it("lets the last value win where two verify at once", function()
    local waits, calls = { 0.03, 0.01 }, 0
    local scheme = web.bearer { cache = 60, verify = function()
      calls = calls + 1
      local mine = calls
      web.sleep(waits[mine])
      return mine
    end }
    local one, two = job.spawn(ask, { scheme }, "a"), job.spawn(ask, { scheme }, "a")
    assert.equal(1, select(2, one:join()))
    assert.equal(2, select(2, two:join()))
    assert.equal(1, select(2, ask({ scheme }, "a")))
    assert.equal(2, calls)
  end)

  it("of web.auth is for the schemes that have none", function()
    local long, none = counting { cache = 60 }, counting()
    local made = web.auth { long.scheme, none.scheme, cache = 0.3 }
    ask({ made.schemes[1] }, "a")
    ask({ made.schemes[2] }, "a")
    ask({ made.schemes[2] }, "a")
    assert.same({ 1, 1 }, { long.asked, none.asked })
    web.sleep(0.32)
    ask({ made.schemes[1] }, "a")
    ask({ made.schemes[2] }, "a")
    assert.same({ 1, 2 }, { long.asked, none.asked })
  end)

  it("holds no secret", function()
    local counter = counting { cache = 60 }
    ask({ counter.scheme }, "sesame")
    for key, entry in pairs(counter.scheme.cache.entries) do
      assert.matches("^[%w_-]+$", key)
      assert.equal(22, #key)
      assert.equal(key, entry.key)
      assert.is_nil(key:find("sesame", 1, true))
    end
  end)
end)

describe("a declaration", function()
  local verify, scheme = function() end, web.bearer { verify = print }

  for what, cases in pairs {
    basic = {
      { nil, "web.basic wants a table" },
      { { realm = "r" }, "web.basic: verify: is missing" },
      { { verify = verify }, "web.basic: realm: is missing" },
      { { realm = 1, verify = verify }, "realm: wants a string" },
      { { realm = "a\tb", verify = verify }, "realm: can't hold control octets" },
      { { realm = "a\127", verify = verify }, "realm: can't hold control octets" },
      { { realm = "r", verify = "x" }, "verify: wants a function" },
      { { realm = "r", verify = verify, scope = "x" }, "scope: there is no such" },
      { { realm = "r", verify = verify, cache = 0 }, "cache: wants a number" },
      { { realm = "r", verify = verify, cache = "60" }, "cache: wants a number" },
      { { realm = "r", verify = verify, cache = 1 / 0 }, "cache: wants a number" },
      { { realm = "r", verify = verify, cache = 0 / 0 }, "cache: wants a number" },
      { { "r", verify = verify }, "web.basic: 1: there is no such option" },
    },
    bearer = {
      { "x", "web.bearer wants a table" },
      { {}, "web.bearer: verify: is missing" },
      { { verify = verify, realm = "\n" }, "realm: can't hold control octets" },
      { { verify = verify, scope = "" }, "scope: wants words" },
      { { verify = verify, scope = "a  b" }, "scope: wants words" },
      { { verify = verify, scope = " a" }, "scope: wants words" },
      { { verify = verify, scope = "a " }, "scope: wants words" },
      { { verify = verify, scope = 'a"b' }, "scope: wants words" },
      { { verify = verify, scope = "a\\b" }, "scope: wants words" },
      { { verify = verify, scope = "\195\169" }, "scope: wants words" },
      { { verify = verify, scope = { "a" } }, "scope: wants words" },
      { { verify = verify, relm = "x" }, "web.bearer: relm: there is no such option" },
    },
    auth = {
      { nil, "web.auth wants a table" },
      { {}, "web.auth wants one scheme or more" },
      { { cache = 60 }, "web.auth wants one scheme or more" },
      { { { verify = verify } }, "web.auth: %[1%]: wants a scheme, such as web.basic" },
      { { scheme, "x" }, "%[2%]: wants a scheme" },
      { { scheme, nil, scheme }, "web.auth: 3: there is no such option" },
      { { scheme, realm = "x" }, "web.auth: realm: there is no such option" },
      { { scheme, cache = -1 }, "web.auth: cache: wants a number of seconds" },
    },
  } do
    for i, case in ipairs(cases) do
      it(("of web.%s names its fault, %d: %s"):format(what, i, case[2]), function()
        local ok, message = pcall(web[what], case[1])
        assert.is_false(ok)
        assert.matches("^spec/auth_cache_spec.lua:%d+: web%." .. what, message)
        assert.matches(case[2], message)
      end)
    end
  end

  it("gives what a machine can tell by its metatable", function()
    local made = web.auth { scheme }
    assert.equal(auth.Auth, getmetatable(made))
    assert.same({ scheme }, made.schemes)
    assert.matches("^spec/auth_cache_spec.lua:%d+$", made.place)
  end)
end)
