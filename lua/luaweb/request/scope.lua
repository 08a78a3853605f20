-- SPDX-License-Identifier: MIT
-- The scopes of requests: the jobs that a handler starts end with its request, and what
-- a handler waits for is given up when its client has gone or its time is over.  A
-- scope is made when the first job or finalizer needs one; a handler that needs none
-- pays for none.
local abi = require "luaweb.abi"
local commit = require "luaweb.commit"
local context = require "luaweb.tracing.context"
local log = require "luaweb.log"
local request = require "luaweb.request"
local roster = require "luaweb.roster"
local scope = require "luaweb.scope"
local sched = require "luaweb.sched"
local spawn = require "luaweb.spawn"
local trace = require "luaweb.trace"

local request_at = abi.request_at

local M = {
  open = 0, -- how many there are
}

local function name_of(one)
  local r = request_at(one.address)
  return r.generation == one.generation and request.id(r) or "a request that has ended"
end

local function make_context(one)
  return { request_id = name_of(one),
    trace = context.of_request(request_at(one.address), one.generation) }
end

-- The scope of the request that a dispatcher serves.
function spawn.upcalls.scope_of(task)
  local made = scope.of_request()
  made.address, made.generation = task.address, task.generation
  made.make_context = make_context
  if task.cancelled then made:cancel(task.cancelled.reason) end
  task.scope = made
  M.open = M.open + 1
  return made
end

-- Ends a scope: its jobs, then the finalizers.
local function finish(ending, err)
  local failures = ending:finish("its request has ended", err)
  for i = 1, failures and #failures or 0 do
    log.error(("[%s] a finalizer failed: %s"):format(name_of(ending),
      trace.text_of(failures[i])))
  end
end

--- Ends the scope of the request that is served here, if it has one.
---@param err any   what its function has raised
function M.close(err)
  local task = sched.self()
  if not task or not task.address or not task.scope then return end
  if err == nil then err = task.cancelled end -- caught, and yet its answer is lost
  finish(task.scope, err)
  task.scope = nil
  M.open = M.open - 1
end

--- The same for a task that can't go on.
---@param task luaweb.Task
---@param message string   why
function M.lose(task, message)
  local ending = task.scope
  if not ending then return end
  task.scope = nil
  M.open = M.open - 1
  spawn.spawn_in(roster.root, finish, ending, task.cancelled or message)
end

--- Cancels what a task does for its request.
---@param task luaweb.Task
---@param reason string
function M.cancel(task, reason)
  if not task.cancelled then commit.cancel(task, reason) end
  if task.scope then task.scope:cancel(reason) end
end

return M
