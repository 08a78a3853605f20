-- SPDX-License-Identifier: MIT
-- What tracing is to do, from the command line and the environment.  Flags win, and a
-- fault in them is an error; the environment may be meant for other programs, too, so
-- what is not understood there is said, and left out.
-- OpenTelemetry: "Environment Variable Specification", "OTLP exporter".
local log = require "luaweb.log"
local percent = require "luaweb.percent"
local uri = require "luaweb.fetch.uri"

local M = {}

-- By the names that OTEL_TRACES_SAMPLER knows: whether the client's decision counts,
-- and the ratio of what begins here (nil: OTEL_TRACES_SAMPLER_ARG).
local SAMPLERS = {
  always_on                = { false, 1 },
  always_off               = { false, 0 },
  traceidratio             = { false, nil },
  parentbased_always_on    = { true, 1 },
  parentbased_always_off   = { true, 0 },
  parentbased_traceidratio = { true, nil },
}

local function warn(name, value, wanted)
  log.warn(("tracing: %s is %q: want %s"):format(name, value, wanted))
end

-- Where spans go to below an endpoint.
local function below(endpoint)
  return (endpoint:gsub("/+$", "")) .. "/v1/traces"
end

local function read_ratio(text)
  local ratio = tonumber(text)
  if ratio and ratio >= 0 and ratio <= 1 then return ratio end
end

-- "name=value,name=value", values percent-encoded, as pairs in order.
local function read_list(name, text)
  local list = {}
  for member in text:gmatch "[^,]+" do
    local key, value = member:match "^%s*([^=%s]+)%s*=%s*(.-)%s*$"
    if not key then
      warn(name, text, "name=value,name=value")
      return {}
    end
    list[#list + 1] = { key, percent.decode(value) }
  end
  return list
end

local function read_seconds(name, text, default)
  local ms = tonumber(text)
  if ms and ms > 0 and ms < math.huge then return ms / 1000 end
  if text then warn(name, text, "milliseconds, more than 0") end
  return default
end

local function read_count(name, text, default)
  local count = tonumber(text)
  if count and count >= 1 and count % 1 == 0 and count <= 2 ^ 20 then return count end
  if text then warn(name, text, "a number, 1 or more") end
  return default
end

-- The endpoint: its URL, or nil and what is wrong with the flag.
local function read_url(flags, get)
  if flags.otlp then
    local parsed, why = uri.parse(flags.otlp)
    if parsed then return below(flags.otlp) end
    return nil, ("--otlp %s: %s"):format(flags.otlp, why)
  end
  local name, url = "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT",
    get "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"
  if not url then
    name, url = "OTEL_EXPORTER_OTLP_ENDPOINT", get "OTEL_EXPORTER_OTLP_ENDPOINT"
    url = url and below(url)
  end
  if not url or get "OTEL_SDK_DISABLED" == "true" then return nil end
  if uri.parse(url) then return url end
  warn(name, url, "a URL, e.g. http://127.0.0.1:4318")
end

local function read_environment_sampler(get)
  local name = get "OTEL_TRACES_SAMPLER" or "parentbased_always_on"
  local sampler = SAMPLERS[name]
  if not sampler then
    warn("OTEL_TRACES_SAMPLER", name, "always_on, always_off, traceidratio, or one of "
      .. "these behind parentbased_")
    return true, 1
  end
  if sampler[2] then return sampler[1], sampler[2] end
  local text = get "OTEL_TRACES_SAMPLER_ARG" or "1"
  local ratio = read_ratio(text)
  if not ratio then warn("OTEL_TRACES_SAMPLER_ARG", text, "a ratio, 0 to 1") end
  return sampler[1], ratio or 1
end

-- Which traces are sampled, or nil and what is wrong with the flag.
local function read_sampling(flags, get)
  local text = flags["otlp-sample"]
  if not text then return read_environment_sampler(get) end
  local ratio = read_ratio(text)
  if ratio then return true, ratio end
  return nil, ("--otlp-sample %s: want a ratio, 0 to 1"):format(text)
end

local function read_resource(get, service)
  local name, resource = get "OTEL_SERVICE_NAME", {}
  for _, pair in ipairs(read_list("OTEL_RESOURCE_ATTRIBUTES",
    get "OTEL_RESOURCE_ATTRIBUTES" or "")) do
    if pair[1] == "service.name" then
      name = name or pair[2]
    else
      resource[#resource + 1], resource[#resource + 2] = pair[1], pair[2]
    end
  end
  local ours = { "service.name", name or service, "telemetry.sdk.name", "luaweb",
    "telemetry.sdk.language", "lua" }
  for i = 1, #resource do ours[#ours + 1] = resource[i] end
  return ours
end

local function read_headers(get)
  local text = get "OTEL_EXPORTER_OTLP_TRACES_HEADERS"
    or get "OTEL_EXPORTER_OTLP_HEADERS"
  local list = read_list("OTEL_EXPORTER_OTLP_HEADERS", text or "")
  list[#list + 1] = { "Content-Type", "application/json" }
  return list
end

local function check_protocol(get)
  local name = "OTEL_EXPORTER_OTLP_PROTOCOL"
  local protocol = get "OTEL_EXPORTER_OTLP_TRACES_PROTOCOL" or get(name)
  if protocol and protocol ~= "http/json" then
    warn(name, protocol, "http/json, which is what will be spoken")
  end
end

--- What tracing is to do.
---@param flags table<string, string>   otlp and otlp-sample, where they were given
---@param service string                what the process is called where nobody says
---@param getenv (fun(name: string): string?)?   os.getenv
---@return luaweb.TraceConfig?   nil: nothing
---@return string? message       what is wrong with a flag
function M.read(flags, service, getenv)
  getenv = getenv or os.getenv
  local function get(name)
    local value = getenv(name)
    return value ~= "" and value or nil -- empty counts as unset
  end
  local url, why = read_url(flags, get)
  if not url and (why or not flags["otlp-sample"]) then return nil, why end
  local heeds_parent, ratio = read_sampling(flags, get)
  if heeds_parent == nil then return nil, ratio end
  if not url then return nil end -- a wrong flag is told without a collector, too
  check_protocol(get)
  return {
    url = url, headers = read_headers(get), resource = read_resource(get, service),
    heeds_parent = heeds_parent, ratio = ratio,
    delay = read_seconds("OTEL_BSP_SCHEDULE_DELAY", get "OTEL_BSP_SCHEDULE_DELAY", 5),
    timeout = read_seconds("OTEL_EXPORTER_OTLP_TIMEOUT",
      get "OTEL_EXPORTER_OTLP_TIMEOUT", 10),
    most_queued = read_count("OTEL_BSP_MAX_QUEUE_SIZE",
      get "OTEL_BSP_MAX_QUEUE_SIZE", 2048),
    most_sent = read_count("OTEL_BSP_MAX_EXPORT_BATCH_SIZE",
      get "OTEL_BSP_MAX_EXPORT_BATCH_SIZE", 512),
  }
end

return M
