-- SPDX-License-Identifier: MIT
-- The JSON values that Lua lacks, null and the array, and how deep values may be
-- nested. Owns the marks of arrays and of results (metatables). Must never read or
-- write JSON text.  RFC 8259 §3, §9.
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

--- The metatable of results: lists with `n` members, of which any may be nil.  They are
--- arrays in JSON, in which nil is null.
---@type table
M.Results = {}

--- A list of results, without any.
---@param n integer
---@return table results   has `n`
function M.results(n) return setmetatable({ n = n }, M.Results) end

--- Results as a new array, where nil is null.  Further keys stay, to be refused.
---@param results table
---@return table
function M.array_of(results)
  local array = setmetatable({}, M.Array)
  for i = 1, results.n do array[i] = M.null end
  for key, v in next, results do
    if key ~= "n" then array[key] = v end
  end
  return array
end

return M
