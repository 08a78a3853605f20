-- SPDX-License-Identifier: MIT
-- How a worker ends: it is told to stop, answers what it has, and when nothing is open
-- any more (or the time for that is over) its jobs end, in this order: those in the
-- background by themselves, the app's on_stop, the servers, and what these had begun.
local abi = require "luaweb.abi"
local alt = require "luaweb.alt"
local flag = require "luaweb.flag"
local job = require "luaweb.job"
local log = require "luaweb.log"
local roster = require "luaweb.roster"
local sched = require "luaweb.sched"
local timer = require "luaweb.timer"
local trace = require "luaweb.trace"

local REASON = "the worker stops"
local PATIENCE = 1 -- seconds at most from a cancellation until on_stop

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

local given_up = flag.new() -- what is left in the background

-- What goes on there although it was cancelled keeps no on_stop from running.
local function wait_for_background()
  local ended = job.spawn(roster.background.wait, roster.background)
  alt.choose { ended, given_up }:sync()
end

local function cancel_background(left_ms)
  roster.background:cancel(REASON)
  timer.sleep(math.min(PATIENCE, left_ms / 2000))
  flag.raise(given_up)
end

local function stop()
  wait_for_background()
  run_hooks_alone()
  roster.server:cancel(REASON)
  roster.background:cancel(REASON)
  roster.server:wait()
  roster.background:wait()
  roster.aborts:wait()
  abi.C.luaweb_exit(abi.host, 0, "", 0)
end

function sched.upcalls.stopping() flag.raise(M.stopping) end

function sched.upcalls.stop(left_ms)
  if left_ms == 0 then return job.spawn(stop) end
  job.spawn(cancel_background, left_ms)
end

return M
