-- SPDX-License-Identifier: MIT
-- Waiting for what C wakes by an id: a socket, a request, work on the pool.  A wake
-- says that trying again may help, no more; and one that comes while nobody waits is
-- lost, so what it may tell of is always tried first.
local abi = require "luaweb.abi"
local alt = require "luaweb.alt"
local commit = require "luaweb.commit"
local timer = require "luaweb.timer"
local waiting = require "luaweb.waiting"
local walk = require "luaweb.walk"

local C, host = abi.C, abi.host

local M = {}

local Wake = {} -- the leaf
Wake.__index = Wake

function Wake:attempt() return false end

function Wake:enlist(node) waiting.enlist(node, self.id) end

walk.extend(Wake)

--- Waits until C wakes this id.
---@param id integer
---@param what string   the call, for the error where waiting can't work
function M.wait(id, what)
  commit.wait_under(id, what)
end

--- Waits until C wakes this id, at most for a time.
---@param id integer
---@param seconds number
---@param what string
---@return boolean woken   false: the time is over
function M.wait_for(id, seconds, what)
  local woken = setmetatable({ id = id }, Wake):wrap_value(true)
  local late = timer.after(seconds):wrap_value(false)
  return (walk.sync(alt.choose { woken, late }, what))
end

--- Waits until C wakes this id, at most until a moment; for loops that try again.
---@param id integer
---@param deadline number   by luaweb_now
---@param what string
---@return boolean waited   false: that moment is over already
function M.wait_until(id, deadline, what)
  local left = deadline - C.luaweb_now(host)
  if left <= 0 then return false end
  M.wait_for(id, left, what)
  return true
end

--- The alternative of its next wake.
---@param id integer
---@return luaweb.Alternative
function M.alt(id) return setmetatable({ id = id }, Wake) end

return M
