-- SPDX-License-Identifier: MIT
-- The scheduler: the one place that resumes coroutines, and the dispatchers that pull
-- events from C.  A handler runs straight in the dispatcher's coroutine; when it waits,
-- that coroutine becomes the request's own and another dispatcher goes on.
local abi = require "luaweb.abi"
local ffi = require "ffi"

local C, host = abi.C, abi.host
local create, resume, yield = coroutine.create, coroutine.resume, coroutine.yield
local running, isyieldable = coroutine.running, coroutine.isyieldable
local status = coroutine.status
local cast, tonumber = ffi.cast, tonumber

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

local queue, first, last = {}, 1, 0 -- coroutines that can go on, in order
local waiting = {}                  -- by id, see wake_one
local spares = {}                   -- dispatchers at rest
local served = setmetatable({}, { __mode = "k" }) -- by dispatcher: address, generation
local active                        -- the dispatcher that pulls events
local current                       -- the coroutine that the resume site has entered
local event = ffi.new "struct luaweb_event"

--- What the dispatcher does with events; host.lua fills it in.
--- lost(co, message, address, generation): a coroutine will never go on; address is nil
--- where it was a job's.
---@type table<string, function>   request(index, address, generation), stop(), lost()
M.upcalls = {}

-- Stops the running coroutine until the resume site goes on with it: an app that has
-- got hold of it and resumes it by itself would mix up who waits for what.
local function pause(signal)
  local me = running()
  repeat yield(signal) until current == me
end

--- Puts a coroutine that parked (or is new) at the end of those that can go on.
---@param co thread
function M.ready(co)
  last = last + 1
  queue[last] = co
end

-- What waits under an id is a coroutine, a ticket (of a wait with two ends: the id that
-- comes first uses it up), or a list of these.
local function wake_one(waiter, id)
  if type(waiter) == "thread" then return M.ready(waiter) end
  if waiter.used then return end
  waiter.used = id
  M.ready(waiter.co)
end

--- Makes ready what waits under an id.
---@param id integer
function M.wake(id)
  local waiter = waiting[id]
  if not waiter then return end
  waiting[id] = nil
  if type(waiter) == "table" and not waiter.co then
    for i = 1, #waiter do wake_one(waiter[i], id) end
  else
    wake_one(waiter, id)
  end
end

local function add_waiter(id, waiter)
  local others = waiting[id]
  if not others or (type(others) == "table" and others.used) then
    waiting[id] = waiter
  elseif type(others) == "thread" or others.co then
    waiting[id] = { others, waiter }
  else
    for i = #others, 1, -1 do
      if type(others[i]) == "table" and others[i].used then table.remove(others, i) end
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
  if current == nil or running() ~= current then
    error(what .. " can't wait here: it was called in a coroutine that luaweb did not "
      .. "start (use job.spawn instead of coroutine.create)", level)
  end
  if not isyieldable() then
    error(what .. " can't wait here: it was called inside a callback of a C function, "
      .. "such as table.sort or string.gsub", level)
  end
end

--- The coroutine that was resumed: the one that runs, or the one that an app's own
--- coroutine runs in.
---@return thread? self   to be given to M.ready
function M.self()
  return current
end

--- Parks the running coroutine until somebody makes it ready.  M.check comes first.
function M.park()
  pause(PARKED)
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
  local ticket = { co = current }
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

--- Waits for a time.
---@param seconds number   0 or more; rounded up to milliseconds
function M.sleep(seconds)
  if type(seconds) ~= "number" or seconds ~= seconds or seconds < 0 then
    error("web.sleep wants a number of seconds, 0 or more", 2)
  end
  M.check "web.sleep"
  M.wait(C.luaweb_timer_start(host, seconds), "web.sleep")
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
-- A function of its own for the same reason; `mine` is of the dispatcher.
local function serve_next(mine)
  local kind, id, index, generation, address = pull()
  if kind ~= REQUEST then return kind, id end
  mine[1], mine[2] = address, generation
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
  local me, mine = running(), { false, 0 }
  served[me] = mine
  while true do
    if active ~= me then
      if #spares == MOST_SPARES then return end
      spares[#spares + 1] = me
      pause(SPARE)
    end
    local other, id = serve_next(mine)
    if other then handle(other, id) end
  end
end
-- Interpreted: compiled, it would grow a side trace for every handler.
jit.off(dispatch)

local function next_ready()
  local co = queue[first]
  queue[first] = nil
  first = first + 1
  if first > last then first, last = 1, 0 end
  return co
end

local function dispatcher()
  active = active or table.remove(spares) or create(dispatch)
  return active
end

-- A coroutine that will never go on: something else than we yielded in it, or it died
-- where nothing could catch it (no memory was left).
local function lose(co, message)
  local mine = served[co]
  served[co] = nil
  local request, generation = mine and mine[1], mine and mine[2]
  if pcall(M.upcalls.lost, co, message, request, generation) then return end
  pcall(collectgarbage) -- most likely no memory is left, not even to say so
  if request then
    C.luaweb_abort(host, abi.request_at(request), generation)
  end
end

-- Goes on with a coroutine, the only place that does; true when it found no event.
local function step(co)
  if status(co) == "dead" then return false end -- the app has resumed it by itself
  current = co
  local ok, signal = resume(co)
  current = nil
  if signal == IDLE then return true end
  if co == active then active = nil end
  if not ok then
    lose(co, tostring(signal))
    return false
  end
  if signal ~= PARKED and signal ~= SPARE and status(co) ~= "dead" then
    lose(co, YIELDED)
  end
  return false
end
jit.off(step)

--- Runs what is ready: events, then the jobs and handlers that can go on, until neither
--- is left or the turn has lasted long enough.
---@return boolean more   there is more to be done at once
function M.turn()
  local is_idle = false
  for _ = 1, RESUMES_PER_TURN do
    local found_none = step(is_idle and next_ready() or dispatcher())
    if found_none and first > last then return false end
    is_idle = found_none or (is_idle and first <= last)
  end
  return true
end
jit.off(M.turn)

return M
