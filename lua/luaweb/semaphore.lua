-- SPDX-License-Identifier: MIT
-- Semaphores: so many holders at a time, first come, first served.  What a holder
-- raises, and its cancellation, give its place back.  A lock (lock.lua) is for one, and
-- knows who holds it; here a job may hold several places.
local commit = require "luaweb.commit"
local instead = require "luaweb.instead"
local queue = require "luaweb.queue"
local walk = require "luaweb.walk"

local M = {}

---@class luaweb.Semaphore
---@field free integer   places; nobody waits while there are any
---@field waiting luaweb.Node
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

-- A place goes to who has waited longest: a newcomer never finds it free before.
local function release(self)
  local node = queue.first(self.waiting)
  if node then return commit.commit(node, true, self) end
  self.free = self.free + 1
end

local function leave(self, ok, ...)
  release(self)
  if not ok then error((...), 0) end
  return ...
end

--- Calls a function while a place is held; waits for one.
---@param fn function
---@param ... any   its arguments
---@return any ...
function Semaphore:with(fn, ...)
  local task = commit.enter_quick "semaphore:with"
  if self.free > 0 then
    self.free = self.free - 1
  else
    commit.wait(self.waiting, task, false, "semaphore:with")
  end
  return leave(self, pcall(fn, ...))
end

--- How many wait for a place, counted one by one.
---@return integer
function Semaphore:waiters() return (queue.count(self.waiting)) end

---@class luaweb.SemaphoreToken
---@field semaphore luaweb.Semaphore?
local Token = {}
Token.__index = Token

--- Gives the place back; an error the second time.
function Token:release()
  local semaphore = self.semaphore
  if not semaphore then error("token:release: it was released before", 2) end
  self.semaphore = nil
  release(semaphore)
end
Token.close = Token.release

local function token_of(semaphore)
  return setmetatable({ semaphore = semaphore }, Token)
end

local Acquire = {}
Acquire.__index = Acquire

function Acquire:attempt()
  local semaphore = self.semaphore
  if semaphore.free == 0 then return false end
  semaphore.free = semaphore.free - 1
  return true, true, semaphore
end

function Acquire:enlist(node) queue.append(self.semaphore.waiting, node) end

walk.extend(Acquire)

--- The alternative of holding a place: gives a token, to be released.
---@return luaweb.Alternative
function Semaphore:acquire_alt()
  return setmetatable({ semaphore = self }, Acquire):wrap(token_of)
end

instead.say(Semaphore, "semaphore", {
  acquire = "semaphore:with(fn), or semaphore:acquire_alt(), which gives a token",
  release = "semaphore:with(fn) does it; what acquire_alt gave has token:release",
})

return M
