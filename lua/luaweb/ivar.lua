-- SPDX-License-Identifier: MIT
-- IVars: cells that are written once.  All who read wait for that, and get the same.
local commit = require "luaweb.commit"
local instead = require "luaweb.instead"
local queue = require "luaweb.queue"
local walk = require "luaweb.walk"

local M = {}

---@class luaweb.IVar: luaweb.Alternative   as an alternative: read
---@field is_set boolean
---@field ok boolean
---@field result any       the value, or the error
---@field readers luaweb.Node|false
local IVar = {}
IVar.__index = IVar
M.IVar = IVar

--- An empty cell, or one that holds a value: ivar.new(), ivar.new(nil).
---@return luaweb.IVar
function M.new(...)
  local is_set = select("#", ...) > 0
  return setmetatable({ is_set = is_set, ok = true, result = (...), readers = false },
    IVar)
end

--- A cell that raises when it is read.
---@param err any
---@return luaweb.IVar
function M.failed(err)
  return setmetatable({ is_set = true, ok = false, result = err, readers = false },
    IVar)
end

local function set(self, ok, result)
  if self.is_set then return false end
  self.is_set, self.ok, self.result = true, ok, result
  local readers = self.readers
  while readers and queue.first(readers) do
    commit.commit(readers.next, ok, result)
  end
  self.readers = false
  return true
end

--- Writes the value; an error where there is one already.
---@param value any
function IVar:fill(value)
  if not set(self, true, value) then error("ivar:fill: it is full", 2) end
end

--- The same with an error, which all readers raise.
---@param err any
function IVar:fail(err)
  if not set(self, false, err) then error("ivar:fail: it is full", 2) end
end

--- Writes the value if there is none.
---@return boolean written
function IVar:try_fill(value) return set(self, true, value) end

--- Writes the error if there is no value.
---@return boolean written
function IVar:try_fail(err) return set(self, false, err) end

--- Waits for the value.
---@return any   raises what `fail` got
function IVar:read()
  local task = commit.enter_quick "ivar:read"
  if not self.is_set then
    self.readers = self.readers or queue.new "ivar:read"
    return commit.wait(self.readers, task, false, "ivar:read")
  end
  if self.ok then return self.result end
  error(self.result, 0)
end

---@return boolean
function IVar:is_full() return self.is_set end

--- The value; an error where there is none.
function IVar:get()
  if not self.is_set then error("ivar:get: it is empty", 2) end
  if self.ok then return self.result end
  error(self.result, 0)
end

function IVar:attempt() return self.is_set, self.ok, self.result end

function IVar:enlist(node)
  self.readers = self.readers or queue.new "ivar:read"
  queue.append(self.readers, node)
end

walk.extend(IVar)

instead.say(IVar, "ivar", {
  put = "ivar:fill writes it, once",
  set = "ivar:fill writes it, once",
  take = "ivar:read waits for it; it stays",
})

return M
