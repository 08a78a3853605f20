-- SPDX-License-Identifier: MIT
-- Jobs: functions that run beside each other and may wait.
local sched = require "luaweb.sched"
local trace = require "luaweb.trace"
local log = require "luaweb.log"

local M = {}

---@class luaweb.Job
---@field private ended boolean
---@field private ok boolean
local Job = {}
Job.__index = Job

local by_coroutine = setmetatable({}, { __mode = "k" })

local function on_error(err)
  if type(err) == "string" then return { raised = err, text = trace.back(err) } end
  return { raised = err, text = trace.back(err) }
end

local function finish(job, ok, ...)
  job.ended, job.ok = true, ok
  job.n, job.results = select("#", ...), { ... }
  local joiners = job.joiners
  job.joiners = nil
  if joiners then
    for i = 1, #joiners do sched.ready(joiners[i]) end
  elseif not ok then
    log.error("a job failed: " .. (...).text)
  end
end

--- Starts a job; it runs when the caller waits or ends.
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

--- Waits for the end of the job: gives what it returned, or raises what it raised.
function Job:join()
  if not self.ended then
    sched.check "job:join"
    self.joiners = self.joiners or {}
    self.joiners[#self.joiners + 1] = sched.self()
    sched.park()
  end
  if self.ok then return unpack(self.results, 1, self.n) end
  error(self.results[1].raised, 0)
end

--- The running job, or nil in a handler that is not one.
---@return luaweb.Job?
function M.self()
  return by_coroutine[coroutine.running()]
end

return M
