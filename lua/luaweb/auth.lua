-- SPDX-License-Identifier: MIT
-- Who may enter: schemes that find a user in the Authorization field, and the
-- challenges of a 401.  Owns what was verified lately, under keyed digests: never a
-- secret.  RFC 9110 §11; RFC 7617 (Basic); RFC 6750 (Bearer).
local abi = require "luaweb.abi"
local ffi = require "ffi"
local handle = require "luaweb.request.handle"
local secret = require "luaweb.auth.secret"
local trace = require "luaweb.trace"

local C, host, str = abi.C, abi.host, ffi.string
local facts, USER = handle.facts, handle.USER
local NONE = tonumber(C.LUAWEB_CREDENTIALS_NONE)
local TOKEN = tonumber(C.LUAWEB_CREDENTIALS_TOKEN)

local MOST_REMEMBERED = 1000  -- users of a scheme; the oldest go
local DEFAULT_REALM = "restricted"

local M = {}

---@class luaweb.Scheme
---@field name string        in lower case
---@field verify function
---@field challenge string   a WWW-Authenticate value
---@field cache luaweb.AuthCache?
---@field private ask fun(scheme: luaweb.Scheme, token: string, req: table): any
local Scheme = {}
Scheme.__index = Scheme

---@class luaweb.Auth        what web.auth gives, for a machine to include
---@field schemes luaweb.Scheme[]
---@field place string
local Auth = {}
M.Auth = Auth

-- What was verified lately ------------------------------------------------------------

---@class luaweb.AuthCache   users by the digest of their credentials
local Cache = {}
Cache.__index = Cache

local key_of_digests = secret.random_token(32)
local digest = ffi.new "char[32]"

