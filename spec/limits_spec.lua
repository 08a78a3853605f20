-- SPDX-License-Identifier: MIT
-- The limits of the command line, as clients meet them: what is at a limit is served,
-- and what is one past it gets the answer that the limit has.
local process = require "spec.support.process"

local APP = "spec/apps/cases.lua"

after_each(process.clean)

local get = process.get

local function post(content)
  return process.post("/echo", content)
end

local function post_chunks(octets)
  return process.post_chunks("/echo", octets)
end

-- "Host: localhost" is a line of 17 octets, and the blank line has 2.
for _, limit in ipairs {
  { flag = "--max-target", value = "16", status = 414,
    at = get("/reflect/" .. ("a"):rep(7)), past = get("/reflect/" .. ("a"):rep(8)) },
  { flag = "--max-target", value = "1k", status = 414,
    at = get("/?" .. ("a"):rep(1022)), past = get("/?" .. ("a"):rep(1023)) },
  { flag = "--max-header-size", value = "64", status = 431,
    at = get("/", "X: " .. ("a"):rep(40) .. "\r\n"),
    past = get("/", "X: " .. ("a"):rep(41) .. "\r\n") },
  { flag = "--max-headers", value = "3", status = 431,
    at = get("/", ("X: a\r\n"):rep(2)), past = get("/", ("X: a\r\n"):rep(3)) },
  { flag = "--max-body", value = "10", status = 413,
    at = post(("a"):rep(10)), past = post(("a"):rep(11)) },
  { flag = "--max-body", value = "10", status = 413,
    at = post_chunks "5\r\naaaaa\r\n5\r\naaaaa\r\n0\r\n\r\n",
    past = post_chunks "5\r\naaaaa\r\n6\r\naaaaaa\r\n0\r\n\r\n" },
  { flag = "--max-body", value = "0", status = 413, at = post "", past = post "a" },
  { flag = "--max-body", value = "1.5k", status = 413,
    at = post(("a"):rep(1536)), past = post(("a"):rep(1537)) },
  { flag = "--max-chunk-extensions", value = "8", status = 400,
    at = post_chunks "1;ab=cdef\r\na\r\n0\r\n\r\n",
    past = post_chunks "1;ab=cdefg\r\na\r\n0\r\n\r\n" },
  { flag = "--max-chunk-extensions", value = "8", status = 400,
    at = post_chunks "1;a=b\r\na\r\n1;a=b\r\na\r\n0\r\n\r\n",
    past = post_chunks "1;a=b\r\na\r\n1;a=b\r\na\r\n0;\r\n\r\n" },
  { flag = "--max-trailers", value = "16", status = 431,
    at = post_chunks "0\r\nX: aaaaaaaaa\r\n\r\n",
    past = post_chunks "0\r\nX: aaaaaaaaaa\r\n\r\n" },
} do
  describe(("%s %s"):format(limit.flag, limit.value), function()
    it(("serves what is at the limit (%q)"):format(limit.at:sub(1, 9)), function()
      local child = process.serve(APP, limit.flag, limit.value)
      local conn = child:connect()
      assert.equal(200, child:ask(limit.at, conn).status)
      assert.equal(200, child:ask(get "/", conn).status)
      conn:close()
    end)

    it(("answers %d one past it, and closes (%q)"):format(limit.status,
      limit.past:sub(1, 9)), function()
      local child = process.serve(APP, limit.flag, limit.value)
      local conn = child:connect()
      local answer = child:ask(limit.past, conn)
      assert.equal(limit.status, answer.status)
      assert.equal("close", answer:header "connection")
      local octets, ending = process.rest(conn)
      assert.equal("", octets)
      assert.equal("closed", ending)
      conn:close()
      assert.equal(200, child:ask(get "/").status)
    end)
  end)
end

describe("a value of octets", function()
  it("may be given with = too", function()
    local child = process.serve(APP, "--max-body=10")
    assert.equal(413, child:ask(post(("a"):rep(11))).status)
  end)

  it("is the last one given", function()
    local child = process.serve(APP, "--max-body", "1m", "--max-body", "10")
    assert.equal(413, child:ask(post(("a"):rep(11))).status)
  end)

  it("may be in units of k, m and g", function()
    local head = "POST /reject HTTP/1.1\r\nHost: localhost\r\n"
      .. "Content-Length: %d\r\n\r\n"
    for i, unit in ipairs { "k", "m", "g" } do
      local child, octets = process.serve(APP, "--max-body", "1" .. unit), 1024 ^ i
      assert.equal(403, child:ask(head:format(octets)).status)
      assert.equal(413, child:ask(head:format(octets + 1)).status)
      process.clean()
    end
  end)
end)

-- How long the server needs for what it does on this connection.
local function time_of(work)
  local function now() return tonumber((assert(io.open "/proc/uptime"):read "*n")) end
  local began = now()
  work()
  return now() - began
end

local function takes(least, most, work)
  local seconds = time_of(work)
  assert(seconds >= least and seconds <= most, ("it took %.2f s"):format(seconds))
end

local function answers_late(conn, status)
  takes(0.2, 2, function()
    local answer = process.answers(conn)
    assert.equal(status, answer.status)
    assert.equal("close", answer:header "connection")
    assert.equal("closed", select(2, process.rest(conn)))
  end)
  conn:close()
