-- SPDX-License-Identifier: MIT
-- Semaphores: so many holders at a time, first come, first served.  What a holder
-- raises, and its cancellation, give its place back.  A lock (lock.lua) is for one, and
-- knows who holds it; here a job may hold several places.
local commit = require "luaweb.commit"
local held = require "luaweb.held"
local instead = require "luaweb.instead"
local queue = require "luaweb.queue"

local M = {}

---@class luaweb.Semaphore: luaweb.Held
---@field free integer   places; nobody waits while there are any
local Semaphore = {}
Semaphore.__index = Semaphore

---@param places integer   1 or more
---@return luaweb.Semaphore
function M.new(places)
  if type(places) ~= "number" or places < 1 or places % 1 ~= 0 then
    error("semaphore.new wants a whole number of places, 1 or more", 2)
  end
  return setmetatable({ free = places, waiting = queue.new "semaphore:with" },
    Semaphore)
end

---@package
function Semaphore:hold()
  if self.free == 0 then return false end
  self.free = self.free - 1
  return true
end

-- A place goes to who has waited longest: a newcomer never finds it free before.
---@package
function Semaphore:give_back()
  local node = queue.first(self.waiting)
  if node then return commit.commit(node, true, self) end
  self.free = self.free + 1
end

--- Calls a function while a place is held; waits for one.
---@param fn function
---@param ... any   its arguments
---@return any ...
function Semaphore:with(fn, ...)
  local task = commit.enter_quick "semaphore:with"
  if not self:hold() then
    commit.wait(self.waiting, task, false, "semaphore:with")
  end
  return held.run(self, fn, ...)
end

Semaphore.acquire_alt, Semaphore.waiters = held.acquire_alt, held.waiters

instead.say(Semaphore, "semaphore", {
  acquire = "semaphore:with(fn), or semaphore:acquire_alt(), which gives a token",
  release = "semaphore:with(fn) does it; what acquire_alt gave has token:release",
})

return M
