-- SPDX-License-Identifier: MIT
-- Writes the head of a request.  How the message is framed is decided here; what the
-- app gave was checked before (fields.lua).
-- RFC 9110 §7.2 (Host), §8.6; RFC 9112 §3.2 (target forms), §6.
local fields = require "luaweb.fetch.fields"
local base64 = require "luaweb.fetch.base64"
local percent = require "luaweb.percent"
local uri = require "luaweb.fetch.uri"

local M = {}

--- The content codings that are taken off, as Accept-Encoding names them.
M.CODINGS = "gzip, br, zstd"

-- Methods whose requests have content by their nature: none is content of length 0.
local HAS_CONTENT = { POST = true, PUT = true, PATCH = true }

--- The value of Authorization for what stands before the @ of a URL.
---@param userinfo string
---@return string
function M.basic(userinfo)
  local user, password = userinfo:match "^([^:]*):?(.*)$"
  return "Basic "
    .. base64.encode(percent.decode(user) .. ":" .. percent.decode(password))
end

local function has(list, name)
  return fields.get(list, name) ~= nil
end

local function add_framing(lines, call)
  local body = call.body
  local size = type(body) == "string" and #body or call.body_size
  if type(body) == "function" and not size then
    lines[#lines + 1] = "Transfer-Encoding: chunked"
  elseif body or HAS_CONTENT[call.method] then
    lines[#lines + 1] = ("Content-Length: %.0f"):format(size or 0)
  end
end

-- A part of compressed content can't be decompressed.
local function codings_for(call)
  if has(call.headers, "range") then return "identity" end
  return call.decode and M.CODINGS or nil
end

local function add_usual(lines, call)
  local list = call.headers
  local function add(name, value)
    if value and not has(list, name:lower()) then
      lines[#lines + 1] = name .. ": " .. value
    end
  end
  add("Authorization", call.uri.userinfo and M.basic(call.uri.userinfo))
  add("User-Agent", "luaweb")
  add("Accept", "*/*")
  add("Accept-Encoding", codings_for(call))
end

--- The head of a request, with its empty line.
---@param call luaweb.FetchCall
---@param proxy luaweb.Uri?   one that passes requests on: the target is absolute then
---@return string
function M.write(call, proxy)
  local target = proxy and uri.text(call.uri, true) or uri.target(call.uri)
  local lines = { ("%s %s HTTP/1.1"):format(call.method, target),
    "Host: " .. (fields.get(call.headers, "host") or uri.authority(call.uri)) }
  for _, pair in ipairs(call.headers) do
    if pair[1]:lower() ~= "host" then lines[#lines + 1] = pair[1] .. ": " .. pair[2] end
  end
  if proxy and proxy.userinfo and not has(call.headers, "proxy-authorization") then
    lines[#lines + 1] = "Proxy-Authorization: " .. M.basic(proxy.userinfo)
  end
  if not call.is_bare then add_usual(lines, call) end
  add_framing(lines, call)
  return table.concat(lines, "\r\n") .. "\r\n\r\n"
end

--- The head that asks a proxy for a tunnel (RFC 9110 §9.3.6).
---@param to luaweb.Uri
---@param proxy luaweb.Uri
---@return string
function M.connect(to, proxy)
  local authority = uri.authority(to, true)
  local lines = { ("CONNECT %s HTTP/1.1"):format(authority), "Host: " .. authority,
    "User-Agent: luaweb" }
  if proxy.userinfo then
    lines[4] = "Proxy-Authorization: " .. M.basic(proxy.userinfo)
  end
  return table.concat(lines, "\r\n") .. "\r\n\r\n"
end

return M
