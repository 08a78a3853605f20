-- SPDX-License-Identifier: MIT
-- web.span: what an app says of its own work.
local cancellation = require "luaweb.cancellation"
local context = require "luaweb.tracing.context"
local sched = require "luaweb.sched"
local spans = require "luaweb.tracing.span"

local M = {}

local function leave(task, before, span, ok, ...)
  task.span = before
  local err = ...
  if not ok and getmetatable(err) == cancellation.Cancelled then
    span:fail("cancelled", tostring(err))
  elseif not ok then
    span:fail("error", tostring(err))
  end
  spans.finish(span)
  if not ok then error(err, 0) end
  return ...
end

-- Whether anything is made of a span here.
local function open(name, kind)
  local current = context.current()
  local trace = current and context.below(current) or context.begin()
  local span = trace.sampled and spans.begin(name, trace, kind) or spans.none
  return span, trace
end

-- A span that is not recorded ends without a word.
local function run(task, name, fn, ...)
  local span, trace = open(name, spans.INTERNAL)
  local before = task.span
  task.span = trace
  if span == spans.none then
    local function go_back(ok, ...)
      task.span = before
      if not ok then error((...), 0) end
      return ...
    end
    return go_back(pcall(fn, span, ...))
  end
  return leave(task, before, span, pcall(fn, span, ...))
end

--- Calls a function as a piece of work that has a name, within the trace of the request
--- (or a new one): what it fetches, and the spans and jobs that it begins, are below it.
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
