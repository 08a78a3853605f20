-- SPDX-License-Identifier: MIT
-- What the scripts of this folder serve.  FAULTS_HELD: so many descriptors are taken by
-- the app itself.
local web = require "luaweb"

local OCTETS = 100 * 10 ^ 6
local PIECE = ("x"):rep(65536)

local held = {}
for i = 1, tonumber(os.getenv "FAULTS_HELD" or 0) do
  held[i] = assert(io.open "/dev/null")
end

local kept

local function stream()
  return web.streaming(function(out)
    for _ = 1, math.floor(OCTETS / #PIECE) do out:write(PIECE) end
  end)
end

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
  web.get("/held", function() return tostring(#held) end),
  web.get("/collect", function()
    collectgarbage()
    collectgarbage()
  end),
}
