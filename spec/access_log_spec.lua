-- SPDX-License-Identifier: MIT
-- What --access-log tells of requests: a line each, with what is known of it.
local log_file = require "spec.support.log_file"
local process = require "spec.support.process"
local web = require "luaweb"

local ROOT = process.get "/"

local APP = [[
local job = require "luaweb.job"
local web = require "luaweb"
return web.app {
  web.get("/", function() return "root" end),
  web.get("/id{/rest}", function(req) return req.id end),
  web.post("/echo", function(req) return req:bytes() end),
  web.get("/slow/{seconds}", function(req)
    local id = req.id
    local seconds = tonumber(req.params.seconds)
    job.ensure(function() web.sleep(seconds) end, function() print "ended" end)
    return id
  end),
  web.get("/stream", function()
    return web.streaming(function(out)
      for _ = 1, 10 do out:write(("x"):rep(1000)) end
    end)
  end),
  web.get("/large", function() return ("x"):rep(1000000) end),
  web.get("/cut", function()
    return web.streaming(function(out) out:write "12345" error "cut" end)
  end),
  web.any("/nothing", function() end),
  web.get("/broken", function() error "broken" end),
}
]]

after_each(process.clean)

local path -- of the log

local function serve(...)
  path = process.path "access.log"
  local child = process.serve(process.file("app.lua", APP), "--access-log",
    "json:" .. path, ...)
  child:expect "/broken" -- the last route: from here on only handlers print
  return child
end

-- Sends octets, receives to the end of the connection.
local function play(child, octets)
  local conn = child:connect(octets)
  conn:finish()
  local received = process.rest(conn)
  conn:close()
  return received
end

-- The one entry of the log after these octets were sent.
local function entry_of(child, octets)
  play(child, octets)
  return log_file.entries(1, path)[1]
end

describe("An entry as JSON", function()
  it("has time, id, peer, request, status, octets, duration, resource and who asked",
    function()
      local child = serve()
      local before = os.time()
      local entry = entry_of(child, process.get("/id/a?b=c",
        "Referer: http://example.com/\r\nUser-Agent: spec/1\r\n"))
      local date = os.date("!%Y-%m-%dT%H:%M", before)
      local later = os.date("!%Y-%m-%dT%H:%M", before + 5)
      assert.matches("^%d%d%d%d%-%d%d%-%d%dT%d%d:%d%d:%d%d%.%d%d%dZ$", entry.time)
      assert(entry.time:sub(1, 16) == date or entry.time:sub(1, 16) == later)
      assert.matches("^%x%x%x%x%x%x%-%x+$", entry.id)
      assert(entry.duration >= 0 and entry.duration < 5)
      assert.same({ peer = "127.0.0.1", method = "GET", target = "/id/a?b=c",
        version = "1.1", status = 200, octets = #entry.id, resource = "/id{/rest}",
        referer = "http://example.com/", user_agent = "spec/1", time = entry.time,
        id = entry.id, duration = entry.duration }, entry)
    end)

  it("has the id that the handler saw", function()
    local child = serve()
    local conn, ids = child:connect(), {}
    for i = 1, 20 do ids[i] = child:ask(process.get "/id", conn).body end
    for i, entry in ipairs(log_file.entries(20, path)) do
      assert.equal(ids[i], entry.id)
    end
    conn:close()
  end)

  it("measures from the whole head to the end of the answer", function()
    local entry = entry_of(serve(), process.get "/slow/0.2")
    assert(entry.duration > 0.19 and entry.duration < 10, entry.duration .. " s")
  end)

  it("comes at the end of its request", function()
    local child = serve()
    local slow = child:connect(process.get "/slow/0.5")
    web.sleep(0.1)
    child:ask(ROOT)
    local first, second = unpack(log_file.entries(2, path))
    assert.same({ "/", "/slow/0.5" }, { first.target, second.target })
    assert(second.time < first.time, "but tells when it began")
    slow:close()
  end)

  for name, case in pairs {
    ["a client of HTTP/1.0"] = { octets = "GET / HTTP/1.0\r\n\r\n", version = "1.0",
      status = 200, octets_sent = 4 },
    ["a path that no resource has"] = { octets = process.get "/missing", status = 404,
      octets_sent = 14 },
    ["a method that the resource lacks"] = { status = 405, octets_sent = 23,
      resource = "/", octets = "DELETE / HTTP/1.1\r\nHost: localhost\r\n\r\n" },
    ["an answer without content"] = { octets = process.get "/nothing", status = 204,
      octets_sent = 0, resource = "/nothing" },
    ["a HEAD, which has none either"] = { status = 200, octets_sent = 0,
      method = "HEAD", octets = "HEAD /large HTTP/1.1\r\nHost: localhost\r\n\r\n" },
    ["a HEAD of a stream"] = { status = 200, octets_sent = 0, method = "HEAD",
      octets = "HEAD /stream HTTP/1.1\r\nHost: localhost\r\n\r\n" },
    ["a handler that fails"] = { octets = process.get "/broken", status = 500,
      octets_sent = 47, resource = "/broken" },
    ["a stream, without its framing"] = { octets = process.get "/stream", status = 200,
      octets_sent = 10000 },
    ["a large answer"] = { octets = process.get "/large", status = 200,
      octets_sent = 1000000 },
    ["an answer that was cut"] = { octets = process.get "/cut", status = 200,
      octets_sent = 5 },
    ["content that was sent back"] = { octets = process.post("/echo", ("x"):rep(99)),
      status = 200, octets_sent = 99, method = "POST" },
    ["content that is too large"] = { status = 413, method = "POST", octets_sent = 56,
      octets = "POST /echo HTTP/1.1\r\nHost: localhost\r\n"
        .. "Content-Length: 99999999\r\n\r\n" },
  } do
    it("tells of " .. name, function()
      local entry = entry_of(serve(), case.octets)
      assert.equal(case.status, entry.status)
      assert.equal(case.octets_sent, entry.octets)
      for _, field in ipairs { "version", "resource", "method" } do
        if case[field] then assert.equal(case[field], entry[field]) end
      end
    end)
  end

  it("tells of pipelined requests in their order", function()
    local child = serve()
    play(child, process.get "/id/1" .. process.get "/missing" .. process.get "/slow/0.1"
      .. process.get "/id/2" .. process.get "/stream")
    local targets = {}
    for i, entry in ipairs(log_file.entries(5, path)) do targets[i] = entry.target end
    assert.same({ "/id/1", "/missing", "/slow/0.1", "/id/2", "/stream" }, targets)
  end)

  it("has status 0 where the client left before there was an answer", function()
    local child = serve()
    local conn = child:connect(ROOT .. process.get "/slow/30")
    web.sleep(0.1)
    conn:close() -- with an answer that it did not read: a reset
    child:expect "^ended$"
    local _, entry = unpack(log_file.entries(2, path))
    assert.equal("/slow/30", entry.target)
    assert.equal(0, entry.status)
    assert.equal(0, entry.octets)
    assert(entry.duration > 0.09 and entry.duration < 29, entry.duration .. " s")
  end)

  it("comes once where the handler was too late", function()
    local child = serve("--request-timeout", "0.1")
    child:ask(process.get "/slow/5")
    child:expect "^ended$"
    child:ask(ROOT)
    local late, root = unpack(log_file.entries(2, path))
    assert.equal(503, late.status)
    assert(late.duration > 0.09 and late.duration < 4.9, late.duration .. " s")
    assert.equal(200, root.status)
  end)
end)

