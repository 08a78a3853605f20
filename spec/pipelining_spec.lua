-- SPDX-License-Identifier: MIT
-- How much one connection may ask for: --max-requests, and what --max-read-ahead lets
-- it send behind a request that waits.
local http_reader = require "luaweb.client.http_reader"
local job = require "luaweb.job"
local process = require "spec.support.process"
local socket = require "luaweb.client.socket"
local web = require "luaweb"

local ROOT = process.get "/"

after_each(process.clean)

local function read_all(conn)
  local octets, ending = process.rest(conn)
  conn:close()
  local messages = http_reader.read(octets, {}, true)
  return messages, ending
end

describe("--max-requests", function()
  -- Exactly `count` answers, the last of which announces the close.
  local function has_ended_after(count, messages, ending)
    assert.equal("closed", ending)
    assert.equal(count, #messages)
    for i = 1, count do
      assert.equal(i == count and "close" or nil, messages[i]:header "connection")
    end
  end

  it("closes a connection after so many requests, and announces it", function()
    local child = process.serve("spec/apps/cases.lua", "--max-requests", "3")
    local conn, messages = child:connect(), {}
    for i = 1, 3 do messages[i] = child:ask(ROOT, conn) end
    has_ended_after(3, messages, select(2, process.rest(conn)))
    conn:close()
  end)

  it("answers none of what was pipelined behind the last", function()
    local child = process.serve("spec/apps/cases.lua", "--max-requests", "3")
    has_ended_after(3, read_all(child:connect(ROOT:rep(10))))
  end)

  it("counts requests that C answers alone", function()
    local child = process.serve("spec/apps/cases.lua", "--max-requests", "3")
    local conn = child:connect(process.get "/missing" .. ROOT .. process.get "/missing"
      .. ROOT)
    local messages, ending = read_all(conn)
    has_ended_after(3, messages, ending)
    assert.equal(404, messages[3].status)
  end)

  it("lets a stream that is the last run to its end", function()
    local child = process.serve("spec/apps/reports.lua", "--max-requests", "2")
    local messages, ending = read_all(child:connect(ROOT
      .. process.get "/stream/1000000" .. ROOT))
    has_ended_after(2, messages, ending)
    assert.equal(1000000, #messages[2].body)
  end)

  it("may be one: every answer closes", function()
    local child = process.serve("spec/apps/cases.lua", "--max-requests", "1")
    has_ended_after(1, read_all(child:connect(ROOT .. ROOT)))
  end)

  it("counts each connection apart", function()
    local child = process.serve("spec/apps/cases.lua", "--max-requests", "2")
    for _ = 1, 3 do
      local conn = child:connect(ROOT)
      assert.is_nil(process.answers(conn):header "connection")
      conn:close()
    end
  end)

  it("is never by default", function()
    local child = process.serve "spec/apps/cases.lua"
    local conn = child:connect(ROOT:rep(500))
    local last = select(500, process.answers(conn, 500))
    assert.is_nil(last:header "connection")
    conn:close()
  end)
end)

describe("--max-read-ahead", function()
  local PADDED = process.get("/", "X: " .. ("x"):rep(4000) .. "\r\n")
  local COUNT = 500 -- 2 MB, more than all that the system holds between two ends

  local APP = [[
local web = require "luaweb"
return web.app {
  web.get("/", function() return "root" end),
  web.get("/wait", function() web.sleep(1) return "waited" end),
}
]]

  -- Over a unix socket, where the system holds little: a connection that sends a
  -- request whose handler waits, then COUNT others; sent.octets tells how far it came.
  local function send_behind(read_ahead)
    local path = process.path "socket"
    local child = process.serve(process.file("app.lua", APP), "--listen",
      "unix:" .. path, "--max-read-ahead", read_ahead)
    child:expect "/wait"
    local conn = assert(socket.connect("unix:" .. path))
    local sent = { octets = 0 }
    conn:send(process.get "/wait")
    sent.all = job.spawn(function()
      for _ = 1, COUNT do
        if not conn:send(PADDED) then return end
        sent.octets = sent.octets + #PADDED
      end
    end)
    web.sleep(0.4)
    return child, conn, sent
  end

  -- What the system holds of it: the most that a sender of a unix socket may have under
  -- way, of which some is spent on keeping books.
  local function held_by_system()
    local file = assert(io.open "/proc/sys/net/core/wmem_default")
    local octets = file:read "*n"
    file:close()
    return octets
  end

  local function stays_within(read_ahead, octets)
    local child, conn, sent = send_behind(read_ahead)
    local most = 2 * octets + held_by_system() + 65536
    assert(sent.octets < most, ("%d octets, more than %d"):format(sent.octets, most))
    assert(sent.octets > octets, ("only %d octets"):format(sent.octets))
    conn:close()
    return child
  end

  it("bounds what a client may send behind a request that waits", function()
    stays_within("64k", 65536)
  end)

  it("reads more where it may", function()
    stays_within("512k", 524288)
  end)

  it("does not wake the loop while reading rests", function()
    local child, conn = send_behind "64k"
    local function ticks() -- of 10 ms, in user and system mode
      local file = assert(io.open(("/proc/%d/stat"):format(child.pid)))
      local numbers = {}
      for number in file:read("*a"):match "%) . (.*)":gmatch "%S+" do
        numbers[#numbers + 1] = tonumber(number)
      end
      file:close()
      return numbers[11] + numbers[12]
    end
    local before = ticks()
    web.sleep(0.3)
    assert(ticks() - before <= 3, "it spins")
    conn:close()
  end)

  it("goes on reading afterwards: all is answered in order", function()
    local child, conn, sent = send_behind "64k"
    local answers = { process.answers(conn, COUNT + 1) }
    assert.equal("waited", answers[1].body)
    for i = 2, COUNT + 1 do assert.equal("root", answers[i].body) end
    sent.all:join()
    assert.equal("timeout", select(2, conn:receive(0.1)))
    conn:close()
    child:stop()
  end)
end)
