-- SPDX-License-Identifier: MIT
-- web.rate_limit: how many requests a client may make, over all workers: a machine that
-- answers the decision within_rate.  429 of RFC 6585 4, and the fields of
-- draft-ietf-httpapi-ratelimit-headers-10.
local abi = require "luaweb.abi"
local ffi = require "ffi"
local handle = require "luaweb.request.handle"
local keys = require "luaweb.machine.keys"
local machine = require "luaweb.machine"
local shared = require "luaweb.shared"
local trace = require "luaweb.trace"

local C, host, request_at = abi.C, abi.host, abi.request_at

local SIZE = 16 * 2 ^ 20 -- of the table of all limits: some 110,000 clients at a time
local MOST_KEY = tonumber(C.LUAWEB_RATE_MAX_KEY)
local MOST_BURST = 1e6

local M = {}

---@class luaweb.RateOptions
---@field rate number       requests in a second, in the long run, e.g. 100 / 60
---@field burst integer?    so many at once; default: what comes in a second, 1 at least
---@field key? fun(req: luaweb.Request): string?   whose requests are counted together;
---                         nil: this one is not counted.  Default: req.peer
---@field name string?      of the limit in the fields of answers; default: "default"

local digest = ffi.new "char[32]"

-- Long keys, such as tokens, are known by their digests.
local function short(key)
  C.luaweb_digest(host, key, #key, digest)
  return ffi.string(digest)
end

local function check_key_of(key)
  if type(key) ~= "string" then
    error(("web.rate_limit: key gave a %s: it gives a string, or nil for no limit")
      :format(type(key)), 0)
  end
  return #key > MOST_KEY and short(key) or key
end

-- A proxy may give its client a name of any length (RFC 7239 6.3).
local function by_long_peer(policy, r, generation)
  local key = short(handle.slice(r.peer))
  local is_within = C.luaweb_rate_limit(host, r, generation, policy, key, #key)
  return is_within
end

local function by_peer(policy)
  return function(req)
    local r = request_at(req[1])
    if r.peer.size > MOST_KEY then return by_long_peer(policy, r, req[2]) end
    local is_within = C.luaweb_rate_limit(host, r, req[2], policy, nil, 0)
    return is_within
  end
end

local function by_key(policy, key_of)
  return function(req)
    local key = key_of(req)
    if key == nil then return true end
    key = check_key_of(key)
    local r = request_at(req[1])
    local is_within = C.luaweb_rate_limit(host, r, req[2], policy, key, #key)
    return is_within
  end
end

-- What is wrong with an option, or nil.
local faults = {
  rate = function(v)
    local is_good = type(v) == "number" and v >= 1e-6 and v <= 1e6
    return not is_good and "wants a number of requests in a second" or nil
  end,
  burst = function(v)
    local is_good = type(v) == "number" and v >= 1 and v <= MOST_BURST
      and v == math.floor(v)
    return not is_good and "wants a whole number of requests, 1 or more" or nil
  end,
  key = function(v)
    return type(v) ~= "function" and "wants a function of the request" or nil
  end,
  name = function(v)
    local is_good = type(v) == "string" and #v <= 60 and v:find "^[%w_.:/ -]+$"
    return not is_good and "wants up to 60 letters, digits and _.:/ -" or nil
  end,
}

local function check(place, spec)
  if type(spec) ~= "table" then error(place .. ": web.rate_limit wants a table", 0) end
  for option, v in pairs(spec) do
    local fault = "there is no such option"
    if faults[option] then
      fault = faults[option](v)
    else
      local meant = type(option) == "string" and keys.meant(option, faults)
      if meant then fault = ("%s (did you mean %s?)"):format(fault, meant) end
    end
    if fault then
      error(("%s: web.rate_limit: %s: %s"):format(place, tostring(option), fault), 0)
    end
  end
  if spec.rate == nil then error(place .. ": web.rate_limit: rate is missing", 0) end
end

local count = 0 -- of limits: all workers declare them in the same order

local function new_policy(spec)
  count = count + 1
  local policy = ffi.new "struct luaweb_rate_policy"
  policy.table = shared.open("web.rate_limit", { size = SIZE }).c
  policy.per_second = spec.rate
  policy.burst = spec.burst or math.max(1, math.floor(spec.rate))
  policy.label = ('"%s"'):format(spec.name or "default")
  policy.number = count
  return policy
end

--- A machine that lets so many requests pass, for others to include.  What is above is
--- answered with 429, before who is asking is looked at.
---@param spec luaweb.RateOptions
---@return luaweb.Machine
function M.rate_limit(spec)
  check(trace.place(), spec)
  local policy = new_policy(spec)
  return machine.machine {
    within_rate = spec.key and by_key(policy, spec.key) or by_peer(policy),
  }
end

return M
