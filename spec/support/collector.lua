-- SPDX-License-Identifier: MIT
-- A collector of spans that is part of the spec, and tracing towards it in this very
-- process.  `clean` ends both, and belongs into after_each.
local config = require "luaweb.tracing.config"
local eventually = require "spec.support.eventually"
local exporter = require "luaweb.tracing.exporter"
local faulty = require "spec.support.faulty_server"
local json = require "luaweb.json"
local pool = require "luaweb.fetch.pool"

local M = {}

local OK = faulty.ok("{}", "Content-Type: application/json\r\n")

---@class spec.Collector
---@field server spec.FaultyServer
---@field url string
local Collector = {}
Collector.__index = Collector

--- Starts one.
---@param answer string|function|nil   see faulty.answering; nil: it takes all
---@return spec.Collector
function M.start(answer)
  local server = faulty.answering(answer or OK)
  return setmetatable({ server = server, url = server.url }, Collector)
end

local function value_of(value)
  local kind, text = next(value)
  return kind == "intValue" and tonumber(text) or text
end

--- What stands in a list of attributes, by name.
---@param list table[]
---@return table<string, any>
function M.attributes(list)
  local found = {}
  for _, attribute in ipairs(list) do
    assert(found[attribute.key] == nil, attribute.key)
    found[attribute.key] = value_of(attribute.value)
  end
  return found
end

--- The spans that it has been sent so far, whatever it has answered; their attributes
--- by name.
---@return table[]
function Collector:spans()
  local list = {}
  for _, request in ipairs(self.server.requests) do
    local sent = assert(json.decode(request.content))
    for _, span in ipairs(sent.resourceSpans[1].scopeSpans[1].spans) do
      span.attributes = M.attributes(span.attributes)
      list[#list + 1] = span
    end
  end
  return list
end

--- The span of a name, waited for.
---@param name string
---@return table
function Collector:span(name)
  local found
  eventually("a span named " .. name, function()
    for _, span in ipairs(self:spans()) do
      if span.name == name then found = span end
    end
    return found
  end)
  return found
end

--- Traces this process, and sends to the collector at once.
---@param environment table<string, string>?   of OpenTelemetry's variables
---@param flags table?
function Collector:trace(environment, flags)
  local values = setmetatable(environment or {}, { __index = {
    OTEL_EXPORTER_OTLP_ENDPOINT = self.url, OTEL_BSP_SCHEDULE_DELAY = "10" } })
  exporter.start((config.read(flags or {}, "spec", function(name)
    return values[name]
  end)))
end

--- Ends tracing, and the collectors.
function M.clean()
  exporter.stop()
  pool.close_idle()
  faulty.clean()
end

return M