local function digest_of(token)
  C.luaweb_keyed_digest(host, key_of_digests, #key_of_digests, token, #token, digest)
  return str(digest)
end

local function new_cache(seconds)
  return setmetatable({ seconds = seconds, entries = {}, queue = {}, first = 1,
    last = 0 }, Cache)
end

function Cache:find(key)
  local entry = self.entries[key]
  return entry and entry.ends > C.luaweb_now(host) and entry.user or nil
end

-- All live equally long: the oldest is the first to end.
function Cache:drop_oldest()
  local oldest = self.queue[self.first]
  self.queue[self.first] = nil
  self.first = self.first + 1
  if self.entries[oldest.key] == oldest then self.entries[oldest.key] = nil end
end

function Cache:add(key, user)
  local now, queue = C.luaweb_now(host), self.queue
  while self.first <= self.last and queue[self.first].ends <= now do
    self:drop_oldest()
  end
  if self.last - self.first + 1 == MOST_REMEMBERED then self:drop_oldest() end
  local entry = { key = key, user = user, ends = now + self.seconds }
  self.last = self.last + 1
  queue[self.last], self.entries[key] = entry, entry
end

-- What a scheme is given: each check gives what is wrong, or nil ----------------------

local function fault_of_function(value)
  return type(value) ~= "function" and "wants a function" or nil
end

local function fault_of_seconds(value)
  local is_good = type(value) == "number" and value > 0 and value < math.huge
  return not is_good and "wants a number of seconds, more than 0" or nil
end

-- It becomes part of a header: no control octet, which no header may hold.
local function fault_of_realm(value)
  if type(value) ~= "string" then return "wants a string" end
  return value:find "%c" and "can't hold control octets" or nil
end

-- scope-token *( SP scope-token ), RFC 6749 §3.3.
local function fault_of_scope(value)
  local is_good = type(value) == "string" and value:find "^[ -~]+$"
    and not value:find '["\\]' and not (" " .. value .. " "):find("  ", 1, true)
  return not is_good and "wants words divided by single spaces" or nil
end

local OPTIONS = {
  basic = { realm = fault_of_realm, verify = fault_of_function,
    cache = fault_of_seconds },
  bearer = { realm = fault_of_realm, scope = fault_of_scope,
    verify = fault_of_function, cache = fault_of_seconds },
}

local function fail(place, what, key, fault)
  error(("%s: web.%s: %s: %s"):format(place, what, tostring(key), fault), 0)
end

local function check(place, name, spec)
  if type(spec) ~= "table" then
    error(("%s: web.%s wants a table"):format(place, name), 0)
  end
  for key, value in pairs(spec) do
    local fault_of = OPTIONS[name][key]
    local fault = "there is no such option"
    if fault_of then fault = fault_of(value) end
    if fault then fail(place, name, key, fault) end
  end
  if spec.verify == nil then fail(place, name, "verify", "is missing") end
end

-- Schemes -----------------------------------------------------------------------------

local function quote(text)
  return '"' .. text:gsub('[\\"]', "\\%0") .. '"'
end

local pair = ffi.new "struct luaweb_field"

local function ask_basic(scheme, token, req)
  if not C.luaweb_basic(host, token, #token, pair) then return nil end
  local name = str(pair.name.data, pair.name.size)
  local user = scheme.verify(name, str(pair.value.data, pair.value.size), req)
  if user == true then return name end
  return user
end

local function ask_bearer(scheme, token, req)
  return scheme.verify(token, req)
end

local function new_scheme(name, spec, challenge, ask)
  return setmetatable({ name = name, verify = spec.verify, challenge = challenge,
    ask = ask, cache = spec.cache and new_cache(spec.cache) or nil }, Scheme)
end

---@class luaweb.BasicOptions
---@field realm string      what the credentials are for, as a browser shows it
---@field verify fun(user: string, password: string, req: luaweb.Request): any
---                         true, or what req.user shall be; nil or false: refused
---@field cache number?     seconds for which who was verified is not asked for again,
---                         whatever the request is; the value of verify is kept

--- The Basic scheme: user name and password (RFC 7617).  Neither holds control octets.
---@param spec luaweb.BasicOptions
---@return luaweb.Scheme
function M.basic(spec)
  local place = trace.place()
  check(place, "basic", spec)
  if spec.realm == nil then fail(place, "basic", "realm", "is missing") end
  local challenge = ('Basic realm=%s, charset="UTF-8"'):format(quote(spec.realm))
  return new_scheme("basic", spec, challenge, ask_basic)
end

---@class luaweb.BearerOptions
---@field verify fun(token: string, req: luaweb.Request): any   as that of web.basic
---@field realm string?
---@field scope string?     what a token must be good for (RFC 6749 §3.3)
---@field cache number?     as that of web.basic

--- The Bearer scheme: a token that was handed out before (RFC 6750).
---@param spec luaweb.BearerOptions
---@return luaweb.Scheme
function M.bearer(spec)
  check(trace.place(), "bearer", spec)
  local challenge = "Bearer realm=" .. quote(spec.realm or DEFAULT_REALM)
  if spec.scope then challenge = challenge .. ", scope=" .. quote(spec.scope) end
  return new_scheme("bearer", spec, challenge, ask_bearer)
end

-- The scheme with a cache of its own, where it has none and one is wanted.
local function remembering(scheme, seconds)
  if scheme.cache or not seconds then return scheme end
  return new_scheme(scheme.name, { verify = scheme.verify, cache = seconds },
    scheme.challenge, scheme.ask)
end

local function check_list(place, spec)
  local count = 0
  for i, scheme in ipairs(spec) do
    count = i
    if getmetatable(scheme) ~= Scheme then
      fail(place, "auth", "[" .. i .. "]", "wants a scheme, such as web.basic")
    end
  end
  for key, value in pairs(spec) do
    local is_listed = type(key) == "number" and key >= 1 and key <= count
    local fault = not is_listed and "there is no such option" or nil
    if key == "cache" then fault = fault_of_seconds(value) end
    if fault then fail(place, "auth", key, fault) end
  end
  if count == 0 then error(place .. ": web.auth wants one scheme or more", 0) end
end

--- Schemes that let a request in, each asked where the request has its credentials.
---@param spec table   a list of schemes; cache: for those that have none of their own
---@return luaweb.Auth
function M.auth(spec)
  local place = trace.place()
  if type(spec) ~= "table" then error(place .. ": web.auth wants a table", 0) end
  check_list(place, spec)
  local schemes = {}
  for i, scheme in ipairs(spec) do schemes[i] = remembering(scheme, spec.cache) end
  return setmetatable({ schemes = schemes, place = place }, Auth)
end

-- Requests ----------------------------------------------------------------------------

-- A machine may include the same scheme by two ways.
local function distinct(schemes)
  local list, seen = {}, {}
  for _, scheme in ipairs(schemes) do
    if not seen[scheme] then list[#list + 1] = scheme end
    seen[scheme] = true
  end
  return list
end

local found = ffi.new "struct luaweb_field"
local names = { Basic = "basic", Bearer = "bearer" } -- as nearly everybody writes them

-- What the Authorization field has: enum luaweb_credentials, the scheme in lower case,
-- what follows it.  Of two fields neither counts: which one would be a guess.
local function credentials_of(req)
  local kind = C.luaweb_credentials(host, facts(req), found)
  if kind == NONE then return NONE end
  local name = str(found.name.data, found.name.size)
  return kind, names[name] or name:lower(), str(found.value.data, found.value.size)
end

-- The user that these credentials are, or nil.
local function identify(scheme, token, req)
  local cache = scheme.cache
  local key = cache and digest_of(token)
  local user = cache and cache:find(key)
  if user then return user end
  user = scheme:ask(token, req)
  if user and cache then cache:add(key, user) end
  return user or nil
end

-- Apart: the compiler wants no loop in the way of the usual case.
local function ask_others(schemes, name, token, req)
  for i = 2, #schemes do
    local user = schemes[i].name == name and identify(schemes[i], token, req)
    if user then return user end
  end
end

--- What decides for a machine with these schemes: true sets req.user.  Waits when a
--- `verify` waits, and raises what it raises.
---@param schemes luaweb.Scheme[]
---@return fun(req: luaweb.Request): boolean
function M.authorized(schemes)
  schemes = distinct(schemes)
  local first, has_more = schemes[1], schemes[2] ~= nil
  return function(req)
    local kind, name, token = credentials_of(req)
    if kind ~= TOKEN then return false end
    local user = first.name == name and identify(first, token, req)
    if not user and has_more then user = ask_others(schemes, name, token, req) end
    if not user then return false end
    rawset(req, USER, user)
    return true
  end
end

--- The challenges of a 401, one WWW-Authenticate field each.  With the request that was
--- refused: also why, where the scheme has a word for it (RFC 6750 §3.1).
---@param schemes luaweb.Scheme[]
---@param req luaweb.Request?
---@return string[]
function M.challenges(schemes, req)
  local kind, name, rest = NONE, nil, nil
  if req then kind, name, rest = credentials_of(req) end
  local has_token = kind ~= NONE and name == "bearer" and rest ~= ""
  local list = {}
  for i, scheme in ipairs(distinct(schemes)) do
    local why = has_token and scheme.name == "bearer" and ', error="invalid_token"'
    list[i] = scheme.challenge .. (why or "")
  end
  return list
end

return M
