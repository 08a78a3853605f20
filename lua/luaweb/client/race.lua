-- SPDX-License-Identifier: MIT
-- Connects to the first of several addresses that answers (RFC 8305 §4, §5): tries them
-- in turn, another one after a short while or as soon as one fails, and closes what
-- loses.  Owns the sockets until it is over.
local abi = require "luaweb.abi"
local ffi = require "ffi"
local timer = require "luaweb.timer"
local wake = require "luaweb.wake"

local C, host = abi.C, abi.host
local NO_WAKER = tonumber(C.LUAWEB_NO_WAKER)
local FULL = tonumber(C.LUAWEB_CONNECT_FULL)

local FULL_DELAY = 0.02    -- seconds until a unix socket whose line is full is tried
local ATTEMPT_DELAY = 0.25 -- seconds until the next address is tried, too
local MOST_ADDRESSES = 16  -- that are tried

local M = {}

---@class luaweb.Race
---@field private addresses string[]
---@field private port integer
---@field private deadline number    by luaweb_now
---@field private next integer       which address is tried next
---@field private next_at number     and when
---@field private waker integer      the socket that is woken for all, or NO_WAKER
---@field private ids table<integer, integer>      sockets by the index of their address
---@field private errors table<integer, integer>   libuv's, likewise
local Race = {}
Race.__index = Race

--- The order of RFC 8305 §4: the preferred address first, then the versions of IP by
--- turns, each in the order that it came in.
---@param addresses string[]
---@return string[]
function M.interleave(addresses)
  local first_version = C.luaweb_address_version(host, addresses[1])
  local ours, others, order = {}, {}, {}
  for _, address in ipairs(addresses) do
    local version = C.luaweb_address_version(host, address)
    table.insert(version == first_version and ours or others, address)
  end
  for i = 1, math.max(#ours, #others) do
    order[#order + 1] = ours[i]
    order[#order + 1] = others[i]
  end
  return order
end

function Race:try_next()
  local index = self.next
  local id = C.luaweb_connect(host, self.addresses[index], self.port, self.waker)
  if id == FULL then return timer.sleep(FULL_DELAY) end
  self.next = index + 1
  if id < 0 then
    self.errors[index] = id
    return
  end
  self.ids[index] = id
  if self.waker == NO_WAKER then self.waker = id end
  self.next_at = C.luaweb_now(host) + ATTEMPT_DELAY
end

-- The index of the first that is connected, and how many are still on their way.
-- Failed ones stay open, since one of them may be the waker.
function Race:look()
  local waiting = 0
  for index = 1, self.next - 1 do
    if not self.errors[index] then
      local result = C.luaweb_connected(host, self.ids[index])
      if result == 0 then return index, waiting end
      if result < 0 then
        self.errors[index], self.next_at = result, 0
      else
        waiting = waiting + 1
      end
    end
  end
  return nil, waiting
end

-- The index of the winner; nil when all have failed or the time is over.
function Race:run()
  while true do
    local winner, waiting = self:look()
    if winner then return winner end
    local now = C.luaweb_now(host)
    if now >= self.deadline then return nil end
    local has_next = self.addresses[self.next] ~= nil
    if has_next and (waiting == 0 or now >= self.next_at) then
      self:try_next()
    elseif waiting == 0 then
      return nil
    else
      local until_when = self.deadline
      if has_next then until_when = math.min(until_when, self.next_at) end
      wake.wait_for(self.waker, until_when - now, "connecting")
    end
  end
end

function Race:close_but(winner)
  for index, id in pairs(self.ids) do
    if index ~= winner then C.luaweb_socket_close(host, id) end
  end
end

local function name_of(code)
  return ffi.string(C.luaweb_error(host, code))
end

--- What happened at each address that was tried.
---@return string
function Race:report()
  local parts = {}
  for index = 1, self.next - 1 do
    local code = self.errors[index]
    local what = code and name_of(code) or "no answer"
    parts[index] = ("%s: %s"):format(self.addresses[index], what)
  end
  if not parts[1] then return self.addresses[1] .. ": too many want to connect" end
  return table.concat(parts, "; ")
end

--- Connects to one of several addresses; waits.
---@param addresses string[]   numeric ones, or one "unix:/path"
---@param port integer
---@param deadline number      by luaweb_now
---@return integer? id         of a socket, which the caller owns
---@return string? report      what happened at each address
---@return string? kind        "connect" or "timeout"
function M.connect(addresses, port, deadline)
  local race = setmetatable({ addresses = {}, port = port, deadline = deadline,
    next = 1, next_at = 0, waker = NO_WAKER, ids = {}, errors = {} }, Race)
  for i, address in ipairs(M.interleave(addresses)) do
    if i <= MOST_ADDRESSES then race.addresses[i] = address end
  end
  local ok, winner = pcall(race.run, race)
  race:close_but(ok and winner)
  if not ok then error(winner, 0) end
  if winner then return race.ids[winner] end
  local is_late = C.luaweb_now(host) >= deadline
  return nil, race:report(), is_late and "timeout" or "connect"
end

return M
