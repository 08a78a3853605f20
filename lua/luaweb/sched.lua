-- SPDX-License-Identifier: MIT
-- The scheduler: the one place that resumes coroutines, and the dispatchers that pull
-- events from C.  A handler runs straight in the dispatcher's coroutine; when it waits,
-- that coroutine becomes the request's own and another dispatcher goes on.
--
-- What it runs are tasks: tables with a coroutine `co`.  A dispatcher is one, a job
-- (spawn.lua) another; a job has a coroutine only from its first turn to its end.
local abi = require "luaweb.abi"
local count = require "luaweb.count"
local ffi = require "ffi"
local run_queue = require "luaweb.run_queue"
local waiting = require "luaweb.waiting"

local C, host = abi.C, abi.host
local create, resume, yield = coroutine.create, coroutine.resume, coroutine.yield
local running, isyieldable = coroutine.running, coroutine.isyieldable
local status = coroutine.status
local cast, tonumber = ffi.cast, tonumber
local next_ready, is_empty = run_queue.take, run_queue.is_empty

local REQUEST = tonumber(C.LUAWEB_EVENT_REQUEST)
local WAKE = tonumber(C.LUAWEB_EVENT_WAKE)
local GONE = tonumber(C.LUAWEB_EVENT_GONE)
local STOPPING = tonumber(C.LUAWEB_EVENT_STOPPING)
local STOP = tonumber(C.LUAWEB_EVENT_STOP)

local RESUMES_PER_TURN = 2000 -- more than the events that C gives in a turn
local MOST_SPARES = 256       -- more dispatchers than this end when they are not needed

-- What our coroutines yield; tables, so that nobody else can yield the same.
local IDLE = {}   -- a dispatcher found no event
local SPARE = {}  -- a dispatcher is not needed now
local PARKED = {} -- something waits

local YIELDED = "coroutine.yield can't be called here: outside of the app's own "
  .. "coroutines nobody resumes it (use web.sleep, or what else waits)"

local M = {}

local spares = {}                   -- dispatchers at rest
local owners = {}                   -- by slot of a request: the dispatcher that waits
M.owners, M.spares = owners, spares -- for who looks (dump.lua)
local active                        -- the dispatcher that pulls events
local current                       -- the task that the resume site has entered
local forbidden = false             -- why nothing may wait just now
local event = ffi.new "struct luaweb_event"

--- What the dispatcher does with events; host.lua fills it in.
--- lost(task, message, address, generation): it will never go on; address is nil where
--- it was a job.  begin(task): gives a task without a coroutine one, or nil where it
--- has ended.  gone(task, address, generation, how): see enum luaweb_gone; task: what
--- waits for it, or false.  stop(left_ms): 0: nothing is open any more; else the time
--- for that is over, and this is left for the rest.
---@type table<string, function>   also request(index, address, generation), stopping()
M.upcalls = {}

-- Stops the running task until the resume site goes on with it: an app that has got
-- hold of its coroutine and resumes that would mix up who waits for what.
local function pause(signal, me)
  me = me or current
  yield(signal)
  if current ~= me then return pause(signal, me) end
end

---@class luaweb.Task
---@field co thread|false
---@field span luaweb.Trace?   what it is part of, within web.span
---@field lost string?   why it has yielded for good (cancellation.lua)

M.ready, M.ready_first = run_queue.put, run_queue.put_first

--- Raises an error where the caller can't wait.  Calls that wait only at times ask this
--- first: they fail always or never.
---@param what string     names the call, e.g. "web.sleep"
---@param level integer?  whose fault it is, as for `error`; default: of who called it
function M.check(what, level)
  level = (level or 2) + 1
  if forbidden then
    error(what .. " can't wait here: it was called inside " .. forbidden, level)
  end
  if current == nil or running() ~= current.co then
    error(what .. " can't wait here: it was called in a coroutine that luaweb did not "
      .. "start (use job.spawn instead of coroutine.create)", level)
  end
  if not isyieldable() then
    error(what .. " can't wait here: it was called inside a callback of a C function, "
      .. "such as table.sort or string.gsub", level)
  end
end

--- Whether M.check would pass.
---@return boolean
function M.may_wait()
  return not forbidden and current ~= nil and running() == current.co and isyieldable()
end

--- Lets M.check fail for a while.
---@param where string|false   e.g. "a guard"; false: waiting is allowed
---@return string|false before   to be restored
function M.forbid(where)
  local before = forbidden
  forbidden = where
  return before
end

--- Whether M.forbid holds.
---@return boolean
function M.is_forbidden() return forbidden ~= false end

--- The task that runs, or that an app's own coroutine runs in.
---@return luaweb.Task? self   to be given to M.ready
function M.self() return current end

