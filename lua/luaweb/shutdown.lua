-- SPDX-License-Identifier: MIT
-- How a worker ends: it is told to stop, answers what it has, and when nothing is open
-- any more (or the time for that is over) its jobs end, in this order: those in the
-- background by themselves, the app's on_stop, the servers, and what these had begun.
local abi = require "luaweb.abi"
local flag = require "luaweb.flag"
local job = require "luaweb.job"
local log = require "luaweb.log"
local roster = require "luaweb.roster"
local sched = require "luaweb.sched"
local trace = require "luaweb.trace"

local REASON = "the worker stops"

local M = {}

--- Ready once this worker has been told to stop.
M.stopping = flag.new "web.stopping"

local hooks = {}

--- Adds a function that runs when all requests have ended; it may wait.
---@param fn fun()
function M.on_stop(fn) hooks[#hooks + 1] = fn end

--- Runs them, one after the other.
function M.run_hooks()
  for i = 1, #hooks do hooks[i]() end
end

local function run_hooks_alone()
  local running = job.spawn(M.run_hooks)
  local ok, err = pcall(running.join, running)
  if not ok then log.error("on_stop failed: " .. trace.text_of(err)) end
end

local function stop()
  roster.background:wait()
  run_hooks_alone()
  roster.server:cancel(REASON)
  roster.background:cancel(REASON)
  roster.server:wait()
  roster.background:wait()
  roster.aborts:wait()
  abi.C.luaweb_exit(abi.host, 0)
end

function sched.upcalls.stopping() flag.raise(M.stopping) end

function sched.upcalls.stop(is_late)
  if is_late then return roster.background:cancel(REASON) end
  job.spawn(stop)
end

return M
