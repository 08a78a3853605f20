-- SPDX-License-Identifier: MIT
-- What a job is given and what it gives: the arguments of its function, then its
-- results or what was raised, in two fields of its record.  Further slots would have
-- the whole record hashed anew, which costs more than all else about a short job.
local count = require "luaweb.count"

local M = {}

---@class luaweb.Outcome        a part of luaweb.Job
---@field n integer              how many arguments or results
---@field value any              these: itself where that is one, a list where it is
---                              more; or what was raised
---@field outcome false|"ok"|"failed"|"cancelled"
---@field cancelled luaweb.Cancelled?

--- Keeps arguments or results.
---@param job luaweb.Outcome
function M.keep(job, ...)
  local n = select("#", ...)
  job.n = n
  if n == 1 then
    job.value = ...
  elseif n > 1 then
    job.value = { ... }
  end
end

--- Keeps what was raised; the job is over.
---@param job luaweb.Outcome
---@param raised any
function M.fail(job, raised)
  local is_cancelled = raised ~= nil and job.cancelled == raised
  job.outcome, job.value = is_cancelled and "cancelled" or "failed", raised
  if not is_cancelled then count.jobs_failed = count.jobs_failed + 1 end
end

--- What the function of a job returned that has ended well.
---@param job luaweb.Outcome
---@return any ...
function M.results(job)
  local n, value = job.n, job.value
  if n == 1 then return value end
  if n > 1 then return unpack(value, 1, n) end
end
local results = M.results

--- How a job has ended, as job:done_alt gives it.
---@param job luaweb.Outcome
---@return { status: string, value: any, error: any }
function M.describe(job)
  if job.outcome ~= "ok" then return { status = job.outcome, error = job.value } end
  return { status = "ok", value = (results(job)), error = false }
end

--- How a job has ended, as a leaf commits.
---@param job luaweb.Outcome
---@return boolean ok, any value
function M.of(job)
  if job.outcome == "ok" then return true, (results(job)) end
  return false, job.value
end

return M
