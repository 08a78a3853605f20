-- SPDX-License-Identifier: MIT
-- What a request depends on, for the transaction of the operation that it wants.  The
-- walk has tested it already, but content takes its time, and another writer may come
-- first: only the store can test and write in one go.  RFC 9110 §13.1, §13.2.1.
local abi = require "luaweb.abi"

local C, host = abi.C, abi.host
local M = {}

---@class luaweb.Precondition
---@field tags string[]?          of If-Match: one of them must still be the current one
---@field exists boolean          If-Match has a star: it must still be there
---@field create_only boolean     If-None-Match has a star, or the walk found nothing
---                               here: there must still be nothing
---@field none_of string[]?       tags of If-None-Match: none may be the current one
---@field unmodified_since string?   of If-Unmodified-Since, where If-Match is absent
local Precondition = {}
Precondition.__index = Precondition

-- The tags of a field; true: a star; nil: it is absent.  The walk has read it before:
-- what is malformed never came here as If-Match.
local function tags_of(value)
  if not value then return nil end
  if value:find "^%s*%*" then return true end
  local list = {}
  for tag in value:gmatch '[W/]*"[^"]*"' do list[#list + 1] = tag end
  return list
end

local function strong(tag)
  return tag:sub(1, 2) ~= "W/" and tag or nil
end

local function opaque(tag)
  return (tag:gsub("^W/", ""))
end

local function has(list, tag, form)
  for _, one in ipairs(list) do
    if form(one) and form(one) == form(tag) then return true end
  end
  return false
end

--- Whether the request may still be carried out.
---@param current string?   the entity tag of what is there now; nil: nothing is
---@return boolean          false: answer 412
function Precondition:holds(current)
  if self.create_only and current then return false end
  if self.exists and not current then return false end
  local tags = self.tags
  if tags and not (current and has(tags, current, strong)) then return false end
  return not (self.none_of and current and has(self.none_of, current, opaque))
end

--- The preconditions of a request.
---@param req luaweb.Request
---@return luaweb.Precondition
function M.of(req)
  local headers = req.headers
  local match, none = tags_of(headers["if-match"]), tags_of(headers["if-none-match"])
  local is_missing = C.luaweb_exists(host, abi.request_at(req[1]), req[2]) == 0
  return setmetatable({
    tags = type(match) == "table" and match or nil,
    exists = match == true,
    create_only = none == true or is_missing,
    none_of = type(none) == "table" and none or nil,
    unmodified_since = not match and headers["if-unmodified-since"] or nil,
  }, Precondition)
end

return M
