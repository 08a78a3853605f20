-- SPDX-License-Identifier: MIT
-- The headers (or trailers) of a request as an app sees them.  They stay in C: a name
-- is looked up when it is asked for (RFC 9110 §5.2, §5.3).
local abi = require "luaweb.abi"
local ffi = require "ffi"
local handle = require "luaweb.request.handle"
local json = require "luaweb.json"

local C, host = abi.C, abi.host
local facts, slice = handle.facts, handle.slice
local rawget, setmetatable = rawget, setmetatable
local M = {}

---@class luaweb.Headers   by name in any case; several values are joined by ", "
local Headers = {}

--- All values of a header, one a line, in order of arrival.
---@param name string   in any case
---@return string[]
function Headers:all(name)
  local found, lower = json.array {}, name:lower()
  local fields = facts(rawget(self, 1))[rawget(self, 2)]
  for i = 0, fields.count - 1 do
    local field = fields.list[i]
    if field.name.size == #lower and slice(field.name):lower() == lower then
      found[#found + 1] = slice(field.value)
    end
  end
  return found
end

--- Iterates in order of arrival: for name, value in headers:each() do; names in lower
--- case.
function Headers:each()
  local request, which, i = rawget(self, 1), rawget(self, 2), -1
  facts(request)
  return function()
    local fields = facts(request)[which]
    i = i + 1
    if i >= fields.count then return nil end
    local field = fields.list[i]
    return slice(field.name):lower(), slice(field.value)
  end
end

local value = ffi.new "struct luaweb_slice"

local headers_mt = {
  __index = function(self, name)
    local method = Headers[name]
    if method then return method end
    if type(name) ~= "string" then return nil end
    local r = facts(rawget(self, 1))
    local is_trailer = rawget(self, 2) == "trailers"
    local count = C.luaweb_header_find(host, r, is_trailer, name, #name, value)
    if count == 0 then return nil end
    if count == 1 then
      local text = slice(value)
      return text
    end
    return table.concat(Headers.all(self, name),
      name:lower() == "cookie" and "; " or ", ")
  end,
}

--- A view over the fields of a request.
---@param request luaweb.Request
---@param which string   "headers" or "trailers"
---@return luaweb.Headers
function M.new(request, which)
  return setmetatable({ request, which }, headers_mt)
end

return M
