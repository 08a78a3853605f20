-- SPDX-License-Identifier: MIT
-- The application that the conformance cases are played against: a root, an echo, a
-- mirror of the request, bare statuses and a refusal that never reads the body.
local web = require "luaweb"

local function echo(req)
  return web.bytes("application/octet-stream", req:bytes())
end

-- Octets as code points 0..255, in UTF-8.
local function text(octets)
  return (octets:gsub("[\128-\255]", function(char)
    local octet = char:byte()
    return string.char(192 + math.floor(octet / 64), 128 + octet % 64)
  end))
end

local function headers_of(req)
  local headers = {}
  for name, value in req.headers:each() do
    local values = headers[name] or {}
    values[#values + 1] = text(value)
    headers[name] = values
  end
  return headers
end

local function reflect(req)
  return web.json {
    method = req.method,
    target = text(req.target),
    authority = req.host and text(req.host),
    headers = headers_of(req),
    body_len = #req:bytes(),
  }
end

local function status(req)
  return web.status(tonumber(req.params.code))
end

-- Refuses by what it is, not by what it does: nothing of the content is asked for.
local reject = web.machine {
  allowed = function() return false end,
  do_any = function() return "never" end,
}

return web.app {
  web.get("/", function() return "root" end),
  web.any("/echo", echo),
  web.any("/reflect{/a}", reflect),
  web.any("/reflect/{a}/{b}", reflect),
  web.any("/status/{code}", status),
  web.resource("/reject", reject),
}
