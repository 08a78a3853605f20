-- SPDX-License-Identifier: MIT
-- A client end of a connection: octets out, octets in, waiting without blocking.
local abi = require "luaweb.abi"
local ffi = require "ffi"
local wake = require "luaweb.wake"

local C, host = abi.C, abi.host
local CLOSED = tonumber(C.LUAWEB_SOCKET_CLOSED)
local WAIT = tonumber(C.LUAWEB_SOCKET_WAIT)

local ROOM = 65536
local room = ffi.new("char[?]", ROOM)

local M = {}

---@class luaweb.Socket
---@field package id integer
---@field package is_sending boolean   a send waits, or its wait was cancelled
local Socket = {}
Socket.__index = Socket

local function new(id)
  if id < 0 then return nil, ffi.string(C.luaweb_error(host, id)) end
  return setmetatable({ id = id, is_sending = false }, Socket)
end

--- One that is open already; it closes it.
---@param id integer
---@return luaweb.Socket
function M.adopt(id)
  return setmetatable({ id = id, is_sending = false }, Socket)
end

--- Joined in memory to a new connection of an app.
---@param capp ffi.cdata*   struct luaweb_app
---@return luaweb.Socket?, string? message
function M.memory(capp)
  return new(C.luaweb_socket_memory(host, capp))
end

--- To a numeric address and port, or "unix:/path".
---@param address string
---@param port integer?
---@return luaweb.Socket?, string? message
function M.connect(address, port)
  return new(C.luaweb_socket_connect(host, address, port or 0))
end

--- Sends all octets; waits while the other side is slow.  One at a time: while another
--- job sends, or after a send that was cut off by a cancellation, nobody could tell
--- what the other side gets.
---@param octets string
---@return boolean? sent
---@return string? message   "reset", or "torn": another send has not ended
function Socket:send(octets)
  if self.is_sending then return nil, "torn" end
  local at, size = ffi.cast("const char *", octets), #octets
  while size > 0 do
    local n = C.luaweb_socket_send(host, self.id, at, size)
    if n >= 0 then
      at, size = at + n, size - n
    elseif n == WAIT then
      self.is_sending = true -- and stays so where the wait raises
      wake.wait(self.id, "socket:send")
      self.is_sending = false
    else
      return nil, "reset"
    end
  end
  return true
end

--- Sends as many octets as go without waiting.
---@param octets string
---@return integer? count    that were taken
---@return string? message   as of Socket:send
function Socket:send_now(octets)
  if self.is_sending then return nil, "torn" end
  local n = C.luaweb_socket_send(host, self.id, octets, #octets)
  if n == WAIT then return 0 end
  if n < 0 then return nil, "reset" end
  return tonumber(n)
end

--- Receives some octets.
---@param timeout number?   seconds; nil: as long as it takes
---@return string? octets
---@return string? message  "timeout", "closed" (the other side has ended), or "reset"
function Socket:receive(timeout)
  local deadline = timeout and C.luaweb_now(host) + timeout
  while true do
    local n = C.luaweb_socket_receive(host, self.id, room, ROOM)
    if n > 0 then return ffi.string(room, n) end
    if n == CLOSED then return nil, "closed" end
    if n ~= WAIT then return nil, "reset" end
    if not deadline then
      wake.wait(self.id, "socket:receive")
    else
      local left = deadline - C.luaweb_now(host)
      if left <= 0 then return nil, "timeout" end
      wake.wait_for(self.id, left, "socket:receive")
    end
  end
end

--- Ends our sending; receiving goes on.
function Socket:finish()
  C.luaweb_socket_finish(host, self.id)
end

--- Closes; the socket must not be used afterwards.  What was sent last can be lost when
--- the other side still sends: where that matters, finish, and receive to the end.
---@param is_reset boolean?   the other side is to notice at once, whatever it does
function Socket:close(is_reset)
  if is_reset then
    C.luaweb_socket_reset(host, self.id)
  else
    C.luaweb_socket_close(host, self.id)
  end
  self.id = 4294967295
end

return M
