-- SPDX-License-Identifier: MIT
-- What a request depends on, for the transaction of the operation that it wants.  The
-- walk has tested it already, but content takes its time, and another writer may come
-- first: only the store can test and write in one go.  RFC 9110 §13.1, §13.2.1.
local abi = require "luaweb.abi"
local ffi = require "ffi"

local C, host = abi.C, abi.host
local M = {}

---@class luaweb.Precondition
---@field tags string[]?          of If-Match: one of them must still be the current one
---@field exists boolean          If-Match has a star: it must still be there
---@field create_only boolean     If-None-Match has a star, or the walk found nothing
---                               here: there must still be nothing
---@field none_of string[]?       tags of If-None-Match: none may be the current one
---@field unmodified_since number?   of If-Unmodified-Since where it counts: seconds
---                                  since 1970
local Precondition = {}
Precondition.__index = Precondition

local members = { '^("[^"]*")[ \t]*()', '^(W/"[^"]*")[ \t]*()', "^(%*)[ \t]*()" }

-- The member of a list that begins there, and where the next one does; nil: there is
-- something else.
local function member_at(line, at)
  for i = 1, #members do
    local member, behind = line:match(members[i], at)
    if member then
      local next_at = line:match("^,[ \t,]*()", behind)
      if next_at or behind > #line then return member, next_at or behind end
    end
  end
end

-- What an entity tag can't hold.
local NO_TAG = '"[^"]*[%z\1-\32\127]'

-- The tags of a field; true: a star; nil: it is absent.  As the walk reads it: what is
-- no list of tags names none.
local function tags_of(lines)
  local list, has_star, has_tag = {}, false, false
  if #lines == 0 then return nil end
  for _, line in ipairs(lines) do
    local at = line:match "^[ \t,]*()"
    while at <= #line do
      local member, next_at = member_at(line, at)
      if not member then return {} end
      at = next_at
      has_star = has_star or member == "*"
      has_tag = has_tag or member ~= "*"
      if member ~= "*" and not member:find(NO_TAG) then list[#list + 1] = member end
    end
  end
  if has_star then return has_tag and {} or true end
  return list
end

local function strong(tag)
  return tag:sub(1, 2) ~= "W/" and tag or nil
end

local function opaque(tag)
  return (tag:gsub("^W/", ""))
end

-- Whether one of the tags is the current one, if there is one.
local function has(list, tag, form)
  for _, one in ipairs(tag and list or {}) do
    if form(one) and form(one) == form(tag) then return true end
  end
  return false
end

--- Whether the request may still be carried out.
---@param current string?    the entity tag of what is there now; nil: nothing is
---@param modified number?   when that was modified, in seconds since 1970; nil: nobody
---                          knows
---@return boolean           false: answer 412
function Precondition:holds(current, modified)
  if self.create_only and current then return false end
  if self.exists and not current then return false end
  local tags, since = self.tags, self.unmodified_since
  if tags and not has(tags, current, strong) then return false end
  if since and modified and math.floor(modified) > since then return false end
  return not has(self.none_of or {}, current, opaque)
end

local seconds = ffi.new "double[1]"

--- The preconditions of a request.
---@param req luaweb.Request
---@return luaweb.Precondition
function M.of(req)
  local headers, r, generation = req.headers, abi.request_at(req[1]), req[2]
  local match = tags_of(headers:all "if-match")
  local none = tags_of(headers:all "if-none-match")
  local has_date = C.luaweb_unmodified_since(host, r, generation, seconds)
  return setmetatable({
    tags = type(match) == "table" and match or nil,
    exists = match == true,
    create_only = none == true or C.luaweb_exists(host, r, generation) == 0,
    none_of = type(none) == "table" and none or nil,
    unmodified_since = has_date and seconds[0] or nil,
  }, Precondition)
end

return M
