-- SPDX-License-Identifier: MIT
-- The scheduler: the one place that resumes coroutines, and the dispatchers that pull
-- events from C.  A handler runs straight in the dispatcher's coroutine; when it waits,
-- that coroutine becomes the request's own and another dispatcher goes on.
--
-- What it runs are tasks: tables with a coroutine `co`.  A dispatcher is one, a job
-- (spawn.lua) another; a job has a coroutine only from its first turn to its end.
local abi = require "luaweb.abi"
local ffi = require "ffi"
local run_queue = require "luaweb.run_queue"

local C, host = abi.C, abi.host
local create, resume, yield = coroutine.create, coroutine.resume, coroutine.yield
local running, isyieldable = coroutine.running, coroutine.isyieldable
local status = coroutine.status
local cast, tonumber = ffi.cast, tonumber
local next_ready, is_empty = run_queue.take, run_queue.is_empty

local REQUEST = tonumber(C.LUAWEB_EVENT_REQUEST)
local WAKE = tonumber(C.LUAWEB_EVENT_WAKE)
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

local waiting = {}                  -- by id, see wake_one
local spares = {}                   -- dispatchers at rest
local active                        -- the dispatcher that pulls events
local current                       -- the task that the resume site has entered
local forbidden = false             -- why nothing may wait just now
local event = ffi.new "struct luaweb_event"

--- What the dispatcher does with events; host.lua fills it in.
--- lost(task, message, address, generation): it will never go on; address is nil where
--- it was a job.  begin(task): gives a task without a coroutine one, or nil where it
--- has ended.  due(node): its timer has run out.
---@type table<string, function>   also request(index, address, generation), stop()
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

M.ready, M.ready_first = run_queue.put, run_queue.put_first

-- What waits under an id is a task, a node whose timer it is, a ticket (of a wait with
-- two ends: the id that comes first uses it up), or a list of these.
local function wake_one(waiter, id)
  if waiter.timer == id then return M.upcalls.due(waiter) end
  local task = waiter.ticket_of
  if not task then return M.ready(waiter) end
  if waiter.used then return end
  waiter.used = id
  M.ready(task)
end

--- Makes ready what waits under an id.
---@param id integer
function M.wake(id)
  local waiter = waiting[id]
  if not waiter then return end
  waiting[id] = nil
  if waiter.is_list then
    for i = 1, #waiter do wake_one(waiter[i], id) end
  else
    wake_one(waiter, id)
  end
end

local function add_waiter(id, waiter)
  local others = waiting[id]
  if not others or others.used then
    waiting[id] = waiter
  elseif not others.is_list then
    waiting[id] = { is_list = true, others, waiter }
  else
    for i = #others, 1, -1 do
      if others[i].used then table.remove(others, i) end
    end
    others[#others + 1] = waiter
  end
end

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

--- Waits until C wakes this id.
---@param id integer
---@param what string   the call, for the error where waiting can't work
function M.wait(id, what)
  M.check(what)
  add_waiter(id, current)
  pause(PARKED)
end

--- Waits until C wakes this id, at most for a time.
---@param id integer
---@param seconds number
---@param what string
---@return boolean woken   false: the time is over
function M.wait_for(id, seconds, what)
  M.check(what)
  local timer = C.luaweb_timer_start(host, seconds)
  local ticket = { ticket_of = current, used = false }
  add_waiter(id, ticket)
  add_waiter(timer, ticket)
  pause(PARKED)
  if ticket.used == timer then return false end
  if waiting[timer] == ticket then -- else its wake was pulled already
    waiting[timer] = nil
    C.luaweb_timer_stop(host, timer)
  end
  return true
end

--- Starts a timer for a node, which upcalls.due gets when the time is over.
---@param seconds number   0 or more; rounded up to milliseconds
function M.start_timer(node, seconds)
  local id = C.luaweb_timer_start(host, seconds)
  node.timer = id
  waiting[id] = node
end

--- Stops a node's timer; nothing is left of it.
function M.stop_timer(node)
  local id = node.timer
  node.timer = false
  if waiting[id] ~= node then return end -- it ran out
  waiting[id] = nil
  C.luaweb_timer_stop(host, id)
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
  if kind ~= REQUEST then return kind, id end
  me.address, me.generation = address, generation
  upcalls.request(index, address, generation)
end

local function handle(kind, id)
  if kind == WAKE then
    M.wake(id)
  elseif kind == STOP then
    upcalls.stop()
  else
    pause(IDLE)
  end
end

local function dispatch()
  local me = current
  while true do
    if active ~= me then
      if #spares == MOST_SPARES then return end
      spares[#spares + 1] = me
      pause(SPARE)
    end
    local other, id = serve_next(me)
    if other then handle(other, id) end
  end
end
-- Interpreted: compiled, it would grow a side trace for every handler.
jit.off(dispatch)

local function dispatcher()
  active = active or table.remove(spares)
    or { co = create(dispatch), address = false, generation = 0 }
  return active
end

-- A task that will never go on: something else than we yielded in it, or it died where
-- nothing could catch it (no memory was left).
local function lose(task, message)
  local request, generation = task.address, task.generation
  if pcall(upcalls.lost, task, message, request, generation) then return end
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
  if task == active then active = nil end
  if not ok then
    if signal ~= DEAD then lose(task, tostring(signal)) end -- else the app's doing
  elseif signal ~= PARKED and signal ~= SPARE and status(co) ~= "dead" then
    lose(task, YIELDED)
  end
  return false
end

--- Runs what is ready: events, then the jobs and handlers that can go on, until neither
--- is left or the turn has lasted long enough.
---@return boolean more   there is more to be done at once
function M.turn()
  local is_idle = false
  for _ = 1, RESUMES_PER_TURN do
    local task = is_idle and next_ready()
    if task then
      step(task)
    else
      is_idle = step(dispatcher())
      if is_idle and is_empty() then return false end
    end
  end
  return true
end

return M
