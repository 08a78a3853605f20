-- SPDX-License-Identifier: MIT
-- Percent-encoding.  RFC 3986 §2.1, §2.3.
local M = {}

--- The escape of an octet.
---@param octet string
---@return string
function M.escape(octet)
  return ("%%%02X"):format(octet:byte())
end

--- Escapes all but unreserved characters.
---@param text string
---@return string
function M.encode(text)
  return (text:gsub("[^%w%-._~]", M.escape))
end

--- What the escapes in a text stand for; what is none stays.
---@param text string
---@return string
function M.decode(text)
  return (text:gsub("%%(%x%x)", function(digits)
    return string.char(tonumber(digits, 16))
  end))
end

return M