describe("What is no request", function()
  for name, case in pairs {
    ["garbage"] = { octets = "what?\r\n\r\n", status = 400 },
    ["a header that is none"] = { octets = "GET / HTTP/1.1\r\nHost : a\r\n\r\n",
      status = 400 },
    ["a target that is too long"] = { octets = process.get("/" .. ("x"):rep(9000)),
      status = 414 },
    ["another version"] = { status = 505,
      octets = "GET / HTTP/2.0\r\nHost: a\r\n\r\n" },
    ["a forged line"] = { status = 400,
      octets = "GET /\n{\"time\":\"forged\",\"status\":200} HTTP/1.1\r\n\r\n" },
  } do
    it("is told of with peer and status: " .. name, function()
      local entry = entry_of(serve(), case.octets)
      assert.equal(case.status, entry.status)
      assert.equal("127.0.0.1", entry.peer)
      assert.is_nil(entry.method)
      assert.is_nil(entry.id)
      assert(entry.octets > 10)
    end)
  end

  it("is told of when its head took too long", function()
    local child = serve("--header-timeout", "0.2")
    local conn = child:connect "GET / HT"
    process.rest(conn)
    conn:close()
    assert.equal(408, log_file.entries(1, path)[1].status)
  end)

  it("is told of when there were too many connections", function()
    local child = serve("--max-connections", "1")
    local conn = child:connect()
    child:ask(ROOT, conn)
    process.rest(child:connect())
    assert.equal(503, log_file.entries(2, path)[2].status)
    conn:close()
  end)
end)

describe("A path of -", function()
  it("is the standard output, in the midst of what the app prints", function()
    local child = process.serve(process.file("app.lua", APP), "--access-log", "-")
    child:ask(process.get "/slow/0")
    child:expect "^ended$"
    child:expect '"GET /slow/0 HTTP/1%.1" 200'
    child:stop()
  end)

  it("may be JSON", function()
    local child = process.serve(process.file("app.lua", APP), "--access-log", "json:-")
    child:ask(ROOT)
    child:expect '^{"time":.*"target":"/","version":"1.1","status":200,.*}$'
  end)

  it("is none by default", function()
    local child = process.serve(process.file("app.lua", APP))
    child:ask(ROOT)
    child:stop()
    assert.is_nil(child.output:find("GET /", 1, true))
  end)
end)
