-- SPDX-License-Identifier: MIT
-- Opens connections to where a fetch goes: straight, through a proxy that passes
-- requests on (http), or through a tunnel that a proxy makes (https).
-- RFC 9110 §3.7, §9.3.6; RFC 9112 §3.2.2.
local abi = require "luaweb.abi"
local dial = require "luaweb.client.dial"
local environment = require "luaweb.fetch.environment"
local exchange = require "luaweb.fetch.exchange"
local head = require "luaweb.fetch.head"
local reader = require "luaweb.client.reader"
local tls = require "luaweb.client.tls"
local uri = require "luaweb.fetch.uri"

local C, host = abi.C, abi.host

local M = {}

-- Of what a proxy says before there is a tunnel.
local PROXY_LIMITS = { max_head = 16384, max_headers = 64 }

local KINDS = exchange.KINDS

---@class luaweb.FetchRoute
---@field proxy luaweb.Uri|false
---@field is_tunnel boolean

--- The way to where a call goes.
---@param call luaweb.FetchCall
---@return luaweb.FetchRoute?
---@return string? message
---@return string? kind   "connect": the proxy is none that can be used
function M.route(call)
  local proxy, message = call.proxy
  if call.unix then
    proxy = false
  elseif proxy == nil then
    proxy, message = environment.proxy(call.uri)
    if message then return nil, message, "connect" end
  end
  local is_tunnel = proxy and call.uri.scheme == "https" or false
  if is_tunnel and proxy.scheme == "https" then
    return nil, ("no tunnel can be made through %s: ask the proxy over http"):format(
      uri.text(proxy, true)), "connect"
  end
  return { proxy = proxy or false, is_tunnel = is_tunnel }
end

local ALPN = { "http/1.1" }

local function tls_of(call, to)
  if to.scheme ~= "https" then return nil end
  return { name = call.unix and to.host or nil, verify = call.verify,
    ca_file = call.ca_file, alpn = ALPN }
end

-- The answer of a proxy to CONNECT: true, or nil, message, kind.
local function read_tunnel(socket, seconds)
  local its_reader = reader.new(socket, PROXY_LIMITS)
  its_reader:begin "CONNECT"
  local answer, message, kind = its_reader:head(seconds)
  if not answer then return nil, message, KINDS[kind] end
  if answer.status > 299 then
    return nil, ("it made no tunnel, but answered %d"):format(answer.status), "connect"
  end
  if its_reader:rest() ~= "" then
    return nil, "it sent octets before the tunnel was used", "protocol"
  end
  return true
end

local function make_tunnel(socket, call, proxy, clock)
  local seconds = clock:seek_left()
  if not socket:send(head.connect(call.uri, proxy)) then
    return nil, "it closed the connection", "reset"
  end
  return read_tunnel(socket, seconds)
end

-- TLS through a tunnel is with the server behind it.
local function secure(socket, call, clock)
  local to = call.uri
  local place, deadline = uri.authority(to, true), C.luaweb_now(host)
    + math.max(clock:seek_left(), 0)
  local facts, message, kind = tls.secure(socket.id, place, to.host, tls_of(call, to),
    deadline)
  if facts then return true end
  return nil, ("no TLS with %s: %s"):format(place, message), kind
end

local function open_tunnel(socket, call, proxy, clock)
  local is_made, message, kind = make_tunnel(socket, call, proxy, clock)
  if is_made then return secure(socket, call, clock) end
  return nil, ("the proxy %s: %s"):format(uri.authority(proxy), message), kind
end

-- Closes the socket where the tunnel was not made, whatever ended it.
local function tunnel(socket, call, proxy, clock)
  local ok, secured, message, kind = pcall(open_tunnel, socket, call, proxy, clock)
  if ok and secured then return socket end
  socket:close()
  if not ok then error(secured, 0) end
  return nil, message, kind
end

--- Opens a connection; waits.
---@param call luaweb.FetchCall
---@param route luaweb.FetchRoute
---@param clock luaweb.FetchClock
---@return luaweb.Socket?
---@return string? message
---@return string? kind
function M.open(call, route, clock)
  clock:enter "connecting"
  local seconds, is_last = clock:seek_left()
  if seconds <= 0 and is_last then return nil, clock:late() end
  if seconds <= 0 then return nil, clock:busy() end
  local to = route.proxy or call.uri
  local where = { host = to.host, port = to.port, timeout = seconds }
  if call.unix then where = { unix = call.unix, timeout = seconds } end
  if not route.is_tunnel then where.tls = tls_of(call, to) end
  local socket, message, kind = dial.open(where)
  if not socket then
    if kind == "timeout" and is_last then message = clock:late() end
    return nil, message, kind
  end
  if route.is_tunnel then return tunnel(socket, call, route.proxy, clock) end
  return socket
end

return M
