-- SPDX-License-Identifier: MIT
-- Flags: something that happens once.  An alternative that is never ready before, and
-- always from then on; whoever is handed one can't raise it.
local commit = require "luaweb.commit"
local queue = require "luaweb.queue"
local walk = require "luaweb.walk"

local M = {}

---@class luaweb.Flag: luaweb.Alternative
---@field package is_raised boolean
---@field package what string
---@field package waiters luaweb.Node|false
local Flag = {}
Flag.__index = Flag

--- One that has not been raised.
---@param what string   its name, for who looks (dump.lua)
---@return luaweb.Flag
function M.new(what)
  return setmetatable({ is_raised = false, waiters = false, what = what }, Flag)
end

--- Raises it: whoever waits goes on.
---@param flag luaweb.Flag
function M.raise(flag)
  flag.is_raised = true
  local waiters = flag.waiters
  while waiters and queue.first(waiters) do commit.commit(waiters.next, true, nil) end
  flag.waiters = false
end

--- Whether it has happened.
---@return boolean
function Flag:ready() return self.is_raised end

function Flag:attempt() return self.is_raised, true, nil end

function Flag:enlist(node)
  self.waiters = self.waiters or queue.new(self.what)
  queue.append(self.waiters, node)
end

walk.extend(Flag)

return M
