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

-- What a request gets anew, or not at all: CGI makes of Proxy what names a proxy.
local OURS = {
  proxy = true,
  host = true, ["content-length"] = true, expect = true, forwarded = true, via = true,
  ["x-forwarded-for"] = true, ["x-forwarded-host"] = true,
  ["x-forwarded-proto"] = true, ["x-request-id"] = true,
  traceparent = true, tracestate = true, -- tracing/call.lua adds them
}

-- What would be read too late behind a content, or by who takes trailers for headers
-- (RFC 9110 §6.5.1): who asks, for what, and what the content is.
local OF_HEADS = {
  authorization = true, cookie = true, ["set-cookie"] = true, origin = true,
  referer = true, range = true, ["max-forwards"] = true, pragma = true, age = true,
  ["cache-control"] = true, date = true, expires = true, location = true, vary = true,
  ["retry-after"] = true, warning = true, ["www-authenticate"] = true,
  ["content-type"] = true, ["content-encoding"] = true, ["content-language"] = true,
  ["content-location"] = true, ["content-range"] = true,
  ["content-disposition"] = true, ["content-security-policy"] = true,
  ["strict-transport-security"] = true,
}
local OF_HEADS_BEGIN = { "^accept", "^access%-control%-", "^if%-", "^sec%-",
  "^x%-forwarded%-" }

local function is_of_heads(name)
  if OF_HEADS[name] then return true end
  for _, beginning in ipairs(OF_HEADS_BEGIN) do
    if name:find(beginning) then return true end
  end
  return false
end

-- A name as servers see it that give fields to their programs as variables, such as
-- HTTP_X_FORWARDED_FOR.
local function plain(name)
  return (name:lower():gsub("_", "-"))
end

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
    local meant = plain(name)
    if not HOP_BY_HOP[meant] and not names[name] and not ours[meant] then
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
  if peer == "" or peer:find "^unix:" then return "unknown" end -- or a hidden name
  return peer:find(":", 1, true) and ('"[%s]"'):format(peer) or peer
end

local function quoted(text)
  if token.is_one(text) then return text end
  return '"' .. text:gsub('[\\"]', "\\%0") .. '"'
end

-- What is not passed on as it came: what is ours, and what the app gives.
local function ours_with(given)
  local ours = {}
  for name in pairs(OURS) do ours[name] = true end
  for _, pair in ipairs(given) do ours[plain(pair[1])] = true end
  return ours
end

local function given_has(given, name)
  for _, pair in ipairs(given) do
    if plain(pair[1]) == name then return true end
  end
  return false
end

-- Whether ours may stand behind it: a quote that nobody ends would take ours in.
local function is_closed(value)
  local unquoted = value:gsub("\\.", "\1"):gsub('"[^"]*"', "")
  return not unquoted:find '["\1]'
end

local function forwarded_before(headers)
  local values = headers:all "forwarded"
  return is_closed(table.concat(values, ", ")) and values or {}
end

--- The fields of a request that goes on.
---@param req luaweb.Request
---@param given string[][]         fields of the app's, which win
---@param preserved string|false   the Host that goes on as it is
---@return string[][]
function M.of_request(req, given, preserved)
  local headers, peer, host = req.headers, req.peer, req.host
  local list = passed_on(headers, ours_with(given))
  add_to(list, "Via", headers:all "via", req.version .. " luaweb")
  local node = node_of(peer)
  local asked_for = host ~= "" and ";host=" .. quoted(host) or ""
  add_to(list, "Forwarded", forwarded_before(headers),
    ("for=%s%s;proto=%s"):format(node, asked_for, req.scheme))
  -- Both say the same, or who trusts us would not know which to believe.
  list[#list + 1] = { "X-Forwarded-For", node:find "^\"" and peer or node }
  if host ~= "" then list[#list + 1] = { "X-Forwarded-Host", host } end
  list[#list + 1] = { "X-Forwarded-Proto", req.scheme }
  if not given_has(given, "x-request-id") then
    list[#list + 1] = { "X-Request-Id", req.id }
  end
  if preserved then list[#list + 1] = { "Host", preserved } end
  for _, pair in ipairs(given) do list[#list + 1] = pair end
  return list
end

--- The fields behind a content, that of a request or an answer, that go on.
---@param trailers luaweb.Headers|luaweb.ReceivedFields
---@param given string[][]   fields of the app's in the head, which win
---@return string[][]
function M.of_trailers(trailers, given)
  local list = {}
  for _, pair in ipairs(passed_on(trailers, ours_with(given))) do
    if not is_of_heads(plain(pair[1])) then list[#list + 1] = pair end
  end
  return list
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
