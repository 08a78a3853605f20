-- SPDX-License-Identifier: MIT
-- A request as a handler sees it: a small handle on C memory.  Nothing is copied into
-- Lua until it is asked for, and a handle whose request has ended raises an error.
local abi = require "luaweb.abi"
local accepted = require "luaweb.request.accepted"
local body = require "luaweb.request.body"
local context = require "luaweb.tracing.context"
local ffi = require "ffi"
local flag = require "luaweb.flag"
local handle = require "luaweb.request.handle"
local headers = require "luaweb.request.headers"
local json = require "luaweb.json"
local new_table = require "table.new"
local precondition = require "luaweb.request.precondition"
local Array = require("luaweb.json.value").Array

local C, host, str, request_at = abi.C, abi.host, ffi.string, abi.request_at
local rawget, rawset, setmetatable = rawget, rawset, setmetatable

---@class luaweb.Request
---@field method string     the method, e.g. "GET"
---@field path string       the path as received, e.g. "/hello/fred" (not decoded)
---@field target string     the request target as received
---@field scheme string     "http" or "https"
---@field host string       the authority asked for, e.g. "example.com:8080"
---@field peer string       the client's address; "unix:" of a unix socket; behind a
---                         proxy that hides it "unknown" or a name such as "_hidden"
---@field version string    "1.0" or "1.1"
---@field id string         names this request in the logs
---@field trace luaweb.Trace   which trace it is part of
---@field params table<string, any>      captured by the template, decoded: a string or
---                         number, a list (web.array), a table of pairs; nil: not there
---@field query luaweb.Pairs             decoded; q = the first value of q
---@field headers luaweb.Headers         by name, without regard to case
---@field trailers luaweb.Headers        of a chunked request, once its content is read
---@field cookies luaweb.Pairs           by name, as sent
---@field accepted luaweb.Accepted      what negotiation has chosen
---@field precondition luaweb.Precondition   what the client made its request depend on
---@field user any          who is asking, once authentication knows
---@field closed luaweb.Flag   an alternative: ready when the client is gone
---@field state table       the app's own, lives with the request
local Request = {}

local M = { Request = Request }

local facts, slice = handle.facts, handle.slice
local USER, CLOSED, PLACES = handle.USER, handle.CLOSED, handle.PLACES

---@class luaweb.Pairs   names and values in order; indexed by name: the first value.
--- Those of a request's head end with the request; a form is the handler's own.
local Pairs = {}

-- Its lists of names and values.
local function lists(self)
  local owner = rawget(self, 3)
  if owner and request_at(owner[1]).generation ~= owner[2] then
    error(handle.ENDED, 3)
  end
  return rawget(self, 1), rawget(self, 2)
end

