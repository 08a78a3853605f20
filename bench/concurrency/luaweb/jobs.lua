-- SPDX-License-Identifier: MIT
-- Programs about the life of jobs.
local job = require "luaweb.job"

local BATCH = 1000

local programs = {}

-- Jobs that only end, a batch at a time.
programs["B5-end"] = function(n)
  local ended = 0
  local function finish() ended = ended + 1 end
  for _ = 1, n / BATCH do
    for _ = 1, BATCH do job.spawn(finish) end
    job.yield()
  end
  assert(ended == n, "not all have run")
  return n
end

local function answer() return 1 end

-- One after the other, each joined.
programs["B5-join"] = function(n)
  local sum = 0
  for _ = 1, n do sum = sum + job.spawn(answer):join() end
  assert(sum == n, "wrong sum")
  return n
end

return programs
