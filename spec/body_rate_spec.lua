-- SPDX-License-Identifier: MIT
-- --body-rate: a client that the server waits for, for more than five seconds in all,
-- must have sent so many octets a second.  What the server takes its time over is not
-- held against the client.  All clients run beside each other: each needs seconds.
local job = require "luaweb.job"
local process = require "spec.support.process"
local web = require "luaweb"

local APP = [[
local web = require "luaweb"
local function size(req) return tostring(#req:bytes()) end
return web.app {
  web.post("/read", size),
  web.post("/reject", function() return 403 end),
  web.post("/late", function(req) web.sleep(7) return size(req) end),
  web.post("/pauses", function(req)
    local octets = 0
    for piece in req:chunks() do
      octets = octets + #piece
      web.sleep(0.2)
    end
    return tostring(octets)
  end),
  web.get("/", function() return "root" end),
}
]]

local STEP = 0.2 -- seconds between two sendings

local function now()
  return tonumber((assert(io.open "/proc/uptime"):read "*n"))
end

-- Sends a head, then pieces in steps, up to an answer or the end of the connection.
---@return { octets: string, ending: string?, seconds: number, conn: luaweb.Socket }
local function drip(child, head, piece, pieces)
  local conn, began = child:connect(head), now()
  local octets, ending
  for _ = 1, pieces do
    octets, ending = conn:receive(STEP)
    if octets or ending ~= "timeout" then break end
    conn:send(piece)
  end
  if not octets and ending == "timeout" then octets, ending = conn:receive(10) end
  return { octets = octets or "", ending = ending, seconds = now() - began,
    conn = conn }
end

local function head_of(target, octets)
  return ("POST %s HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\n\r\n"):format(
    target, octets)
end

-- The clients; at 20 octets in 0.2 s they send 100 in a second, at 60 they send 300.
local clients = {
  too_slow = function(child)
    return drip(child, head_of("/read", 600), ("x"):rep(20), 30)
  end,
  too_slow_in_chunks = function(child)
    return drip(child, process.post_chunks "/read", "14\r\n" .. ("x"):rep(20) .. "\r\n",
      60)
  end,
  too_slow_for_nobody = function(child)
    local conn = child:connect(head_of("/reject", 4000))
    local answer, began = process.answers(conn), now()
    local ending
    repeat
      conn:send(("x"):rep(20))
      ending = select(2, conn:receive(STEP))
    until ending ~= "timeout" or now() - began > 20
    return { status = answer.status, ending = ending, seconds = now() - began }
  end,
  fast_enough = function(child)
    return drip(child, head_of("/read", 2100), ("x"):rep(60), 35)
  end,
  slow_but_brief = function(child)
    return drip(child, head_of("/read", 400), ("x"):rep(20), 20)
  end,
  half_then_half = function(child)
    local conn = child:connect(head_of("/late", 200) .. ("x"):rep(100))
    assert.equal("timeout", select(2, conn:receive(7.3)))
    conn:send(("x"):rep(100))
    return { octets = conn:receive(5) or "" }
  end,
  all_at_once = function(child)
    return { octets = child:connect(process.post("/late", ("x"):rep(100)))
      :receive(10) or "" }
  end,
  at_the_handlers_pace = function(child)
    return drip(child, head_of("/pauses", 600), ("x"):rep(20), 30)
  end,
}

describe("--body-rate", function()
  local child, unlimited, jobs = nil, nil, {}

  setup(function()
    local path = process.file("app.lua", APP)
    child = process.serve(path)
    unlimited = process.serve(path, "--body-rate", "0")
    for name, client in pairs(clients) do jobs[name] = job.spawn(client, child) end
    jobs.unlimited = job.spawn(clients.too_slow, unlimited)
    web.sleep(0) -- they begin
  end)

  teardown(process.clean)

  local function is_answered(result, body)
    assert.matches("^HTTP/1%.1 200 ", result.octets)
    assert.equal(body, result.octets:match "\r\n\r\n(.*)$")
  end

  local function took_five_seconds(result)
    assert(result.seconds > 4.8 and result.seconds < 12, result.seconds .. " s")
  end

  local function is_refused(result)
    assert.matches("^HTTP/1%.1 408 ", result.octets)
    assert.matches("\r\nConnection: close\r\n", result.octets)
    took_five_seconds(result)
    assert.equal("closed", select(2, process.rest(result.conn)))
  end

  it("answers 408 to slower content, after five seconds", function()
    is_refused(jobs.too_slow:join())
  end)

  it("answers 408 to slower content in chunks", function()
    is_refused(jobs.too_slow_in_chunks:join())
  end)

  it("closes where slower content is only swallowed", function()
    local result = jobs.too_slow_for_nobody:join()
    assert.equal(403, result.status)
    assert(result.ending == "closed" or result.ending == "reset", result.ending)
    took_five_seconds(result)
  end)

  it("lets a client pass that is fast enough, however long it takes", function()
    local result = jobs.fast_enough:join()
    is_answered(result, "2100")
    assert(result.seconds > 6.5, result.seconds .. " s")
  end)

  it("lets a slow client pass that ends before", function()
    is_answered(jobs.slow_but_brief:join(), "400")
  end)

  it("does not hold it against the client that the handler reads late", function()
    is_answered(jobs.all_at_once:join(), "100")
    is_answered(jobs.half_then_half:join(), "200")
  end)

  it("does not hold it against the client that the handler reads slowly", function()
    is_answered(jobs.at_the_handlers_pace:join(), "600")
  end)

  it("is switched off by 0", function()
    local result = jobs.unlimited:join()
    is_answered(result, "600")
    assert(result.seconds > 5.5, result.seconds .. " s")
  end)

  it("leaves the server as it was", function()
    assert.equal("root", child:ask(process.get "/").body)
    assert.equal("", child:errors())
  end)
end)
