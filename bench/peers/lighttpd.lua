-- SPDX-License-Identifier: MIT
-- The answers of lighttpd: mod_magnet runs this chunk for every request.
-- luacheck: globals lighty
local json = require "cjson"

local r = lighty.r
local path = r.req_attr["uri.path"]

local function send(status, content, media_type)
  r.resp_header["Content-Type"] = media_type or "text/plain; charset=utf-8"
  r.resp_body:set { content }
  return status
end

if path == "/plaintext" or path == "/hello" then return send(200, "Hello, World!") end
if path == "/json" then
  return send(200, json.encode { message = "Hello, World!" }, "application/json")
end
local name = path:match "^/hello/([^/]+)$"
if name then return send(200, "Hello, " .. name .. "!") end
return send(404, "404 Not Found\n")
