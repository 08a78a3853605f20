-- SPDX-License-Identifier: MIT
-- --otlp and --otlp-sample: a server that sends spans, and what it does at its end.
local abi = require "luaweb.abi"
local collector = require "spec.support.collector"
local eventually = require "spec.support.eventually"
local process = require "spec.support.process"

local APP = [[
local web = require "luaweb"
return web.app {
  on_start = function() web.span("start", function() end) end,
  on_stop = function() web.span("stop", function() end) end,
  web.get("/", function() return "fine" end),
}
]]

local ROOT = process.get "/"

after_each(function()
  process.clean()
  collector.clean()
end)

local function serve(...)
  return process.serve(process.file("shop.lua", APP), ...)
end

local function service_of(spans)
  local sent = require("luaweb.json").decode(spans.server.requests[1].content)
  return collector.attributes(sent.resourceSpans[1].resource.attributes)["service.name"]
end

-- Whether a process has ended, without waiting for it.
local function has_ended(pid)
  local file = io.open("/proc/" .. pid .. "/stat")
  local text = file and file:read "*a" or ""
  if file then file:close() end
  return text == "" or text:match "%) (%u)" == "Z"
end

describe("a server with --otlp", function()
  it("sends what is left when it is told to stop, on_stop included", function()
    local spans = collector.start()
    local child = serve("--otlp", spans.url)
    for _ = 1, 3 do assert.equal("fine", child:ask(ROOT).body) end
    child:signal "TERM"
    spans:span "stop"
    spans:span "start"
    local count = 0
    for _, span in ipairs(spans:spans()) do
      count = count + (span.name == "GET /" and 1 or 0)
    end
    assert.equal(3, count)
    assert.equal("shop", service_of(spans))
    eventually("its end", function() return has_ended(child.pid) end)
    assert.equal(0, (child:wait()))
    assert.equal("", child:errors())
  end)

  it("stops within a second or so although the collector never answers", function()
    local spans = collector.start(function() end)
    local child = serve("--otlp", spans.url)
    child:ask(ROOT)
    child:signal "TERM"
    local began = abi.C.luaweb_now(abi.host)
    eventually("its end", function() return has_ended(child.pid) end)
    assert(abi.C.luaweb_now(abi.host) - began < 8)
    assert.equal(0, (child:wait()))
    assert.matches("warn  tracing: %d+ spans were dropped: ", child:errors())
  end)

  it("goes on over a reload, and over one that fails", function()
    local spans, asked = collector.start(), 0
    local child = serve("--otlp", spans.url)
    local function expect(body)
      eventually("an answer with " .. body, function()
        asked = asked + 1
        return child:ask(ROOT).body == body
      end)
    end
    expect "fine"
    process.file("shop.lua", (APP:gsub('"fine"', '"better"')))
    child:signal "HUP"
    expect "better"
    process.file("shop.lua", APP .. "nonsense")
    child:signal "HUP"
    eventually("the fault is told", function()
      return child:errors():find("nonsense", 1, true)
    end)
    expect "better"
    child:signal "TERM"
    eventually("all spans", function()
      local count = 0
      for _, span in ipairs(spans:spans()) do
        count = count + (span.name == "GET /" and 1 or 0)
      end
      return count == asked
    end)
    eventually("its end", function() return has_ended(child.pid) end)
  end)

  it("sends no span of who asks for its health", function()
    local spans = collector.start()
    local child = serve("--otlp", spans.url, "--health", "/health")
    assert.equal(200, child:ask(process.get "/health").status)
    child:ask(ROOT)
    child:signal "TERM"
    spans:span "GET /"
    eventually("its end", function() return has_ended(child.pid) end)
    for _, span in ipairs(spans:spans()) do
      assert.is_true(span.attributes["url.path"] ~= "/health")
    end
  end)

  it("sends no span of what it does not sample", function()
    local spans = collector.start()
    local child = serve("--otlp", spans.url, "--otlp-sample", "0")
    child:ask(ROOT)
    child:ask(process.get("/", "traceparent: 00-0af7651916cd43dd8448eb211c80319c-"
      .. "b7ad6b7169203331-01\r\n"))
    child:signal "TERM"
    spans:span "GET /"
    eventually("its end", function() return has_ended(child.pid) end)
    assert.equal(1, #spans:spans())
  end)

  for _, case in ipairs {
    { "--otlp", "collector:4318" },
    { "--otlp", "ftp://collector" },
    { "--otlp-sample", "2", "want a ratio, 0 to 1" },
    { "--otlp-sample", "half", "want a ratio, 0 to 1" },
  } do
    it(("takes no %s %s: code 2"):format(case[1], case[2]), function()
      local flags = { case[1], case[2] }
      if case[3] then flags[3], flags[4] = "--otlp", "http://127.0.0.1:1" end
      local run = process.run(process.file("shop.lua", APP), "--listen", "127.0.0.1:0",
        unpack(flags))
      assert.equal(2, run.code)
      assert.is_truthy(run.errors:find(("luaweb: %s %s: %s"):format(case[1], case[2],
        case[3] or ""), 1, true), run.errors)
    end)
  end
end)

describe("a server without --otlp", function()
  it("takes no --otlp-sample that would be wrong with it: code 2", function()
    local run = process.run(process.file("shop.lua", APP), "--listen", "127.0.0.1:0",
      "--otlp-sample", "2")
    assert.equal(2, run.code)
    assert.is_truthy(run.errors:find("luaweb: --otlp-sample 2: want a ratio, 0 to 1",
      1, true), run.errors)
  end)

  it("has web.span as a plain call", function()
    local child = serve()
    assert.equal("fine", child:ask(ROOT).body)
    child:stop()
  end)
end)
