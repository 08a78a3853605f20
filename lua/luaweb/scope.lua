-- SPDX-License-Identifier: MIT
-- Scopes: jobs that end together.  A scope ends only after all its jobs have; what is
-- registered with `finally` runs then, last first.
local commit = require "luaweb.commit"
local queue = require "luaweb.queue"
local outcome = require "luaweb.outcome"
local roster = require "luaweb.roster"
local spawn = require "luaweb.spawn"

local IDLE = "the end of a scope's jobs"

local M = {}

---@class luaweb.Scope: luaweb.Roster
---@field package idle luaweb.Node|false   who waits for the last end
---@field package errors any[]|false   what its jobs raised, `n` of them
---@field package is_fast boolean   the first failure cancels the others
---@field package ends boolean      false: it lasts as long as the worker, or it is that
--- of job.all and the like, which waits for jobs but is no place to tidy up at
---@field package finalizers function[]|false
---@field package context table|false   see job.context
---@field package make_context false|fun(scope: luaweb.Scope): table   the first time
---@field package parent luaweb.Scope|false   whose context it inherits
---@field package address integer|false   of the request that it is the scope of
---@field package generation integer
local Scope = {}
Scope.__index = Scope

---@class luaweb.Failures   several errors at once
---@field errors any[]
local Failures = {}
Failures.__index = Failures

function Failures:__tostring()
  local texts = {}
  for i = 1, self.n do texts[i] = tostring(self.errors[i]) end
  return ("%d jobs failed: %s"):format(self.n, table.concat(texts, "; "))
end

--- A scope, to be ended by whoever made it.
---@param is_fast boolean
---@param parent luaweb.Scope|false   whose context it inherits
---@return luaweb.Scope
function M.new(is_fast, parent)
  local scope = M.of_request()
  scope.keeps_failures, scope.errors, scope.is_fast = true, { n = 0 }, is_fast
  scope.parent, scope.on_end = parent, Scope.on_end
  return scope
end

--- A scope as requests have one: the failures of its jobs go to the error log, and what
--- it rarely needs is made when it does.
---@return luaweb.Scope
function M.of_request()
  local scope = setmetatable({ count = 0, older = false, younger = false,
    on_end = false, keeps_failures = false, is_over = false, cancelled = false,
    idle = false, errors = false, is_fast = false, ends = true, finalizers = false,
    context = false, make_context = false, parent = false, address = false,
    generation = 0, left = false, right = false }, Scope)
  scope.older, scope.younger = scope, scope
  return scope
end

-- The scopes that never end, but can be waited for.
for _, lasting in ipairs { roster.root, roster.background, roster.server,
  roster.aborts } do
  setmetatable(lasting, Scope)
end

---@package
function Scope:on_end(job)
  if job.outcome == "failed" and self.keeps_failures then
    local errors = self.errors
    errors.n = errors.n + 1
    errors[errors.n] = job.value
    if self.is_fast then self:cancel "another job of the scope has failed" end
  end
  local idle = self.idle
  while self.count == 0 and idle and queue.first(idle) do
    commit.commit(idle.next, true, nil)
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
  local finalizers = self.finalizers
  if finalizers then
    finalizers[#finalizers + 1] = fn
  elseif self.is_over then
    error("scope:finally: this scope has ended", 2)
  else
    self.finalizers = { fn }
  end
end

--- Cancels its jobs, and those that it may still get.
---@param reason any
function Scope:cancel(reason)
  self.cancelled = self.cancelled or { reason = reason }
  local job = self.younger
  while job ~= self do
    local younger = job.younger -- it may end here, but no other
    job:cancel(reason)
    job = younger
  end
end

local function leave_shield(task, ok, ...)
  task.shield = task.shield - 1
  if not ok then error((...), 0) end
  return ...
end

--- Runs a function whose waits the cancellation of the job does not end.
---@param fn function
---@return any ...
function M.shield(fn, ...)
  return leave_shield(commit.enter_shield(), pcall(fn, ...))
end

local function wait_idle(scope)
  local task = commit.enter "scope.run"
  if scope.count == 0 then return end
  scope.on_end, scope.idle = Scope.on_end, scope.idle or queue.new(IDLE)
  commit.wait(scope.idle, task, false)
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
  local errors = scope.errors
  if errors and errors.n > 0 then return "failed", errors[1] end
  if getmetatable(err) == commit.Cancelled then return "cancelled", err end
  if err ~= nil then return "failed", err end
  return "ok"
end

local function run_finalizers(scope, err, failures)
  local finalizers = scope.finalizers
  while finalizers[1] do -- they may register others
    local finalizer = table.remove(finalizers)
    local done, raised = pcall(finalizer, status_of(scope, err))
    if not done then failures[#failures + 1] = raised end
  end
  scope.finalizers = false
end

--- Ends a scope: cancels its jobs, and once all have ended runs what was registered
--- with `finally`, last first.
---@package
---@param reason any
---@param err any   what its body has raised
---@return any[]|false failures   what finalizers have raised
function Scope:finish(reason, err)
  local failures = self.finalizers and {}
  repeat -- a finalizer may start jobs, too
    if self.count > 0 then
      self:cancel(reason)
      M.shield(wait_idle, self)
    end
    if not self.finalizers then break end
    self.cancelled = false
    M.shield(run_finalizers, self, err, failures)
  until self.count == 0
  self.is_over = true
  return failures
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
  local scope = M.new(true, spawn.scope())
  local body = spawn.spawn_in(scope, fn, scope, ...)
  local ok, err = pcall(wait_for, body)
  err = not ok and err or nil -- the caller was cancelled
  if body.outcome == "cancelled" then err = err or body.value end
  local failures = scope:finish(err and err.reason or "the scope has ended", err)
  if scope.errors.n > 0 then error(scope.errors[1], 0) end
  if failures and failures[1] ~= nil then error(failures[1], 0) end
  if err then error(err, 0) end
  return outcome.results(body)
end

--- The scope of what runs: what job.spawn starts here belongs to it.  In a handler it
--- is that of the request.
---@return luaweb.Scope
function M.current() return spawn.scope() end

-- The innermost scope of what runs whose end somebody sees: of a handler, or that of
-- scope.run; nil: what runs here lasts as long as the worker.
local function ending()
  local current = spawn.scope()
  while current and not current.ends do current = current.parent end
  return current or nil
end

--- Has a function run when the scope of what runs ends; see scope:finally.
---@param fn fun(status: "ok"|"failed"|"cancelled", err: any)
function M.finally(fn)
  local owner = ending()
  if not owner then
    error("scope.finally: no scope ends here (only handlers and scope.run have one)", 2)
  end
  owner:finally(fn)
end

local closed_by = setmetatable({}, { __mode = "k" }) -- by scope: what it closes, weak

--- Has something closed when the scope of what runs ends, where it ends and where
--- somebody still has it then.  It may be closed before.
---@param resource { close: fun(self: any) }
function M.close_at_end(resource)
  local owner = ending()
  if not owner then return end
  local held = closed_by[owner]
  if not held then
    held = setmetatable({}, { __mode = "k" })
    closed_by[owner] = held
    owner:finally(function()
      closed_by[owner] = nil -- a finalizer that is still to come may open more
      for one in pairs(held) do one:close() end
    end)
  end
  held[resource] = true
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
