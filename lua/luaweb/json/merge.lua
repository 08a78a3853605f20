-- SPDX-License-Identifier: MIT
-- JSON merge patch: an object that says what is to change, null for what is to go.
-- Owns nothing. Must never change what it is given, nor give a part of it back.
-- RFC 7396.
local json_copy = require "luaweb.json.copy"
local null = require("luaweb.json.value").null

local is_object = json_copy.is_object

local M = {}

local merge

-- What the target has and the patch does not speak of.
local function copy_rest(budget, target, patch, levels)
  local rest = {}
  for name, v in next, target do
    if rawget(patch, name) == nil then rest[name] = v end
  end
  return json_copy.copy(budget, rest, levels)
end

local function merge_object(budget, target, patch, levels)
  local result, why = copy_rest(budget, target, patch, levels)
  if result == nil then return nil, why end
  for name, change in next, patch do
    local done, v
    done, why = json_copy.spend_name(budget, name)
    if not done then return nil, why end
    if change ~= null then
      v, why = merge(budget, rawget(target, name), change, levels - 1)
      if v == nil then return nil, why end
      result[name] = v
    end
  end
  return result
end

-- An array, or anything else that is no object, replaces the target whole.
function merge(budget, target, patch, levels)
  if not is_object(patch) then return json_copy.copy(budget, patch, levels) end
  return merge_object(budget, is_object(target) and target or {}, patch, levels)
end

--- Applies a merge patch. Nulls in it remove members; a null within an array stays.
---@param target any                  nil: there is none yet
---@param patch any
---@param limits? luaweb.CopyLimits   of the result
---@return any result                 shares no table with the arguments; may be false.
---nil: a limit is passed
---@return string? message            which one
---Raises an error for what is no JSON value, for instance a function.
---source: RFC 7396 §2
function M.merge(target, patch, limits)
  if patch == nil then error("json_merge: there is no patch", 2) end
  local budget = json_copy.budget(limits)
  return merge(budget, target, patch, budget.depth)
end

return M