end

local function closes_late(conn)
  takes(0.2, 2, function()
    local octets, ending = process.rest(conn)
    assert.equal("", octets)
    assert.equal("closed", ending)
  end)
  conn:close()
end

describe("--header-timeout", function()
  it("answers 408 to a head that is not whole in time", function()
    local child = process.serve(APP, "--header-timeout", "0.3")
    answers_late(child:connect(get("/"):sub(1, 20)), 408)
  end)

  it("answers 408 to a head that comes drop by drop", function()
    local child = process.serve(APP, "--header-timeout", "0.3")
    local conn = child:connect "GET / HTTP/1.1\r\n"
    local answer
    takes(0.2, 2, function()
      repeat
        conn:send "X: a\r\n"
        answer = conn:receive(0.05)
      until answer
    end)
    assert.matches("^HTTP/1%.1 408 ", answer)
    conn:close()
  end)

  it("does not run before the first octet", function()
    local child = process.serve(APP, "--header-timeout", "0.2")
    local conn = child:connect()
    assert.equal("timeout", select(2, conn:receive(0.5)))
    assert.equal(200, child:ask(get "/", conn).status)
    conn:close()
  end)

  it("is switched off by 0", function()
    local child = process.serve(APP, "--header-timeout", "0")
    local conn = child:connect(get("/"):sub(1, 20))
    assert.equal("timeout", select(2, conn:receive(0.3)))
    assert.equal(200, child:ask(get("/"):sub(21), conn).status)
    conn:close()
  end)
end)

describe("--body-timeout", function()
  local half = post("abcdef"):sub(1, -4)

  it("answers 408 when content stands still", function()
    local child = process.serve(APP, "--body-timeout", "0.3")
    answers_late(child:connect(half), 408)
  end)

  it("starts anew with every octet", function()
    local child = process.serve(APP, "--body-timeout", "0.4")
    local conn = child:connect(half)
    for octet in ("def"):gmatch "." do
      assert.equal("timeout", select(2, conn:receive(0.2)))
      conn:send(octet)
    end
    assert.equal("abcdef", process.answers(conn).body)
    conn:close()
  end)

  it("bounds the wait for content that nobody reads", function()
    local child = process.serve(APP, "--body-timeout", "0.3")
    local conn = child:connect()
    assert.equal(403, child:ask("POST /reject HTTP/1.1\r\nHost: localhost\r\n"
      .. "Content-Length: 5\r\n\r\n12", conn).status)
    closes_late(conn)
  end)

  it("is switched off by 0", function()
    local child = process.serve(APP, "--body-timeout", "0")
    local conn = child:connect(half)
    assert.equal("timeout", select(2, conn:receive(0.3)))
    assert.equal("abcdef", child:ask("def", conn).body)
    conn:close()
  end)
end)

describe("--idle-timeout", function()
  it("closes a connection that never sent anything", function()
    local child = process.serve(APP, "--idle-timeout", "0.3")
    closes_late(child:connect())
  end)

  it("closes a connection at rest after an answer", function()
    local child = process.serve(APP, "--idle-timeout", "0.3")
    local conn = child:connect()
    assert.equal(200, child:ask(get "/", conn).status)
    closes_late(conn)
  end)

  it("does not run while a handler does", function()
    local child = process.serve(process.file("slow.lua", [[
local web = require "luaweb"
return web.app { web.get("/", function() web.sleep(0.5) return "slow" end) }
]]), "--idle-timeout", "0.2")
    assert.equal("slow", child:ask(get "/").body)
  end)

  it("is switched off by 0", function()
    local child = process.serve(APP, "--idle-timeout", "0")
    local conn = child:connect()
    assert.equal("timeout", select(2, conn:receive(0.3)))
    assert.equal(200, child:ask(get "/", conn).status)
    conn:close()
  end)

  it("may be less than a millisecond, which is not none", function()
    local child = process.serve(APP, "--idle-timeout", "0.0001")
    local octets, ending = process.rest(child:connect(), 2)
    assert.equal("", octets)
    assert.equal("closed", ending)
  end)
end)

describe("--write-timeout", function()
  local app = [[
local web = require "luaweb"
return web.app { web.get("/", function() return ("x"):rep(67108864) end) }
]]

  it("cuts a client that does not read its answer, and logs it", function()
    local path = process.file("large.lua", app)
    local child = process.serve(path, "--write-timeout", "0.3")
    local conn = child:connect(get "/")
    assert.equal("timeout", select(2, child:connect():receive(1)))
    local octets, ending = process.rest(conn)
    assert.equal("reset", ending)
    assert(#octets < 67108864)
    assert.matches("127%.0%.0%.1 does not read its answer: cut\n", child:errors())
    conn:close()
  end)

  it("lets a client be slow that reads", function()
    local child = process.serve(process.file("large.lua", app), "--write-timeout", "1")
    local conn, size = child:connect(get "/"), 0
    for _ = 1, 8 do
      for _ = 1, 20 do size = size + #assert(conn:receive(5)) end
      assert.equal("timeout", select(2, child:connect():receive(0.25)))
    end
    size = size + #process.rest(conn, 0.5)
    assert(size > 67108864, size .. " octets came")
    conn:close()
  end)
end)
