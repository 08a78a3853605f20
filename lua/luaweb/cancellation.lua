-- SPDX-License-Identifier: MIT
-- Cancellation: what is asked of a task at the start of each call that may wait.  It is
-- sticky: once a job was cancelled each of its waits raises, but in a shield.  A loop
-- that catches them all would never let anybody else run: it is ended where it stands.
local sched = require "luaweb.sched"

local check, current, is_forbidden = sched.check, sched.self, sched.is_forbidden
local isyieldable, running = coroutine.isyieldable, coroutine.running
local yield = coroutine.yield

local MOST_REFUSED = 100 -- waits of one task that was cancelled

local LOOPS = ("it was cancelled, has caught that %d times, and would go on for ever "
  .. "(where pcall is in a loop, alt.is_cancelled tells that it has to end)"):format(
  MOST_REFUSED)

local M = {}

---@class luaweb.Cancelled   the error that a wait of a cancelled job raises
---@field reason any
---@field package refused integer?   how often it was raised
local Cancelled = {}
Cancelled.__index = Cancelled
M.Cancelled = Cancelled

function Cancelled:__tostring()
  return "cancelled: " .. tostring(self.reason)
end

--- Whether a task was cancelled and is in no shield.
---@param task luaweb.Task
function M.is_stopped(task)
  return task.cancelled and (task.shield or 0) == 0
end

-- Leaves a task that never ends to the resume site, for good.
local function give_up(task)
  if running() ~= task.co or not isyieldable() then return end
  task.lost = LOOPS
  while true do yield() end
end

--- Raises the error of a task that was cancelled.
---@param task luaweb.Task
function M.refuse_cancelled(task)
  if not task.cancelled or not M.is_stopped(task) then return end
  local cancelled = task.cancelled
  cancelled.refused = (cancelled.refused or 0) + 1
  if cancelled.refused > MOST_REFUSED then give_up(task) end
  error(cancelled, 0)
end

--- The start of every call that may wait: raises where it can't, and where the job has
--- been cancelled, whether it would wait or not.
---@param what string   names the call
---@return luaweb.Task
function M.enter(what)
  check(what, 3)
  local task = current()
  if task.cancelled then M.refuse_cancelled(task) end
  return task
end

--- The same for calls that mostly need not wait: whether this coroutine can is asked
--- once they do (commit.wait), for that can't be compiled.
---@param what string
---@return luaweb.Task
function M.enter_quick(what)
  local task = current()
  if is_forbidden() or not task then check(what, 3) end
  if task.cancelled then M.refuse_cancelled(task) end
  return task
end

--- Lets the running task wait even when it is cancelled, until its `shield` is less.
---@return luaweb.Task
function M.enter_shield()
  local task = current() or {}
  task.shield = (task.shield or 0) + 1
  return task
end

return M
