-- SPDX-License-Identifier: MIT
-- Spans: pieces of work with a name, a beginning and an end, as apps and web.fetch make
-- them.  One that is not recorded takes the same calls and does nothing.
local abi = require "luaweb.abi"

local C, host = abi.C, abi.host

local M = {
  -- What a recorded span is given to when it ends; nil: nobody sends spans anywhere.
  ---@type fun(span: luaweb.Span)?
  record = nil,
}

local MOST_ATTRIBUTES = 64
local MOST_TEXT = 1024 -- octets of a value, and of a name

-- By OTLP's numbers (trace.proto, SpanKind).
M.INTERNAL, M.SERVER, M.CLIENT = 1, 2, 3

---@class luaweb.Span
---@field name string
---@field trace luaweb.Trace|false   its ids; false: it is not recorded
---@field package kind integer
---@field package began_ns ffi.cdata*   uint64_t, since 1970
---@field package ended_ns ffi.cdata*|false
---@field package attributes any[]      name, value, name, value ...
---@field package count integer
---@field package failure string|false  what has gone wrong
local Span = {}
Span.__index = Span

local function check_attribute(name, value)
  if type(name) ~= "string" then
    error("span:set wants a name first, not a " .. type(name), 3)
  end
  local kind = type(value)
  if kind ~= "string" and kind ~= "number" and kind ~= "boolean" then
    error(("span:set: %s wants a string, number or boolean, not a %s"):format(name,
      kind), 3)
  end
end

local function put(span, name, value)
  local attributes = span.attributes
  for i = 1, span.count, 2 do
    if attributes[i] == name then
      attributes[i + 1] = value
      return
    end
  end
  if span.count == 2 * MOST_ATTRIBUTES then return end
  attributes[span.count + 1], attributes[span.count + 2] = name, value
  span.count = span.count + 2
end

--- Says something about the work.  A name that was said before changes its value; more
--- than 64 of them are not kept, and of long texts the first 1024 octets are.
---@param name string    e.g. "app.user"
---@param value string|number|boolean
---@return luaweb.Span self
function Span:set(name, value)
  check_attribute(name, value)
  if not self.trace then return self end
  if type(value) == "string" then value = value:sub(1, MOST_TEXT) end
  put(self, name:sub(1, MOST_TEXT), value)
  return self
end

--- Says that the work has failed, where it does not raise.
---@param kind string      what sort of failure, one of a few: "timeout"
---@param message string?  for people
---@return luaweb.Span self
function Span:fail(kind, message)
  if type(kind) ~= "string" then
    error("span:fail wants the kind of failure first, not a " .. type(kind), 2)
  end
  if not self.trace then return self end
  put(self, "error.type", kind:sub(1, MOST_TEXT))
  self.failure = (message and tostring(message) or kind):sub(1, MOST_TEXT)
  return self
end

--- What is given in place of a span that is not recorded.
---@type luaweb.Span
M.none = setmetatable({ name = "", trace = false }, Span)

--- Begins one that is recorded.
---@param name string
---@param trace luaweb.Trace
---@param kind integer
---@return luaweb.Span
function M.begin(name, trace, kind)
  return setmetatable({ name = name:sub(1, MOST_TEXT), trace = trace, kind = kind,
    began_ns = C.luaweb_time_ns(host), ended_ns = false, attributes = {}, count = 0,
    failure = false }, Span)
end

--- Ends one.
---@param span luaweb.Span
function M.finish(span)
  if span.ended_ns then return end
  span.ended_ns = C.luaweb_time_ns(host)
  if M.record then M.record(span) end
end

return M
