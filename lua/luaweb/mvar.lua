-- SPDX-License-Identifier: MIT
-- MVars: a place for one value, that is full or empty.  Who takes empties it, who reads
-- doesn't; both wait while it is empty, first come, first served.
local commit = require "luaweb.commit"
local instead = require "luaweb.instead"
local queue = require "luaweb.queue"
local walk = require "luaweb.walk"

local TAKE, READ = "take", "read" -- what a node waits for

local M = {}

---@class luaweb.MVar: luaweb.Alternative   as an alternative: take
---@field is_full boolean
---@field held any
---@field waiters luaweb.Node
local MVar = {}
MVar.__index = MVar

--- An empty one, or one that holds a value: mvar.new(), mvar.new(nil).
---@return luaweb.MVar
function M.new(...)
  return setmetatable({ is_full = select("#", ...) > 0, held = (...),
    waiters = queue.new "mvar:take or read" }, MVar)
end

local function fill(self, value)
  local node = queue.first(self.waiters)
  while node do
    local is_taken = node.value == TAKE
    commit.commit(node, true, value)
    if is_taken then return end
    node = queue.first(self.waiters)
  end
  self.is_full, self.held = true, value
end

local function empty(self)
  local value = self.held
  self.is_full, self.held = false, nil
  return value
end

--- Fills it; an error where it is full.
---@param value any
function MVar:fill(value)
  if self.is_full then error("mvar:fill: it is full", 2) end
  fill(self, value)
end

--- Waits until it is full, and empties it.
---@return any
function MVar:take()
  local task = commit.enter_quick "mvar:take"
  if self.is_full then return empty(self) end
  return commit.wait(self.waiters, task, TAKE, "mvar:take")
end

--- Waits until it is full.
---@return any
function MVar:read()
  local task = commit.enter_quick "mvar:read"
  if self.is_full then return self.held end
  return commit.wait(self.waiters, task, READ, "mvar:read")
end

local function put_back(self, old, ok, ...)
  if not self.is_full then fill(self, old) end
  if not ok then error((...), 0) end
end

--- Takes the value and fills in what a function makes of it; the old one again where
--- the function raises.
---@param fn fun(value: any): any
function MVar:update(fn)
  local old = self:take()
  local ok, new = pcall(fn, old)
  if ok then old = new end
  put_back(self, old, ok, new)
end

--- The same with a function that also gives something else.
---@param fn fun(value: any): any, any   the new value, and the result
---@return any result
function MVar:modify(fn)
  local old = self:take()
  local ok, new, result = pcall(fn, old)
  if ok then old = new end
  put_back(self, old, ok, new)
  return result
end

function MVar:attempt()
  if not self.is_full then return false end
  return true, true, empty(self)
end

function MVar:enlist(node) queue.enlist(self.waiters, node, TAKE) end

walk.extend(MVar)

local Read = {}
Read.__index = Read

function Read:attempt() return self.mvar.is_full, true, self.mvar.held end

function Read:enlist(node) queue.enlist(self.mvar.waiters, node, READ) end

walk.extend(Read)

--- The alternative of reading it.
---@return luaweb.Alternative
function MVar:read_alt() return setmetatable({ mvar = self }, Read) end

instead.say(MVar, "mvar", {
  put = "mvar:fill fills it; it raises where it is full",
  get = "mvar:read waits and leaves it there, mvar:take empties it",
})

return M
