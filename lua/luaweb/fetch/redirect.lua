-- SPDX-License-Identifier: MIT
-- Where a redirect leads, and what of the request goes there.  Nothing that proves who
-- we are goes to another origin, and nothing that a server says makes us send a
-- password.
-- RFC 9110 §10.2.2, §15.4; Fetch, HTTP-redirect fetch.
local fields = require "luaweb.fetch.fields"
local uri = require "luaweb.fetch.uri"

local M = {}

local IS_REDIRECT = { [301] = true, [302] = true, [303] = true, [307] = true,
  [308] = true }

-- Fields that are for one origin only.
local OF_ORIGIN = { authorization = true, cookie = true, host = true,
  ["proxy-authorization"] = true }

-- Fields about a content that is not sent again.
local OF_CONTENT = { ["content-encoding"] = true, ["content-language"] = true,
  ["content-location"] = true, ["content-type"] = true, ["content-length"] = true,
  digest = true, ["content-digest"] = true, ["repr-digest"] = true,
  ["last-modified"] = true }

--- Whether an answer asks for another request.
---@param status integer
---@param locations string[]   values of Location
---@return boolean
function M.is_one(status, locations)
  return IS_REDIRECT[status] == true and locations[1] ~= nil
end

-- Whether the request becomes a GET: 303 is an answer about another resource, and what
-- browsers have always made of a POST is what RFC 9110 allows.
local function becomes_get(status, method)
  if status == 303 then return method ~= "GET" and method ~= "HEAD" end
  return (status == 301 or status == 302) and method == "POST"
end

local function fail(message, ...)
  return nil, message:format(...), "redirect"
end

local function target_of(call, locations)
  for i = 2, #locations do
    if locations[i] ~= locations[1] then
      return fail "it redirects to two places"
    end
  end
  local to, message = uri.resolve(call.uri, locations[1])
  if not to then return fail("it redirects to nowhere: %s", message) end
  if call.uri.scheme == "https" and to.scheme == "http" and not call.downgrade then
    return fail("it redirects from https to %s, and downgrade is not allowed",
      uri.text(to, true))
  end
  return to
end

--- The call that follows from an answer for which M.is_one holds.
---@param call luaweb.FetchCall   it stays as it is
---@param status integer
---@param locations string[]
---@return luaweb.FetchCall?
---@return string? message
---@return string? kind           "redirect"
function M.follow(call, status, locations)
  local to, message, kind = target_of(call, locations)
  if not to then return nil, message, kind end
  local following = setmetatable({}, { __index = call })
  following.uri, to.userinfo = to, nil
  if uri.is_same_origin(call.uri, to) then
    to.userinfo = call.uri.userinfo
  else
    following.headers, following.unix = fields.without(call.headers, OF_ORIGIN), false
  end
  if becomes_get(status, call.method) then
    following.method, following.body, following.trailers = "GET", false, false
    following.headers = fields.without(following.headers, OF_CONTENT)
  elseif type(call.body) == "function" then
    return fail "it redirects, and a body that is a function can't be sent twice"
  end
  return following
end

return M
