-- SPDX-License-Identifier: MIT
-- Processes by their pids: signals, and the workers of a master.
local ffi = require "ffi"

ffi.cdef "int kill(int pid, int signal);"

local M = {}

local signals = {
  ABRT = 6, CONT = 18, HUP = 1, INT = 2, KILL = 9, STOP = 19, TERM = 15, USR1 = 10,
  USR2 = 12,
}

--- Sends a signal.
---@param pid integer
---@param name string   e.g. "TERM"
function M.signal(pid, name)
  ffi.C.kill(pid, signals[name])
end

--- Whether there is such a process; one that has ended may not be collected yet.
---@param pid integer
---@return boolean
function M.is_alive(pid)
  local file = io.open(("/proc/%d/stat"):format(pid))
  local state = file and file:read "*a":match ".*%) (%a)"
  if file then file:close() end
  return state ~= nil and state ~= "Z"
end

--- The children of a process: their pids, ascending.
---@param pid integer
---@return integer[]
function M.children(pid)
  local list = {}
  local file = io.open(("/proc/%d/task/%d/children"):format(pid, pid))
  for child in (file and file:read "*a" or ""):gmatch "%d+" do
    list[#list + 1] = tonumber(child)
  end
  if file then file:close() end
  table.sort(list)
  return list
end

--- Ends a master, then its workers: in this order none is replaced, and none finishes
--- what it has begun.
---@param pid integer
function M.kill(pid)
  local workers = M.children(pid)
  M.signal(pid, "KILL")
  for _, worker in ipairs(workers) do M.signal(worker, "KILL") end
end

return M
