-- SPDX-License-Identifier: MIT
-- web.span: what an app says of its own work.
local cancellation = require "luaweb.cancellation"
local context = require "luaweb.tracing.context"
local response = require "luaweb.response"
local sched = require "luaweb.sched"
local spans = require "luaweb.tracing.span"

local M = {}

-- Whether what was raised is an answer, such as error(404): that is no failure.
local function is_answer(raised)
  if type(raised) == "string" then
    return raised:find "^[^\n]+:%d+: [2-5]%d%d$" ~= nil
  end
  return type(raised) == "number" or getmetatable(raised) == response.Response
end

-- Ends the span, and goes on with what the function gave or raised.
local function leave(task, before, span, ok, ...)
  task.span = before
  if not span.trace then -- it is not recorded
    if not ok then error((...), 0) end
    return ...
  end
  local err = ...
  if not ok and not is_answer(err) then
    local is_cancelled = getmetatable(err) == cancellation.Cancelled
    span:fail(is_cancelled and "cancelled" or "error", tostring(err))
  end
  spans.finish(span)
  if not ok then error(err, 0) end
  return ...
end

local function run(task, name, fn, ...)
  local current, before = context.current(), task.span
  local trace = current and context.below(current) or context.begin()
  local span = spans.none
  if trace.sampled then span = spans.begin(name, trace, spans.INTERNAL) end
  task.span = trace
  return leave(task, before, span, pcall(fn, span, ...))
end

--- Calls a function as a piece of work with a name, within the trace of the request, or
--- a new one: what it fetches, and the spans and jobs that it begins, are below it.
--- What it raises goes on, and marks the span as failed.  Without --otlp it is a plain
--- call.
---@param name string   one of a few, without what differs from call to call
---@param fn fun(span: luaweb.Span, ...): ...
---@param ... any   further arguments of the function
---@return any ...   what it returned
function M.span(name, fn, ...)
  if type(name) ~= "string" or type(fn) ~= "function" then
    error(("web.span wants a name and a function, not a %s and a %s"):format(
      type(name), type(fn)), 2)
  end
  local task = sched.self()
  if not spans.record or not task then return fn(spans.none, ...) end
  return run(task, name, fn, ...)
end

return M
