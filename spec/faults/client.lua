-- SPDX-License-Identifier: MIT
-- The clients of the scripts of this folder, run by `luaweb routes`: a script that does
-- its work while it loads needs nothing else.  FAULTS_DO names what is done,
-- FAULTS_PORT where the server listens, FAULTS_COUNT how many connections or seconds.
-- Between its steps a client prints a line and waits for one.
local abi = require "luaweb.abi"
local socket = require "luaweb.client.socket"
local web = require "luaweb"

local PORT = assert(tonumber(os.getenv "FAULTS_PORT"))
local COUNT = assert(tonumber(os.getenv "FAULTS_COUNT"))
local BATCH = 100 -- connections that are opened at once

local function now()
  return abi.C.luaweb_now(abi.host)
end

local function get(target)
  return ("GET %s HTTP/1.1\r\nHost: localhost\r\n\r\n"):format(target)
end

local function connect(octets)
  local conn = assert(socket.connect("127.0.0.1", PORT))
  if octets then assert(conn:send(octets)) end
  return conn
end

-- Tells how far we are; goes on at the next line of the standard input.
local function say(...)
  print(...)
  io.flush()
  io.read "*l"
end

local function is_served(conn, seconds)
  local octets = conn:receive(seconds)
  return octets ~= nil and octets:find("^HTTP/1%.1 200 ") ~= nil
end

-- Opens COUNT connections that send these octets, in batches; so many were served.
local function open_all(octets, seconds)
  local conns, served = {}, 0
  for first = 1, COUNT, BATCH do
    local last = math.min(first + BATCH - 1, COUNT)
    for i = first, last do conns[i] = connect(octets) end
    for i = first, last do
      if seconds and is_served(conns[i], seconds) then served = served + 1 end
    end
  end
  return conns, served
end

local clients = {}

--- Sends heads, one octet a second, on COUNT connections; one that the server ends is
--- opened anew.
function clients.drip()
  local HEAD = "GET / HTTP/1.1\r\nHost: localhost\r\nX: "
  local TICK = 0.01
  local conns, sent, ended = {}, {}, 0
  local began, per_tick = now(), math.ceil(COUNT * TICK)

  local function drip(i)
    if conns[i] and select(2, conns[i]:receive(0)) ~= "timeout" then
      ended = ended + 1
      conns[i]:close()
      conns[i] = nil
    end
    if not conns[i] then conns[i], sent[i] = connect(), 0 end
    sent[i] = sent[i] + 1
    local octet = sent[i] <= #HEAD and HEAD:sub(sent[i], sent[i]) or "x"
    conns[i]:send(octet)
  end

  local at, tick = 0, 0
  while true do
    for _ = 1, per_tick do
      at = at % COUNT + 1
      drip(at)
    end
    tick = tick + 1
    if tick == 100 then print "all are open" io.flush() end
    web.sleep(math.max(0, began + tick * TICK - now()))
  end
end

--- Asks on one connection for COUNT seconds: how many answers came, and how many
--- milliseconds half of them, 99 in 100, and the slowest took.
function clients.measure()
  local conn, took, request = connect(), {}, get "/"
  local latest = now() + COUNT
  while now() < latest do
    local began = now()
    assert(conn:send(request))
    assert(is_served(conn, 10))
    took[#took + 1] = (now() - began) * 1000
    web.sleep(0.002)
  end
  table.sort(took)
  print(#took, took[math.ceil(#took / 2)], took[math.ceil(#took * 0.99)], took[#took])
end

--- Keeps COUNT connections open, each of which was served once.
function clients.keep()
  local conns, served = open_all(get "/", 10)
  say(served)
  for i = 1, #conns do conns[i]:close() end
end

--- Opens COUNT connections where there are not descriptors for all, then closes one
--- that was served: so many were served before, and so many others after that.
function clients.exhaust()
  local conns = open_all(get "/")
  web.sleep(0.5)
  local served, waiting = {}, {}
  for i = 1, #conns do
    table.insert(is_served(conns[i], 0) and served or waiting, conns[i])
  end
  say(#served)
  served[1]:close()
  web.sleep(1)
  local more = 0
  for i = 1, #waiting do
    if is_served(waiting[i], 0) then more = more + 1 end
  end
  print(more)
end

--- Asks for what FAULTS_TARGET names and reads nothing of it.
function clients.not_read()
  local conn = connect(get(os.getenv "FAULTS_TARGET"))
  say "asked"
  conn:close()
end

-- A connection that is closed with an answer unread is reset by the system.
local function reset_all(conns)
  for i = 1, #conns do conns[i]:close() end
end

--- Resets COUNT connections, first while their handlers sleep, then while so much is
--- pipelined behind these that reading rests.
function clients.reset()
  local waiting = get "/" .. get "/sleep/60"
  local conns = open_all(waiting)
  say "handlers wait"
  reset_all(conns)
  say "were reset"
  conns = open_all(waiting .. get("/" .. ("x"):rep(4000)):rep(40))
  say "reading rests"
  reset_all(conns)
  print "were reset"
end

--- Resets COUNT connections, one after the other, at different points.
function clients.reset_in_turn()
  local beginnings = {
    get "/" .. "GET / HT", get "/" .. get "/sleep/0.01", get "/stream",
    get "/" .. get "/sleep/0.01" .. get "/":rep(1000),
  }
  for i = 1, COUNT do
    local conn = connect(beginnings[i % #beginnings + 1])
    web.sleep(0.002)
    conn:close()
  end
  print(COUNT)
end

local name = os.getenv "FAULTS_DO"
assert(clients[name], "FAULTS_DO names no client")()

return web.app {}
