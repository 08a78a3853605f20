-- SPDX-License-Identifier: MIT
-- Each deadline counts what it is for: octets the other way, empty lines and busy turns
-- neither hide a slow client nor end a good one.
local process = require "spec.support.process"
local web = require "luaweb"

local APP = [[
local web = require "luaweb"
local job = require "luaweb.job"
local large = ("x"):rep(2 ^ 24)
return web.app {
  web.get("/large", function() return large end),
  web.get("/busy", function()
    local began = os.clock()
    while os.clock() - began < 1.2 do end
    return "busy"
  end),
  web.post("/both", function(req)
    return web.streaming(function(out)
      local ticks = 0
      job.spawn(function()
        pcall(req.bytes, req)
        print("reader ended after " .. ticks)
      end)
      for _ = 1, 15 do
        out:write "tick"
        ticks = ticks + 1
        web.sleep(0.1)
      end
    end)
  end),
}
]]

after_each(process.clean)

local function serve(...)
  return process.serve(process.file("app.lua", APP), ...)
end

local function now()
  return tonumber((assert(io.open "/proc/uptime"):read "*n"))
end

-- Sends octet after octet until the server has closed; how many seconds that took.
local function trickle(conn, octets, look)
  local began = now()
  for i = 1, 24 do
    web.sleep(0.07)
    if look() or not conn:send(octets:sub(i, i)) then return now() - began end
  end
  error("the connection is still open after 24 octets", 2)
end

describe("--write-timeout", function()
  it("cuts a client that never reads, though octets of its next head come", function()
    local child = serve("--write-timeout", "0.3")
    local conn = child:connect(process.get "/large")
    web.sleep(0.1)
    local seconds = trickle(conn, process.get "/trickled/trickled/trickled",
      function() return false end)
    assert(seconds > 0.2, ("cut after %.2f s"):format(seconds))
    conn:close()
  end)
end)

describe("--body-timeout", function()
  it("ends a silent upload, though octets of its answer go", function()
    local child = serve("--body-timeout", "0.3")
    local octets = process.post("/both", "0123456789"):sub(1, -8)
    local conn = child:connect(octets)
    local ticks = tonumber(child:expect "^reader ended after (%d+)$")
    assert(ticks >= 1 and ticks < 15, ticks .. " ticks") -- after 15 there are no more
    conn:close()
  end)
end)

describe("--idle-timeout", function()
  it("starts when a long busy turn ends, not when it began", function()
    local child = serve("--idle-timeout", "1")
    local conn = child:connect()
    assert.equal("busy", child:ask(process.get "/busy", conn).body)
    assert.equal("timeout", select(2, conn:receive(0.2)))
    assert.equal("closed", select(2, conn:receive(5)))
    conn:close()
  end)

  it("is not put off by CR, LF, CR, LF, one octet at a time", function()
    local child = serve("--idle-timeout", "0.3", "--header-timeout", "0.3")
    local conn = child:connect()
    local received, ending
    local seconds = trickle(conn, ("\r\n"):rep(12), function()
      received, ending = conn:receive(0)
      return ending ~= "timeout"
    end)
    assert.is_nil(received)
    assert(seconds > 0.2, ("closed after %.2f s"):format(seconds))
    conn:close()
  end)
end)
