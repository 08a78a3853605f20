-- SPDX-License-Identifier: MIT
-- Commit: the only file that changes the state of a waiter.  Objects (chan.lua and its
-- kind) hold queues of nodes and say when one is served; walk.lua walks alternatives.
--
-- Life of a sync.  A task that wants one of several things opens a sync and walks its
-- alternatives, left to right.  Each is tried: the first that is ready takes effect,
-- and what stands to its right never comes into being.  When none is, each leaves a
-- node in the queue of its object, and the task parks:
--
--     open --(walk finds one ready)-----------------------------> committed
--       \--(parks)--(somebody makes a leaf ready: M.commit)-----> committed
--                \--(M.cancel)----------------------------------> cancelled
--
-- Either way it happens once and in one step, in which no user code runs: the outcome
-- is written down, every node leaves its queue, timers stop, and the nacks fire of
-- those alternatives that were walked but not chosen.  Then the task is put among those
-- that can go on.  When it does, it takes the outcome, and runs what is wrapped around
-- the winner; that is outside of the choice, may wait and may raise.
--
-- A job that waits for one thing alone needs nothing of this: the task is sync and node
-- in one, and waiting allocates nothing.
local cancellation = require "luaweb.cancellation"
local nack = require "luaweb.nack"
local queue = require "luaweb.queue"
local sched = require "luaweb.sched"
local waiting = require "luaweb.waiting"

local is_stopped, Cancelled = cancellation.is_stopped, cancellation.Cancelled
local check, ready, sleep = sched.check, sched.ready, sched.park
local append, first, unlink = queue.append, queue.first, queue.unlink
local new_node, free_node = queue.new_node, queue.free_node

local M = {
  Cancelled = Cancelled,
  enter = cancellation.enter,
  enter_quick = cancellation.enter_quick,
  enter_shield = cancellation.enter_shield,
  refuse_cancelled = cancellation.refuse_cancelled,
}

---@class luaweb.Sync            its nodes are [1] to [count]
---@field task luaweb.Task|false  false: it never parks (alt.poll)
---@field open boolean
---@field ok boolean             whether `value` is a value, or an error
---@field value any
---@field chain table|false
---@field leaves integer         walked so far
---@field nacks luaweb.Nack[]|false
---@field ran boolean            user code has run in the walk

local MOST_SPARE = 4096 -- more syncs than this are left to the collector
local spare_syncs, spare_sync_count = {}, 0
local watch = false     -- see M.watch

-- Nacks -------------------------------------------------------------------------------

