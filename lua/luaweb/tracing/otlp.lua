-- SPDX-License-Identifier: MIT
-- Writes spans as OTLP has them in JSON: one text for each, and the request that a
-- number of them makes.
-- opentelemetry-proto (trace.proto; JSON: ids in hex, 64-bit numbers as strings),
-- OpenTelemetry's semantic conventions for HTTP spans.
local abi = require "luaweb.abi"
local buffer = require "string.buffer"
local ffi = require "ffi"
local json = require "luaweb.json"
local spans = require "luaweb.tracing.span"
local utf8 = require "luaweb.utf8"

local C, str = abi.C, ffi.string

local M = {}

local NONE = {} -- the value of an attribute that is not there

local FAILED = 2         -- trace.proto, Status.StatusCode
local KNOWS_REMOTE = 0x100 -- SpanFlags: whether the parent is another process ...
local IS_REMOTE = 0x200    -- ... is known, and so it is

-- All others are one name: clients can make up any number.
local KNOWN_METHODS = { GET = true, HEAD = true, POST = true, PUT = true, DELETE = true,
  CONNECT = true, OPTIONS = true, TRACE = true, PATCH = true, QUERY = true }

-- Text as JSON; octets that are no UTF-8 become U+FFFD, one for each.
local function quoted(text)
  return json.encode(utf8.mended(text))
end

local function number(n)
  if n % 1 == 0 and math.abs(n) <= 2 ^ 53 then
    return ('{"intValue":"%.0f"}'):format(n)
  elseif n ~= n or math.abs(n) == math.huge then -- JSON has none of these
    return ('{"stringValue":"%s"}'):format(tostring(n))
  end
  return ('{"doubleValue":%.17g}'):format(n)
end

local function value_of(value)
  if type(value) == "number" then return number(value) end
  if type(value) == "boolean" then return '{"boolValue":' .. tostring(value) .. "}" end
  return '{"stringValue":' .. quoted(value) .. "}"
end

local function put_attribute(out, name, value)
  if value == NONE then return end
  out:put(out.is_first and "" or ",", '{"key":', quoted(name), ',"value":',
    value_of(value), "}")
  out.is_first = false
end

-- A list that is written member by member.
local function list()
  local text = buffer.new()
  return { is_first = true, put = function(_, ...) text:put(...) end,
    text = function() return "[" .. text:tostring() .. "]" end }
end

--- A list of attributes.
---@param attributes any[]   name, value, name, value ...
---@param count integer?     of both
---@return string
function M.attributes(attributes, count)
  local out = list()
  for i = 1, count or #attributes, 2 do
    put_attribute(out, attributes[i], attributes[i + 1])
  end
  return out.text()
end

local function decimal(n) return (tostring(n):gsub("U?LL$", "")) end

local function put_ids(out, trace, is_remote)
  out:put('{"traceId":"', trace.trace_id, '","spanId":"', trace.span_id, '"')
  if trace.parent_id then out:put(',"parentSpanId":"', trace.parent_id, '"') end
  if trace.state then out:put(',"traceState":', quoted(trace.state)) end
  local flags = trace.flags + KNOWS_REMOTE + (is_remote and IS_REMOTE or 0)
  out:put(',"flags":', flags)
end

local function put_rest(out, span)
  out:put(',"name":', quoted(span.name), ',"kind":', span.kind)
  out:put(',"startTimeUnixNano":"', decimal(span.began_ns), '"')
  out:put(',"endTimeUnixNano":"', decimal(span.ended_ns), '"')
  out:put(',"attributes":', M.attributes(span.attributes, span.count))
  if span.failure then
    out:put(',"status":{"code":', FAILED, ',"message":', quoted(span.failure), "}")
  end
  out:put "}"
end

--- A span that Lua has made.
---@param span luaweb.Span
---@return string
function M.span(span)
  local out = buffer.new()
  put_ids(out, span.trace, false)
  put_rest(out, span)
  return out:tostring()
end

-- Requests ----------------------------------------------------------------------------

local NAMES = { "id", "method", "path", "route", "scheme", "host", "peer", "agent" }
for place, name in ipairs(NAMES) do
  assert(C["LUAWEB_SPAN_" .. name:upper()] == place - 1, name)
end

local function parts_of(ended)
  local parts, at = {}, 0
  for place, name in ipairs(NAMES) do
    local size = ended.sizes[place - 1]
    parts[name] = str(ended.text + at, size)
    at = at + size
  end
  return parts
end

-- Why a request has failed, as one of a few words; nil: it has not.
local function failure_of(ended)
  if ended.status == 0 then return "no_answer" end
  if ended.is_cut ~= 0 then return "cut" end
  return ended.status >= 500 and ("%d"):format(ended.status) or nil
end

local DEFAULT_PORTS = { http = 80, https = 443 }

-- "example.com", 8080
local function server_of(parts)
  local address, port = parts.host:match "^(.-):(%d+)$"
  address = (address or parts.host):gsub("^%[(.*)%]$", "%1")
  return address, tonumber(port) or DEFAULT_PORTS[parts.scheme:lower()]
end

local function some(value) return value and value ~= "" and value or NONE end

local function attributes_of(ended, parts)
  local method, address, port = parts.method, server_of(parts)
  local is_known, has_answer = KNOWN_METHODS[method], ended.status > 0
  return {
    "http.request.method", is_known and method or "_OTHER",
    "http.request.method_original", some(not is_known and method),
    "url.path", parts.path,
    "url.scheme", parts.scheme:lower(),
    "http.route", some(parts.route),
    "http.response.status_code", some(has_answer and ended.status),
    "http.response.body.size", tonumber(ended.sent),
    "server.address", some(address),
    "server.port", some(address ~= "" and port),
    "client.address", some(parts.peer:match "^[%x.:]+$"), -- not of a unix socket
    "user_agent.original", some(parts.agent),
    "network.protocol.version", "1." .. ended.minor_version,
    "error.type", some(failure_of(ended)),
    "luaweb.request_id", parts.id,
  }
end

local function name_of(parts)
  local method = KNOWN_METHODS[parts.method] and parts.method or "HTTP"
  return parts.route ~= "" and method .. " " .. parts.route or method
end

--- A request that has ended.
---@param ended ffi.cdata*   struct luaweb_span
---@return string
function M.request(ended)
  local out, parts, trace = buffer.new(), parts_of(ended), ended.trace
  local has_parent = trace.has_parent ~= 0
  local attributes = attributes_of(ended, parts)
  put_ids(out, { trace_id = str(trace.trace_id, 32), span_id = str(trace.span_id, 16),
    parent_id = has_parent and str(trace.parent_id, 16) or nil, flags = trace.flags },
    has_parent)
  put_rest(out, { name = name_of(parts), kind = spans.SERVER,
    began_ns = ended.began_ns, ended_ns = ended.began_ns + ended.took_ns,
    attributes = attributes, count = #attributes, failure = failure_of(ended) })
  return out:tostring()
end

--- The content of a request to the collector.
---@param resource string   what M.attributes gave: of the process
---@param texts string[]    spans
---@return string
function M.batch(resource, texts)
  return ('{"resourceSpans":[{"resource":{"attributes":%s},"scopeSpans":'):format(
    resource) .. '[{"scope":{"name":"luaweb"},"spans":[' .. table.concat(texts, ",")
    .. "]}]}]}"
end

return M