--- Parks the running task until somebody makes it ready.  M.check comes first.
function M.park()
  local me = current -- as `pause` does: each frame is on the stack of all that waits
  yield(PARKED)
  if current ~= me then return pause(PARKED, me) end
end

--- Leaves a coroutine whose task has ended, until upcalls.begin gives it to another.
---@param me thread   the running one
function M.rest(me)
  yield(SPARE)
  if not current or current.co ~= me then return M.rest(me) end
end

local integer = ffi.typeof "intptr_t"

-- The next event; the request by its address, which needs no memory.  A function of its
-- own, so that it is compiled while the loop around it is not: reading a struct costs
-- nothing there.
local function pull()
  C.luaweb_next(host, event)
  local address = tonumber(cast(integer, event.request))
  return event.kind, event.id, event["function"], event.generation, address
end

local upcalls = M.upcalls

-- Pulls the next event and serves it, or gives its kind and id when it is no request.
-- A function of its own for the same reason; `me` is the dispatcher.
local function serve_next(me)
  local kind, id, index, generation, address = pull()
  if kind ~= REQUEST then return kind, id, address, generation end
  me.address, me.generation, me.index = address, generation, index
  upcalls.request(index, address, generation)
  me.address = false
end

-- Notes that a dispatcher waits, for as long as its request lasts.
local function own(task)
  task.slot = abi.request_at(task.address).slot
  owners[task.slot] = task
end

local function disown(task)
  if owners[task.slot] == task then owners[task.slot] = nil end
  task.cancelled, task.shield = nil, nil
end

local function tell_gone(address, generation, how)
  local task = owners[abi.request_at(address).slot]
  local waits = task and task.address == address and task.generation == generation
  upcalls.gone(waits and task, address, generation, how)
end

local function handle(kind, id, address, generation)
  if kind == WAKE then
    waiting.wake(id)
  elseif kind == GONE then
    tell_gone(address, generation, id)
  elseif kind == STOPPING then
    upcalls.stopping()
  elseif kind == STOP then
    upcalls.stop(id)
  else
    pause(IDLE)
  end
end

local function dispatch()
  local me = current
  while true do
    if active ~= me then -- it has waited
      if me.slot then disown(me) end
      if #spares == MOST_SPARES then return end
      spares[#spares + 1] = me
      pause(SPARE)
    end
    local other, id, address, generation = serve_next(me)
    if other then handle(other, id, address, generation) end
  end
end
-- Interpreted: compiled, it would grow a side trace for every handler.
jit.off(dispatch)

local function dispatcher()
  active = active or table.remove(spares)
    or { co = create(dispatch), address = false, generation = 0, index = 0 }
  return active
end

-- A task that will never go on: something else than we yielded in it, or it died where
-- nothing could catch it (no memory was left).
local function lose(task, message)
  local request, generation = task.address, task.generation
  local is_told = pcall(upcalls.lost, task, message, request, generation)
  if task.slot then disown(task) end
  if is_told then return end
  pcall(collectgarbage) -- most likely no memory is left, not even to say so
  if request then
    C.luaweb_abort(host, abi.request_at(request), generation)
  end
end

local DEAD = "cannot resume dead coroutine" -- what `resume` says of one

-- Goes on with a task, the only place that does; true when it found no event.
local function step(task)
  local co = task.co or upcalls.begin(task)
  if not co then return false end -- cancelled
  current = task
  local ok, signal = resume(co)
  current = nil
  if signal == IDLE then return true end
  if task == active then
    active = nil
    if task.address then own(task) end
  end
  if not ok then
    if signal ~= DEAD then lose(task, tostring(signal)) end -- else the app's doing
  elseif signal ~= PARKED and signal ~= SPARE and status(co) ~= "dead" then
    lose(task, task.lost or YIELDED)
  end
  return false
end

local turns = 0
local is_long = false -- the turn has lasted long enough

--- Counts the turns: what gives the same number twice has not waited in between.
---@return integer
function M.turn_number() return turns end

--- Ends the turn behind the task that runs: what else is ready goes on in the next one.
function M.end_turn() is_long = true end

local function run()
  local is_idle = false
  for _ = 1, RESUMES_PER_TURN do
    local task = is_idle and next_ready()
    if task then
      step(task)
    else
      is_idle = step(dispatcher())
      if is_idle and is_empty() then return false end
    end
    if is_long then break end
  end
  return true
end

--- Runs what is ready: events, then the jobs and handlers that can go on, until neither
--- is left or the turn has lasted long enough.
---@return boolean more   there is more to be done at once
function M.turn()
  turns, is_long = turns + 1, false
  local more = run()
  if count.jobs_started + count.jobs_ended ~= count.jobs_told then count.tell_jobs() end
  return more
end

return M