--- All values of a name, in order of arrival.
---@param name string
---@return string[]
function Pairs:all(name)
  local found, names, values = json.array {}, lists(self)
  for i = 1, #names do
    if names[i] == name then found[#found + 1] = values[i] end
  end
  return found
end

--- Iterates in order of arrival: for name, value in pairs:each() do.
---@return fun(): string?, string?
function Pairs:each()
  lists(self)
  local i = 0
  return function()
    local names, values = lists(self)
    i = i + 1
    return names[i], values[i]
  end
end

local pairs_mt = {
  __index = function(self, name)
    if Pairs[name] then return Pairs[name] end
    local names, values = lists(self)
    for i = 1, #names do
      if names[i] == name then return values[i] end
    end
  end,
}

--- A view over lists of names and values.
---@param names string[]
---@param values string[]
---@param owner luaweb.Request?   the request that it ends with
---@return luaweb.Pairs
function M.pairs(names, values, owner)
  return setmetatable({ names, values, owner }, pairs_mt)
end

local scratch = ffi.new "struct luaweb_fields"

local function read_pairs(fields, owner)
  local names, values = {}, {}
  for i = 0, fields.count - 1 do
    local field = fields.list[i]
    names[i + 1], values[i + 1] = slice(field.name), slice(field.value)
  end
  return M.pairs(names, values, owner)
end

-- What is cheap to ask again.
local getters = {
  closed = function(r, self)
    local closed = rawget(self, CLOSED)
    if not closed then
      closed = flag.new "req.closed"
      rawset(self, CLOSED, closed)
      if C.luaweb_is_gone(host, r, self[2]) then flag.raise(closed) end
    end
    return closed
  end,
  method = function(r) return slice(r.method) end,
  path = function(r) return slice(r.path) end,
  target = function(r) return slice(r.target) end,
  scheme = function(r) return slice(r.scheme):lower() end,
  host = function(r) return slice(r.host) end,
  peer = function(r) return slice(r.peer) end,
  version = function(r) return r.minor_version == 0 and "1.0" or "1.1" end,
  id = function(r) return M.id(r) end,
  trace = function(r, self) return context.of_request(r, self[2]) end,
  accepted = function(_, self) return accepted.of(self) end,
  precondition = function(_, self) return precondition.of(self) end,
  user = function(_, self) return rawget(self, USER) end,
}

local TEXT, ITEM = C.LUAWEB_PARAM_TEXT, C.LUAWEB_PARAM_ITEM

-- A number that C has checked; plus nothing, so that -0 is 0.
local function value_of(param)
  local text = slice(param.value)
  return param.is_number == 0 and text or tonumber(text) + 0
end

local function add_param(params, param)
  local name, kind = slice(param.name), param.kind
  if kind == TEXT then
    params[name] = value_of(param)
  elseif kind == ITEM then
    local list = params[name] or setmetatable({}, Array)
    list[#list + 1], params[name] = value_of(param), list
  else
    params[name] = params[name] or {}
    params[name][slice(param.key)] = value_of(param)
  end
  return params
end

local function read_params(found)
  -- Nearly always one; made for it, the table is never rehashed.
  if found.count == 1 then return add_param(new_table(0, 1), found.list[0]) end
  local params = {}
  for i = 0, found.count - 1 do add_param(params, found.list[i]) end
  return params
end

-- What is worth keeping: by its place in the handle.
local PARAMS, QUERY, COOKIES = handle.PARAMS, handle.QUERY, handle.COOKIES
local HEADERS, TRAILERS, STATE = handle.HEADERS, handle.TRAILERS, handle.STATE
local places = { params = PARAMS, query = QUERY, cookies = COOKIES, headers = HEADERS,
  trailers = TRAILERS, state = STATE }

local views = {
  [PARAMS] = function(r) return read_params(r.params) end,
  [QUERY] = function(r, self)
    C.luaweb_query(host, r, self[2], scratch)
    return read_pairs(scratch, self)
  end,
  [COOKIES] = function(r, self)
    C.luaweb_cookies(host, r, self[2], scratch)
    return read_pairs(scratch, self)
  end,
  [HEADERS] = function(_, self) return headers.new(self, "headers") end,
  [TRAILERS] = function(_, self) return headers.new(self, "trailers") end,
  [STATE] = function() return {} end,
}

for name, method in pairs(body.methods(facts, M.pairs)) do Request[name] = method end

-- Raw access: what is not there yet is not to be looked for here again.
local function index(self, key)
  local place = places[key]
  if place then
    local r = facts(self)
    local value = rawget(self, place)
    if not value then
      value = views[place](r, self)
      rawset(self, place, value)
    end
    return value
  end
  local get = getters[key]
  if get then return get(facts(self), self) end
  return Request[key]
end

-- The places and what the app adds.
local function newindex(self, key, value)
  rawset(self, key == "user" and USER or key, value)
end

local request_mt = { __index = index, __newindex = newindex }

local id = ffi.new "char[129]"

--- The text that names a request in the logs.
---@param r ffi.cdata*   struct luaweb_request
---@return string
function M.id(r)
  C.luaweb_request_id(host, r, id)
  return str(id)
end

--- Method and target, for the logs.
---@param r ffi.cdata*   struct luaweb_request
---@return string
function M.line(r)
  return slice(r.method) .. " " .. slice(r.target)
end

--- Raises `closed`, if anybody has asked for it.
---@param self luaweb.Request
function M.tell_gone(self)
  local closed = rawget(self, CLOSED)
  if closed then flag.raise(closed) end
end

--- Makes the handle of a request.
---@param address integer   of the C struct
---@param generation integer
---@return luaweb.Request
function M.new(address, generation)
  local made = new_table(PLACES, 0)
  made[1], made[2] = address, generation
  setmetatable(made, request_mt)
  return made
end

return M
