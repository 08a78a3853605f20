-- SPDX-License-Identifier: MIT
-- What the scripts of this folder serve.  FAULTS_HELD: so many descriptors are taken by
-- the app itself.
local job = require "luaweb.job"
local web = require "luaweb"

local OCTETS = 100 * 10 ^ 6
local PIECE = ("x"):rep(65536)

local held = {}
for i = 1, tonumber(os.getenv "FAULTS_HELD" or 0) do
  held[i] = assert(io.open "/dev/null")
end

-- FAULTS_LOAD: so many seconds are waited while it is loaded.
if os.getenv "FAULTS_LOAD" then os.execute("sleep " .. os.getenv "FAULTS_LOAD") end

local kept

local function stream()
  return web.streaming(function(out)
    for _ = 1, math.floor(OCTETS / #PIECE) do out:write(PIECE) end
  end)
end

local function endless()
  local x = 0
  while true do x = (x + 1) % 7 end
end

local function interpreted()
  local x = 0
  while true do x = (x + 1) % 7 end
end
jit.off(interpreted)

local function sleep(req)
  web.sleep(tonumber(req.params.seconds))
  return "slept"
end

return web.app {
  web.get("/", function() return "root" end),
  web.get("/sleep/{seconds}", sleep),
  web.get("/made", function() return ("x"):rep(OCTETS) end),
  web.get("/keep", function() kept = ("x"):rep(OCTETS) end),
  web.get("/kept", function() return kept end),
  web.get("/forget", function() kept = nil end),
  web.get("/stream", stream),
  web.get("/endless", function() endless() end),
  web.get("/endless/interpreted", function() interpreted() end),
  web.get("/endless/job", function() job.spawn(endless):join() end),
  web.get("/endless/call", function() os.execute "exec sleep 20 >/dev/null 2>&1" end),
  web.get("/held", function() return tostring(#held) end),
  web.get("/collect", function()
    collectgarbage()
    collectgarbage()
  end),
}
