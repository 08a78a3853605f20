-- SPDX-License-Identifier: MIT
-- What is computed once for each request, however many of its functions want it.
local handle = require "luaweb.request.handle"

-- Places in a handle: one function and its value, which is all that most requests have,
-- and a table of others.
local MEMO, VALUE, MORE = handle.MEMO, handle.VALUE, handle.MORE
local NIL = {} -- stands for nil
local rawget, rawset = rawget, rawset
local M = {}

local function find(req, fn)
  if rawget(req, MEMO) == fn then return rawget(req, VALUE) end
  local more = rawget(req, MORE)
  return more and more[fn]
end

local function keep(req, fn, value)
  if not rawget(req, MEMO) then
    rawset(req, MEMO, fn)
    rawset(req, VALUE, value)
    return
  end
  local more = rawget(req, MORE) or {}
  rawset(req, MORE, more)
  more[fn] = value
end

--- Forgets what a request remembers: what an operation has done may make it untrue.
---@param req luaweb.Request
function M.forget(req)
  rawset(req, MEMO, nil)
  rawset(req, VALUE, nil)
  rawset(req, MORE, nil)
end

--- Gives a function that calls `fn` once for each request and remembers its result.
--- Nothing is remembered of a call that raises, nor across the operation.
---@generic T
---@param fn fun(req: luaweb.Request): T
---@return fun(req: luaweb.Request): T
function M.memo(fn)
  if type(fn) ~= "function" then
    error("web.memo wants a function of the request", 2)
  end
  return function(req)
    local value = find(req, fn)
    if value == nil then
      value = fn(req)
      keep(req, fn, value == nil and NIL or value)
    end
    if value == NIL then return nil end
    return value
  end
end

return M
