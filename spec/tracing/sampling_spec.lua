-- SPDX-License-Identifier: MIT
-- Which traces are sampled, and what says so: flags and OpenTelemetry's variables.
local collector = require "spec.support.collector"
local config = require "luaweb.tracing.config"
local error_log = require "spec.support.error_log"
local exporter = require "luaweb.tracing.exporter"
local faulty = require "spec.support.faulty_server"
local test = require "luaweb.test"
local web = require "luaweb"

local TRACE, PARENT = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"

after_each(collector.clean)

describe("a trace", function()
  local client = test.app(web.app { web.get("/", function(req)
    return { sampled = req.trace.sampled, id = req.trace.trace_id }
  end) })

  local function is_sampled(flags, id)
    local header = flags and ("00-%s-%s-%s"):format(id or TRACE, PARENT, flags)
    return client:get("/", { headers = { traceparent = header } }):json().sampled
  end

  for _, case in ipairs {
    -- sampler, ratio                          new    01     00
    { nil,                       nil,          true,  true,  false },
    { "always_on",               nil,          true,  true,  true },
    { "always_off",              nil,          false, false, false },
    { "parentbased_always_on",   nil,          true,  true,  false },
    { "parentbased_always_off",  nil,          false, true,  false },
    { "traceidratio",            "1",          true,  true,  true },
    { "traceidratio",            "0",          false, false, false },
    { "parentbased_traceidratio", "0",         false, true,  false },
    { "parentbased_traceidratio", nil,         true,  true,  false },
  } do
    it(("is sampled as %s %s says"):format(case[1] or "none", case[2] or ""), function()
      collector.start():trace { OTEL_TRACES_SAMPLER = case[1],
        OTEL_TRACES_SAMPLER_ARG = case[2] }
      assert.same({ case[3], case[4], case[5] },
        { is_sampled(), is_sampled "01", is_sampled "00" })
    end)
  end

  it("is sampled as its flag says with --otlp-sample, and by its id without", function()
    collector.start():trace(nil, { ["otlp-sample"] = "0.5" })
    assert.is_true(is_sampled "01")
    assert.is_false(is_sampled "00")
    local count = 0
    for _ = 1, 400 do
      local seen = client:get("/"):json()
      -- The last 63 bits below half of what they may be: OpenTelemetry's rule.
      local is_low = seen.id:sub(17, 17):match "[0-7]" ~= nil
      assert.equal(is_low, seen.sampled)
      count = count + (seen.sampled and 1 or 0)
    end
    assert(count > 100 and count < 300, count)
  end)

  it("that is not sampled sends nothing, and says so to others", function()
    local spans, server = collector.start(), faulty.answering(faulty.ok "fine")
    spans:trace { OTEL_TRACES_SAMPLER = "always_off" }
    local asking = test.app(web.app { web.get("/", function()
      return web.span("own", function() return assert(web.fetch(server.url)).body end)
    end) })
    assert.equal("fine", asking:get("/").body)
    exporter.stop()
    assert.equal(0, #spans.server.requests)
    assert.matches("traceparent: 00%-%x+%-%x+%-00\r\n", server.requests[1].head)
  end)
end)

describe("the environment", function()
  local function read(values, flags)
    local result
    local log = error_log.of(function()
      local function getenv(name) return values[name] end
      result = { config.read(flags or {}, "app", getenv) }
    end)
    return result[1], log, result[2]
  end

  local BASE = "OTEL_EXPORTER_OTLP_ENDPOINT"

  it("without an endpoint has nothing traced", function()
    assert.is_nil((read {}))
    assert.is_nil((read { [BASE] = "" }))
    assert.is_nil((read { OTEL_SERVICE_NAME = "x" }))
    assert.is_nil((read { [BASE] = "http://h:1", OTEL_SDK_DISABLED = "true" }))
  end)

  it("names the collector; the flag wins", function()
    assert.equal("http://h:1/v1/traces", read { [BASE] = "http://h:1" }.url)
    assert.equal("http://h:1/a/v1/traces", read { [BASE] = "http://h:1/a/" }.url)
    assert.equal("http://h:2/x", read { [BASE] = "http://h:1",
      OTEL_EXPORTER_OTLP_TRACES_ENDPOINT = "http://h:2/x" }.url)
    assert.equal("https://f/v1/traces",
      read({ [BASE] = "http://h:1" }, { otlp = "https://f" }).url)
  end)

  local function resource(values)
    values[BASE] = "http://h"
    local pairs_, map = read(values).resource, {}
    for i = 1, #pairs_, 2 do map[pairs_[i]] = pairs_[i + 1] end
    return map
  end

  it("says what the process is called, and more about it", function()
    assert.same({ ["service.name"] = "app", ["telemetry.sdk.name"] = "luaweb",
      ["telemetry.sdk.language"] = "lua" }, resource {})
    assert.equal("shop", resource { OTEL_SERVICE_NAME = "shop" }["service.name"])
    local found = resource { OTEL_RESOURCE_ATTRIBUTES =
      "service.name=shop, deployment.environment.name=a%20b,k=c%2Cd" }
    assert.same({ "shop", "a b", "c,d" }, { found["service.name"],
      found["deployment.environment.name"], found.k })
    assert.equal("won", resource { OTEL_SERVICE_NAME = "won",
      OTEL_RESOURCE_ATTRIBUTES = "service.name=lost" }["service.name"])
  end)

  it("has headers for the collector", function()
    assert.same({ { "x-api-key", "a b" }, { "Content-Type", "application/json" } },
      read { [BASE] = "http://h", OTEL_EXPORTER_OTLP_HEADERS = "x-api-key=a%20b" }
        .headers)
  end)

  for name, case in pairs {
    [BASE] = { "collector:4317", "want a URL", is_off = true },
    OTEL_TRACES_SAMPLER = { "jaeger_remote", "want always_on" },
    OTEL_RESOURCE_ATTRIBUTES = { "a", "want name=value" },
    OTEL_EXPORTER_OTLP_HEADERS = { "secret", "want name=value" },
    OTEL_EXPORTER_OTLP_PROTOCOL = { "grpc", "want http/json" },
    OTEL_EXPORTER_OTLP_TIMEOUT = { "soon", "want milliseconds" },
    OTEL_BSP_SCHEDULE_DELAY = { "-1", "want milliseconds" },
    OTEL_BSP_MAX_QUEUE_SIZE = { "0", "want a number" },
    OTEL_BSP_MAX_EXPORT_BATCH_SIZE = { "1.5", "want a number" },
  } do
    it(name .. " that is wrong is said, and left out", function()
      local values = { [BASE] = "http://h" }
      values[name] = case[1]
      local found, log = read(values)
      assert.equal(case.is_off, found == nil or nil)
      assert.is_truthy(log:find(("tracing: %s is"):format(name), 1, true), log)
      assert.is_truthy(log:find(case[2], 1, true), log)
    end)
  end

  it("has a ratio that is wrong taken for 1", function()
    local found, log = read { [BASE] = "http://h", OTEL_TRACES_SAMPLER = "traceidratio",
      OTEL_TRACES_SAMPLER_ARG = "2" }
    assert.same({ 1, false }, { found.ratio, found.heeds_parent })
    assert.matches("OTEL_TRACES_SAMPLER_ARG is \"2\": want a ratio, 0 to 1", log)
  end)
end)
