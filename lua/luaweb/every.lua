-- SPDX-License-Identifier: MIT
-- web.every: a function that is called again and again.  One job keeps the beat, and
-- each call is a job of its own; both belong to the server, not to who has asked.
local abi = require "luaweb.abi"
local alt = require "luaweb.alt"
local commit = require "luaweb.commit"
local flag = require "luaweb.flag"
local log = require "luaweb.log"
local roster = require "luaweb.roster"
local shutdown = require "luaweb.shutdown"
local spawn = require "luaweb.spawn"
local timer = require "luaweb.timer"
local trace = require "luaweb.trace"

local C, host = abi.C, abi.host

local LEAST = 0.001 -- seconds: what the clock can tell apart

local M = {}

---@class luaweb.Every
---@field private fn function
---@field private seconds number
---@field private duty integer?      of the one worker that does it
---@field private ended luaweb.Flag   it was stopped
---@field private is_stopped boolean
local Every = {}
Every.__index = Every

local function on_error(raised)
  if getmetatable(raised) == commit.Cancelled then return { cancelled = raised } end
  return { text = trace.back(raised) }
end

local function log_failure(self, text)
  log.error(("web.every: the function at %s failed: %s"):format(
    trace.place_of(self.fn), text))
end

local function call(self)
  local ok, failure = xpcall(self.fn, on_error)
  if ok then return end
  if type(failure) ~= "table" then
    log_failure(self, trace.without_back(tostring(failure)))
  elseif failure.cancelled then
    error(failure.cancelled, 0)
  else
    log_failure(self, failure.text)
  end
end

-- Waits for a run to end, whatever becomes of it.
local function run(self)
  local outcome = spawn.spawn_in(roster.server, call, self):done_alt():sync()
  if outcome.status == "failed" then -- it has yielded to nobody
    log_failure(self, trace.text_of(outcome.error))
  end
end

--- Which beat comes next: beats are whole multiples of the time since the start, and
--- those that a run has outlasted are left out.  (Division may round to just below.)
---@param beat integer   the last one, at first 0
---@param past number    since the start, in times of the beat
---@return integer
function M.next_beat(beat, past)
  return math.max(beat, math.floor(past)) + 1
end

-- Once: whether it is for this worker to do.  Who takes over from another keeps its
-- beat: not much earlier than it would have called.
local function is_ours(self)
  local duty = self.duty
  if not duty then return true end
  if not C.luaweb_duty_take(host, duty) then return false end
  if C.luaweb_duty_since(host, duty) < self.seconds / 2 then return false end
  C.luaweb_duty_note(host, duty)
  return true
end

local function sleep(self, seconds)
  alt.choose { self.ended, shutdown.stopping, timer.after(seconds) }:sync()
end

local function keep_beat(self)
  local start, beat = C.luaweb_now(host), 0
  while true do
    beat = M.next_beat(beat, (C.luaweb_now(host) - start) / self.seconds)
    sleep(self, math.max(0, start + beat * self.seconds - C.luaweb_now(host)))
    if self.is_stopped or shutdown.stopping:ready() then break end
    if is_ours(self) then run(self) end
    if self.is_stopped then break end
  end
  if self.duty then C.luaweb_duty_give(host, self.duty) end
end

--- Lets no further call begin; one that runs goes on.  The function itself may do it.
function Every:stop()
  if self.is_stopped then return end
  self.is_stopped = true
  flag.raise(self.ended)
end

local function check(seconds, fn, options)
  if type(seconds) ~= "number" or not (seconds >= LEAST and seconds < math.huge) then
    error(("web.every wants a number of seconds, %g or more"):format(LEAST), 3)
  end
  if type(fn) ~= "function" then error("web.every wants a function", 3) end
  for name, value in pairs(options or {}) do
    if name ~= "once" or type(value) ~= "boolean" then
      error("web.every knows one option: once = true or false", 3)
    end
  end
end

local counts = {} -- by place: how many were made there

-- A place in the script is the same in all workers.
local function duty_of(place)
  counts[place] = (counts[place] or 0) + 1
  local name = ("web.every %s %d"):format(place, counts[place])
  local duty = C.luaweb_duty(host, name, #name)
  if duty < 0 then
    error("web.every: 256 with once = true run already: no more are possible", 3)
  end
  return duty
end

--- Calls a function every so many seconds, as a job, first when that time is over.
--- Never two at once: a call that takes longer than the time leaves out beats.  What it
--- raises goes to the error log, and the next one comes all the same.  Once the worker
--- is told to stop, no call begins any more.
---@param seconds number   0.001 or more
---@param fn fun()         may wait
---@param options { once: boolean? }?   once: in one worker of all, not in each; another
---   one takes over when that ends.  Calls of web.every at the same line, in order, are
---   the same in all workers
---@return luaweb.Every handle   its `stop` ends it
function M.every(seconds, fn, options)
  check(seconds, fn, options)
  local duty = options and options.once and duty_of(trace.place()) or nil
  local self = setmetatable({ fn = fn, seconds = seconds, is_stopped = false,
    ended = flag.new "web.every", duty = duty }, Every)
  spawn.spawn_in(roster.server, keep_beat, self)
  return self
end

return M
