-- SPDX-License-Identifier: MIT
-- Tokens, of which HTTP makes the names of methods, fields and parameters.
-- RFC 9110 §5.6.2.
local M = {}

--- The pattern of one, to be put into larger ones.
M.PATTERN = "[%w!#$%%&'*+%-.^_`|~]+"

local WHOLE = "^" .. M.PATTERN .. "$"

--- Whether a text is a token.
---@param text string
---@return boolean
function M.is_one(text)
  return text:find(WHOLE) ~= nil
end

return M
