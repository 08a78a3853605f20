-- SPDX-License-Identifier: MIT
-- What is held for a while and then given back: the common half of locks and
-- semaphores.  Their classes have `waiting`, a queue, and two methods:
--   hold(self, task) -> boolean   takes it, where that needs no waiting
--   give_back(self)               hands it to who has waited longest, or frees it
local queue = require "luaweb.queue"
local sched = require "luaweb.sched"
local walk = require "luaweb.walk"

local M = {}

---@class luaweb.Held
---@field waiting luaweb.Node
---@field package hold fun(self: luaweb.Held, task: luaweb.Task|boolean): boolean
---@field package give_back fun(self: luaweb.Held)

---@class luaweb.HeldToken
---@field private held luaweb.Held?
local Token = {}
Token.__index = Token

--- Gives back what is held; an error the second time.
function Token:release()
  local held = self.held
  if not held then error("token:release: it was released before", 2) end
  self.held = nil
  held:give_back()
end
Token.close = Token.release

local function token_of(held)
  return setmetatable({ held = held }, Token)
end

local Acquire = {}
Acquire.__index = Acquire

function Acquire:attempt(sync)
  local held = self.held
  return held:hold(sync.task or sched.self() or true), true, held
end

function Acquire:enlist(node) queue.append(self.held.waiting, node) end

walk.extend(Acquire)

--- The alternative of holding it: gives a token, to be released.
---@param held luaweb.Held
---@return luaweb.Alternative
function M.acquire_alt(held)
  return setmetatable({ held = held }, Acquire):wrap(token_of)
end

local function leave(held, ok, ...)
  held:give_back()
  if not ok then error((...), 0) end
  return ...
end

--- Calls a function, and gives back what is held whether that returns or raises.
---@param held luaweb.Held
---@param fn function
---@return any ...
function M.run(held, fn, ...)
  return leave(held, pcall(fn, ...))
end

--- How many wait for it, counted one by one.
---@param held luaweb.Held
---@return integer
function M.waiters(held) return (queue.count(held.waiting)) end

return M
