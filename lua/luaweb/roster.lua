-- SPDX-License-Identifier: MIT
-- Rosters: the jobs of a scope that have not ended, oldest first.  Each job is on one:
-- who has opened no scope is on `root`; what outlives a request is on `background`, or
-- on `server` where it is not meant to end.  What tidies up after an alternative that
-- was not chosen is on `aborts`: a stop cancels the others, but waits for these.  Those
-- that have jobs are in a ring, so that whoever looks into the worker finds every job;
-- who is in it is not collected.
local count = require "luaweb.count"

local M = {}

---@class luaweb.Roster
---@field count integer
---@field older luaweb.Job     its last; the roster itself where it is empty
---@field younger luaweb.Job   its first
---@field on_end false|fun(roster: luaweb.Roster, job: luaweb.Job)
---@field keeps_failures boolean   else they are told to the error log
---@field is_over boolean          nothing may be started in it
---@field cancelled false|{ reason: any }
---@field name string|false        of those that last, and of requests
---@field left luaweb.Roster|false    in the ring, while it has jobs
---@field right luaweb.Roster|false

--- An empty one.
---@return luaweb.Roster
function M.new()
  local roster = { count = 0, older = false, younger = false, on_end = false,
    keeps_failures = false, is_over = false, cancelled = false, name = false,
    left = false, right = false }
  roster.older, roster.younger = roster, roster
  return roster
end

M.root, M.background, M.server, M.aborts = M.new(), M.new(), M.new(), M.new()
M.root.name, M.background.name, M.server.name = "root", "background", "server"
M.aborts.name = "aborts"

local ring = M.root -- which stays in it
ring.left, ring.right = ring, ring

--- Goes over the rosters that have jobs, and root.
---@return fun(first: luaweb.Roster, roster: luaweb.Roster?): luaweb.Roster?
---@return luaweb.Roster first
function M.each()
  return function(first, roster)
    if not roster then return first end
    if roster.right ~= first then return roster.right end
  end, ring
end

local function join_ring(roster)
  local last = ring.left
  roster.left, roster.right = last, ring
  last.right, ring.left = roster, roster
end

local function leave_ring(roster)
  roster.left.right, roster.right.left = roster.right, roster.left
  roster.left, roster.right = false, false
end

--- Adds a job, whose `older` is the last of the roster already.
---@param roster luaweb.Roster
---@param job luaweb.Job
function M.add(roster, job)
  roster.older.younger, roster.older = job, job
  roster.count = roster.count + 1
  count.jobs_started = count.jobs_started + 1
  if not roster.left then join_ring(roster) end
end

--- Takes a job away that has ended.
---@param roster luaweb.Roster
---@param job luaweb.Job
function M.remove(roster, job)
  job.older.younger, job.younger.older = job.younger, job.older
  job.older, job.younger = false, false
  roster.count = roster.count - 1
  count.jobs_ended = count.jobs_ended + 1
  if roster.count == 0 and roster ~= ring then leave_ring(roster) end
end

--- What is known of the work that a job is part of (job.context), or nil.
---@param job luaweb.Job
---@return table?
function M.context_of(job)
  local inner = job.scope
  local context = job.context
  while not context and inner do
    context = inner.context or (inner.make_context and inner:make_context())
    inner = inner.parent
  end
  return context
end

return M
