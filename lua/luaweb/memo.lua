-- SPDX-License-Identifier: MIT
-- What is computed once for each request, however many of its functions want it.
local request = require "luaweb.request"

local MEMO = request.MEMO -- place in a handle: value by function
local NIL = {}            -- stands for nil
local M = {}

--- Gives a function that calls `fn` once for each request and remembers its result.
--- Nothing is remembered of a call that raises.
---@generic T
---@param fn fun(req: luaweb.Request): T
---@return fun(req: luaweb.Request): T
function M.memo(fn)
  if type(fn) ~= "function" then
    error("web.memo wants a function of the request", 2)
  end
  return function(req)
    local known = rawget(req, MEMO)
    if not known then
      known = {}
      rawset(req, MEMO, known)
    end
    local value = known[fn]
    if value == nil then
      value = fn(req)
      known[fn] = value == nil and NIL or value
    end
    if value == NIL then return nil end
    return value
  end
end

return M
