-- SPDX-License-Identifier: MIT
-- Content that is too large, unread, or not sent to its end: limits, 100 Continue,
-- back-pressure, clients that leave.  RFC 9110 §10.1.1, §15.5.14; RFC 9112 §6.3.
local error_log = require "spec.support.error_log"
local job = require "luaweb.job"
local test = require "luaweb.test"
local web = require "luaweb"

local MIB = 2 ^ 20

-- Each test gives its handler.
local handler
local function handle(req) return handler(req) end
local client = test.app(web.app {
  web.any("/", handle),
  web.resource("/guarded", web.machine {
    allowed = function() return false end,
    do_post = handle,
  }),
  web.resource("/small", web.machine { do_any = handle, body_limit = 1000 }),
  web.resource("/none", web.machine { do_any = handle, body_limit = 0 }),
  web.resource("/large", web.machine { do_any = handle, body_limit = 64 * MIB }),
  web.get("/after", function() return "in step" end),
})

local AFTER = "GET /after HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n"

local function head(target, framing)
  return ("POST %s HTTP/1.1\r\nHost: h\r\n%s\r\n\r\n"):format(target, framing)
end

local function chunk(octets)
  return ("%x\r\n%s\r\n"):format(#octets, octets)
end

local CHUNKED = "Transfer-Encoding: chunked"

--- Everything that comes until the end, and how that was.
local function read_all(conn)
  local parts = {}
  while true do
    local octets, ending = conn:receive(5)
    if not octets then
      conn:close()
      return table.concat(parts), ending
    end
    parts[#parts + 1] = octets
  end
end

--- What comes when these octets are sent.
local function answer_to(...)
  return (read_all(client:raw(table.concat { ... })))
end

local function read_it(req)
  return "read " .. #req:bytes()
end

describe("the limit of content", function()
  it("is 8 MiB where the machine says nothing", function()
    handler = read_it
    assert.equal("read 8388608", client:post("/", { body = ("x"):rep(8 * MIB) }).body)
    assert.matches("^HTTP/1.1 413 ", answer_to(head("/", "Content-Length: 8388609")))
  end)

  it("is the machine's: as many octets pass", function()
    handler = read_it
    local body = ("x"):rep(1000)
    assert.equal("read 1000", client:post("/small", { body = body }).body)
    assert.matches("read 1000$", answer_to(head("/small", CHUNKED
      .. "\r\nConnection: close"), chunk(body), "0\r\n\r\n"))
    assert.equal("read 0", client:post("/none").body)
  end)

  it("is told by Content-Length before anything is sent: no handler runs", function()
    handler = function() error "called" end
    for _, framing in ipairs { "Content-Length: 1001",
      "Content-Length: 1001\r\nExpect: 100-continue" } do
      local octets = answer_to(head("/small", framing))
      assert.matches("^HTTP/1.1 413 Content Too Large\r\n", octets)
      assert.matches("\r\nConnection: close\r\n", octets)
    end
    assert.matches("^HTTP/1.1 413 ", answer_to(head("/none", "Content-Length: 1")))
  end)

  it("counts chunked content, without its framing: 413, then close", function()
    local seen
    handler = function(req)
      local ok, raised = pcall(req.bytes, req)
      seen = ok
      error(raised, 0)
    end
    local octets = answer_to(head("/small", CHUNKED), chunk(("x"):rep(600)),
      chunk(("x"):rep(401)), "0\r\n\r\n", AFTER)
    assert.matches("^HTTP/1.1 413 Content Too Large\r\n", octets)
    assert.is_nil(octets:find "in step")
    assert.is_false(seen)
  end)

  it("ends an endless chunked upload, whose octets are not kept", function()
    handler = read_it
    local conn, sent = client:raw(head("/", CHUNKED)), 0
    collectgarbage()
    local before = collectgarbage "count"
    local sender = job.spawn(function()
      local piece = chunk(("x"):rep(65536))
      while sent < 1000 and conn:send(piece) do sent = sent + 1 end
    end)
    assert.matches("^HTTP/1.1 413 ", conn:receive(10))
    conn:close()
    sender:join()
    assert.is_true(sent < 200, sent)
    collectgarbage()
    assert.is_true(collectgarbage "count" - before < 1024)
  end)

  it("counts for a handler that reads in pieces too", function()
    local seen = 0
    handler = function(req)
      for piece in req:chunks() do seen = seen + #piece end
    end
    assert.matches("^HTTP/1.1 413 ", answer_to(head("/small", CHUNKED),
      chunk(("x"):rep(900)), chunk(("x"):rep(900)), "0\r\n\r\n"))
    assert.is_true(seen <= 1000)
  end)

  it("that a handler catches leaves the answer to it", function()
    handler = function(req)
      return pcall(req.bytes, req) and 500 or web.text("too much"):status(422)
    end
    local octets = answer_to(head("/small", CHUNKED), chunk(("x"):rep(1001)))
    assert.matches("^HTTP/1.1 422 .*\r\nConnection: close\r\n.*too much$", octets)
  end)
end)

describe("content that no handler reads", function()
  for title, case in pairs {
    ["with a length"] = { "Content-Length: 65536", ("x"):rep(65536) },
    ["chunked"] = { CHUNKED, chunk(("x"):rep(60000)) .. "0\r\nX-T: 1\r\n\r\n" },
  } do
    it("is swallowed, and the connection stays in step: " .. title, function()
      handler = function() return "unread" end
      local octets = answer_to(head("/", case[1]), case[2], AFTER)
      assert.matches("^HTTP/1.1 200 OK\r\n.*unreadHTTP/1.1 200 OK\r\n.*in step$",
        octets)
    end)
  end

  for title, case in pairs {
    ["with a length"] = { "Content-Length: 65537", ("x"):rep(65537) },
    ["chunked"] = { CHUNKED, chunk(("x"):rep(70000)) .. "0\r\n\r\n" },
  } do
    it("ends the connection behind the answer when it is large: " .. title, function()
      handler = function() return "unread" end
      local octets = answer_to(head("/", case[1]), case[2], AFTER)
      assert.matches("^HTTP/1.1 200 OK\r\n.*unread$", octets)
    end)
  end
end)

describe("Expect: 100-continue", function()
  local EXPECT = "Content-Length: 5\r\nExpect: 100-continue\r\nConnection: close"

  it("is answered when an operation begins, whenever that reads", function()
    local go_on = false
    handler = function(req)
      while not go_on do web.sleep(0.005) end
      return read_it(req)
    end
    local conn = client:raw(head("/", EXPECT))
    assert.equal("HTTP/1.1 100 Continue\r\n\r\n", conn:receive(5))
    go_on = true
    conn:send "12345"
    assert.matches("^HTTP/1.1 200 OK\r\n.*read 5$", (read_all(conn)))
  end)

  it("is not answered when the content is here, or the client speaks 1.0", function()
    handler = read_it
    assert.matches("^HTTP/1.1 200 OK\r\n", answer_to(head("/", EXPECT), "12345"))
    local old = client:raw((head("/", EXPECT):gsub("1%.1", "1.0")))
    assert.same({ nil, "timeout" }, { old:receive(0.03) })
    old:send "12345"
    assert.matches("^HTTP/1.1 200 OK\r\n", (read_all(old)))
  end)

  it("is answered by the answer alone when a decision refuses", function()
    local octets = answer_to(head("/guarded",
      "Content-Length: 5\r\nExpect: 100-continue"))
    assert.matches("^HTTP/1.1 403 Forbidden\r\n.*\r\nConnection: close\r\n", octets)
  end)
end)

describe("a handler that does not read", function()
  it("makes the client wait: little is read ahead", function()
    local go_on, sent = false, 0
    handler = function(req)
      while not go_on do web.sleep(0.01) end
      return read_it(req)
    end
    local conn = client:raw(head("/large", "Content-Length: 33554432"))
    local sender = job.spawn(function()
      for _ = 1, 512 do
        assert(conn:send(("x"):rep(65536)))
        sent = sent + 65536
      end
    end)
    web.sleep(0.1)
    assert.is_true(sent < 4 * MIB, sent)
    go_on = true
    assert.matches("read 33554432$", conn:receive(10))
    sender:join()
    conn:close()
  end)
end)

describe("a client that leaves", function()
  --- What the handler raised, and the log, when the client does this.
  local function left(fn, leave)
    local raised = "nothing"
    handler = function(req)
      local ok, why = pcall(fn, req)
      raised = ok and "nothing" or why
      if not ok then error(why, 0) end
      return why
    end
    local log = error_log.of(function()
      leave()
      web.sleep(0.1)
    end)
    assert.equal("in step", client:get("/after").body)
    return raised, log
  end

  local tcp = client:over_socket()

  -- With an answer unread a close is a reset.
  local function reset_within(octets)
    local conn = tcp:raw("GET /after HTTP/1.1\r\nHost: h\r\n\r\n" .. octets)
    web.sleep(0.02)
    conn:close()
  end

  for title, framing in pairs {
    ["with a length"] = "Content-Length: 9", ["chunked"] = CHUNKED,
  } do
    it("by a reset within content ends the handler, quietly: " .. title, function()
      local raised, log = left(read_it, function()
        reset_within(head("/", framing) .. "3\r\nabc")
      end)
      assert.same({ "the client is gone", "" }, { tostring(raised), log })
    end)

    it("by an end within content ends the handler with a 400: " .. title, function()
      local octets
      local _, log = left(read_it, function()
        local conn = client:raw(head("/", framing) .. "3\r\nabc")
        conn:finish()
        octets = read_all(conn)
      end)
      assert.matches("^HTTP/1.1 400 Bad Request\r\n", octets)
      assert.equal("", log)
    end)
  end

  for title, answer in pairs {
    ["a string"] = "x", ["large content"] = ("x"):rep(MIB), ["a status"] = 404,
    ["a stream"] = web.streaming(function(out) out:write(("x"):rep(MIB)) end),
  } do
    it("while the handler sleeps gets no answer, quietly: " .. title, function()
      local raised, log = left(function()
        job.shield(web.sleep, 0.06)
        return answer
      end, function() reset_within "GET / HTTP/1.1\r\nHost: h\r\n\r\n" end)
      assert.same({ "nothing", "" }, { raised, log })
    end)
  end

  it("does not hide what the handler raises", function()
    local _, log = left(function()
      job.shield(web.sleep, 0.06)
      error "broken"
    end, function() reset_within "GET / HTTP/1.1\r\nHost: h\r\n\r\n" end)
    assert.matches("error %[.*%] GET /: spec/upload_spec.lua:%d+: broken\n", log)
  end)
end)
