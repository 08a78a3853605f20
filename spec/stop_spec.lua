-- SPDX-License-Identifier: MIT
-- Starting and stopping: what runs before the first connection and after the last, and
-- what becomes of those that are open when a signal asks luaweb to end.
local process = require "spec.support.process"
local web = require "luaweb"

local KEPT, SLOW, ENDLESS = process.get "/", process.get "/slow", process.get "/endless"

-- Seconds: a stop that waits for something takes 30 at least, or 60, or for ever.
local SOON = 20

-- /slow and /stream tell on standard output when they have begun.
local APP = [[
local web = require "luaweb"
return web.app {
  on_start = function() web.sleep(0.05) print "started" end,
  on_stop = function() print "stopping" web.sleep(0.05) print "stopped" end,
  web.get("/", function() return "root" end),
  web.get("/slow", function() print "begun" web.sleep(0.4) return "slow" end),
  web.get("/endless", function() print "begun" web.sleep(60) end),
  web.any("/reject", function() return 403 end),
  web.get("/large", function() return ("x"):rep(8388608) end),
  web.get("/stream", function()
    return web.streaming(function(out)
      print "begun"
      for i = 1, 5 do out:write(i .. ",") web.sleep(0.05) end
    end)
  end),
}
]]

after_each(process.clean)

local function serve(...)
  local child = process.serve(process.file("app.lua", APP), ...)
  child:expect "/stream" -- the last route: from here on only handlers print
  return child
end

-- A connection at rest between two requests: it closes soon after the stop begins.
local function kept_connection(child)
  local conn = child:connect()
  assert.equal("root", child:ask(KEPT, conn).body)
  return conn
end

local function closes(conn, seconds)
  local octets, ending = process.rest(conn, seconds)
  assert.equal("", octets)
  assert.equal("closed", ending)
  conn:close()
end

-- Sends a request whose handler waits, then the signal; gives the connection when the
-- stop has begun.
local function stop_while_serving(child, signal, octets)
  local witness, conn = kept_connection(child), child:connect(octets or SLOW)
  child:expect "^begun$"
  child:signal(signal)
  closes(witness)
  return conn
end

local function now()
  return tonumber((assert(io.open "/proc/uptime"):read "*n"))
end

local function ends(child, code)
  local began = now()
  assert.equal(code, (child:wait()))
  return now() - began
end

describe("the start", function()
  it("waits for on_start before it listens", function()
    local child = serve()
    assert.matches("^started\nluaweb serves ", child.output)
  end)

  it("never listens when it is stopped while on_start waits", function()
    local child = process.start(process.file("app.lua", [[
local web = require "luaweb"
return web.app {
  on_start = function() print "starting" web.sleep(0.2) end,
  on_stop = function() web.sleep(0.4) end,
}
]]), "--listen", "127.0.0.1:0")
    child:expect "^starting$"
    child:signal "TERM"
    ends(child, 0)
    assert.equal("starting\n", child.output:match "^(.*)\nexit 0\n$")
  end)
end)

for _, signal in ipairs { "TERM", "INT" } do
  describe("SIG" .. signal, function()
    it("ends a server at rest at once, with code 0 and without a word", function()
      local child = serve()
      child:signal(signal)
      assert(ends(child, 0) < SOON)
      assert.equal("", child:errors())
    end)

    it("lets a handler that waits finish, and announces the close", function()
      local child = serve()
      local conn = stop_while_serving(child, signal)
      local answer = process.answers(conn)
      assert.equal("slow", answer.body)
      assert.equal("close", answer:header "connection")
      closes(conn)
      ends(child, 0)
    end)

    it("runs on_stop, which may wait", function()
      local child = serve()
      child:signal(signal)
      local _, output = child:wait()
      assert.matches("stopping\nstopped\n$", output)
    end)
  end)
end

