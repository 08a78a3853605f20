-- SPDX-License-Identifier: MIT
-- Tracing towards collectors that are slow, broken, full or gone: no request notices,
-- what is lost is counted, and little is said about it.
local abi = require "luaweb.abi"
local collector = require "spec.support.collector"
local error_log = require "spec.support.error_log"
local eventually = require "spec.support.eventually"
local exporter = require "luaweb.tracing.exporter"
local faulty = require "spec.support.faulty_server"
local ffi = require "ffi"
local test = require "luaweb.test"
local web = require "luaweb"

local client = test.app(web.app { web.get("/", function() return "fine" end) })

after_each(collector.clean)

local function ask(count)
  for _ = 1, count or 1 do assert.equal("fine", client:get("/").body) end
end

local function settle(what, sent, dropped)
  eventually(what, function()
    local stats = exporter.stats()
    return stats.sent == sent and stats.dropped == dropped
  end)
end

-- A collector that gives these answers one after the other, and then takes all.
local function answering(...)
  local answers, count = { ... }, 0
  return collector.start(function()
    count = count + 1
    return answers[count] or faulty.ok "{}"
  end)
end

local function status(code, lines)
  return ("HTTP/1.1 %d X\r\nContent-Length: 0\r\n%s\r\n"):format(code, lines or "")
end