--- A nack for what is walked next.
---@param sync luaweb.Sync
---@return luaweb.Nack
function M.new_nack(sync)
  local made = nack.new(sync.leaves + 1)
  sync.nacks = sync.nacks or {}
  sync.nacks[#sync.nacks + 1] = made
  if watch then watch.nack(made) end
  return made
end

M.upcalls = {} -- aborted(fn): runs it as a job

local firing, first_firing, last_firing, is_firing = {}, 1, 0, false

-- A list of work, since one nack may release a choice whose nacks then fire.
local function fire_all()
  if is_firing then return end
  is_firing = true
  while first_firing <= last_firing do
    local fired = firing[first_firing]
    firing[first_firing] = nil
    first_firing = first_firing + 1
    if watch then watch.fired(fired) end
    fired.is_fired = true
    while fired.waiters and first(fired.waiters) do
      M.commit(fired.waiters.next, true, nil)
    end
    if fired.fn then M.upcalls.aborted(fired.fn) end
  end
  first_firing, last_firing, is_firing = 1, 0, false
end

-- Fires the nacks that don't cover the winner; 0: nobody has won.
local function fire_losers(sync, winner)
  local nacks = sync.nacks
  sync.nacks = false
  for i = 1, #nacks do
    local one = nacks[i]
    if winner < one.from or winner >= one.to then
      last_firing = last_firing + 1
      firing[last_firing] = one
    elseif watch then
      watch.covered(one)
    end
  end
  fire_all()
end

local function free_nodes(sync)
  for i = 1, sync.count do
    free_node(sync[i])
    sync[i] = false
  end
  sync.count = 0
end

-- Syncs -------------------------------------------------------------------------------

--- Opens a sync.
---@param task luaweb.Task|false
---@return luaweb.Sync
function M.open(task)
  local sync = spare_syncs[spare_sync_count]
  if sync then
    spare_syncs[spare_sync_count] = nil
    spare_sync_count = spare_sync_count - 1
    sync.task, sync.open, sync.leaves, sync.ran = task, true, 0, false
  else
    sync = { task = task, open = true, ok = false, value = nil, chain = false,
      count = 0, leaves = 0, nacks = false, ran = false }
  end
  if watch then watch.opened(sync) end
  return sync
end

--- A leaf that wasn't ready: it gets a node, which is in no queue yet.
function M.add_leaf(sync, leaf, chain)
  local index, count = sync.leaves + 1, sync.count + 1
  sync.leaves, sync.count = index, count
  sync[count] = new_node(sync, index, leaf, chain)
end

local function close(sync, ok, value)
  if watch then watch.closed(sync) end
  sync.open, sync.ok, sync.value = false, ok, value
end

--- Commits a sync: this leaf is the one.
function M.win(sync, index, chain, ok, value)
  close(sync, ok, value)
  sync.chain = chain
  free_nodes(sync)
  if sync.nacks then fire_losers(sync, index) end
end

--- Serves a node, which leaves its queue: its sync commits, or the message is taken.
---@param node luaweb.Node
---@param ok boolean
---@param value any   what its task gets, or the error that it raises
function M.commit(node, ok, value)
  local sync = node.owner
  if not sync then
    if watch then watch.message(node) end
    return free_node(node)
  end
  local task = sync
  if sync == node then
    close(sync, ok, value)
    unlink(node)
  else
    task = sync.task
    M.win(sync, node.index, node.chain, ok, value)
  end
  task.parked = false
  ready(task)
end
waiting.upcalls.due = function(node) M.commit(node, true, nil) end

--- Whose a node is.
---@param node luaweb.Node
---@return luaweb.Task
function M.task_of(node)
  local sync = node.owner
  return sync == node and node or sync.task
end

--- Closes a sync of which nothing was chosen: all its nacks fire.
---@param sync luaweb.Sync
---@param err any   what its task raises
function M.abandon(sync, err)
  close(sync, false, err)
  if watch then watch.abandoned() end
  if sync.owner == sync then unlink(sync) else free_nodes(sync) end
  if sync.nacks then fire_losers(sync, 0) end
end

--- Cancels a task: what it waits for is abandoned, and each further wait raises the
--- same error.  A sync that has committed stands.
---@param task luaweb.Task
---@param reason any
function M.cancel(task, reason)
  task.cancelled = setmetatable({ reason = reason }, Cancelled)
  local sync = task.parked
  if not sync or not is_stopped(task) then return end
  M.abandon(sync, task.cancelled)
  task.parked = false
  ready(task)
end

--- Enlists the nodes of a sync that walked, and parks until it closes.
---@param sync luaweb.Sync
function M.park(sync)
  for i = 1, sync.count do
    local node = sync[i]
    node.leaf:enlist(node)
  end
  local task = sync.task
  if not task.cancelled or not is_stopped(task) then
    task.parked = sync
    sleep()
  else -- a guard has cancelled its own job
    M.abandon(sync, task.cancelled)
  end
end

--- Ends a sync that has closed.
---@return boolean ok, any value, table|false chain
function M.outcome(sync)
  local ok, value, chain = sync.ok, sync.value, sync.chain
  if watch then watch.taken(sync) end
  sync.value, sync.chain, sync.task = nil, false, false
  if spare_sync_count < MOST_SPARE then
    spare_sync_count = spare_sync_count + 1
    spare_syncs[spare_sync_count] = sync
  end
  return ok, value, chain
end

local function open_alone(task, value)
  if watch then watch.opened(task) end
  task.owner, task.open, task.value = task, true, value
end

-- Takes the outcome of a sync that is a task.
local function take_alone(task)
  if watch then watch.taken(task) end
  local value = task.value
  task.value = false
  if task.ok then return value end
  error(value, 0)
end

-- A small frame of its own: it is on the stack of each job that waits.
local function wait_alone(task)
  task.parked = task
  sleep()
  return take_alone(task)
end

--- Waits in one queue alone.
---@param where table        a queue
---@param task luaweb.Task   from M.enter
---@param value any          what it gives
---@param what string?       after M.enter_quick: the call, which returns what this does
---@return any               what M.commit gave it; raises what was an error
function M.wait(where, task, value, what)
  if what then check(what) end
  open_alone(task, value)
  append(where, task)
  return wait_alone(task)
end

--- Waits for a time alone.
function M.wait_for(task, seconds)
  open_alone(task, false)
  waiting.start_timer(task, seconds)
  return wait_alone(task)
end

--- Waits until C wakes an id, alone.
---@param id integer
---@param what string   the call, for the error where waiting can't work
function M.wait_under(id, what)
  local task = M.enter(what)
  open_alone(task, false)
  waiting.enlist(task, id)
  return wait_alone(task)
end

--- Has each step told to `watcher` (commit_watch.lua), or to nobody.
---@param watcher table|false
function M.watch(watcher)
  watch = watcher
end

return M
