-- SPDX-License-Identifier: MIT
-- Locks: one holder at a time, first come, first served.  What a holder raises, and its
-- cancellation, free it.  A lock is not recursive: it says so instead of waiting.
local commit = require "luaweb.commit"
local held = require "luaweb.held"
local instead = require "luaweb.instead"
local queue = require "luaweb.queue"

local M = {}

---@class luaweb.Lock: luaweb.Held
---@field holder luaweb.Task|boolean   false: it is free
local Lock = {}
Lock.__index = Lock

---@return luaweb.Lock
function M.new()
  return setmetatable({ holder = false, waiting = queue.new "lock:with" }, Lock)
end

---@package
function Lock:hold(task)
  if self.holder then return false end
  self.holder = task
  return true
end

---@package
function Lock:give_back()
  local node = queue.first(self.waiting)
  self.holder = node and commit.task_of(node) or false
  if node then commit.commit(node, true, self) end
end

--- Calls a function while the lock is held.
---@param fn function
---@param ... any   its arguments
---@return any ...
function Lock:with(fn, ...)
  local task = commit.enter_quick "lock:with"
  if self.holder == task then
    error("lock:with: this job holds the lock already, and it is not recursive", 2)
  end
  if not self:hold(task) then
    commit.wait(self.waiting, task, false, "lock:with")
  end
  return held.run(self, fn, ...)
end

--- Whether somebody holds it.
---@return boolean
function Lock:is_held() return self.holder ~= false end

Lock.acquire_alt, Lock.waiters = held.acquire_alt, held.waiters

instead.say(Lock, "lock", {
  lock = "lock:with(fn) holds it while fn runs",
  acquire = "lock:with(fn), or lock:acquire_alt(), which gives a token",
  unlock = "lock:with(fn) frees it; what acquire_alt gave has token:release",
  release = "lock:with(fn) frees it; what acquire_alt gave has token:release",
})

return M
