-- SPDX-License-Identifier: MIT
-- The header fields that a reverse proxy passes on, both ways: all but those that are
-- about one connection, and with those that tell who asked and through whom.
-- RFC 9110 §7.6 (Connection, Via), RFC 7239 (Forwarded).
local token = require "luaweb.token"

local M = {}

M.MOST_VIA = 10 -- proxies that a request has passed, above which it runs in a circle

-- What is about one connection, whatever Connection says.
local HOP_BY_HOP = {
  connection = true, ["keep-alive"] = true, ["proxy-connection"] = true, te = true,
  trailer = true, ["transfer-encoding"] = true, upgrade = true,
  ["proxy-authenticate"] = true, ["proxy-authorization"] = true,
  ["proxy-authentication-info"] = true,
}

-- What a request gets anew.
local OURS = {
  host = true, ["content-length"] = true, expect = true, forwarded = true, via = true,
  ["x-forwarded-for"] = true, ["x-forwarded-host"] = true,
  ["x-forwarded-proto"] = true,
}

-- The names that Connection lists are hop-by-hop, too.
local function listed(values)
  local names = {}
  for _, value in ipairs(values) do
    for name in value:gmatch "[^%s,]+" do names[name:lower()] = true end
  end
  return names
end

-- All fields of a message that go on, as pairs.
local function passed_on(headers, ours)
  local list, names = {}, listed(headers:all "connection")
  for name, value in headers:each() do
    if not HOP_BY_HOP[name] and not names[name] and not ours[name] then
      list[#list + 1] = { name, value }
    end
  end
  return list
end

local function add_to(list, name, values, value)
  values[#values + 1] = value
  list[#list + 1] = { name, table.concat(values, ", ") }
end

-- How RFC 7239 §6 writes who asked: what has a colon is quoted.
local function node_of(peer)
  if peer == "" or peer:find "^unix:" then return "unknown" end
  return peer:find(":", 1, true) and ('"[%s]"'):format(peer) or peer
end

local function quoted(text)
  if token.is_one(text) then return text end
  return '"' .. text:gsub('[\\"]', "\\%0") .. '"'
end

--- The fields of a request that goes on.
---@param req luaweb.Request
---@param given string[][]         fields of the app's, which win
---@param preserved string|false   the Host that goes on as it is
---@return string[][]
function M.of_request(req, given, preserved)
  local ours = {}
  for name in pairs(OURS) do ours[name] = true end
  for _, pair in ipairs(given) do ours[pair[1]:lower()] = true end
  local headers, peer, host = req.headers, req.peer, req.host
  local list = passed_on(headers, ours)
  add_to(list, "Via", headers:all "via", req.version .. " luaweb")
  add_to(list, "Forwarded", headers:all "forwarded", ("for=%s;host=%s;proto=%s"):format(
    node_of(peer), quoted(host), req.scheme))
  if node_of(peer) ~= "unknown" then list[#list + 1] = { "X-Forwarded-For", peer } end
  list[#list + 1] = { "X-Forwarded-Host", host }
  list[#list + 1] = { "X-Forwarded-Proto", req.scheme }
  if preserved then list[#list + 1] = { "Host", preserved } end
  for _, pair in ipairs(given) do list[#list + 1] = pair end
  return list
end

--- The fields behind a content, that of a request or an answer, that go on.
---@param trailers luaweb.Headers|luaweb.ReceivedFields
---@return string[][]
function M.of_trailers(trailers)
  return passed_on(trailers, OURS)
end

--- The fields of an answer that goes on; `content-length` is one where it is known.
---@param res luaweb.FetchResponse
---@return string[][]
function M.of_response(res)
  local list = passed_on(res.headers, { via = true })
  add_to(list, "via", res.headers:all "via", res.version .. " luaweb")
  return list
end

--- Whether a request has been through so many proxies that it runs in a circle.
---@param req luaweb.Request
---@return boolean
function M.is_circling(req)
  local count = 0
  for _, value in ipairs(req.headers:all "via") do
    for _ in value:gmatch "[^,]+" do count = count + 1 end
  end
  return count >= M.MOST_VIA
end

return M
