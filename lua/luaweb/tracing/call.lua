-- SPDX-License-Identifier: MIT
-- What a request of ours to another server has of the trace that is running: fields, so
-- that what is done there is part of it, and a span.
-- https://www.w3.org/TR/trace-context/, OpenTelemetry's conventions for HTTP clients.
local cancellation = require "luaweb.cancellation"
local context = require "luaweb.tracing.context"
local fields = require "luaweb.fetch.fields"
local spans = require "luaweb.tracing.span"
local uri = require "luaweb.fetch.uri"

local M = {}

-- What the app has set itself stays.
local function add_fields(call, trace)
  local list = call.headers
  if fields.get(list, "traceparent") then return end
  list[#list + 1] = { "traceparent", context.traceparent(trace) }
  if trace.state and not fields.get(list, "tracestate") then
    list[#list + 1] = { "tracestate", trace.state }
  end
end

local function add_id(call)
  local id = call.request_id and context.request_id()
  if id and not fields.get(call.headers, "x-request-id") then
    call.headers[#call.headers + 1] = { "X-Request-Id", id }
  end
end

local function describe(span, call)
  local to = call.uri
  span:set("http.request.method", call.method)
  span:set("server.address", to.host)
  span:set("server.port", to.port)
  span:set("url.full", (uri.text(to, true):gsub("%?.*$", ""))) -- queries have secrets
end

--- Has a request of ours be part of the trace that is running: adds traceparent,
--- tracestate and, where the call wants it, X-Request-Id.
---@param call luaweb.FetchCall
---@return luaweb.Span?   to be given to M.leave; nil: none is recorded
function M.enter(call)
  if not call.trace then return nil end
  add_id(call)
  local current = context.current()
  if not current and not spans.record then return nil end
  local trace = current and context.below(current) or context.begin()
  add_fields(call, trace)
  if not spans.record or not trace.sampled then return nil end
  local span = spans.begin(call.method, trace, spans.CLIENT)
  describe(span, call)
  return span
end

--- Ends the span of a request of ours.
---@param span luaweb.Span
---@param ok boolean   false: the next one was raised
---@param response luaweb.FetchResponse|any
---@param message string?
---@param kind string?
function M.leave(span, ok, response, message, kind)
  if not ok then
    local is_cancelled = getmetatable(response) == cancellation.Cancelled
    span:fail(is_cancelled and "cancelled" or "error", tostring(response))
  elseif not response then
    span:fail(kind or "error", message)
  else
    span:set("http.response.status_code", response.status)
    if response.status >= 400 then span:fail(tostring(response.status)) end
  end
  spans.finish(span)
end

return M
