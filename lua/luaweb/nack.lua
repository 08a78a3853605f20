-- SPDX-License-Identifier: MIT
-- Nacks: an alternative that learns that it was not chosen.  A nack is one itself:
-- ready, for ever, once the sync that made it has committed to something else or was
-- cancelled. commit.lua fires it.
local queue = require "luaweb.queue"

local M = {}

---@class luaweb.Nack: luaweb.Alternative
---@field from integer   it covers the leaves from here
---@field to integer     up to, but not with, this one
---@field is_fired boolean
---@field waiters luaweb.Node|false
---@field fn fun()|false  to be run as a job
local Nack = {}
Nack.__index = Nack
M.Nack = Nack

--- A nack for the leaves from here.
---@param from integer
---@return luaweb.Nack
function M.new(from)
  return setmetatable({ from = from, to = math.huge, is_fired = false, waiters = false,
    fn = false }, Nack)
end

--- Whether it has fired.
---@return boolean
function Nack:ready()
  return self.is_fired
end

function Nack:attempt()
  return self.is_fired, true, nil
end

function Nack:enlist(node)
  self.waiters = self.waiters or queue.new "a nack"
  queue.append(self.waiters, node)
end

return M
