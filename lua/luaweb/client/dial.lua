-- SPDX-License-Identifier: MIT
-- Connections to other servers: looks the name up, connects to one of its addresses,
-- and secures the connection where it is asked to.  What comes out is a Socket.
local abi = require "luaweb.abi"
local names = require "luaweb.client.names"
local race = require "luaweb.client.race"
local sched = require "luaweb.sched"
local socket = require "luaweb.client.socket"

local C, host = abi.C, abi.host

local TIMEOUT = 10 -- seconds

local M = {}

---@class luaweb.DialOptions
---@field host string?     a name or a numeric address; or
---@field unix string?     the path of a unix socket
---@field port integer?    1 to 65535, of `host`
---@field timeout number?  seconds for all of it, default 10

local known = { host = "string", unix = "string", port = "number", timeout = "number" }

local function check(options)
  if type(options) ~= "table" then error("dial.open wants a table of options", 3) end
  for key, value in pairs(options) do
    if not known[key] then
      error(("dial.open has no option %s"):format(tostring(key)), 3)
    elseif type(value) ~= known[key] then
      error(("dial.open: %s wants a %s, not a %s"):format(key, known[key],
        type(value)), 3)
    end
  end
  if (options.host == nil) == (options.unix == nil) then
    error("dial.open wants either a host or the path of a unix socket", 3)
  end
  local port = options.port
  if options.host and not (port and port % 1 == 0 and port > 0 and port < 65536) then
    error("dial.open wants a port from 1 to 65535", 3)
  end
end

local function addresses_of(options, timeout)
  if options.unix then return { "unix:" .. options.unix } end
  return names.resolve(options.host, timeout)
end

local function place_of(options)
  if options.unix then return options.unix end
  return ("%s port %d"):format(options.host, options.port)
end

--- Opens a connection; waits until it is there.
---@param options luaweb.DialOptions
---@return luaweb.Socket?
---@return string? message
---@return string? kind   "name", "connect", "timeout"
function M.open(options)
  check(options)
  sched.check "dial.open"
  local timeout = options.timeout or TIMEOUT
  local deadline = C.luaweb_now(host) + timeout
  local addresses, message, which = addresses_of(options, timeout)
  if not addresses then return nil, message, which end
  local id, report, kind = race.connect(addresses, options.port or 0, deadline)
  if id then return socket.adopt(id) end
  local within = kind == "timeout" and (" within %g s"):format(timeout) or ""
  return nil, ("can't connect to %s%s: %s"):format(place_of(options), within, report),
    kind
end

return M
