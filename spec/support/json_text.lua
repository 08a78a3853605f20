-- SPDX-License-Identifier: MIT
-- JSON values as texts that can be compared: equal values are equal texts.
local json = require "luaweb.json"

local M = {}

--- Reads a text that must be JSON.
---@param text string
---@return any
function M.read(text)
  local v, message = json.decode(text)
  assert(v ~= nil, message)
  return v
end

--- Writes a value with the members of objects in the order of their names.
---@param v any
---@return string
function M.write(v)
  local text = json.encode(v)
  if type(v) ~= "table" then return text end
  local parts = {}
  if text:sub(1, 1) == "[" then
    for i, element in ipairs(v) do parts[i] = M.write(element) end
    return "[" .. table.concat(parts, ",") .. "]"
  end
  for name, member in pairs(v) do
    parts[#parts + 1] = json.encode(name) .. ":" .. M.write(member)
  end
  table.sort(parts)
  return "{" .. table.concat(parts, ",") .. "}"
end

return M
