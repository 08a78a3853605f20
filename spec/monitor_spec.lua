-- SPDX-License-Identifier: MIT
-- The address of --metrics, and the path of --health.
local eventually = require "spec.support.eventually"
local json = require "luaweb.json"
local process = require "spec.support.process"
local scrape = require "spec.support.scrape"
local socket = require "luaweb.client.socket"

local APP = "spec/apps/counted.lua"

after_each(process.clean)

local function serve(...)
  return process.serve(APP, "--metrics", "127.0.0.1:0", ...)
end

local function status_of(received)
  return tonumber((received:match "^HTTP/1.1 (%d+) "))
end

describe("--metrics", function()
  it("answers GET and HEAD of /metrics in Prometheus' format", function()
    local child = serve()
    local answer = scrape.get(child, "/metrics?x=y")
    assert.equal(200, answer.status)
    assert.equal("text/plain; version=0.0.4; charset=utf-8",
      answer:header "content-type")
    local head = scrape.send(child, "HEAD /metrics HTTP/1.1\r\nHost: a\r\n\r\n")
    assert.matches("\r\nContent%-Length: %d%d%d%d+\r\n.*\r\n\r\n$", head)
    child:stop()
  end)

  it("describes each family that it has", function()
    local child = serve()
    local seen = scrape.read(child)
    for name, about in pairs(seen.families) do
      assert.is_true(#about.help > 5, name)
    end
    assert.equal("histogram", seen.families.luaweb_request_duration_seconds.type)
    assert.equal(1, (seen:sum "luaweb_build_info"))
    child:stop()
  end)

  it("answers whether the server is ready at /health", function()
    local child = serve()
    local answer = scrape.get(child, "/health")
    assert.equal(200, answer.status)
    local health = json.decode(answer.body)
    assert.equal("ready", health.status)
    assert.equal(1, health.workers.ready)
    child:stop()
  end)

  it("says at /health that the server ends, while it does", function()
    local child = serve()
    local conn = child:connect(process.get "/stream")
    conn:receive(10)
    child:signal "TERM"
    eventually("it drains", function()
      local answer = scrape.get(child, "/health")
      return answer.status == 503 and json.decode(answer.body).status == "draining"
    end)
    conn:close(true)
    assert.equal(0, (child:wait()))
  end)

  it("refuses what it does not have, and what is no request", function()
    local child = serve()
    assert.equal(404, status_of(scrape.send(child, process.get "/")))
    local post = scrape.send(child, process.post("/metrics", ""))
    assert.equal(405, status_of(post))
    assert.matches("\r\nAllow: GET, HEAD\r\n", post)
    assert.equal(400, status_of(scrape.send(child, "nonsense\r\n\r\n")))
    assert.equal(431, status_of(scrape.send(child, process.get("/metrics",
      ("X-Long: " .. ("x"):rep(500) .. "\r\n"):rep(16)))))
    child:stop()
  end)

  it("reads a head that comes octet by octet, and answers once", function()
    local child = serve()
    local conn = assert(socket.connect("127.0.0.1", scrape.port(child)))
    local octets = "\r\n" .. process.get "/health"
    for i = 1, #octets do conn:send(octets:sub(i, i)) end
    conn:send(process.get "/metrics")
    local received, ending = process.rest(conn)
    conn:close()
    assert.equal("closed", ending)
    assert.equal(200, status_of(received))
    assert.is_nil(received:find("luaweb_build_info", 1, true))
    child:stop()
  end)

  it("holds 32 connections at most, and answers although all are held", function()
    local child = serve()
    local conns = {}
    for i = 1, 32 do
      conns[i] = assert(socket.connect("127.0.0.1", scrape.port(child)))
      assert(conns[i]:send "GET /he")
    end
    assert.equal(200, scrape.get(child, "/health").status)
    local _, ending = conns[1]:receive(10)
    assert.is_true(ending == "closed" or ending == "reset", ending)
    assert(conns[32]:send "alth HTTP/1.1\r\nHost: a\r\n\r\n")
    assert.equal(200, status_of(conns[32]:receive(10)))
    for _, conn in ipairs(conns) do conn:close() end
    child:stop()
  end)

  it("answers while every worker stands still", function()
    local child = serve("--stall-timeout", "0")
    local conn = child:connect(process.get "/stands")
    scrape.wait(child, "luaweb_requests_running", { worker = "1" }, 1)
    assert.equal(200, scrape.get(child, "/health").status)
    conn:close()
  end)

  it("can be a unix socket, whose path goes with the server", function()
    local path = process.path "metrics.sock"
    local child = process.serve(APP, "--metrics", "unix:" .. path)
    local conn = assert(socket.connect("unix:" .. path, 0))
    conn:send(process.get "/health")
    assert.equal(200, status_of(process.rest(conn)))
    conn:close()
    child:stop()
    assert.is_nil(io.open(path))
  end)

  it("says what is wrong with an address", function()
    local ended = process.run(APP, "--metrics", "nowhere")
    assert.equal(2, ended.code)
    assert.matches("%-%-metrics nowhere: want host:port", ended.errors)
  end)

  it("says that an address is taken, and by whom", function()
    local child = serve()
    local taken = "127.0.0.1:" .. scrape.port(child)
    local ended = process.run(APP, "--listen", "127.0.0.1:0", "--metrics", taken)
    assert.equal(3, ended.code)
    assert.matches("can't listen on " .. taken:gsub("%.", "%%.")
      .. " for %-%-metrics: address already in use, held by luaweb", ended.errors)
    child:stop()
  end)
end)

describe("--health", function()
  it("answers before the app, and is not in the access log", function()
    local log = process.path "access.log"
    local child = process.serve(APP, "--health", "/constant", "--access-log", log)
    local conn = child:connect()
    local answer = child:ask(process.get "/constant", conn)
    assert.same({ 200, "ready\n" }, { answer.status, answer.body })
    assert.equal("no-store", answer:header "cache-control")
    conn:send "HEAD /constant HTTP/1.1\r\nHost: a\r\n\r\n"
    assert.equal(200, process.answers(conn, 1, { "HEAD" }).status)
    local refused = child:ask(process.post("/constant", ""), conn)
    assert.same({ 405, "GET, HEAD" }, { refused.status, refused:header "allow" })
    assert.equal(200, child:ask(process.get "/hello", conn).status)
    conn:close()
    child:stop()
    local lines = io.open(log):read "*a"
    assert.matches("GET /hello", lines)
    assert.is_nil(lines:find("/constant", 1, true))
  end)

  it("is 503 with Retry-After while the worker drains", function()
    local child = process.serve(APP, "--health", "/healthz")
    local conn = child:connect()
    assert.equal(200, child:ask(process.get "/healthz", conn).status)
    child:signal "TERM"
    local answer -- whoever goes on asking is not at rest, and sees it
    eventually("it drains", function()
      answer = child:ask(process.get "/healthz", conn)
      return answer.status ~= 200
    end)
    assert.same({ 503, "draining\n" }, { answer.status, answer.body })
    assert.equal("5", answer:header "retry-after")
    conn:close()
    assert.equal(0, (child:wait()))
  end)

  it("wants a path", function()
    for _, text in ipairs { "healthz", "/a b", "/a?b", "/a\r\nb", "/\195\169",
      "/a{b}" } do
      local ended = process.run(APP, "--health", text)
      assert.equal(2, ended.code)
      local message = "--health " .. text .. ": want a path"
      assert.is_truthy(ended.errors:find(message, 1, true))
    end
  end)
end)
