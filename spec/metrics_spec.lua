-- SPDX-License-Identifier: MIT
-- What a server counts of its requests, connections and jobs, as a scrape reads it.
local process = require "spec.support.process"
local scrape = require "spec.support.scrape"
local web = require "luaweb"

local APP = "spec/apps/counted.lua"
local REQUESTS = "luaweb_requests_total"
local DURATION = "luaweb_request_duration_seconds"

after_each(process.clean)

local function serve(...)
  return process.serve(APP, "--metrics", "127.0.0.1:0", ...)
end

local function labels(template, method, status)
  return { template = template, method = method, status = tostring(status) }
end

describe("requests", function()
  it("are counted by template, method and status, exactly", function()
    local child = serve()
    local conn = child:connect()
    for i = 1, 7 do child:ask(process.get("/hello/" .. i), conn) end
    for _ = 1, 3 do child:ask(process.get "/constant", conn) end
    for _ = 1, 2 do child:ask(process.get "/nowhere", conn) end
    child:ask(process.post("/hello", ""), conn)
    child:ask("PURGE /constant HTTP/1.1\r\nHost: localhost\r\n\r\n", conn)
    child:ask("OPTIONS * HTTP/1.1\r\nHost: localhost\r\n\r\n", conn)
    local seen = scrape.wait(child, REQUESTS, labels("*", "OPTIONS", 204), 1)
    assert.equal(7, seen:get(REQUESTS, labels("/hello{/name}", "GET", 200)))
    assert.equal(3, seen:get(REQUESTS, labels("/constant", "GET", 200)))
    assert.equal(2, seen:get(REQUESTS, labels("unmatched", "GET", 404)))
    assert.equal(1, seen:get(REQUESTS, labels("/hello{/name}", "POST", 405)))
    assert.equal(1, seen:get(REQUESTS, labels("/constant", "other", 501)))
    local all, count = seen:sum(REQUESTS)
    assert.same({ 15, 6 }, { all, count })
    conn:close()
    child:stop()
  end)

  it("that repeat themselves in one packet are all counted, and pipelined", function()
    local child = serve()
    local conn = child:connect(process.get("/constant"):rep(50))
    process.answers(conn, 50)
    local seen = scrape.wait(child, REQUESTS, labels("/constant", "GET", 200), 50)
    assert.equal(50, seen:get(DURATION .. "_count", { template = "/constant" }))
    assert.equal(49, seen:get "luaweb_requests_pipelined_total")
    assert.equal(50 * #process.get "/constant", seen:get "luaweb_received_bytes_total")
    conn:close()
    child:stop()
  end)

  it("have their durations in a histogram, which adds them up", function()
    local child = serve()
    child:ask(process.get "/slow")
    child:ask(process.get "/slow")
    local seen = scrape.wait(child, DURATION .. "_count", { template = "/slow" }, 2)
    local sum = seen:get(DURATION .. "_sum", { template = "/slow" })
    assert.is_true(sum >= 0.06 and sum < 60, "sum: " .. sum)
    local quick = { template = "/slow", le = "0.025" }
    assert.equal(0, seen:get(DURATION .. "_bucket", quick))
    child:stop()
  end)

  it("that wait in Lua are shown while they do", function()
    local child = serve()
    local conns = {}
    for i = 1, 3 do conns[i] = child:connect(process.get "/wait") end
    local worker = { worker = "1" }
    local seen = scrape.wait(child, "luaweb_requests_running", worker, 3)
    assert.equal(3, seen:get("luaweb_connections", worker))
    child:ask(process.post("/open", ""))
    for i = 1, 3 do
      process.answers(conns[i])
      conns[i]:close()
    end
    scrape.wait(child, "luaweb_requests_running", worker, 0)
    scrape.wait(child, "luaweb_connections", worker, 0)
    child:stop()
  end)

  it("that fail are errors nobody caught, and have their status", function()
    local child = serve()
    child:ask(process.get "/fails")
    local seen = scrape.wait(child, REQUESTS, labels("/fails", "GET", 500), 1)
    assert.equal(1, seen:get("luaweb_uncaught_errors_total", { ["in"] = "handler" }))
    assert.equal(0, seen:get("luaweb_uncaught_errors_total", { ["in"] = "job" }))
  end)

  it("whose clients go without an answer have the status none", function()
    local child = serve()
    local conn = child:connect(process.get "/wait")
    scrape.wait(child, "luaweb_requests_running", { worker = "1" }, 1)
    conn:close(true)
    local seen = scrape.wait(child, REQUESTS, labels("/wait", "GET", "none"), 1)
    assert.equal(0, seen:get "luaweb_requests_orphaned")
    child:stop()
  end)
end)

describe("octets that are no request", function()
  local function refused(what, octets, reason, status)
    it("are counted by why they were refused: " .. what, function()
      local child = serve()
      local conn = child:connect(octets)
      process.rest(conn)
      conn:close()
      local seen = scrape.wait(child, "luaweb_parse_errors_total",
        { reason = reason, status = tostring(status) }, 1)
      assert.same({ 1, 1 }, { seen:sum "luaweb_parse_errors_total" })
      child:stop()
    end)
  end

  refused("no request line", "\1\2\3\r\n\r\n",
    "the request line does not begin with a method", 400)
  refused("no Host", "GET / HTTP/1.1\r\n\r\n", "there is no Host", 400)
  refused("another HTTP", "GET / HTTP/3.0\r\nHost: a\r\n\r\n",
    "the major version of HTTP is not 1", 505)
  refused("a long target", "GET /" .. ("a"):rep(9000) .. " HTTP/1.1\r\nHost: a\r\n\r\n",
    "the target is too long", 414)
  refused("an end within a chunk", process.post_chunks("/content", "zz\r\n"),
    "the chunked coding is malformed", 400)
end)

describe("jobs, timers and Lua", function()
  it("are counted", function()
    local child = serve()
    local before = scrape.wait(child, "luaweb_jobs_running", { worker = "1" }, 0)
    child:ask(process.get "/jobs")
    local seen = scrape.wait(child, "luaweb_jobs_running", { worker = "1" }, 1)
    local function rise(name, name_labels)
      return seen:get(name, name_labels) - before:get(name, name_labels)
    end
    assert.equal(3, rise "luaweb_jobs_started_total")
    assert.equal(2, rise "luaweb_jobs_failed_total")
    assert.equal(1, rise("luaweb_uncaught_errors_total", { ["in"] = "job" }))
    assert.equal(1, rise "luaweb_timers")
    assert.is_true(seen:get("luaweb_lua_memory_bytes", { worker = "1" }) > 100000)
    assert.is_true(seen:get("luaweb_lua_turns_total", { worker = "1" }) > 0)
  end)

  it("has its traces counted", function()
    local child = serve()
    local conn = child:connect()
    local before = scrape.read(child):get "luaweb_jit_traces_total"
    for _ = 1, 40 do
      conn:send(process.get("/hello"):rep(16))
      process.answers(conn, 16)
    end
    web.sleep(0.05)
    assert.is_true(scrape.read(child):get "luaweb_jit_traces_total" > before)
    conn:close()
    child:stop()
  end)
end)

describe("timeouts", function()
  local function passes(kind, flag, octets)
    it("are counted by their kind: " .. kind, function()
      local child = serve(flag, "0.1")
      local conn = child:connect(octets)
      scrape.wait(child, "luaweb_timeouts_total", { kind = kind }, 1)
      conn:close()
    end)
  end

  passes("idle", "--idle-timeout", "")
  passes("header", "--header-timeout", "GET / HT")
  passes("body", "--body-timeout",
    "POST /content HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nab")
  passes("request", "--request-timeout", process.get "/wait")
end)

describe("answers that have begun", function()
  it("and are cut off are counted", function()
    local child = serve("--request-timeout", "0.1")
    local conn = child:connect(process.get "/stream")
    process.rest(conn)
    conn:close()
    local seen = scrape.wait(child, "luaweb_responses_cut_total", nil, 1)
    assert.equal(1, seen:get("luaweb_timeouts_total", { kind = "request" }))
    child:stop()
  end)
end)

describe("connections", function()
  it("above the limit are counted by whether they were told so", function()
    local child = serve("--max-connections", "1")
    local first = child:connect(process.get "/wait")
    scrape.wait(child, "luaweb_requests_running", { worker = "1" }, 1)
    local second = child:connect(process.get "/constant")
    assert.equal(503, process.answers(second).status)
    local seen = scrape.wait(child, "luaweb_connections_refused_total",
      { answer = "503" }, 1)
    assert.equal(0, seen:get("luaweb_connections_refused_total", { answer = "none" }))
    assert.equal(2, seen:get("luaweb_connections_accepted_total", { worker = "1" }))
    first:close()
    second:close()
    child:stop()
  end)
end)

describe("web.metrics()", function()
  it("shows the same at a resource of the app", function()
    local child = serve()
    child:ask(process.get "/constant")
    scrape.wait(child, REQUESTS, labels("/constant", "GET", 200), 1)
    local answer = child:ask(process.get "/seen")
    assert.equal("text/plain; version=0.0.4; charset=utf-8",
      answer:header "content-type")
    local seen = require("spec.support.exposition").read(answer.body)
    assert.equal(1, seen:get(REQUESTS, labels("/constant", "GET", 200)))
    assert.equal(1, seen:get("luaweb_requests_running", { worker = "1" }))
    child:stop()
  end)
end)
