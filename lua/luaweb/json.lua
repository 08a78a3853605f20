-- SPDX-License-Identifier: MIT
-- JSON for apps: what the module `luaweb` offers as web.json's text, web.null and
-- web.array.  The face of json_encode and json_decode; owns nothing. RFC 8259,
-- strictly.
--
-- What becomes what:
--   null     json.null, never nil; so members and elements that are null are kept
--   number   a double. Whole numbers up to 2^53 are exact, longer ones are rounded,
--   those
--            beyond 1.8e308 refused. -0 stays -0. NaN and the infinities can't be
--            written.
--   string   the same octets, which must be UTF-8 both ways. An escaped surrogate that
--   is
--            not one of a pair is refused. Only what must be escaped is written
--            escaped.
--   array    a table with the keys 1..n, marked as an array: it stays one when emptied
--   object   a plain table with strings as keys. Of equal names the last wins; they are
--            written in the order of `next`.
-- A table without a mark is an array when it has keys 1..n, an object when all its keys
-- are strings or it is empty; any other is refused. Metamethods are not asked.
local decoder = require "luaweb.json_decode"
local encoder = require "luaweb.json_encode"
local value = require "luaweb.json_value"

local M = {}

---@class luaweb.JsonLimits
---@field depth? integer   how deep arrays and objects may be nested: 1..1000, default 128
---@field size? integer    the most octets that a text to decode may have, default: any

--- JSON's null: one unique value, true as a condition, printed as "null".
---@type userdata
M.null = value.null

local function depth_of(limits)
  local depth = limits and limits.depth or value.DEFAULT_DEPTH
  if depth < 1 or depth > value.HIGHEST_DEPTH then
    error(("json: a depth is 1..%d, not %s"):format(value.HIGHEST_DEPTH, depth), 3)
  end
  return depth
end

--- Marks a table as an array, so that it is written as [] when it is empty.
---@generic T: table
---@param t? T     default: a new table; its own metatable, if any, would be lost: an error
---@return T t     the same table
function M.array(t)
  if t == nil then return setmetatable({}, value.Array) end
  local mark = getmetatable(t)
  if mark ~= nil and mark ~= value.Array then
    error("json.array: the table has a metatable already", 2)
  end
  return setmetatable(t, value.Array)
end

--- Writes a value as JSON text, without white space.
---@param v any                      nil is refused: use json.null
---@param limits? luaweb.JsonLimits  only its depth counts
---@return string text
---Raises an error that names the value by its path, such as "value.users[3].name is not
---UTF-8 at octet 7", when JSON has no form for it: a function, NaN, a table that lies in
---itself or has mixed keys or holes, a key that is no string, too deep nesting.
---source: RFC 8259
function M.encode(v, limits)
  return encoder.encode(v, depth_of(limits))
end

--- Reads one JSON text; nothing but white space may follow it.
---@param text string
---@param limits? luaweb.JsonLimits
---@return any value         nil: the text is refused; null is json.null
---@return string? message   what is wrong and where: "line 2, column 7: ':' is expected"
---source: RFC 8259
function M.decode(text, limits)
  if type(text) ~= "string" then
    error("json.decode: a string is expected, not a " .. type(text), 2)
  end
  local size = limits and limits.size
  if size and #text > size then
    return nil, ("the text has %d octets, more than %d"):format(#text, size)
  end
  return decoder.decode(text, depth_of(limits))
end

return M
