-- SPDX-License-Identifier: MIT
-- Handlers that wait in many ways, and one that tells what is seen of them.
local chan = require "luaweb.chan"
local job = require "luaweb.job"
local socket = require "luaweb.client.socket"
local web = require "luaweb"

local never = chan.new()

local function listen()
  return never:take()
end

local function wait_in_job()
  job.spawn(function() never:take() end):join()
  return "done"
end

local function shielded()
  job.shield(function() never:take() end)
  return "done"
end

local function stream()
  return web.streaming(function(out)
    while true do out:write(("x"):rep(65536)) end
  end)
end

local function ask(req)
  local conn = assert(socket.connect("127.0.0.1", tonumber(req.params.port)))
  conn:receive()
  return "done"
end

return web.app {
  web.get("/dump", function() return tostring(job.dump()) end),
  web.get("/stats", function() return web.json(job.stats()) end),
  web.get("/listen", listen),
  web.get("/job", wait_in_job),
  web.get("/shielded", shielded),
  web.get("/stream", stream),
  web.get("/ask/{port}", ask),
  web.post("/body", function(req) return req:text() end),
}
