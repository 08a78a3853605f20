-- SPDX-License-Identifier: MIT
-- What holds up the worker: asked by C (core/host/watchdog.c) in the middle of whatever
-- runs, in a coroutine of its own.  It only reads; it may not wait.
local dump = require "luaweb.dump"
local sched = require "luaweb.sched"
local trace = require "luaweb.trace"

local M = {}

-- Why it is asked, as C numbers them.
local WARNING, TIMEOUT = 1, 2
local flags = { [WARNING] = "--stall-warning", [TIMEOUT] = "--stall-timeout" }

local MOST = 512 -- octets of a request line

local function line_of(entry)
  local line = entry.request
  if not line then return "" end
  return (#line > MOST and line:sub(1, MOST) .. "..." or line) .. ": "
end

local function who(entry)
  if not entry then return "the worker's own code" end
  local id = entry.id and ("[%s] "):format(entry.id) or ""
  if entry.kind == "job" then
    return ("%sthe job %s (%s)"):format(id, entry.place, entry.scope)
  end
  local of = entry.template and " of " .. entry.template or ""
  return ("%s%sthe handler %s%s"):format(id, line_of(entry), entry.place, of)
end

-- Where it stands: the coroutine that runs, then, where the app has made that one, the
-- task's.
local function where(task, thread)
  local inner = thread and trace.top_of(thread) or ""
  local outer = task and task.co and task.co ~= thread and trace.top_of(task.co) or ""
  if inner == "" then return outer end
  return outer == "" and inner or inner .. "\n\t(which was resumed by)\n" .. outer
end

--- What is to be logged of a turn that lasts; it ends as soon as what runs now lets it.
---@param why integer      0: nothing is to be logged; 1: a warning; 2: it is too long
---@param seconds number   for how long it lasts
---@param thread thread?   that stands still between two instructions; nil: not known
---@return string? text
function M.look(why, seconds, thread)
  sched.end_turn()
  if not flags[why] then return nil end
  local stack = where(sched.self(), thread)
  return ("%s holds up the worker, for %.1f s now (%s)%s"):format(
    who(dump.running()), seconds, flags[why], stack ~= "" and ", at:\n" .. stack or "")
end

return M
