-- SPDX-License-Identifier: MIT
-- Rosters: the jobs of a scope that have not ended, oldest first.  Each job is on one:
-- who has opened no scope is on `root`; what outlives a request is on `background`, or
-- on `server` where it is not meant to end.  What tidies up after an alternative that
-- was not chosen is on `aborts`: a stop cancels the others, but waits for these.
local M = {}

---@class luaweb.Roster
---@field count integer
---@field older luaweb.Job     its last; the roster itself where it is empty
---@field younger luaweb.Job   its first
---@field on_end false|fun(roster: luaweb.Roster, job: luaweb.Job)
---@field keeps_failures boolean   else they are told to the error log
---@field is_over boolean          nothing may be started in it
---@field cancelled false|{ reason: any }

--- An empty one.
---@return luaweb.Roster
function M.new()
  local roster = { count = 0, older = false, younger = false, on_end = false,
    keeps_failures = false, is_over = false, cancelled = false }
  roster.older, roster.younger = roster, roster
  return roster
end

M.root, M.background, M.server, M.aborts = M.new(), M.new(), M.new(), M.new()

--- Adds a job, whose `older` is the last of the roster already.
---@param roster luaweb.Roster
---@param job luaweb.Job
function M.add(roster, job)
  roster.older.younger, roster.older = job, job
  roster.count = roster.count + 1
end

--- Takes a job away that has ended.
---@param roster luaweb.Roster
---@param job luaweb.Job
function M.remove(roster, job)
  job.older.younger, job.younger.older = job.younger, job.older
  job.older, job.younger = false, false
  roster.count = roster.count - 1
end

return M
