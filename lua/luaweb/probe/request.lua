-- SPDX-License-Identifier: MIT
-- Requests as the command line gives them: what may be sent as a method, a target, a
-- header.  What breaks the form of a request would only show how parsers refuse.
local token = require "luaweb.token"

local M = {}

--- What is wrong with a method and a target, or nil.
---@param method string
---@param target string
---@return string? fault
function M.fault(method, target)
  if not token.is_one(method) then return ("%q is no method"):format(method) end
  if target == "" or target:find "[%z\1-\32\127-\255]" then
    return ("%q is no path: percent-encode it"):format(target)
  end
end

--- Reads headers like "Name: value".
---@param list string[]
---@return [string, string][]? headers
---@return string? message   wrong usage
function M.headers(list)
  local headers = {}
  for i, text in ipairs(list) do
    local name, value = text:match "^([^:]*):%s*(.-)%s*$"
    if not name or not token.is_one(name) or value:find "[%z\1-\8\10-\31\127]" then
      return nil, "-H wants 'Name: value'" -- it may be a secret: not repeated
    end
    headers[i] = { name, value }
  end
  return headers
end

return M
