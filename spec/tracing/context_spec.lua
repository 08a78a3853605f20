-- SPDX-License-Identifier: MIT
-- req.trace: which trace a request is part of, and what goes on to other servers.
local faulty = require "spec.support.faulty_server"
local job = require "luaweb.job"
local pool = require "luaweb.fetch.pool"
local test = require "luaweb.test"
local web = require "luaweb"

local TRACE, PARENT = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"
local SOUND = ("00-%s-%s-01"):format(TRACE, PARENT)

after_each(function()
  pool.close_idle()
  faulty.clean()
end)

--- What a function gives in a handler of a request with these header lines.
local function within(lines, fn)
  local given
  local client = test.app(web.app { web.get("/", function(req)
    given = { fn(req) }
    return "done"
  end) })
  local conn = client:raw("GET / HTTP/1.1\r\nHost: h\r\n" .. lines .. "\r\n")
  assert.matches("^HTTP/1.1 200 ", conn:receive(10))
  conn:close()
  return unpack(given)
end

local function trace_of(lines)
  return within(lines, function(req) return req.trace end)
end

describe("req.trace", function()
  it("is the client's trace, with a span of our own", function()
    local trace = trace_of("traceparent: " .. SOUND .. "\r\n")
    assert.same({ TRACE, PARENT, true },
      { trace.trace_id, trace.parent_id, trace.sampled })
    assert.matches("^%x+$", trace.span_id)
    assert.equal(16, #trace.span_id)
    assert.is_true(trace.span_id ~= PARENT)
    local unsampled = trace_of("TraceParent: " .. SOUND:gsub("1$", "0") .. "\r\n")
    assert.is_false(unsampled.sampled)
  end)

  it("is the same each time", function()
    local first, second = within("", function(req) return req.trace, req.trace end)
    assert.same(first, second)
  end)

  it("is a new one where there is no traceparent, or none that is sound", function()
    local seen = {}
    for _, lines in ipairs { "", "traceparent: x\r\n",
      "traceparent: " .. SOUND:upper() .. "\r\n",
      "traceparent: ff" .. SOUND:sub(3) .. "\r\n",
      ("traceparent: " .. SOUND .. "\r\n"):rep(2), "tracestate: a=1\r\n" } do
      local trace = trace_of(lines)
      assert.matches("^[0-9a-f]+$", trace.trace_id .. trace.span_id)
      assert.equal(48, #(trace.trace_id .. trace.span_id))
      assert.same({ nil, false, nil }, { trace.parent_id, trace.sampled, trace.state })
      assert.is_nil(seen[trace.trace_id])
      seen[trace.trace_id] = true
    end
  end)

  for name, case in pairs {
    ["as it came"] = { "tracestate: a=1,b=2\r\n", "a=1,b=2" },
    ["all its lines as one"] = { "tracestate: a=1\r\nTraceState: b=2\r\n", "a=1,b=2" },
    ["not when it is malformed"] = { "tracestate: a=1,B=2\r\n", nil },
    ["not when one of its lines is malformed"] = {
      "tracestate: a=1\r\ntracestate: b\r\n", nil },
    ["not when it is empty"] = { "tracestate: \r\n", nil },
  } do
    it("has the tracestate " .. name, function()
      local trace = trace_of("traceparent: " .. SOUND .. "\r\n" .. case[1])
      assert.equal(case[2], trace.state)
    end)
  end

  it("is an error once the request has ended", function()
    local kept = within("", function(req) return req end)
    assert.has_error(function() return kept.trace end)
  end)
end)

describe("what goes on to another server", function()
  local server

  before_each(function() server = faulty.answering(faulty.ok "fine") end)

  -- The values of a field in the request that the server got.
  local function field(name, number)
    local found = {}
    local head = server.requests[number or 1].head
    for line_name, value in head:gmatch "\r\n([^:\r]+): ([^\r]*)" do
      if line_name:lower() == name then found[#found + 1] = value end
    end
    return unpack(found)
  end

  local function fetch(options)
    return function(req)
      assert(web.fetch(server.url, options))
      return req.trace
    end
  end

  local STATE = "traceparent: " .. SOUND .. "\r\ntracestate: a=1,b=2\r\n"

  it("is a span below ours, in the same trace, and the tracestate", function()
    local trace = within(STATE, fetch())
    local span = field "traceparent":match("^00%-" .. TRACE .. "%-(%x+)%-01$")
    assert.is_true(span ~= PARENT and span ~= trace.span_id)
    assert.equal("a=1,b=2", field "tracestate")
  end)

  it("is another span each time", function()
    within("", function()
      assert(web.fetch(server.url))
      assert(web.fetch(server.url))
    end)
    local first, second = field "traceparent", field("traceparent", 2)
    assert.equal(first:sub(1, 36), second:sub(1, 36))
    assert.is_true(first ~= second)
    assert.matches("%-00$", first)
  end)

  it("is what the app has set, where it has", function()
    within(STATE, fetch { headers = { Traceparent = "mine", tracestate = "own" } })
    assert.same({ "mine" }, { field "traceparent" })
    assert.same({ "own" }, { field "tracestate" })
  end)

  it("is nothing with trace = false, and outside of requests", function()
    within(STATE, fetch { trace = false })
    assert(web.fetch(server.url))
    for i = 1, 2 do
      assert.is_nil(field("traceparent", i))
      assert.is_nil(field("tracestate", i))
    end
  end)

  it("has the request's name with request_id = true only", function()
    local id = within("", function(req)
      assert(web.fetch(server.url, { request_id = true }))
      assert(web.fetch(server.url))
      assert(web.fetch(server.url, { request_id = true,
        headers = { ["X-Request-ID"] = "mine" } }))
      return req.id
    end)
    assert.same({ id }, { field "x-request-id" })
    assert.is_nil(field("x-request-id", 2))
    assert.same({ "mine" }, { field("x-request-id", 3) })
  end)

  for name, start in pairs {
    ["that it starts"] = function(fn) job.spawn(fn):join() end,
    ["in a scope"] = function(fn) require("luaweb.scope").run(fn) end,
    ["beside others"] = function(fn) job.all { fn, function() end } end,
    ["in the background"] = function(fn) job.background(fn):join() end,
    ["of a job of a job"] = function(fn)
      job.spawn(function() job.spawn(fn):join() end):join()
    end,
    ["that an alternative is"] = function() web.fetch_alt(server.url):sync() end,
  } do
    it("is in the request's trace from a job " .. name, function()
      within(STATE, function() start(function() assert(web.fetch(server.url)) end) end)
      assert.matches("^00%-" .. TRACE, field "traceparent")
      assert.equal("a=1,b=2", field "tracestate")
    end)
  end

  it("is in its trace from a background job that goes on after it", function()
    local go, background = require("luaweb.ivar").new(), nil
    within(STATE, function()
      background = job.background(function()
        go:read()
        assert(web.fetch(server.url, { request_id = true }))
      end)
    end)
    go:fill(true)
    background:join()
    assert.matches("^00%-" .. TRACE, field "traceparent")
    assert.matches("^%x+%-%x+$", field "x-request-id")
  end)

  it("is from web.proxy one traceparent, below ours, and the request's name", function()
    local client = test.app(web.app { web.any("/", web.proxy(server.url)) })
    client:get("/", { headers = { traceparent = SOUND, tracestate = "a=1",
      ["X-Request-Id"] = "theirs" } })
    client:get("/", { headers = { traceparent = "bad", tracestate = "a=1" } })
    local passed = { field "traceparent" }
    assert.equal(1, #passed)
    assert.matches("^00%-" .. TRACE .. "%-%x+%-01$", passed[1])
    assert.is_true(passed[1] ~= SOUND)
    assert.same({ "a=1" }, { field "tracestate" })
    assert.matches("^%x+%-%x+$", field "x-request-id")
    assert.matches("^00%-%x+%-%x+%-00$", field("traceparent", 2))
    assert.is_nil(field("tracestate", 2))
  end)

  it("is from web.proxy what its options say", function()
    local client = test.app(web.app {
      web.any("/none", web.proxy(server.url, { trace = false })),
      web.any("/own", web.proxy(server.url, { headers = { traceparent = "mine",
        ["X-Request-Id"] = "ours" } })),
    })
    client:get("/none", { headers = { traceparent = SOUND } })
    client:get("/own", { headers = { traceparent = SOUND } })
    assert.is_nil(field "traceparent")
    assert.same({ "mine" }, { field("traceparent", 2) })
    assert.same({ "ours" }, { field("x-request-id", 2) })
  end)
end)
