-- SPDX-License-Identifier: MIT
-- Connections to other servers: looks the name up, connects to one of its addresses,
-- and secures the connection where it is asked to.  What comes out is a Socket.
local abi = require "luaweb.abi"
local cancellation = require "luaweb.cancellation"
local names = require "luaweb.client.names"
local race = require "luaweb.client.race"
local socket = require "luaweb.client.socket"
local tls = require "luaweb.client.tls"

local C, host = abi.C, abi.host

local TIMEOUT = 10 -- seconds

local M = {}

---@class luaweb.DialOptions
---@field host string?     a name or a numeric address; or
---@field unix string?     the path of a unix socket
---@field port integer?    1 to 65535, of `host`
---@field timeout number?  seconds for all of it, default 10
---@field tls luaweb.TlsOptions?   nil: the octets go as they are

local known = { host = "string", unix = "string", port = "number", timeout = "number",
  tls = "table" }

local function is_port(port)
  return port and port % 1 == 0 and port > 0 and port < 65536
end

local function is_time(seconds)
  return seconds > 0 -- NaN is not
end

local function check_unix(options)
  if options.unix == "" or options.unix:find "%z" then
    error("dial.open: unix wants a path", 4)
  elseif options.tls and not options.tls.name then
    error("dial.open: over a unix socket, tls wants a name", 4)
  end
end

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
  elseif options.host and not is_port(options.port) then
    error("dial.open wants a port from 1 to 65535", 3)
  end
  if options.unix then check_unix(options) end
  if options.timeout and not is_time(options.timeout) then
    error("dial.open: timeout wants seconds, more than 0", 3)
  end
  if options.tls then tls.check(options.tls, 3) end
end

local function place_of(options)
  if options.unix then return options.unix end
  return ("%s port %d"):format(options.host, options.port)
end

local function addresses_of(options, timeout)
  if options.unix then return { "unix:" .. options.unix } end
  return names.resolve(options.host, timeout)
end

local function within(kind, timeout)
  return kind == "timeout" and (" within %g s"):format(timeout) or ""
end

-- Closes the socket unless it gets secured.
local function secure(conn, options, deadline, timeout)
  local place = place_of(options)
  local name = options.tls.name or options.host
  local ok, facts, message, kind = pcall(tls.secure, conn.id, place, name, options.tls,
    deadline)
  if ok and facts then
    conn.tls = facts
    return conn
  end
  conn:close()
  if not ok then error(facts, 0) end
  return nil, ("no TLS with %s%s: %s"):format(place, within(kind, timeout), message),
    kind
end

--- Opens a connection; waits until it is there.
---@param options luaweb.DialOptions
---@return luaweb.Socket?   its field `tls`: luaweb.TlsFacts, where it is secured
---@return string? message
---@return string? kind     "name", "connect", "tls" or "timeout"
function M.open(options)
  check(options)
  cancellation.enter "dial.open"
  local timeout = options.timeout or TIMEOUT
  local deadline = C.luaweb_now(host) + timeout
  local addresses, message, kind = addresses_of(options, timeout)
  if not addresses then return nil, message, kind end
  local id, report
  id, report, kind = race.connect(addresses, options.port or 0, deadline)
  if not id then
    return nil, ("can't connect to %s%s: %s"):format(place_of(options),
      within(kind, timeout), report), kind
  end
  local conn = socket.adopt(id)
  if not options.tls then return conn end
  return secure(conn, options, deadline, timeout)
end

return M
