-- SPDX-License-Identifier: MIT
-- How long a fetch may take: all of it, and without an octet; and what it is doing, for
-- the message when it was too long.
local abi = require "luaweb.abi"

local C, host = abi.C, abi.host
local ceil, max, min = math.ceil, math.max, math.min

local M = {}

---@class luaweb.FetchClock
---@field at number        until when, by luaweb_now; math.huge: as long as it takes
---@field timeout number   seconds, of which `at` is the end
---@field idle number      seconds without an octet
---@field phase string     e.g. "connecting"
---@field moved_at number  when octets came or went last
---@field connect_at number   until when there must be a connection
---@field connect_timeout number
local Clock = {}
Clock.__index = Clock

--- Starts a clock.
---@param timeout number   seconds for all
---@param idle number      seconds without an octet
---@return luaweb.FetchClock
function M.new(timeout, idle)
  local now = C.luaweb_now(host)
  return setmetatable({ at = now + timeout, timeout = timeout, idle = idle,
    phase = "starting", moved_at = now, connect_at = now, connect_timeout = 0 }, Clock)
end

--- Begins to look for a connection: to wait in line for one, to open one.
---@param timeout number   seconds for both
function Clock:seek(timeout)
  self:enter "waiting for a free connection"
  self.connect_at, self.connect_timeout = self.moved_at + timeout, timeout
end

--- Seconds that there are left to get a connection, rounded up to milliseconds: they
--- are told in messages.
---@return number seconds
---@return boolean is_last   it is the time for all that ends them
function Clock:seek_left()
  local now = C.luaweb_now(host)
  local left = min(self.connect_at, self.at) - now
  return ceil(left * 1000) / 1000, self.at < self.connect_at
end

--- The message that no connection became free in time.
---@return string message
---@return string kind   "busy"
function Clock:busy()
  return ("no connection became free within %g s"):format(min(self.connect_timeout,
    self.timeout)), "busy"
end

--- Begins a phase, which is as good as an octet.
---@param name string   e.g. "reading the content"
function Clock:enter(name)
  self.phase, self.moved_at = name, C.luaweb_now(host)
end

--- Notes that octets came or went.
function Clock:move()
  self.moved_at = C.luaweb_now(host)
end

--- The time for all is over, as far as it is about the content of a stream.
function Clock:stop()
  self.at, self.timeout = math.huge, math.huge
end

--- Seconds until the time for all is over; 0 or less: it is.
---@return number
function Clock:left()
  return self.at - C.luaweb_now(host)
end

--- Seconds that the next octet may take; 0: none are left.
---@return number
function Clock:wait()
  local now = C.luaweb_now(host)
  return max(min(self.at, self.moved_at + self.idle) - now, 0)
end

--- The message that the time is over.
---@return string message
---@return string kind   "timeout"
function Clock:late()
  if self:left() <= 0 then
    return ("not done within %g s: it was %s"):format(self.timeout, self.phase),
      "timeout"
  end
  return ("no octet for %g s: it was %s"):format(self.idle, self.phase), "timeout"
end

return M
