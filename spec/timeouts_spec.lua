-- SPDX-License-Identifier: MIT
-- The timeouts of the command line, as slow clients and slow handlers meet them.
local process = require "spec.support.process"

local APP = "spec/apps/cases.lua"

local LATEST = 9 -- seconds, by which it must be; without the flag none is so early

local get = process.get

after_each(process.clean)

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
  takes(0.2, LATEST, function()
    local answer = process.answers(conn)
    assert.equal(status, answer.status)
    assert.equal("close", answer:header "connection")
    assert.equal("closed", select(2, process.rest(conn)))
  end)
  conn:close()
end

local function closes_late(conn)
  takes(0.2, LATEST, function()
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
    takes(0.2, LATEST, function()
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
  local half = process.post("/echo", "abcdef"):sub(1, -4)

  it("answers 408 when content stands still", function()
    local child = process.serve(APP, "--body-timeout", "0.3")
    answers_late(child:connect(half), 408)
  end)

  it("starts anew with every octet", function()
    local child = process.serve(APP, "--body-timeout", "1")
    local conn = child:connect(half)
    for octet in ("def"):gmatch "." do
      assert.equal("timeout", select(2, conn:receive(0.4)))
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
    assert.matches("127%.0%.0%.1 does not read its answer: cut "
      .. "%(%-%-write%-timeout%)\n", child:errors())
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

describe("--request-timeout", function()
  local app = [[
local web = require "luaweb"
return web.app {
  web.get("/", function() return "root" end),
  web.get("/slow", function() web.sleep(0.5) return "slow" end),
}
]]

  it("answers 503 for a handler that takes longer", function()
    local path = process.file("slow.lua", app)
    local child = process.serve(path, "--request-timeout", "0.2")
    local conn = child:connect(get "/slow")
    takes(0.1, LATEST, function() assert.equal(503, process.answers(conn).status) end)
    conn:close()
    assert.equal("root", child:ask(get "/").body)
  end)

  it("does not touch a handler that is in time", function()
    local child = process.serve(process.file("slow.lua", app), "--request-timeout", "2")
    assert.equal("slow", child:ask(get "/slow").body)
  end)
end)
