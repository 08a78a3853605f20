-- SPDX-License-Identifier: MIT
-- JSON as apps see it: null, arrays, encode, decode. The face of json_encode and
-- json_decode. Owns nothing. Must never bend RFC 8259.
--
--   null     json.null, never nil: members and elements that are null are kept
--   number   a double. Whole numbers up to 2^53 are exact, longer ones are rounded,
--            those out of a double's range are refused. -0 stays -0. NaN and the
--            infinities can't be written.
--   string   the same octets. They must be UTF-8, read or written. An escaped
--            surrogate that is not one of a pair is refused. Written escaped is
--            only what must be.
--   array    a table with the keys 1..n. Results (of job.all and the like) are arrays,
--            too: their `n` is left out, and nil among them is null. What is read is
--            marked as an array, and stays one when it is emptied.
--   object   a table with strings as keys, or an empty one without the mark. Of equal
--            names the last one read wins; written they are in the order of `next`.
--
-- Any other table is refused. Metamethods are not asked.
local decoder = require "luaweb.json.decode"
local encoder = require "luaweb.json.encode"
local value = require "luaweb.json.value"

local M = {}

---@class luaweb.JsonLimits
---@field depth? integer   how deep tables may be nested: 1..1000, default 128
---@field size? integer    the most octets that a text to decode may have, default: any

--- JSON's null: one unique value, true as a condition, printed as "null".
---@type userdata
M.null = value.null

local function depth_of(limits)
  local depth = limits.depth or value.DEFAULT_DEPTH
  if depth % 1 ~= 0 or depth < 1 or depth > value.HIGHEST_DEPTH then
    error(("json: a depth is 1..%d, not %s"):format(value.HIGHEST_DEPTH, depth), 3)
  end
  return depth
end

--- Marks a table as an array, so that it is written as [] when it is empty.
---@generic T: table
---@param t? T   default: a new table. One that has a metatable is an error, but for
---results, which are arrays already.
---@return T t   the same table
function M.array(t)
  if t == nil then return setmetatable({}, value.Array) end
  local mark = getmetatable(t)
  if mark == value.Results then return t end
  if mark ~= nil and mark ~= value.Array then
    error("json.array: the table has a metatable already", 2)
  end
  return setmetatable(t, value.Array)
end

--- Writes a value as JSON text, without white space.
---@param v any                      nil is refused: use json.null
---@param limits? luaweb.JsonLimits  only its depth counts
---@return string text
---Raises an error when JSON has no form for a value: a function, NaN, a table that
---contains itself, has holes or mixed keys, or is nested too deep. It names the value
---by its path: "value.users[3].name is not UTF-8 at octet 7".
---source: RFC 8259
function M.encode(v, limits)
  return encoder.encode(v, limits and depth_of(limits) or value.DEFAULT_DEPTH)
end

--- Reads one JSON text; nothing but white space may follow it.
---@param text string
---@param limits? luaweb.JsonLimits
---@return any value         nil: the text is refused; null is json.null
---@return string? message   what and where: "line 2, column 7: ':' is expected"
---source: RFC 8259
function M.decode(text, limits)
  if type(text) ~= "string" then
    error("json.decode: a string is expected, not a " .. type(text), 2)
  end
  local size = limits and limits.size
  if size and #text > size then
    return nil, ("the text has %d octets, more than %d"):format(#text, size)
  end
  return decoder.decode(text, limits and depth_of(limits) or value.DEFAULT_DEPTH)
end

return M
