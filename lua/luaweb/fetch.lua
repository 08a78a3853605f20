-- SPDX-License-Identifier: MIT
-- web.fetch: asks other servers.  Waits without blocking; works while an app loads, in
-- handlers, jobs and hooks alike.  What the world does wrong is nil, a message and a
-- kind; what the programmer does wrong raises.
--
-- kind         what happened
-- "url"        the text is no http or https URL
-- "name"       the host's name has no address
-- "connect"    nobody listens there, or a proxy refuses
-- "tls"        no secure connection: the certificate is not the host's, ...
-- "busy"       all connections that there may be are in use, and none became free
-- "timeout"    a limit of time is over; the message names what was being done
-- "reset"      the connection ended before the answer did
-- "protocol"   the answer is not HTTP, or not as it says
-- "too_large"  the content is larger than max_size, or a head than 64 KiB
-- "redirect"   too many, or one that may not be followed
local alt = require "luaweb.alt"
local answers = require "luaweb.fetch.answer"
local clocks = require "luaweb.fetch.clock"
local commit = require "luaweb.commit"
local connect = require "luaweb.fetch.connect"
local exchanges = require "luaweb.fetch.exchange"
local fields = require "luaweb.fetch.fields"
local job = require "luaweb.job"
local options_of = require "luaweb.fetch.options"
local pool = require "luaweb.fetch.pool"
local redirect = require "luaweb.fetch.redirect"
local traced = require "luaweb.tracing.call"
local uri = require "luaweb.fetch.uri"

local M = {}

-- Methods that do no more when they are asked twice (RFC 9110 §9.2.2).
local IS_IDEMPOTENT = { GET = true, HEAD = true, OPTIONS = true, TRACE = true,
  PUT = true, DELETE = true }

---@class luaweb.Fetch    one call of web.fetch
---@field call luaweb.FetchCall
---@field clock luaweb.FetchClock
---@field exchange luaweb.Exchange|false   the one that is under way
---@field is_cancelled boolean

-- Sends the request on some connection: the exchange, or nil, message, kind.
local function start(fetch, route, is_again)
  local call, clock = fetch.call, fetch.clock
  clock:seek(call.connect_timeout)
  local link, message, kind = pool.take {
    key = pool.key_of(call, route.proxy), most = call.max_connections,
    fresh = is_again, limit = clock,
    open = function() return connect.open(call, route, clock) end,
  }
  if not link then return nil, message, kind end
  fetch.exchange = exchanges.start(link, call, clock,
    not route.is_tunnel and route.proxy or nil)
  if fetch.is_cancelled then fetch.exchange:abort() end
  return fetch.exchange
end

-- A server may close a kept connection just when the next request is on its way; that
-- is nobody's fault, and the request is sent again where that does no harm.
local function may_ask_again(exchange, call)
  return exchange.is_silent and exchange.was_reused and IS_IDEMPOTENT[call.method]
    and type(call.body) ~= "function"
end

-- The head of the answer to one request, or nil, message, kind.
local function ask(fetch)
  local route, why, of_kind = connect.route(fetch.call)
  if not route then return nil, why, of_kind end
  for attempt = 1, 2 do
    local exchange, message, kind = start(fetch, route, attempt == 2)
    if not exchange then return nil, message, kind end
    local answer
    answer, message, kind = exchange:head()
    if answer then return answer end
    if attempt == 2 or not may_ask_again(exchange, fetch.call) then
      return nil, message, kind
    end
  end
end

local function values_of(answer, name)
  return fields.received(answer.headers):all(name)
end

-- Goes to where an answer leads: true, or nil, message, kind.
local function go_on(fetch, answer, locations)
  local exchange = fetch.exchange
  local following, message, kind = redirect.follow(fetch.call, answer.status, locations)
  exchange:drop()
  if not following then return nil, message, kind end
  fetch.call = following
  return true
end

-- The response, or nil, message, kind.
local function run(fetch)
  local most = fetch.call.redirects
  for hop = 0, most do
    local answer, message, kind = ask(fetch)
    if not answer then return nil, message, kind end
    local locations = values_of(answer, "location")
    if most == 0 or not redirect.is_one(answer.status, locations) then
      return answers.make(fetch.call, fetch.exchange, answer)
    end
    if hop == most then
      fetch.exchange:drop()
      return nil, ("more than %d redirects"):format(most), "redirect"
    end
    local is_led
    is_led, message, kind = go_on(fetch, answer, locations)
    if not is_led then return nil, message, kind end
  end
end

local function with_place(call, response, message, kind)
  if response then return response end
  local place = uri.text(call.uri, true):gsub("%?.*$", "")
  return nil, ("%s %s: %s"):format(call.method, place, message), kind
end

-- Runs a fetch; whatever raises leaves no connection open.
local function run_guarded(fetch)
  local span = traced.enter(fetch.call)
  local ok, response, message, kind = pcall(run, fetch)
  if span then traced.leave(span, ok, response, message, kind) end
  if ok then return with_place(fetch.call, response, message, kind) end
  if fetch.exchange then fetch.exchange:abort() end
  error(response, 0)
end

local function new(call)
  return { call = call, clock = clocks.new(call.timeout, call.idle_timeout),
    exchange = false, is_cancelled = false }
end

-- Checks the arguments; mistakes are raised at who called.
local function read_options(what, url, options)
  local ok, call, message = pcall(options_of.read, what, url, options)
  if not ok then error(call, 3) end
  return call, message
end

--- Asks as a checked call says (options.lua).
---@param call luaweb.FetchCall
---@return luaweb.FetchResponse?
---@return string? message
---@return string? kind
function M.run(call)
  commit.enter "web.proxy"
  return run_guarded(new(call))
end

--- Asks a server, and waits for its answer.
---@param url string
---@param options luaweb.FetchOptions?   see luaweb.fetch.options
---@return luaweb.FetchResponse?    of any status
---@return string? message
---@return string? kind             see above
function M.fetch(url, options)
  commit.enter "web.fetch"
  local call, message = read_options("web.fetch", url, options)
  if not call then return nil, message, "url" end
  return run_guarded(new(call))
end

-- Alternatives ------------------------------------------------------------------------

---@class luaweb.FetchFailure   what web.fetch_alt gives in place of a response
---@field ok false
---@field message string
---@field kind string
local Failure = {}
Failure.__index = Failure

function Failure:__tostring() return self.message end

local function failure(message, kind)
  return setmetatable({ ok = false, message = message, kind = kind }, Failure)
end

--- The alternative of an answer, for choices and races: the request is sent when it is
--- waited for, and its connection is closed when something else is chosen.
---@param url string
---@param options luaweb.FetchOptions?
---@return luaweb.Alternative   gives a luaweb.FetchResponse, or a luaweb.FetchFailure:
--- res.ok is false, res.message and res.kind say why
function M.fetch_alt(url, options)
  local call, wrong = read_options("web.fetch_alt", url, options)
  if not call then return alt.always(failure(wrong, "url")) end
  return alt.with_nack(function(nack)
    local fetch = new(call)
    local running = job.spawn(function()
      local response, message, kind = run_guarded(fetch)
      return response or failure(message, kind)
    end)
    nack.fn = function()
      fetch.is_cancelled = true
      running:cancel "something else was chosen"
      if fetch.exchange then fetch.exchange:abort() end
    end
    return running
  end)
end

return M
