-- SPDX-License-Identifier: MIT
-- What a browser makes of a response to a page of another origin.  It knows no server.
-- Fetch, CORS check, CORS-preflight fetch, CORS-safelisted methods.
local pure = require "spec.support.pure"
local wire = require "spec.support.machine_wire"

local M = {}

local IS_SAFELISTED = { GET = true, HEAD = true, POST = true }

---@class spec.PageRequest
---@field method string
---@field headers table          as client:request takes them
---@field credentials boolean?   whether the browser sends cookies with it

local function only(headers, wanted)
  for name, value in pairs(headers) do
    if name:lower() == wanted then
      local lines = type(value) == "table" and value or { value }
      return #lines == 1 and lines[1] or nil
    end
  end
end

--- Whether it is a CORS-preflight request.
---@param request spec.PageRequest
function M.is_preflight(request)
  return request.method == "OPTIONS" and only(request.headers, "origin") ~= nil
    and only(request.headers, "access-control-request-method") ~= nil
end

local function passes_check(request, res)
  local origin = only(request.headers, "origin")
  local allowed = res.headers["access-control-allow-origin"]
  if not origin or not allowed then return false end
  if allowed == "*" and not request.credentials then return true end
  if allowed ~= origin:match "^%s*(.-)%s*$" then return false end
  return not request.credentials
    or res.headers["access-control-allow-credentials"] == "true"
end

-- Members as they are; names of methods compare exactly.
local function exact_members(value)
  local list = {}
  for member in (value or ""):gmatch "[^,]+" do
    list[#list + 1] = member:match "^%s*(.-)%s*$"
  end
  return list
end

local function lets_method(request, res)
  local method = only(request.headers, "access-control-request-method")
  local list = exact_members(res.headers["access-control-allow-methods"])
  return IS_SAFELISTED[method] or wire.has(list, method)
    or (not request.credentials and wire.has(list, "*"))
end

local function lets_headers(request, res)
  local asked = only(request.headers, "access-control-request-headers")
  local list = wire.members(res.headers["access-control-allow-headers"])
  local has_star = not request.credentials and wire.has(list, "*")
  for _, name in ipairs(wire.members(asked)) do
    local is_covered = has_star and name ~= "authorization"
    if name ~= "" and not is_covered and not wire.has(list, name) then return false end
  end
  return true
end

--- Whether the page gets what it wants: the response, or leave to send its request.
---@param request spec.PageRequest
---@param res luaweb.TestResponse
---@return boolean
function M.allows(request, res)
  if not passes_check(request, res) then return false end
  if not M.is_preflight(request) then return true end
  return res.status >= 200 and res.status <= 299 and lets_method(request, res)
    and lets_headers(request, res)
end

--- The request of a case of the corpus.
---@param given table
---@return spec.PageRequest
function M.request(given)
  return { method = pure.octets(given.method), headers = wire.headers(given.headers),
    credentials = given.credentials }
end

return M
