-- SPDX-License-Identifier: MIT
-- Bodies of any size, in constant memory: counts what it gets, and gives as many octets
-- as it is asked for.
local web = require "luaweb"

local BLOCK = ("luaweb streams\n\0"):rep(4096) -- 65,536 octets

local function count(req)
  local octets = 0
  for chunk in req:chunks() do octets = octets + #chunk end
  return web.json { octets = octets }
end

local function write(out, octets)
  for _ = 1, math.floor(octets / #BLOCK) do out:write(BLOCK) end
  out:write(BLOCK:sub(1, octets % #BLOCK))
end

-- Of a length that the client does not learn beforehand.
local function stream(req)
  local octets = tonumber(req.params.octets)
  return web.streaming(function(out) write(out, octets) end)
end

local function sized(req)
  return stream(req):header("Content-Length", req.params.octets)
end

return web.app {
  web.resource("/count", web.machine { body_limit = 2 ^ 33, do_any = count }),
  web.get("/stream/{octets}", stream),
  web.get("/sized/{octets}", sized),
}
