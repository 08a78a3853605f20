-- SPDX-License-Identifier: MIT
-- The fields of the CORS component, told on the reference walk: what a policy says of
-- an origin, and of a preflight.  Each line has all the fields but Allow.  Fetch.
local http = require "spec.support.reference_http"
local reference = require "spec.support.reference_walk"

local function walk(policy, text)
  local machine = { do_put = function() end }
  for key, value in pairs(policy) do machine[key] = value end
  local walked = reference.machine_walk(machine, http.request(text))
  walked.fields.allow = nil
  return walked
end

local function play(lines)
  for _, line in ipairs(lines) do
    local title, text, policy, status, fields = unpack(line)
    it(title, function()
      local walked = walk(policy, text)
      local short = {}
      for name, value in pairs(walked.fields) do
        short[name:gsub("^access%-control%-", "")] = value
      end
      assert.equal(status, walked.status)
      assert.same(fields, short)
    end)
  end
end

local LIST = { cors_origins = { "http://a", "http://b" } }
local STAR = { cors_origins = "*", cors_expose = { "X-Id" } }
local PUT = "PUT\nOrigin: http://a"
local PREFLIGHT = "OPTIONS\nOrigin: http://a\nAccess-Control-Request-Method: PUT"

local function with(policy, keys)
  local both = {}
  for key, value in pairs(policy) do both[key] = value end
  for key, value in pairs(keys) do both[key] = value end
  return both
end

describe("an origin", function()
  local function nobody() return false end
  play {
    { "that is listed is named", PUT, LIST, 204,
      { vary = "Origin", ["allow-origin"] = "http://a" } },
    { "that is not listed gets the ordinary answer", "PUT\nOrigin: http://c", LIST, 204,
      { vary = "Origin" } },
    { "that is absent still makes the answer vary", "PUT", LIST, 204,
      { vary = "Origin" } },
    { "that is there twice counts as absent", PUT .. "\nOrigin: http://b", LIST, 204,
      { vary = "Origin" } },
    { "has the same letter case", "PUT\nOrigin: http://A", LIST, 204,
      { vary = "Origin" } },
    { "null is allowed where it is listed", "PUT\nOrigin: null",
      { cors_origins = { "null" } }, 204,
      { vary = "Origin", ["allow-origin"] = "null" } },
    { "is named on refusals too", PUT, with(LIST, { allowed = false }), 403,
      { vary = "Origin", ["allow-origin"] = "http://a" } },
    { "is not named where another host's policy counts", PUT,
      with(LIST, { authority_served = false }), 421, {} },
    { "of a credentialed policy is told so, and what it may read", PUT,
      with(LIST, { cors_credentials = true, cors_expose = { "X-Id", "ETag" } }), 204,
      { vary = "Origin", ["allow-origin"] = "http://a", ["allow-credentials"] = "true",
        ["expose-headers"] = "X-Id, ETag" } },
    { "of any kind makes a constant of the policy", "PUT", STAR, 204,
      { ["allow-origin"] = "*", ["expose-headers"] = "X-Id" } },
    { "of any kind, where a function says when", PUT,
      with(STAR, { cors_enabled = function() return true end }), 204,
      { vary = "Origin", ["allow-origin"] = "http://a", ["expose-headers"] = "X-Id" } },
    { "where a function says no", PUT, with(LIST, { cors_enabled = nobody }), 204,
      { vary = "Origin" } },
    { "is judged by the app where it wants to", PUT,
      { cors_origins = {}, origin_allowed = function() return true end }, 204,
      { vary = "Origin", ["allow-origin"] = "http://a" } },
  }
end)

describe("a preflight", function()
  play {
    { "hears the machine's methods", PREFLIGHT, LIST, 204,
      { vary = "Origin", ["allow-origin"] = "http://a",
        ["allow-methods"] = "PUT, OPTIONS" } },
    { "hears the static lists, whatever it asks for",
      PREFLIGHT .. "\nAccess-Control-Request-Headers: x-evil",
      with(LIST, { cors_methods = { "GET" }, cors_headers = { "X-Id" },
        cors_max_age = 600, cors_expose = { "X-Id" } }), 204,
      { vary = "Origin", ["allow-origin"] = "http://a", ["allow-methods"] = "GET",
        ["allow-headers"] = "X-Id", ["max-age"] = "600" } },
    { "meets no authentication", PREFLIGHT,
      with(LIST, { authorized = false, challenge = "Basic", within_rate = false }),
      204, { vary = "Origin", ["allow-origin"] = "http://a",
             ["allow-methods"] = "PUT, OPTIONS" } },
    { "hears stars where there are no credentials", PREFLIGHT,
      with(STAR, { cors_methods = "*", cors_headers = "*" }), 204,
      { ["allow-origin"] = "*", ["allow-methods"] = "*", ["allow-headers"] = "*" } },
    { "hears names in place of stars where there are credentials",
      PREFLIGHT .. "\nAccess-Control-Request-Headers: x-a, no token, x-b",
      with(LIST, { cors_methods = "*", cors_headers = "*", cors_credentials = true }),
      204, { vary = "Origin, Access-Control-Request-Headers",
             ["allow-origin"] = "http://a", ["allow-credentials"] = "true",
             ["allow-methods"] = "PUT, OPTIONS", ["allow-headers"] = "x-a, x-b" } },
    { "of a private network hears of it where the policy says so",
      PREFLIGHT .. "\nAccess-Control-Request-Private-Network: true",
      with(LIST, { cors_private_network = true }), 204,
      { vary = "Origin", ["allow-origin"] = "http://a",
        ["allow-methods"] = "PUT, OPTIONS", ["allow-private-network"] = "true" } },
    { "of a private network hears nothing of it elsewhere",
      PREFLIGHT .. "\nAccess-Control-Request-Private-Network: true", LIST, 204,
      { vary = "Origin", ["allow-origin"] = "http://a",
        ["allow-methods"] = "PUT, OPTIONS" } },
  }

  it("from a refused origin is an ordinary OPTIONS", function()
    local walked = walk(LIST,
      "OPTIONS\nOrigin: http://c\nAccess-Control-Request-Method: PUT")
    assert.same({ 204, "has_reply" }, { walked.status, walked.row })
    assert.same({ vary = "Origin" }, walked.fields)
  end)

  it("is one only as OPTIONS", function()
    local walked = walk(LIST, PUT .. "\nAccess-Control-Request-Method: PUT")
    assert.is_nil(walked.fields["access-control-allow-methods"])
    assert.equal("has_reply", walked.row)
  end)
end)
