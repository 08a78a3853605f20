-- SPDX-License-Identifier: MIT
-- --request-timeout: a handler that takes longer is a 503 for its client, whatever it
-- does later.  That its work ends is told in timeout_spec.lua.
local process = require "spec.support.process"

local ROOT, SLOW = process.get "/", process.get "/slow"
local VERY_SLOW = process.get "/very_slow"

local APP = [[
local job = require "luaweb.job"
local web = require "luaweb"
local function sleep() job.shield(web.sleep, 0.6) end -- whatever happens
return web.app {
  web.get("/", function() return "root" end),
  web.get("/slow", function() sleep() print "late" return "too late" end),
  web.get("/very_slow", function() job.shield(web.sleep, 30) end),
  web.get("/in_time", function() web.sleep(0.1) return "in time" end),
  web.get("/stream", function()
    return web.streaming(function(out)
      out:write "begun"
      sleep()
      print "late"
      out:write "too late"
    end)
  end),
  web.any("/echo", function(req) return req:bytes() end),
  web.get("/headers", function()
    sleep()
    print "late"
    return web.text("too late"):header("X-Late", "yes")
  end),
}
]]

after_each(process.clean)

local function serve(seconds)
  local child = process.serve(process.file("app.lua", APP), "--request-timeout",
    seconds or "0.3")
  child:expect "/headers" -- the last route: from here on only handlers print
  return child
end

local function now()
  return tonumber((assert(io.open "/proc/uptime"):read "*n"))
end

local function is_too_late(answer)
  assert.equal(503, answer.status)
  assert.matches("^%d+$", answer:header "retry-after")
end

-- Nothing comes any more on the connection, which serves the next request all the same.
local function is_in_step(child, conn)
  assert.equal("timeout", select(2, conn:receive(0.1)))
  assert.equal("root", child:ask(ROOT, conn).body)
  assert.equal("timeout", select(2, conn:receive(0.1)))
  conn:close()
end

describe("--request-timeout", function()
  it("answers 503 while the handler sleeps, and says when to come back", function()
    local child, began = serve(), now()
    local answer = child:ask(VERY_SLOW)
    is_too_late(answer)
    assert.is_nil(answer:header "connection")
    local seconds = now() - began
    assert(seconds >= 0.28 and seconds < 25, seconds .. " s")
  end)

  it("is logged with method and target, and as no error", function()
    local child = serve()
    child:ask(process.get "/slow?why=not")
    child:expect "^late$"
    assert.matches("warn  %[%x+%-%x+%] GET /slow%?why=not: its handler took longer "
      .. "than %-%-request%-timeout\n", child:errors())
    child:stop()
  end)

  it("leaves alone a handler that ends in time", function()
    local child = serve "2"
    local conn = child:connect()
    for _ = 1, 4 do
      assert.equal("in time", child:ask(process.get "/in_time", conn).body)
    end
    conn:close()
    child:stop()
    assert.equal("", child:errors())
  end)

  it("does not count the rest between two requests", function()
    local child = serve()
    local conn = child:connect()
    assert.equal("root", child:ask(ROOT, conn).body)
    assert.equal("timeout", select(2, conn:receive(0.5)))
    assert.equal("root", child:ask(ROOT, conn).body)
    conn:close()
    assert.equal("", child:errors())
  end)

  it("sends the answer that comes later nowhere", function()
    local child = serve()
    local conn = child:connect()
    is_too_late(child:ask(SLOW, conn))
    child:expect "^late$"
    is_in_step(child, conn)
    child:stop()
  end)

  it("leaves no header of the late answer to the next request", function()
    local child = serve()
    local conn = child:connect()
    is_too_late(child:ask(process.get "/headers", conn))
    child:expect "^late$"
    assert.is_nil(child:ask(ROOT, conn):header "x-late")
    conn:close()
    child:stop()
  end)

  it("serves the next request at once, while the late handler still sleeps", function()
    local child = serve()
    local conn = child:connect()
    local began = now()
    is_too_late(child:ask(VERY_SLOW, conn))
    is_in_step(child, conn)
    assert(now() - began < 25)
  end)

  it("answers what was pipelined behind it", function()
    local child = serve()
    local conn = child:connect(SLOW .. ROOT .. process.get "/in_time" .. ROOT)
    local late, second, third, fourth = process.answers(conn, 4)
    is_too_late(late)
    assert.equal("root", second.body)
    assert.equal("in time", third.body)
    assert.equal("root", fourth.body)
    is_in_step(child, conn)
    child:stop()
  end)

  it("runs anew for each request of a connection", function()
    local child = serve()
    local conn = child:connect(SLOW .. SLOW)
    local first, second = process.answers(conn, 2)
    is_too_late(first)
    is_too_late(second)
    is_in_step(child, conn)
  end)

  it("cuts an answer that has begun", function()
    local child = serve()
    local conn = child:connect(process.get "/stream")
    local octets, ending = process.rest(conn)
    assert.equal("closed", ending)
    assert.is_nil(octets:find("0\r\n\r\n", 1, true))
    assert.is_nil(octets:find("too late", 1, true))
    conn:close()
    child:expect "^late$"
    assert.matches("GET /stream: its handler took longer", child:errors())
    assert.equal("root", child:ask(ROOT).body)
    child:stop()
  end)

  it("holds for a handler that waits for content, too", function()
    local child = serve()
    local post = process.post("/echo", "abcdef")
    local conn = child:connect(post:sub(1, -4))
    is_too_late(process.answers(conn))
    conn:send "def" -- swallowed
    is_in_step(child, conn)
  end)

  it("is none by default, and with 0", function()
    local child = serve "0"
    assert.equal("too late", child:ask(SLOW).body)
    child:stop()
    assert.equal("", child:errors())
  end)
end)
