-- SPDX-License-Identifier: MIT
-- What streams are made of: a cell, computed once, that is false at the end, or a value
-- and the stream of the rest.  All who read a stream see the same; who keeps a stream
-- keeps all that was read of it.
local ivar = require "luaweb.ivar"
local promise = require "luaweb.promise"

local M = {}

---@class luaweb.Stream
---@field cell luaweb.Promise|luaweb.IVar
local Stream = {}
Stream.__index = Stream
M.Stream = Stream

---@param value any
---@return boolean
function M.is_stream(value) return getmetatable(value) == Stream end

--- The stream of a cell.
---@param cell luaweb.Promise|luaweb.IVar
---@return luaweb.Stream
function M.of_cell(cell)
  return setmetatable({ cell = cell }, Stream)
end

--- A stream of what a function computes once: false, or a value and the rest.
---@param compute fun(): false|{ value: any, rest: luaweb.Stream }
---@return luaweb.Stream
function M.lazy(compute) return M.of_cell(promise.lazy(compute)) end

--- The stream that a function gives, which runs when somebody asks.
---@param fn fun(): luaweb.Stream
---@return luaweb.Stream
function M.defer(fn)
  return M.lazy(function() return fn().cell:read() end)
end

local empty = M.of_cell(ivar.new(false))

--- The stream without elements.
---@return luaweb.Stream
function M.empty() return empty end

return M
