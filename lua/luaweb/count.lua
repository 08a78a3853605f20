-- SPDX-License-Identifier: MIT
-- What this Lua state counts of itself for the metrics; C adds it to what the worker
-- has counted.  Jobs are counted in a table, which costs less than C's memory does
-- where code is interpreted; sched.lua has them told once a turn.
local abi = require "luaweb.abi"

local C, host = abi.C, abi.host
local counts = C.luaweb_counts(host)

---@class luaweb.Count   since the state began
---@field jobs_started integer
---@field jobs_ended integer
---@field jobs_failed integer   of these
---@field jobs_told integer     started and ended ones that C knows of
local M = { jobs_started = 0, jobs_ended = 0, jobs_failed = 0, jobs_told = 0 }

local function change()
  counts.changes = counts.changes + 1
end

--- Tells C of the jobs that have started or ended.
function M.tell_jobs()
  counts.jobs_started, counts.jobs_ended = M.jobs_started, M.jobs_ended
  counts.jobs_failed = M.jobs_failed
  M.jobs_told = M.jobs_started + M.jobs_ended
  change()
end

--- A job has failed, and nobody waited for it.
function M.job_error()
  counts.job_errors = counts.job_errors + 1
  change()
end

--- A function of a machine has failed.
function M.handler_error()
  counts.handler_errors = counts.handler_errors + 1
  change()
end

-- Called in the middle of anything: it touches nothing but numbers.
local function on_trace(what)
  if what == "stop" then
    counts.traces = counts.traces + 1
  elseif what == "abort" then
    counts.trace_aborts = counts.trace_aborts + 1
  elseif what == "flush" then
    counts.trace_flushes = counts.trace_flushes + 1
  else
    return
  end
  change()
end

--- Counts traces of the JIT from now on.
function M.watch_jit()
  jit.attach(on_trace, "trace")
end

return M
