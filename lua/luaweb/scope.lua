-- SPDX-License-Identifier: MIT
-- Scopes: jobs that end together.  A scope ends only after all its jobs have; what is
-- registered with `finally` runs then, last first.
local commit = require "luaweb.commit"
local queue = require "luaweb.queue"
local outcome = require "luaweb.outcome"
local roster = require "luaweb.roster"
local spawn = require "luaweb.spawn"

local M = {}

---@class luaweb.Scope: luaweb.Roster
---@field package idle luaweb.Node      who waits for the last end
---@field package errors any[]  what its jobs raised, `n` of them
---@field package is_fast boolean   the first failure cancels the others
local Scope = {}
Scope.__index = Scope
M.Scope = Scope

---@class luaweb.Failures   several errors at once
---@field errors any[]
local Failures = {}
Failures.__index = Failures
M.Failures = Failures

function Failures:__tostring()
  local texts = {}
  for i = 1, self.n do texts[i] = tostring(self.errors[i]) end
  return ("%d jobs failed: %s"):format(self.n, table.concat(texts, "; "))
end

--- A scope, to be ended by whoever made it.
---@param is_fast boolean
---@return luaweb.Scope
function M.new(is_fast)
  local scope = roster.new()
  scope.keeps_failures, scope.is_fast = true, is_fast
  scope.idle, scope.errors, scope.finalizers = queue.new(), { n = 0 }, {}
  scope.on_end = Scope.on_end
  return setmetatable(scope, Scope)
end

---@package
function Scope:on_end(job)
  if job.outcome == "failed" then
    local errors = self.errors
    errors.n = errors.n + 1
    errors[errors.n] = job.value
    if self.is_fast then self:cancel "another job of the scope has failed" end
  end
  while self.count == 0 and queue.first(self.idle) do
    commit.commit(self.idle.next, true, nil)
  end
end

--- Starts a job of this scope.
---@param fn function
---@return luaweb.Job
function Scope:spawn(fn, ...)
  if type(fn) ~= "function" then error("scope:spawn wants a function", 2) end
  return spawn.spawn_in(self, fn, ...)
end

--- Has a function run when the scope ends, with its status and error.  It may wait.
---@param fn fun(status: "ok"|"failed"|"cancelled", err: any)
function Scope:finally(fn)
  if type(fn) ~= "function" then error("scope:finally wants a function", 2) end
  table.insert(self.finalizers, fn)
end

--- Cancels its jobs, and those that it may still get.
---@param reason any
function Scope:cancel(reason)
  self.cancelled = self.cancelled or { reason = reason }
  local jobs, job = {}, self.younger
  while job ~= self do
    jobs[#jobs + 1], job = job, job.younger
  end
  for i = 1, #jobs do jobs[i]:cancel(reason) end
end

--- Runs a function whose waits the cancellation of the job does not end.
---@param fn function
---@return any ...
function M.shield(fn, ...)
  local task = commit.enter_shield()
  local function leave(ok, ...)
    task.shield = task.shield - 1
    if not ok then error((...), 0) end
    return ...
  end
  return leave(pcall(fn, ...))
end

local function wait_idle(scope)
  local task = commit.enter "scope.run"
  if scope.count > 0 then commit.wait(scope.idle, task, false) end
end

--- Waits until all its jobs have ended.  When the caller is cancelled, so are they.
---@return any cancelled   the error of the caller's own cancellation
function Scope:wait()
  local ok, err = pcall(wait_idle, self)
  if ok then return nil end
  self:cancel(err.reason)
  M.shield(wait_idle, self)
  return err
end

--- Raises what its jobs have raised: one error as it was, several as one.
function Scope:raise()
  local errors = self.errors
  if errors.n == 1 then error(errors[1], 0) end
  if errors.n > 1 then
    error(setmetatable({ errors = errors, n = errors.n }, Failures), 0)
  end
end

local function wait_for(body)
  body:done_alt():sync()
end

local function status_of(scope, err)
  if scope.errors.n > 0 then return "failed", scope.errors[1] end
  if err then return "cancelled", err end
  return "ok"
end

local function run_finalizers(scope, err)
  local finalizers = scope.finalizers
  for i = #finalizers, 1, -1 do
    local done, raised = pcall(finalizers[i], status_of(scope, err))
    if not done then
      scope.errors.n = scope.errors.n + 1
      scope.errors[scope.errors.n] = raised
    end
  end
end

--- Runs a function as a job of a new scope, which it gets.  When it returns, the other
--- jobs of the scope are cancelled; when one of them fails, all are.  Once all have
--- ended and the finalizers have run, gives what it returned, or raises the first
--- error.
---@param fn fun(scope: luaweb.Scope, ...): ...
---@return any ...
function M.run(fn, ...)
  if type(fn) ~= "function" then error("scope.run wants a function", 2) end
  commit.enter "scope.run"
  local scope = M.new(true)
  local body = spawn.spawn_in(scope, fn, scope, ...)
  local ok, err = pcall(wait_for, body)
  err = not ok and err or nil -- the caller was cancelled
  scope:cancel(err and err.reason or "the scope has ended")
  M.shield(wait_idle, scope)
  if body.outcome == "cancelled" then err = err or body.value end
  scope.is_over = true
  M.shield(run_finalizers, scope, err)
  if scope.errors.n > 0 then error(scope.errors[1], 0) end
  if err then error(err, 0) end
  return outcome.results(body)
end

--- Calls a function with something that has a `close`, which is called when it returns,
--- raises, or its job is cancelled.
---@param resource any   nil is allowed
---@param fn fun(resource: any): ...
---@return any ...
function M.with(resource, fn)
  return M.ensure(function() return fn(resource) end, function()
    if resource then resource:close() end
  end)
end

--- Calls a function, and then another, whether the first returned, raised, or its job
--- was cancelled.
---@param fn function
---@param cleanup function
---@return any ...
function M.ensure(fn, cleanup)
  local function leave(ok, ...)
    M.shield(cleanup)
    if not ok then error((...), 0) end
    return ...
  end
  return leave(pcall(fn))
end

return M
