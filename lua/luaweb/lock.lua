-- SPDX-License-Identifier: MIT
-- Locks: one holder at a time, first come, first served.  What a holder raises, and its
-- cancellation, free it.  A lock is not recursive: it says so instead of waiting.
local commit = require "luaweb.commit"
local instead = require "luaweb.instead"
local queue = require "luaweb.queue"
local sched = require "luaweb.sched"
local walk = require "luaweb.walk"

local M = {}

---@class luaweb.Lock
---@field holder luaweb.Task|boolean   false: it is free
---@field waiting luaweb.Node
local Lock = {}
Lock.__index = Lock

---@return luaweb.Lock
function M.new()
  return setmetatable({ holder = false, waiting = queue.new "lock:with" }, Lock)
end

local function release(self)
  local node = queue.first(self.waiting)
  self.holder = node and commit.task_of(node) or false
  if node then commit.commit(node, true, self) end
end

local function leave(self, ok, ...)
  release(self)
  if not ok then error((...), 0) end
  return ...
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
  if self.holder then
    commit.wait(self.waiting, task, false, "lock:with")
  else
    self.holder = task
  end
  return leave(self, pcall(fn, ...))
end

--- Whether somebody holds it.
---@return boolean
function Lock:is_held() return self.holder ~= false end

--- How many wait for it, counted one by one.
---@return integer
function Lock:waiters() return (queue.count(self.waiting)) end

---@class luaweb.LockToken
---@field lock luaweb.Lock
local Token = {}
Token.__index = Token

--- Frees the lock; an error the second time.
function Token:release()
  local lock = self.lock
  if not lock then error("token:release: it was released before", 2) end
  self.lock = nil
  release(lock)
end
Token.close = Token.release

local function token_of(lock)
  return setmetatable({ lock = lock }, Token)
end

local Acquire = {}
Acquire.__index = Acquire

function Acquire:attempt(sync)
  local lock = self.lock
  if lock.holder then return false end
  lock.holder = sync.task or sched.self() or true
  return true, true, lock
end

function Acquire:enlist(node) queue.append(self.lock.waiting, node) end

walk.extend(Acquire)

--- The alternative of holding the lock: gives a token, to be released.
---@return luaweb.Alternative
function Lock:acquire_alt()
  return setmetatable({ lock = self }, Acquire):wrap(token_of)
end

instead.say(Lock, "lock", {
  lock = "lock:with(fn) holds it while fn runs",
  acquire = "lock:with(fn), or lock:acquire_alt(), which gives a token",
  unlock = "lock:with(fn) frees it; what acquire_alt gave has token:release",
  release = "lock:with(fn) frees it; what acquire_alt gave has token:release",
})

return M
