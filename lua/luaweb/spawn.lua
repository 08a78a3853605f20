-- SPDX-License-Identifier: MIT
-- What runs a job: its record, the coroutines that jobs take turns in, and what becomes
-- of what its function returns and raises.  job.lua is what apps see of it.
local commit = require "luaweb.commit"
local count = require "luaweb.count"
local log = require "luaweb.log"
local outcome = require "luaweb.outcome"
local queue = require "luaweb.queue"
local roster = require "luaweb.roster"
local sched = require "luaweb.sched"
local trace = require "luaweb.trace"
local walk = require "luaweb.walk"

local create, running, current = coroutine.create, coroutine.running, sched.self

local M = {}

---@class luaweb.Job: luaweb.Task, luaweb.Alternative, luaweb.Outcome
---@field private scope luaweb.Roster
---@field private fn function|false    until it ends
---@field private waiters luaweb.Node|false   who waits for its end
---@field private older luaweb.Job     in its scope
---@field private younger luaweb.Job
---@field private shield integer?      how many shields it is in
local Job = {}
Job.__index = Job
M.Job = Job

local function log_failure(_, job, text)
  local context = roster.context_of(job)
  local id = context and context.request_id
  log.error((id and ("[%s] "):format(id) or "") .. "a job failed: " .. text)
end
local uncaught = log_failure -- what happens to an error that nobody waits for

--- Has errors that nobody waits for told to a function, instead of the error log.
---@param fn fun(err: any, job: luaweb.Job, text: string)?   text: with a traceback
function M.on_uncaught(fn)
  uncaught = not fn and log_failure or function(err, job, text)
    local ok, raised = pcall(fn, err, job, text)
    if not ok then log.error("on_uncaught failed: " .. trace.text_of(raised)) end
  end
end

-- The end -----------------------------------------------------------------------------

local function on_error(raised)
  if getmetatable(raised) == commit.Cancelled then return { raised = raised } end
  return { raised = raised, text = trace.back(raised) }
end

local Done = {} -- the leaf of job:done_alt
Done.__index = Done

local function serve_waiters(job)
  local waiters = job.waiters
  job.waiters = false
  while queue.first(waiters) do
    local node = waiters.next
    if node.leaf and getmetatable(node.leaf) == Done then
      commit.commit(node, true, outcome.describe(job))
    elseif node.leaf then
      commit.commit(node, outcome.of(job))
    else
      commit.commit(node, true, nil) -- job:join looks by itself
    end
  end
end

-- Ends the job: who waits for it goes on.  When not ok, `...` is what on_error made,
-- or where that had no room (a stack overflow) the message itself.
local function finish(job, ok, ...)
  if job.outcome then return end
  local failure = not ok and ...
  if type(failure) == "string" then
    failure = { raised = trace.without_back(failure) }
    failure.text = failure.raised
  end
  if ok then
    job.outcome = "ok"
    outcome.keep(job, ...)
  else
    outcome.fail(job, failure.raised)
  end
  job.fn, job.co = false, false
  local scope = job.scope
  roster.remove(scope, job)
  if job.waiters then
    serve_waiters(job)
  elseif job.outcome == "failed" and not scope.keeps_failures then
    count.job_error()
    uncaught(job.value, job, failure.text or trace.text_of(job.value))
  end
  if scope.on_end then scope:on_end(job) end
end

-- Running -----------------------------------------------------------------------------

local MOST_SPARE = 1024 -- more coroutines than this end with their job
local spare_coroutines, spare_count = {}, 0
M.spares = spare_coroutines

local function call(job)
  local fn, n, value = job.fn, job.n, job.value
  job.value = false
  if n == 0 then return xpcall(fn, on_error) end
  if n == 1 then return xpcall(fn, on_error, value) end
  return xpcall(fn, on_error, unpack(value, 1, n))
end

-- True when the coroutine is good for another job: its stack has not overflowed.
local function run(job, ok, ...)
  finish(job, ok, ...)
  return ok or type(...) ~= "string"
end

local function work()
  local me = running()
  repeat
    local job = current()
    if not run(job, call(job)) or spare_count == MOST_SPARE then return end
    spare_count = spare_count + 1
    spare_coroutines[spare_count] = me
    sched.rest(me)
  until false
end

function sched.upcalls.begin(job)
  if not job.fn then return nil end
  local co
  if spare_count > 0 then
    co = spare_coroutines[spare_count]
    spare_coroutines[spare_count] = nil
    spare_count = spare_count - 1
  else
    co = create(work)
  end
  job.co = co
  return co
