-- SPDX-License-Identifier: MIT
-- What other servers stumbled over, as an app: handlers that wait, stream, call their
-- own server, or answer in unusual ways.
local job = require "luaweb.job"
local socket = require "luaweb.client.socket"
local web = require "luaweb"

local BLOCK = ("x"):rep(65536)

local function echo(req)
  return web.bytes("application/octet-stream", req:bytes())
end

local function by_job(req)
  return job.spawn(function() return req:bytes() end):join()
end

local late_handlers = 0

local function late(req)
  web.sleep(0.01)
  late_handlers = late_handlers + 1
  if late_handlers == 20 then print "20 late handlers have ended" end
  return req.params.digit:rep(76000)
end

local function long()
  print "waiting"
  web.sleep(0.5)
end

local function stream(req)
  local octets = tonumber(req.params.octets)
  return web.streaming(function(out)
    for _ = 1, math.floor(octets / #BLOCK) do out:write(BLOCK) end
    out:write(BLOCK:sub(1, octets % #BLOCK))
  end)
end

-- Copies the stream of another handler of this server to a file, as it comes.
local function copy(req)
  local conn = assert(socket.connect("127.0.0.1", tonumber(req.params.port)))
  conn:send "GET /stream/1048576 HTTP/1.0\r\n\r\n"
  local file, head, octets = assert(io.open(req.query.to, "wb")), "", 0
  for piece in function() return (conn:receive(5)) end do
    if head then
      head = head .. piece
      piece = head:match "\r\n\r\n(.*)$"
      if piece then head = nil end
    end
    if piece then
      octets = octets + #piece
      file:write(piece)
    end
  end
  file:close()
  conn:close()
  return tostring(octets)
end

local function length()
  return web.text("hello"):header("Content-Length", "5"):header("content-length", "5")
end

local function words()
  return web.streaming(function(out) out:write "first words" end)
end

local function values(pairs)
  return (pairs.a or "") .. "|" .. (pairs.b or "")
end

local function form(req)
  local count, last = 0, nil
  for _, value in req:form():each() do
    count, last = count + 1, value
  end
  return ("%d pairs, %s"):format(count, last)
end

return web.app {
  web.get("/", function() return "root" end),
  web.any("/echo", echo),
  web.post("/by_job", by_job),
  web.any("/late/{digit}", late),
  web.get("/long", long),
  web.get("/stream/{octets}", stream),
  web.get("/copy/{port}", copy),
  web.get("/length", length),
  web.get("/raised", function() error(web.text "raised") end),
  web.get("/nothing", function() end),
  web.get("/words", words),
  web.get("/values", function(req) return values(req.query) end),
  web.post("/values", function(req) return values(req:form()) end),
  web.post("/form", form),
  web.get("/collect", function() collectgarbage() end),
}
