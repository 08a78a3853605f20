-- SPDX-License-Identifier: MIT
-- Jobs: functions that run beside each other and may wait.
local sched = require "luaweb.sched"
local trace = require "luaweb.trace"
local log = require "luaweb.log"

local M = {}

---@class luaweb.Job
---@field private ended boolean
---@field private joins luaweb.Job?   the one whose end it waits for
---@field private ok boolean
---@field private raised any      what its function raised
---@field private results any[]   what its function returned, `n` of them
local Job = {}
Job.__index = Job

local by_coroutine = setmetatable({}, { __mode = "k" })

local function on_error(raised)
  return { raised = raised, text = trace.back(raised) }
end

-- Ends the job: who waits for it goes on.  When not ok, `...` is what on_error made,
-- or where that had no room (a stack overflow) the message itself.
local function finish(job, ok, ...)
  job.ended, job.ok = true, ok
  job.n, job.results = select("#", ...), { ... }
  local failure = not ok and job.results[1]
  if type(failure) == "string" then
    failure = { raised = trace.without_back(failure) }
    failure.text = failure.raised
  end
  if failure then job.raised = failure.raised end
  local joiners = job.joiners
  job.joiners = nil
  if joiners then
    for i = 1, #joiners do sched.ready(joiners[i]) end
  elseif failure then
    log.error("a job failed: " .. failure.text)
  end
end

--- Starts a job; it runs when the caller waits or ends.  What it raises goes to who
--- joins it; where nobody waits when it ends, to the error log.
---@param fn function
---@param ... any   its arguments
---@return luaweb.Job
function M.spawn(fn, ...)
  if type(fn) ~= "function" then error("job.spawn wants a function", 2) end
  local n, args = select("#", ...), { ... }
  local job = setmetatable({ ended = false }, Job)
  local co = coroutine.create(function()
    finish(job, xpcall(fn, on_error, unpack(args, 1, n)))
  end)
  by_coroutine[co] = job
  sched.ready(co)
  return job
end

-- Whether a job is `other`, or waits, maybe through others, for its end.
local function waits_for(job, other)
  while job and job ~= other do job = job.joins end
  return job ~= nil and job == other
end

--- Waits for the end of the job: gives what it returned, or raises what it raised.
---@return any ...
function Job:join()
  sched.check "job:join"
  local me = M.self()
  if waits_for(self, me) then
    error("job:join: a job can't wait for its own end", 2)
  end
  if not self.ended then
    self.joiners = self.joiners or {}
    self.joiners[#self.joiners + 1] = sched.self()
    if me then me.joins = self end
    sched.park()
    if me then me.joins = nil end
  end
  if self.ok then return unpack(self.results, 1, self.n) end
  error(self.raised, 0)
end

--- The running job, or nil in a handler that is not one.
---@return luaweb.Job?
function M.self()
  return by_coroutine[sched.self()]
end

--- Ends the job of a coroutine that will never go on.
---@param co thread
---@param message string
function M.lose(co, message)
  local job = by_coroutine[co]
  if not job or job.ended then return end
  finish(job, false, { raised = message, text = trace.back(message, co) })
end

return M
