-- SPDX-License-Identifier: MIT
-- web.rate_limit: who may ask how often, what answers say of it, and what is wrong with
-- one.  The arithmetic is in shared_table_spec.lua.
local test = require "luaweb.test"
local web = require "luaweb"

local SLOW = 1 / 3600 -- a second: nothing comes back while a spec runs

local function by_name(burst, extra)
  local spec = { rate = SLOW, burst = burst,
    key = function(req) return req.query.who end }
  for k, v in pairs(extra or {}) do spec[k] = v end
  return web.rate_limit(spec)
end

local function ok() return "ok" end

local function get(client, who, method)
  return client:request(method or "GET", "/?who=" .. who)
end

describe("web.rate_limit", function()
  it("lets a burst pass, then answers 429 and when to come again", function()
    local client = test.app(web.app {
      web.resource("/", web.machine { web.rate_limit { rate = 0.5, burst = 3 },
        handle_ok = ok }),
    })
    for left = 2, 0, -1 do
      local res = client:get "/"
      assert.same({ 200, "ok" }, { res.status, res.body })
      assert.matches('^"default";r=' .. left .. ";t=%d$", res.headers["ratelimit"])
      assert.is_nil(res.headers["ratelimit-policy"])
      assert.is_nil(res.headers["retry-after"])
    end
    local res = client:get "/"
    assert.equal(429, res.status)
    assert.matches('^"default";r=0;t=[56]$', res.headers["ratelimit"])
    assert.equal('"default";q=3;w=6', res.headers["ratelimit-policy"])
    assert.matches("^[12]$", res.headers["retry-after"])
  end)

  it("lets one pass again when it has come back", function()
    local client = test.app(web.app {
      web.resource("/", web.machine { web.rate_limit { rate = 50, burst = 1 },
        handle_ok = ok }),
    })
    local statuses = {}
    for _ = 1, 400 do
      local status = client:get("/").status
      statuses[status] = true
      if statuses[429] and status == 200 then return end
      if status == 429 then web.sleep(0.01) end
    end
    error "it was refused once, and then always"
  end)

  it("counts for each key, and not where it gives nil", function()
    local client = test.app(web.app {
      web.resource("/", web.machine { by_name(1), handle_ok = ok }),
    })
    assert.equal(200, get(client, "a").status)
    assert.equal(429, get(client, "a").status)
    assert.equal(200, get(client, "b").status)
    for _ = 1, 3 do
      local res = client:get "/"
      assert.equal(200, res.status)
      assert.is_nil(res.headers["ratelimit"])
    end
  end)

  it("tells long keys apart", function()
    local client = test.app(web.app {
      web.resource("/", web.machine { by_name(1), handle_ok = ok }),
    })
    local long = ("k"):rep(2000)
    assert.equal(200, get(client, long .. "a").status)
    assert.equal(429, get(client, long .. "a").status)
    assert.equal(200, get(client, long .. "b").status)
  end)

  it("is one limit wherever a machine with it is included", function()
    local limit = by_name(2)
    local client = test.app(web.app {
      web.resource("/", web.machine { limit, handle_ok = ok }),
      web.resource("/other", web.machine { limit, handle_ok = ok }),
    })
    assert.equal(200, get(client, "a").status)
    assert.equal(200, client:get("/other?who=a").status)
    assert.equal(429, get(client, "a").status)
    assert.equal(429, client:get("/other?who=a").status)
  end)

  it("is another limit each time it is declared", function()
    local one, other = by_name(1), by_name(1)
    local client = test.app(web.app {
      web.resource("/", web.machine { one, handle_ok = ok }),
      web.resource("/other", web.machine { other, handle_ok = ok }),
    })
    assert.equal(200, get(client, "a").status)
    assert.equal(200, client:get("/other?who=a").status)
  end)

  it("guards who is asking: before authentication", function()
    local asked = 0
    local client = test.app(web.app {
      web.resource("/", web.machine {
        by_name(1),
        web.auth { web.basic { realm = "r", verify = function()
          asked = asked + 1
          return false
        end } },
        handle_ok = ok,
      }),
    })
    local headers = { authorization = "Basic YTpi" }
    assert.equal(401, client:get("/?who=a", { headers = headers }).status)
    assert.equal(429, client:get("/?who=a", { headers = headers }).status)
    assert.equal(1, asked)
  end)

  it("lets the app say what a 429 says", function()
    local client = test.app(web.app {
      web.resource("/", web.machine { by_name(1), handle_ok = ok,
        handle_too_many_requests = "slowly!" }),
    })
    get(client, "a")
    local res = get(client, "a")
    assert.same({ 429, "slowly!" }, { res.status, res.body })
    assert.equal("3600", res.headers["retry-after"])
  end)

  it("names its policy", function()
    local client = test.app(web.app {
      web.resource("/", web.machine { by_name(1, { name = "per user" }),
        handle_ok = ok }),
    })
    assert.matches('^"per user";r=0;', get(client, "a").headers["ratelimit"])
    assert.equal('"per user";q=1;w=3600', get(client, "a").headers["ratelimit-policy"])
  end)

  it("tells no longer time than a century", function()
    local client = test.app(web.app {
      web.resource("/", web.machine { by_name(1, { rate = 1e-6, burst = 1e6 }),
        handle_ok = ok }),
      web.resource("/one", web.machine { by_name(1, { rate = 1e-6 }), handle_ok = ok }),
    })
    assert.equal('"default";r=999999;t=1000000', get(client, "a").headers["ratelimit"])
    assert.equal("ok", client:get("/one?who=a").body)
    assert.equal("1000000", client:get("/one?who=a").headers["retry-after"])
  end)

  for _, case in ipairs {
    { nil, "web.rate_limit wants a table" },
    { {}, "web.rate_limit: rate is missing" },
    { { rate = 0 }, "rate: wants a number of requests in a second" },
    { { rate = "10/s" }, "rate: wants a number of requests in a second" },
    { { rate = 1, burst = 0.5 }, "burst: wants a whole number of requests, 1 or more" },
    { { rate = 1, key = "peer" }, "key: wants a function of the request" },
    { { rate = 1, name = 'a"b' }, "name: wants up to 60 letters, digits and _.:/ -" },
    { { rate = 1, bust = 2 }, "bust: there is no such option (did you mean burst?)" },
  } do
    it("refuses what is wrong: " .. case[2], function()
      local _, message = pcall(web.rate_limit, case[1])
      assert.matches("^spec/rate_limit_spec.lua:%d+: web.rate_limit", message)
      assert.truthy(message:find(case[2], 1, true))
    end)
  end
end)
