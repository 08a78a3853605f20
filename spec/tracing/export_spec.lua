-- SPDX-License-Identifier: MIT
-- Spans as a collector gets them: of requests, of web.fetch, and of web.span.
local abi = require "luaweb.abi"
local collector = require "spec.support.collector"
local eventually = require "spec.support.eventually"
local exporter = require "luaweb.tracing.exporter"
local faulty = require "spec.support.faulty_server"
local job = require "luaweb.job"
local test = require "luaweb.test"
local web = require "luaweb"

local TRACE, PARENT = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"
local SOUND = ("00-%s-%s-01"):format(TRACE, PARENT)

local spans, client, handler, requests

before_each(function()
  spans = collector.start()
  spans:trace()
  requests = test.app(web.app {
    web.get("/run{/name}", function(req) return handler(req) end),
    web.get("/broken", function() error "boom" end),
    web.get("/cut", function()
      return web.streaming(function(out)
        out:write "some"
        error "torn"
      end)
    end),
    web.resource("/constant", web.machine { handle_ok = "same" }),
  })
  client = requests:over_socket()
end)

after_each(collector.clean)

local function ask(fn, headers)
  handler = fn
  return client:get("/run/x?secret=1", { headers = headers })
end

describe("the span of a request", function()
  it("tells what was asked, and what was answered", function()
    local id
    ask(function(req)
      id = req.id
      return "hello"
    end, { ["User-Agent"] = "spec/1", Host = "example.com:8080" })
    local span = spans:span "GET /run{/name}"
    assert.same({
      ["http.request.method"] = "GET", ["url.path"] = "/run/x", ["url.scheme"] = "http",
      ["http.route"] = "/run{/name}", ["http.response.status_code"] = 200,
      ["http.response.body.size"] = 5, ["server.address"] = "example.com",
      ["server.port"] = 8080, ["client.address"] = "127.0.0.1",
      ["user_agent.original"] = "spec/1", ["network.protocol.version"] = "1.1",
      ["luaweb.request_id"] = id,
    }, span.attributes)
    assert.same({ 2, nil, nil, 0x101 },
      { span.kind, span.parentSpanId, span.status, span.flags })
  end)

  it("is below the client's, in its trace", function()
    local trace
    ask(function(req) trace = req.trace end, { traceparent = SOUND })
    local span = spans:span "GET /run{/name}"
    assert.same({ TRACE, PARENT, trace.span_id, 0x301 },
      { span.traceId, span.parentSpanId, span.spanId, span.flags })
  end)

  it("has the time that it took", function()
    local before = os.time()
    ask(function() web.sleep(0.05) end)
    local span = spans:span "GET /run{/name}"
    assert.matches("^%d+$", span.startTimeUnixNano)
    local began = tonumber(span.startTimeUnixNano)
    local ended = tonumber(span.endTimeUnixNano)
    assert(ended - began >= 45e6, ended - began)
    assert(began >= (before - 1) * 1e9 and ended <= (os.time() + 1) * 1e9)
  end)

  it("is there where C answers alone, each time", function()
    for _ = 1, 3 do assert.equal("same", client:get("/constant").body) end
    eventually("three spans", function()
      local count, ids = 0, {}
      for _, span in ipairs(spans:spans()) do
        if span.name == "GET /constant" then
          assert.is_nil(ids[span.traceId])
          ids[span.traceId], count = true, count + 1
        end
      end
      return count == 3
    end)
  end)

  it("of a path that no resource has is named after its method only", function()
    client:get "/missing"
    local span = spans:span "GET"
    assert.same({ 404, nil, nil }, { span.attributes["http.response.status_code"],
      span.attributes["http.route"], span.status })
  end)

  it("of a method that is made up is named HTTP", function()
    client:request("BREW", "/constant")
    local attributes = spans:span "HTTP /constant".attributes
    assert.same({ "_OTHER", "BREW", 501 }, { attributes["http.request.method"],
      attributes["http.request.method_original"],
      attributes["http.response.status_code"] })
  end)

  it("has an error.type where the server has failed", function()
    client:get "/broken"
    local span = spans:span "GET /broken"
    assert.same({ "500", 500, 2 }, { span.attributes["error.type"],
      span.attributes["http.response.status_code"], span.status.code })
  end)

  it("has one where the answer was cut", function()
    local conn = client:raw "GET /cut HTTP/1.1\r\nHost: h\r\n\r\n"
    while conn:receive(10) do end
    conn:close()
    local span = spans:span "GET /cut"
    assert.same({ "cut", 200 }, { span.attributes["error.type"],
      span.attributes["http.response.status_code"] })
  end)

  it("has one where the client was gone before its answer", function()
    local go = require("luaweb.ivar").new()
    handler = function() go:read() end
    local conn = client:raw "GET /run HTTP/1.1\r\nHost: h\r\n\r\n"
    web.sleep(0.02)
    abi.C.luaweb_socket_reset(abi.host, conn.id)
    local span = spans:span "GET /run{/name}"
    assert.same({ "no_answer", nil }, { span.attributes["error.type"],
      span.attributes["http.response.status_code"] })
  end)

  it("has what a client sends as text, whatever octets these are", function()
    ask(function() end, { ["User-Agent"] = "a\"\\\195\169\255" })
    assert.equal("a\"\\\239\191\189\239\191\189\239\191\189",
      spans:span "GET /run{/name}".attributes["user_agent.original"])
  end)

  it("has 256 octets of each part at most", function()
    client:get("/missing/" .. ("x"):rep(300), { headers = {
      ["User-Agent"] = ("y"):rep(300), Host = ("z"):rep(300) } })
    local attributes = spans:span "GET".attributes
    assert.equal("/missing/" .. ("x"):rep(247), attributes["url.path"])
    assert(#attributes["user_agent.original"] <= 256)
  end)
end)

describe("the span of web.fetch", function()
  it("is between the request's and that of the server that is asked", function()
    local server = faulty.answering(faulty.ok "fine")
    local trace
    ask(function(req)
      trace = req.trace
      return assert(web.fetch(server.url .. "/a?secret=1")).body
    end)
    local span = spans:span "GET"
    assert.same({ 3, trace.span_id, trace.trace_id },
      { span.kind, span.parentSpanId, span.traceId })
    assert.equal(("00-%s-%s-01"):format(trace.trace_id, span.spanId),
      server.requests[1].head:match "traceparent: (%S+)")
    assert.same({
      ["http.request.method"] = "GET", ["url.full"] = server.url .. "/a",
      ["server.address"] = "127.0.0.1", ["server.port"] = server.port,
      ["http.response.status_code"] = 200,
    }, span.attributes)
  end)

  it("has the kind of what went wrong as error.type, or the status", function()
    local refusing = faulty.answering "HTTP/1.1 404 X\r\nContent-Length: 0\r\n\r\n"
    ask(function()
      web.fetch("http://127.0.0.1:" .. faulty.closed_port(), { method = "PUT" })
      web.fetch(refusing.url, { method = "DELETE" })
    end)
    local span = spans:span "PUT"
    assert.same({ "connect", 2 }, { span.attributes["error.type"], span.status.code })
    assert.equal("404", spans:span "DELETE".attributes["error.type"])
  end)

  it("is there outside of requests, too; not with trace = false", function()
    local server = faulty.answering(faulty.ok "fine")
    assert(web.fetch(server.url, { method = "PUT", trace = false }))
    assert(web.fetch(server.url, { method = "PATCH" }))
    assert.is_nil(spans:span "PATCH".parentSpanId)
    for _, span in ipairs(spans:spans()) do assert.is_true(span.name ~= "PUT") end
  end)

  it("ends where something else is chosen", function()
    local slow = faulty.answering(function() end)
    ask(function()
      require("luaweb.alt").choose { web.fetch_alt(slow.url, { method = "PUT" }),
        web.after(0.02) }:sync()
    end)
    assert.equal("cancelled", spans:span "PUT".attributes["error.type"])
  end)
end)

describe("web.span", function()
  it("is a span below the request's, and what is within is below it", function()
    local trace, within
    ask(function(req)
      trace = req.trace
      return web.span("outer", function(outer)
        outer:set("app.n", 3):set("app.ok", true):set("app.x", 0.5):set("app.n", 4)
        within = outer.trace.span_id
        return (web.span("inner", function(_, a, b) return a .. b end, "a", "b"))
      end)
    end)
    local outer, inner = spans:span "outer", spans:span "inner"
    assert.same({ 1, trace.trace_id, trace.span_id, within },
      { outer.kind, outer.traceId, outer.parentSpanId, outer.spanId })
    assert.equal(outer.spanId, inner.parentSpanId)
    assert.same({ ["app.n"] = 4, ["app.ok"] = true, ["app.x"] = 0.5 },
      outer.attributes)
  end)

  it("gives what the function gives, and raises what it raises", function()
    local function pack(...) return { n = select("#", ...), ... } end
    assert.same({ 1, nil, 3, n = 3 },
      pack(web.span("gives", function() return 1, nil, 3 end)))
    local raised = {}
    local ok, err = pcall(web.span, "raises", function() error(raised) end)
    assert.same({ false, true }, { ok, err == raised })
    local span = spans:span "raises"
    assert.same({ "error", 2 }, { span.attributes["error.type"], span.status.code })
  end)

  it("holds for the jobs that begin within, and not behind it", function()
    local server = faulty.answering(faulty.ok "fine")
    ask(function()
      web.span("outer", function()
        job.spawn(function() web.fetch(server.url, { method = "PUT" }) end):join()
      end)
      web.fetch(server.url, { method = "PATCH" })
    end)
    local outer, request = spans:span "outer", spans:span "GET /run{/name}"
    assert.equal(outer.spanId, spans:span "PUT".parentSpanId)
    assert.equal(request.spanId, spans:span "PATCH".parentSpanId)
  end)

  it("does not fail by raising an answer", function()
    for name, raised in pairs { status = 404, response = web.text "mine" } do
      handler = function() web.span(name, function() error(raised) end) end
      client:get "/run"
      local span = spans:span(name)
      assert.same({ nil, nil }, { span.attributes["error.type"], span.status })
    end
  end)

  it("can fail without raising", function()
    web.span("fails", function(span) span:fail("late", "it took too long") end)
    local span = spans:span "fails"
    assert.same({ "late", "it took too long" },
      { span.attributes["error.type"], span.status.message })
  end)

  it("keeps 64 attributes, and 1024 octets of each", function()
    web.span("many", function(span)
      for i = 1, 100 do span:set("n" .. i, ("x"):rep(2000)) end
    end)
    local count = 0
    for _, value in pairs(spans:span "many".attributes) do
      count = count + 1
      assert.equal(1024, #value)
    end
    assert.equal(64, count)
  end)

  it("is a plain call without a collector", function()
    exporter.stop()
    assert.equal("ab", (web.span("x", function(span, a)
      return a .. (span:set("a", 1):fail "b" == span and "b" or "")
    end, "a")))
  end)

  it("says what it wants", function()
    assert.has_error(function() web.span(1, print) end,
      "web.span wants a name and a function, not a number and a function")
    assert.has_error(function() web.span "x" end,
      "web.span wants a name and a function, not a string and a nil")
    web.span("mistakes", function(span)
      assert.has_error(function() span:set(1, 2) end,
        "span:set wants a name first, not a number")
      assert.has_error(function() span:set("a", {}) end,
        "span:set: a wants a string, number or boolean, not a table")
      assert.has_error(function() span:fail(nil) end,
        "span:fail wants the kind of failure first, not a nil")
    end)
  end)
end)
