-- SPDX-License-Identifier: MIT
-- The run queue: the tasks that can go on, in the order in which they could.
local M = {}

local queue, first, last = {}, 1, 0

--- Puts a task that parked (or is new) at the end.
---@param task luaweb.Task
function M.put(task)
  last = last + 1
  queue[last] = task
end

--- Puts it before all others.
---@param task luaweb.Task
function M.put_first(task)
  first = first - 1
  queue[first] = task
end

--- Takes the first; there must be one.
---@return luaweb.Task
function M.take()
  local task = queue[first]
  queue[first] = nil
  first = first + 1
  if first > last then first, last = 1, 0 end
  return task
end

---@return boolean
function M.is_empty() return first > last end

return M
