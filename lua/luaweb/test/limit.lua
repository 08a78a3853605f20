-- SPDX-License-Identifier: MIT
-- How long a spec may take: what a spec file wrote (a test, a setup, a file itself)
-- runs as a job of its own, which is cancelled when its time is over.  The run goes on.
-- What computes without ever waiting can't be ended.
local alt = require "luaweb.alt"
local dump = require "luaweb.dump"
local job = require "luaweb.job"
local timer = require "luaweb.timer"

local GRACE = 10 -- seconds that what was cancelled may tidy up

local M = {}

-- Where things stand, without busted's own frames.
local function where()
  local lines = {}
  for line in tostring(dump.dump()):gmatch "[^\n]+" do
    if not line:find "^\t.*/busted/" then lines[#lines + 1] = line end
  end
  return table.concat(lines, "\n")
end

-- Whether it is about what a spec file wrote, and not about busted's own reports.
local function is_written(descriptor, run, element)
  return descriptor == "finally" or (run == element.run and descriptor ~= "suite")
end

local function ended(running, seconds)
  return alt.race { { true, running:done_alt() }, { false, timer.after(seconds) } }
end

-- An error of the element, as busted tells of it.
local function blame(busted, element, message)
  busted.publish({ "error", element.descriptor }, element,
    busted.context.parent(element), message)
  return busted.status "error"
end

--- Has what spec files wrote end in time.
---@param busted table
---@param seconds number   that each test, and each function around tests, may take
---@param late table       gets, by element, what is to be said of one that was too late
function M.set(busted, seconds, late)
  local safe = busted.safe
  local function run_limited(descriptor, run, element)
    local running = job.spawn(safe, descriptor, run, element)
    if ended(running, seconds) then return running:join() end
    local message = ("not over within %g s (--timeout); what there is:\n%s"):format(
      seconds, where())
    late[element] = message
    running:cancel "the spec took too long"
    if not ended(running, GRACE) then
      error(message .. "\nIt can't be cancelled.", 0)
    end
    local status = running:join()
    if status:success() then return blame(busted, element, message) end
    return status
  end
  function busted.safe(descriptor, run, element)
    if is_written(descriptor, run, element) then
      return run_limited(descriptor, run, element)
    end
    return safe(descriptor, run, element)
  end
end

return M
