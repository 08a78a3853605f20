-- SPDX-License-Identifier: MIT
-- The JSON values that Lua lacks, null and the array, and how deep values may be
-- nested. Owns the mark of arrays (a metatable). Must never read or write JSON text.
-- RFC 8259 §3, §9.
local M = {}

--- How deep arrays and objects may be nested unless the caller says otherwise.
M.DEFAULT_DEPTH = 128

--- The most that a caller may ask for: reader and writer recurse on a bounded stack.
M.HIGHEST_DEPTH = 1000

--- JSON's null: one unique value, true as a condition, printed as "null".
---@type userdata
M.null = newproxy(true)
getmetatable(M.null).__tostring = function() return "null" end

--- The metatable that marks a table as an array. It does nothing else.
---@type table
M.Array = {}

return M