end

--- A job that is not among those that can go on yet.
---@param scope luaweb.Roster
---@param fn function
---@return luaweb.Job
function M.make(scope, fn, ...)
  if scope.is_over then error("this scope has ended", 3) end
  local last = scope.older
  local job = setmetatable({ co = false, owner = false, open = false, ok = false,
    value = false, next = false, prev = false, wake = false, parked = false,
    scope = scope, fn = fn, n = 0, outcome = false, waiters = false,
    older = last, younger = scope }, Job)
  roster.add(scope, job)
  outcome.keep(job, ...)
  local task = current()
  if task and task.span then job.span = task.span end
  if scope.cancelled then job:cancel(scope.cancelled.reason) end
  return job
end

--- Starts a job in a scope; it runs when the caller waits or ends.
---@param scope luaweb.Roster
---@param fn function
---@return luaweb.Job
function M.spawn_in(scope, fn, ...)
  local job = M.make(scope, fn, ...)
  sched.ready(job)
  return job
end

--- scope_of(task): of a dispatcher that serves a request; request/scope.lua fills it
--- in.
---@type table<string, function>
M.upcalls = {}

--- The scope of what runs.
function M.scope()
  local task = current()
  if not task then return roster.root end
  return task.scope or (task.address and M.upcalls.scope_of(task)) or roster.root
end

commit.upcalls.aborted = function(fn)
  M.spawn_in(roster.aborts, fn)
end

--- The running job, or nil in a handler that is not one.
---@return luaweb.Job?
function M.self()
  local task = current()
  return getmetatable(task) == Job and task or nil
end

--- Ends the job of a task that will never go on.
---@param job luaweb.Job
---@param message string
function M.lose(job, message)
  if getmetatable(job) ~= Job or job.outcome then return end
  finish(job, false, { raised = message, text = trace.back(message, job.co) })
end

-- The handle --------------------------------------------------------------------------

-- The queue of those who wait for the end of a job: while one joins, that is its value.
local Waiters = {}

local function waiters_of(job)
  local waiters = job.waiters
  if not waiters then
    waiters = setmetatable(queue.new "job:join", Waiters)
    waiters.job, job.waiters = job, waiters
  end
  return waiters
end

-- The job that a job joins, if any.
local function joined_by(job)
  local value = job.parked == job and job.value
  return value and getmetatable(value) == Waiters and value.job or nil
end

-- Whether a job is `other`, or joins it, maybe through others.
local function waits_for(job, other)
  while job and job ~= other do job = joined_by(job) end
  return job == other
end

--- Waits for the end of the job: gives what it returned, or raises what it raised.
---@return any ...
function Job:join()
  local task = commit.enter "job:join"
  local me = M.self()
  if me and waits_for(self, me) then
    error("job:join: a job can't wait for its own end", 2)
  end
  if not self.outcome then
    local waiters = waiters_of(self)
    commit.wait(waiters, task, waiters)
  end
  if self.outcome == "ok" then return outcome.results(self) end
  error(self.value, 0)
end

function Job:attempt()
  if not self.outcome then return false end
  return true, outcome.of(self)
end

function Job:enlist(node)
  queue.append(waiters_of(self), node)
end

walk.extend(Job)

function Done:attempt()
  if not self.job.outcome then return false end
  return true, true, outcome.describe(self.job)
end

function Done:enlist(node) self.job:enlist(node) end

walk.extend(Done)

--- The alternative of its end, which never raises: gives { status = "ok", "failed" or
--- "cancelled", value = the first result, error = what was raised }.
---@return luaweb.Alternative
function Job:done_alt() return setmetatable({ job = self }, Done) end

--- Cancels the job: what it waits for is abandoned, and that wait and each further one
--- raises an error with this reason.  What it does without waiting goes on.
---@param reason any
---@return boolean done   false: it had ended, or was cancelled before
function Job:cancel(reason)
  if self.outcome or self.cancelled then return false end
  commit.cancel(self, reason)
  if not self.co then finish(self, false, { raised = self.cancelled }) end
  return true
end

--- "ok", "failed" or "cancelled" once it has ended; "parked" while it waits for an
--- alternative; else "ready".
---@return string
function Job:status()
  return self.outcome or (self.parked and "parked") or "ready"
end

return M
