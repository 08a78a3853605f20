-- SPDX-License-Identifier: MIT
-- The scopes of requests: the jobs that a handler starts end with its request, and what
-- a handler waits for is given up when its client has gone or its time is over.  A
-- scope is made when the first job or finalizer needs one; a handler that needs none
-- pays for none.
local abi = require "luaweb.abi"
local commit = require "luaweb.commit"
local log = require "luaweb.log"
local request = require "luaweb.request"
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
  return { request_id = name_of(one) }
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

-- Ends the scope of what a task serves: its jobs, then the finalizers.  A function that
-- caught its cancellation and went on was cancelled all the same: its answer is lost.
local function close(task, err)
  local ending = task.scope
  if err == nil then err = task.cancelled end
  local failures = ending:finish("its request has ended", err)
  task.scope = nil
  M.open = M.open - 1
  for i = 1, failures and #failures or 0 do
    log.error(("[%s] a finalizer failed: %s"):format(name_of(ending),
      trace.text_of(failures[i])))
  end
end

--- Ends the scope of the request that is served here, if it has one.
---@param err any   what its function has raised
function M.close(err)
  local task = sched.self()
  if task and task.address and task.scope then close(task, err) end
end

--- The same for a task that can't go on.
---@param task luaweb.Task
function M.lose(task)
  local ending = task.scope
  if not ending then return end
  task.scope = nil
  M.open = M.open - 1
  spawn.spawn_in(scope.root, function() ending:finish("its request has ended") end)
end

--- Cancels what a task does for its request.
---@param task luaweb.Task
---@param reason string
function M.cancel(task, reason)
  if not task.cancelled then commit.cancel(task, reason) end
  if task.scope then task.scope:cancel(reason) end
end

return M
