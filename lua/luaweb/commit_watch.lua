-- SPDX-License-Identifier: MIT
-- A watcher of the commit protocol: counts what happens and raises where one of its
-- laws is broken.  Off unless LUAWEB_WATCH is set or `on` is called; then each step
-- costs more.
local commit = require "luaweb.commit"
local queue = require "luaweb.queue"
local roster = require "luaweb.roster"
local run_queue = require "luaweb.run_queue"

local M = {}

local counts = { opened = 0, closed = 0, abandoned = 0, made = 0, fired = 0,
  covered = 0, stale = 0 }
local places = setmetatable({}, { __mode = "k" }) -- by task: in the run queue, or once
local known = setmetatable({}, { __mode = "k" }) -- syncs and nacks that it saw begin

local function law(holds, text)
  if not holds then error("commit: " .. text, 3) end
end

local watcher = {}

function watcher.opened(sync)
  local task = sync.owner == sync and sync or sync.task
  law(not task or not task.parked, "a task has one open sync at most")
  known[sync] = "open"
  counts.opened = counts.opened + 1
end

-- What serves a node finds its sync open: a node leaves its queue when that closes.
function watcher.closed(sync)
  if not sync.open then counts.stale = counts.stale + 1 end
  law(sync.open, "a wake finds its sync open")
  if not known[sync] then return end
  law(known[sync] == "open" and sync.open, "a sync closes once")
  known[sync] = "closed"
  counts.closed = counts.closed + 1
end

-- A node without a sync that is served is a message, which stands in a queue.
function watcher.message(node)
  if not node.prev then counts.stale = counts.stale + 1 end
  law(node.prev, "a wake finds its node in use")
end

local function on_ready(task, list, at)
  local before = places[task]
  law(not before or before.list[before.at] ~= task,
    "a job is once among those that can go on")
  places[task] = { list = list, at = at }
end

function watcher.abandoned()
  counts.abandoned = counts.abandoned + 1
end

function watcher.taken(sync)
  if not known[sync] then return end
  law(known[sync] == "closed" and not sync.open, "an outcome is taken after the end")
  law(not sync.nacks, "all nacks have fired before a job runs")
  if sync.owner == sync then
    law(not sync.next and not sync.wake, "a closed sync stands in no queue")
  else
    law(sync.count == 0, "a closed sync has no nodes")
  end
  known[sync] = nil
end

function watcher.nack(nack)
  known[nack] = "made"
  counts.made = counts.made + 1
end

function watcher.fired(nack)
  if not known[nack] then return end
  law(known[nack] == "made" and not nack.is_fired, "a nack fires once")
  known[nack] = "fired"
  counts.fired = counts.fired + 1
end

function watcher.covered(nack)
  if not known[nack] then return end
  law(known[nack] == "made", "a nack that covers the winner doesn't fire")
  counts.covered = counts.covered + 1
end

--- Watches from now on.
function M.on()
  commit.watch(watcher)
  run_queue.watch(on_ready)
end

--- Watches no more.
function M.off()
  commit.watch(false)
  run_queue.watch(false)
end

--- What has happened since it was first on, and what there is now: nodes in queues, and
--- jobs that have not ended outside of scopes.
---@return table<string, integer>
function M.counts()
  local now = { nodes = queue.in_use(),
    jobs = roster.root.count + roster.server.count + roster.aborts.count }
  for name, count in pairs(counts) do now[name] = count end
  return now
end

return M
