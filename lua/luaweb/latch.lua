-- SPDX-License-Identifier: MIT
-- Latches: count down, and are ready for ever once they are at 0.
local commit = require "luaweb.commit"
local instead = require "luaweb.instead"
local queue = require "luaweb.queue"
local scope = require "luaweb.scope"
local spawn = require "luaweb.spawn"
local walk = require "luaweb.walk"

local M = {}

---@class luaweb.Latch: luaweb.Alternative   as an alternative: wait
---@field count integer
---@field waiters luaweb.Node
local Latch = {}
Latch.__index = Latch

---@param count integer   0 or more
---@return luaweb.Latch
function M.new(count)
  if type(count) ~= "number" or count < 0 or count % 1 ~= 0 then
    error("latch.new wants a whole number, 0 or more", 2)
  end
  return setmetatable({ count = count, waiters = queue.new "latch:wait" }, Latch)
end

--- Counts down by one; an error where it is at 0.
function Latch:done()
  if self.count == 0 then error("latch:done: it is at 0 already", 2) end
  self.count = self.count - 1
  while self.count == 0 and queue.first(self.waiters) do
    commit.commit(self.waiters.next, true, nil)
  end
end

--- Counts up; an error where it is at 0: it is open for ever.
---@param n integer?   0 or more; default 1
function Latch:add(n)
  n = n or 1
  if type(n) ~= "number" or n < 0 or n % 1 ~= 0 then
    error("latch:add wants a whole number, 0 or more", 2)
  end
  if self.count == 0 then error("latch:add: it is at 0 already", 2) end
  self.count = self.count + n
end

--- Waits until it is at 0.
function Latch:wait()
  local task = commit.enter_quick "latch:wait"
  if self.count == 0 then return end
  return commit.wait(self.waiters, task, false, "latch:wait")
end

--- Calls a function, for whose time it counts one more.
---@param fn function
---@return any ...
function Latch:hold(fn)
  self:add(1)
  return scope.ensure(fn, function() self:done() end)
end

local function run(self, fn)
  return scope.ensure(fn, function() self:done() end)
end

--- Starts a job, until whose end it counts one more.
---@param fn function
---@return luaweb.Job
function Latch:spawn(fn)
  self:add(1)
  return spawn.spawn_in(spawn.scope(), run, self, fn)
end

--- Calls a function with a latch, and waits until what that counts has ended.
---@param fn fun(latch: luaweb.Latch): any
---@return any
function M.within(fn)
  local latch = M.new(1)
  local result = fn(latch)
  latch:done()
  latch:wait()
  return result
end

function Latch:attempt() return self.count == 0, true, nil end

function Latch:enlist(node) queue.append(self.waiters, node) end

walk.extend(Latch)

instead.say(Latch, "latch", {
  count_down = "latch:done counts down",
  release = "latch:done counts down",
})

return M