describe("spans", function()
  it("go in batches, the oldest first", function()
    local spans = collector.start()
    spans:trace { OTEL_BSP_MAX_EXPORT_BATCH_SIZE = "4" }
    ask(10)
    settle("ten spans", 10, 0)
    local numbers = {}
    for _, span in ipairs(spans:spans()) do
      local number = span.attributes["luaweb.request_id"]:match "%-(%x+)$"
      numbers[#numbers + 1] = tonumber(number, 16)
    end
    for i = 2, 10 do assert(numbers[i] > numbers[i - 1]) end
    for _, request in ipairs(spans.server.requests) do
      local _, count = request.content:gsub('"spanId"', "")
      assert(count <= 4)
      assert.matches("^POST /v1/traces HTTP/1.1\r\n", request.head)
      assert.matches("\r\nContent%-Type: application/json\r\n", request.head)
      assert.is_nil(request.head:find "traceparent")
    end
  end)

  it("wait for a batch, or for their delay", function()
    local spans = collector.start()
    spans:trace { OTEL_BSP_SCHEDULE_DELAY = "60000",
      OTEL_BSP_MAX_EXPORT_BATCH_SIZE = "5" }
    ask(4)
    web.sleep(0.3)
    assert.equal(0, #spans.server.requests)
    ask(1)
    settle("five spans", 5, 0)
    assert.equal(1, #spans.server.requests)
  end)

  for _, code in ipairs { 429, 502, 503, 504 } do
    it("are sent again after " .. code, function()
      local spans = answering(status(code))
      spans:trace()
      ask()
      settle("one span", 1, 0)
      assert.equal(2, #spans.server.requests)
      assert.equal(spans.server.requests[1].content, spans.server.requests[2].content)
    end)
  end

  it("are sent again when Retry-After says, where that is later", function()
    local spans = answering(status(429, "Retry-After: 2\r\n"))
    spans:trace()
    ask()
    local began = os.time()
    settle("one span", 1, 0)
    assert(os.time() - began >= 1)
    assert.equal(2, #spans.server.requests)
  end)

  it("survive a Retry-After that is no time", function()
    local spans = answering(status(429, "Retry-After: nan\r\n"))
    spans:trace()
    ask()
    settle("one span", 1, 0)
    assert.equal(2, #spans.server.requests)
  end)

  it("are counted in whole numbers, whatever the collector says", function()
    local spans = answering(faulty.ok '{"partialSuccess":{"rejectedSpans":"nan"}}',
      faulty.ok '{"partialSuccess":{"rejectedSpans":0.5}}')
    spans:trace()
    ask()
    settle("one span", 1, 0)
    ask()
    settle("another", 2, 0)
  end)

  for _, code in ipairs { 400, 404, 413, 500 } do
    it("are not sent again after " .. code .. ", which is said", function()
      local spans = answering(status(code))
      local log = error_log.of(function()
        spans:trace()
        ask()
        settle("none", 0, 1)
      end)
      local line = ("tracing: 1 spans were dropped: %s/v1/traces answered %d"):format(
        spans.url, code)
      assert.is_truthy(log:find(line, 1, true), log)
      ask()
      settle("another", 1, 1)
    end)
  end

  it("that the collector has not taken count as dropped", function()
    local spans = answering(faulty.ok('{"partialSuccess":{"rejectedSpans":"2",'
      .. '"errorMessage":"too old"}}'))
    local log = error_log.of(function()
      spans:trace { OTEL_BSP_MAX_EXPORT_BATCH_SIZE = "3" }
      ask(3)
      settle("three", 1, 2)
    end)
    assert.matches("2 spans were dropped: the collector says: too old", log)
  end)

  for name, answer in pairs {
    ["no JSON"] = faulty.ok "<html>",
    ["an array"] = faulty.ok "[]",
    ["numbers that can't be"] = faulty.ok '{"partialSuccess":{"rejectedSpans":-9}}',
  } do
    it("were taken where the answer is 200 with " .. name, function()
      answering(answer):trace()
      ask()
      settle("one", 1, 0)
    end)
  end
end)

describe("a collector", function()
  local function drop_quietly(spans)
    return error_log.of(function()
      spans:trace { OTEL_BSP_MAX_QUEUE_SIZE = "10",
        OTEL_BSP_MAX_EXPORT_BATCH_SIZE = "5" }
      ask(30)
      for i = 1, 40 do web.span("own", function(span) span:set("i", i) end) end
      exporter.stop()
    end)
  end

  for name, start in pairs {
    ["that is not there"] = function()
      local gone = collector.start()
      gone.server:close()
      return gone
    end,
    ["that never answers"] = function() return collector.start(function() end) end,
    ["that answers with what is no HTTP"] = function()
      return collector.start "SSH-2.0-OpenSSH\r\n\r\n"
    end,
    ["that answers without an end"] = function()
      return collector.start("HTTP/1.1 200 OK\r\n\r\n" .. ("x"):rep(100000))
    end,
  } do
    it(name .. " costs nothing but its spans, and two lines", function()
      local began = abi.C.luaweb_now(abi.host)
      local log = drop_quietly(start())
      assert(abi.C.luaweb_now(abi.host) - began < 10)
      local stats = exporter.stats()
      assert(stats.dropped >= 30, stats.dropped)
      assert.equal(0, stats.sent)
      local told, lines = 0, 0
      for count in log:gmatch "tracing: (%d+) spans were dropped" do
        told, lines = told + tonumber(count), lines + 1
      end
      assert.equal(stats.dropped, told)
      assert(lines <= 2, log)
    end)
  end
end)

describe("the ring of requests", function()
  local taken = ffi.new "struct luaweb_span"

  it("keeps 2048, and counts what it loses", function()
    local C, host = abi.C, abi.host
    local before = C.luaweb_spans_lost(host)
    C.luaweb_spans_start(host, ffi.new("struct luaweb_sampling", 1, 1))
    local conn = client:raw(("GET / HTTP/1.1\r\nHost: h\r\n\r\n"):rep(2050))
    eventually("what did not fit", function()
      conn:receive(0)
      return C.luaweb_spans_lost(host) - before == 2
    end)
    conn:close()
    local count = 0
    while C.luaweb_span_take(host, taken) do count = count + 1 end
    assert.equal(2048, count)
    C.luaweb_spans_stop(host)
    C.luaweb_spans_stop(host)
    assert.is_false(C.luaweb_span_take(host, taken))
  end)
end)