describe("a stop", function()
  it("still answers a request that was on its way, and announces the end", function()
    local child = serve()
    local busy = child:connect(SLOW)
    child:expect "^begun$"
    local conn = kept_connection(child)
    child:signal "TERM"
    web.sleep(0.05)
    local answer = child:ask(KEPT, conn)
    assert.equal("root", answer.body)
    assert.equal("close", answer:header "connection")
    busy:close()
    conn:close()
  end)

  it("closes connections at rest", function()
    local child = serve()
    local kept, fresh = kept_connection(child), child:connect()
    child:signal "TERM"
    closes(kept)
    closes(fresh)
    assert(ends(child, 0) < SOON)
  end)

  it("refuses new connections", function()
    local child = serve()
    local conn = stop_while_serving(child, "TERM")
    local octets, ending = child:connect():receive(5)
    assert.is_nil(octets)
    assert.equal("reset", ending)
    assert.equal("slow", process.answers(conn).body)
    conn:close()
    ends(child, 0)
  end)

  it("frees the port at once, even while requests are finished", function()
    local child = serve()
    local conn = stop_while_serving(child, "TERM")
    local address = "127.0.0.1:" .. child.port
    local second = process.start("apps/hello.lua", "--listen", address)
    second:expect("on http://" .. address .. "$")
    second:signal "TERM"
    assert.equal(0, (second:wait()))
    assert.equal("slow", process.answers(conn).body)
    conn:close()
    ends(child, 0)
    local third = process.start("apps/hello.lua", "--listen", address)
    third:expect("on http://" .. address .. "$")
  end)

  it("answers a request that came before the signal", function()
    local child = serve()
    local conn = kept_connection(child)
    child:signal "STOP"
    conn:send(KEPT)
    child:signal "TERM"
    child:signal "CONT"
    local answer = process.answers(conn)
    assert.equal("root", answer.body)
    closes(conn)
    ends(child, 0)
  end)

  it("answers a request of which a part had come", function()
    local child = serve()
    local witness, conn = kept_connection(child), child:connect(KEPT:sub(1, 20))
    assert.equal("root", child:ask(KEPT).body) -- so the part has been read
    child:signal "TERM"
    closes(witness)
    conn:send(KEPT:sub(21))
    local answer = process.answers(conn)
    assert.equal("root", answer.body)
    assert.equal("close", answer:header "connection")
    closes(conn)
    ends(child, 0)
  end)

  it("leaves what is pipelined behind the announced close to others", function()
    local child = serve()
    local conn = stop_while_serving(child, "TERM", SLOW .. KEPT)
    assert.equal("slow", process.answers(conn).body)
    closes(conn)
    ends(child, 0)
  end)

  it("lets a stream run to its end", function()
    local child = serve()
    local conn = stop_while_serving(child, "TERM", process.get "/stream")
    assert.equal("1,2,3,4,5,", process.answers(conn).body)
    closes(conn)
    ends(child, 0)
  end)

  it("closes a connection once it has swallowed content that nobody read", function()
    local child = serve()
    local witness, conn = kept_connection(child), child:connect()
    local answer = child:ask("POST /reject HTTP/1.1\r\nHost: localhost\r\n"
      .. "Content-Length: 5\r\n\r\n12", conn)
    assert.equal(403, answer.status)
    child:signal "TERM"
    closes(witness)
    conn:send "345"
    closes(conn, 2)
    ends(child, 0)
  end)

  it("closes a connection once its client has read the answer", function()
    local child = serve()
    local witness = kept_connection(child)
    local conn = child:connect(process.get "/large")
    assert(conn:receive(5)) -- it is on its way, more than the system takes
    child:signal "TERM"
    closes(witness)
    local _, ending = process.rest(conn, 2)
    assert.equal("closed", ending)
    conn:close()
    ends(child, 0)
  end)

  it("logs an on_stop that fails, and ends all the same", function()
    local child = process.serve(process.file("app.lua", [[
return require("luaweb").app { on_stop = function() error "no disk" end }
]]))
    child:signal "TERM"
    ends(child, 0)
    assert.matches("on_stop failed: [^\n]*app%.lua:1: no disk\n", child:errors())
  end)

  it("is cut short by a second SIGTERM", function()
    local child = serve()
    local conn = stop_while_serving(child, "TERM", ENDLESS)
    child:signal "TERM"
    assert(ends(child, 0) < SOON)
    assert.equal("reset", select(2, process.rest(conn)))
  end)

  it("is cut short by a second SIGINT, with the code of an interrupted program",
    function()
      local child = serve()
      stop_while_serving(child, "INT", ENDLESS)
      child:signal "INT"
      assert(ends(child, 130) < SOON)
    end)

  it("is cut short by a second signal while on_stop never waits", function()
    local child = process.serve(process.file("app.lua", [[
return require("luaweb").app { on_stop = function()
  print "stopping"
  io.stdout:flush()
  while true do end
end }
]]))
    child:signal "TERM"
    child:expect "^stopping$"
    child:signal "TERM"
    assert(ends(child, 0) < SOON)
  end)

  it("is cut short by --drain-timeout, which is logged", function()
    local child = serve("--drain-timeout", "0.6")
    local conn = stop_while_serving(child, "TERM", ENDLESS)
    assert(ends(child, 0) < SOON)
    assert.matches("warn +stopping: 1 connection", child:errors())
    assert.equal("reset", select(2, process.rest(conn)))
  end)

  it("waits as long as it takes with --drain-timeout 0", function()
    local child = serve("--drain-timeout", "0")
    local conn = stop_while_serving(child, "TERM")
    assert.equal("slow", process.answers(conn).body)
    conn:close()
    ends(child, 0)
  end)
end)
