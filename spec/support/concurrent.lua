-- SPDX-License-Identifier: MIT
-- Helpers of spec/concurrency: jobs that run to rest, and alternatives that tell what
-- becomes of them.  Has the laws of the commit protocol watched.
local alt = require "luaweb.alt"
local commit_watch = require "luaweb.commit_watch"
local job = require "luaweb.job"

commit_watch.on()

local M = {}

--- A log: calling it adds to it.
function M.log()
  local function add(self, entry) self[#self + 1] = entry end
  return setmetatable({}, { __call = add })
end

--- Lets jobs run until all of them wait (for a chain of wake-ups of this length).
function M.settle()
  for _ = 1, 30 do job.yield() end
end

--- Starts jobs in order, and lets them run to rest.
---@return luaweb.Job ...
function M.spawn(...)
  local jobs = {}
  for i = 1, select("#", ...) do jobs[i] = job.spawn((select(i, ...))) end
  M.settle()
  return unpack(jobs)
end

--- An alternative that logs name:inst when it is walked, name:commit when it is
--- chosen, and name:abort when it is not.
function M.told(log, name, alternative)
  return alt.with_nack(function(nack)
    log(name .. ":inst")
    job.spawn(function()
      nack:sync()
      log(name .. ":abort")
    end)
    return alternative:wrap(function(value)
      log(name .. ":commit")
      return value
    end)
  end)
end

--- A nack that logs its name when it fires.
function M.nacked(log, name, alternative)
  return alternative:on_abort(function() log(name) end)
end

return M
