-- SPDX-License-Identifier: MIT
-- The body of an error as text, without the line that names its request, which is never
-- the same twice.

---@param body string
---@return string
return function(body)
  return (body:gsub("Request id: %x+%-%x+\n$", ""))
end
