-- SPDX-License-Identifier: MIT
-- The run queue: the tasks that can go on, in the order in which they could.
local M = {}

local queue, first, last = {}, 1, 0
local watch = false -- see M.watch

--- Puts a task that parked (or is new) at the end.
---@param task luaweb.Task
function M.put(task)
  if watch then watch(task, queue, last + 1) end
  last = last + 1
  queue[last] = task
end

--- Puts it before all others.
---@param task luaweb.Task
function M.put_first(task)
  if watch then watch(task, queue, first - 1) end
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

--- All of them, first to last.
---@return luaweb.Task[]
function M.list()
  local tasks = {}
  for i = first, last do tasks[#tasks + 1] = queue[i] end
  return tasks
end

--- Has each that is put told to a function, with the queue and its place in it, before
--- it is there; or to nobody.
---@param fn false|fun(task: luaweb.Task, queue: table, at: integer)
function M.watch(fn) watch = fn end

---@return boolean
function M.is_empty() return first > last end

return M
