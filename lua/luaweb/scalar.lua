-- SPDX-License-Identifier: MIT
-- The text of a single value, as it stands in a URL or a header field: numbers in full,
-- so that they read back as the same.
local M = {}

local EXACT = 2 ^ 53 -- up to here whole numbers are written with all their digits

local function text_of_number(number)
  if number ~= number or number == math.huge or number == -math.huge then return nil end
  if number == math.floor(number) and math.abs(number) <= EXACT then
    return ("%.0f"):format(number == 0 and 0 or number)
  end
  local text = ("%.15g"):format(number)
  return tonumber(text) == number and text or ("%.17g"):format(number)
end

--- The text of a string, number or boolean.
---@param value any
---@return string? text
---@return string? fault   e.g. "a table has no text"
function M.text(value)
  if type(value) == "string" then return value end
  if type(value) == "boolean" then return tostring(value) end
  if type(value) ~= "number" then
    return nil, ("a %s has no text"):format(type(value))
  end
  local text = text_of_number(value)
  if text then return text end
  return nil, tostring(value) .. " has no text"
end

return M
