-- SPDX-License-Identifier: MIT
-- Promises: cells that only a function fills, which runs as a job of its own.  Nobody
-- who stops waiting stops it.
local commit = require "luaweb.commit"
local instead = require "luaweb.instead"
local ivar = require "luaweb.ivar"
local roster = require "luaweb.roster"
local spawn = require "luaweb.spawn"
local walk = require "luaweb.walk"

local M = {}

---@class luaweb.Promise: luaweb.Alternative   as an alternative: read
---@field cell luaweb.IVar
---@field fn function|false   not started yet
local Promise = {}
Promise.__index = Promise

local function new(cell, fn)
  return setmetatable({ cell = cell, fn = fn }, Promise)
end

--- A promise whose function starts when somebody first waits for it.
---@param fn fun(): any
---@return luaweb.Promise
function M.lazy(fn)
  if type(fn) ~= "function" then error("promise.lazy wants a function", 2) end
  return new(ivar.new(), fn)
end

---@param value any
---@return luaweb.Promise
function M.of(value) return new(ivar.new(value), false) end

---@param err any
---@return luaweb.Promise
function M.failed(err) return new(ivar.failed(err), false) end

local function run(cell, fn)
  local ok, result = pcall(fn)
  if ok then cell:try_fill(result) else cell:try_fail(result) end
end

local function start(self)
  local fn = self.fn
  self.fn = false
  spawn.spawn_in(roster.server, run, self.cell, fn)
end

--- A promise whose function starts now.
---@param fn fun(): any
---@return luaweb.Promise
function M.spawn(fn)
  if type(fn) ~= "function" then error("promise.spawn wants a function", 2) end
  local promise = new(ivar.new(), fn)
  start(promise)
  return promise
end

--- Waits for what the function returns, or raises what it raises.
---@return any
function Promise:read()
  commit.enter_quick "promise:read"
  if self.fn then start(self) end
  return self.cell:read()
end

---@return boolean
function Promise:is_fulfilled() return self.cell:is_full() end

--- Its value; an error where there is none yet.
function Promise:get() return self.cell:get() end

function Promise:attempt(sync)
  if self.fn then start(self) end
  return self.cell:attempt(sync)
end

function Promise:enlist(node) self.cell:enlist(node) end

walk.extend(Promise)

instead.say(Promise, "promise", {
  fill = "only its function does; an ivar is filled by anybody",
  resolve = "only its function does; an ivar is filled by anybody",
  take = "promise:read waits for it; it stays",
})

return M
