-- SPDX-License-Identifier: MIT
-- The run queue: the tasks that can go on, in the order in which they could.
--
-- It is two lists: one is read while the other is written, and they change places when
-- the first is at its end.  One list, whose beginning and end both move up, would leave
-- the array part of its table, and be hashed anew with every few tasks.
local M = {}

local reading, first, last = {}, 1, 0
local writing, written = {}, 0
local urgent, urgent_count = {}, 0 -- before all others, the newest first
local watch = false                -- see M.watch

--- Puts a task that parked (or is new) at the end.
---@param task luaweb.Task
function M.put(task)
  if watch then watch(task, writing, written + 1) end
  written = written + 1
  writing[written] = task
end

--- Puts it before all others.
---@param task luaweb.Task
function M.put_first(task)
  if watch then watch(task, urgent, urgent_count + 1) end
  urgent_count = urgent_count + 1
  urgent[urgent_count] = task
end

local function take_urgent()
  local task = urgent[urgent_count]
  urgent[urgent_count] = nil
  urgent_count = urgent_count - 1
  return task
end

-- Where the list that is read is at its end.
local function take_other()
  if urgent_count > 0 then return take_urgent() end
  if written == 0 then return nil end
  reading, writing = writing, reading
  first, last, written = 2, written, 0
  local task = reading[1]
  reading[1] = nil
  return task
end

--- Takes the first, or gives nil.
---@return luaweb.Task?
function M.take()
  if urgent_count > 0 or first > last then return take_other() end
  local task = reading[first]
  reading[first] = nil
  first = first + 1
  return task
end

--- All of them, first to last.
---@return luaweb.Task[]
function M.list()
  local tasks = {}
  for i = urgent_count, 1, -1 do tasks[#tasks + 1] = urgent[i] end
  for i = first, last do tasks[#tasks + 1] = reading[i] end
  for i = 1, written do tasks[#tasks + 1] = writing[i] end
  return tasks
end

--- Has each that is put told to a function, with the list and its place in it, before
--- it is there; or to nobody.
---@param fn false|fun(task: luaweb.Task, queue: table, at: integer)
function M.watch(fn) watch = fn end

---@return boolean
function M.is_empty()
  return first > last and written == 0 and urgent_count == 0
end

return M
