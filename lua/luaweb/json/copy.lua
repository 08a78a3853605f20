-- SPDX-License-Identifier: MIT
-- Copies and comparisons of JSON values as luaweb.json describes them, for what makes
-- new values from a peer's wishes. Owns nothing. Must never change what it is given,
-- ask metamethods, or copy more than a budget allows.
local new_table = require "table.new"
local value = require "luaweb.json.value"

local floor = math.floor

local M = {}

local MOST_VALUES = 1000000
local TEXT_SIZE = 64                           -- octets of text that count as a value

---@class luaweb.CopyLimits
---@field depth? integer    how deep tables may be nested: 1..1000, default 128
---@field values? integer   how many values may be copied, default 1,000,000. Each 64
---octets of a string or a name count as one more, so that texts are limited too.

---@class luaweb.CopyBudget
---@field depth integer   how deep tables may be nested
---@field most integer    how many values may be copied
---@field left number     how many of them are left

--- What may be copied until something new has been made.
---@param limits? luaweb.CopyLimits
---@return luaweb.CopyBudget
function M.budget(limits)
  local depth = limits and limits.depth or value.DEFAULT_DEPTH
  if depth % 1 ~= 0 or depth < 1 or depth > value.HIGHEST_DEPTH then
    error(("json: a depth is 1..%d, not %s"):format(value.HIGHEST_DEPTH, depth), 3)
  end
  local most = limits and limits.values or MOST_VALUES
  return { depth = depth, most = most, left = most }
end

--- Takes from a budget what work costs that is measured in copied values.
---@param budget luaweb.CopyBudget
---@param cost number
---@return boolean? done     nil: there is not as much left
---@return string? message
function M.spend(budget, cost)
  budget.left = budget.left - cost
  if budget.left >= 0 then return true end
  return nil, ("more than %d values would be copied"):format(budget.most)
end

--- Whether a table is an array: by its mark, else by its first key.
---@param t table
---@return boolean
function M.is_array(t)
  local mark = getmetatable(t)
  return mark == value.Array or mark == value.Results or type(next(t)) == "number"
end

--- Whether any value is an object.
---@param v any
---@return boolean
function M.is_object(v)
  return type(v) == "table" and not M.is_array(v)
end

local function copy_array(budget, t, levels)
  if getmetatable(t) == value.Results then t = value.array_of(t) end
  local list = setmetatable(new_table(#t, 0), value.Array)
  local count, last = 0, 0
  for key, v in next, t do
    if type(key) ~= "number" or key < 1 or key % 1 ~= 0 then
      error("json: an array has the key " .. tostring(key), 0)
    end
    local copied, why = M.copy(budget, v, levels)
    if copied == nil then return nil, why end
    list[key] = copied
    count, last = count + 1, key > last and key or last
  end
  if count ~= last then error("json: an array has holes", 0) end
  return list
end

--- Takes from a budget what the name of a member costs.
---@param budget luaweb.CopyBudget
---@param name any           an error when it is no string
---@return boolean? done
---@return string? message
function M.spend_name(budget, name)
  if type(name) ~= "string" then
    error("json: an object has the key " .. tostring(name), 0)
  end
  return M.spend(budget, floor(#name / TEXT_SIZE))
end

local function copy_object(budget, t, levels)
  local object = {}
  for name, v in next, t do
    local copied
    local done, why = M.spend_name(budget, name)
    if done then copied, why = M.copy(budget, v, levels) end
    if copied == nil then return nil, why end
    object[name] = copied
  end
  return object
end

--- Copies a value and all that lies in it. Arrays are marked in the copy; it has no
--- other metatable.
---@param budget luaweb.CopyBudget
---@param v any
---@param levels integer     how deep tables may be nested in it
---@return any copied        nil: a limit is passed
---@return string? message   which one
---Raises an error for what is no JSON value: a function, a table with mixed keys.
function M.copy(budget, v, levels)
  local kind = type(v)
  local cost = kind == "string" and 1 + floor(#v / TEXT_SIZE) or 1
  local done, why = M.spend(budget, cost)
  if not done then return nil, why end
  if kind == "table" then
    if levels <= 0 then
      return nil, ("values would be nested deeper than %d"):format(budget.depth)
    end
    local copy_table = M.is_array(v) and copy_array or copy_object
    return copy_table(budget, v, levels - 1)
  end
  if kind == "string" or kind == "number" or kind == "boolean" or v == value.null then
    return v
  end
  error(("json: a %s is no JSON value"):format(kind), 0)
end

--- Whether two values are equal: numbers by what they are, objects whatever the order
--- of their members.
---@param a any   nested as deep as a budget allows; `b` is looked at no deeper
---@param b any
---@return boolean
---source: RFC 6902 §4.6
function M.equal(a, b)
  if rawequal(a, b) then return true end
  if type(a) ~= "table" or type(b) ~= "table" then return a == b end
  if M.is_array(a) ~= M.is_array(b) then return false end
  local count = 0
  for key, v in next, a do
    local other = rawget(b, key)
    if other == nil or not M.equal(v, other) then return false end
    count = count + 1
  end
  for _ in next, b do count = count - 1 end
  return count == 0
end

return M
