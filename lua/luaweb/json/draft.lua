-- SPDX-License-Identifier: MIT
-- A JSON document that is being changed at places that pointers lead to. Owns a copy of
-- the document. Must never do more work than its budget allows. RFC 6901 §4.
--
-- A place is given as steps (luaweb.json.pointer), no more than the budget's depth.
local json_copy = require "luaweb.json.copy"
local json_pointer = require "luaweb.json.pointer"
local value = require "luaweb.json.value"

local quote = json_pointer.quote

local M = {}

local SHIFTED = 16                             -- elements that cost as much as a copy

---@class luaweb.JsonDraft
---@field holder table                has the document as its member ""
---@field budget luaweb.CopyBudget

--- A draft with a copy of a document.
---@param document any
---@param budget luaweb.CopyBudget   for the copy and all that is done with it
---@return luaweb.JsonDraft? draft   nil: a limit is passed
---@return string? message           which one
function M.new(document, budget)
  local copied, why = json_copy.copy(budget, document, budget.depth)
  if copied == nil then return nil, why end
  return { holder = { [""] = copied }, budget = budget }
end

-- In a draft every array is marked.
local function is_array(v)
  return getmetatable(v) == value.Array
end

-- The key that a step means in a container: RFC 6901 §4.
local function key_of(container, step, is_new)
  if not is_array(container) then return step end
  local size = #container + (is_new and 1 or 0)
  if is_new and step == "-" then return size end
  if step ~= "0" and not step:find "^[1-9]%d*$" then
    return nil, quote(step) .. " is no index of an element"
  end
  local key = #step <= 15 and tonumber(step) + 1
  if key and key <= size then return key end
  return nil, "there is no element " .. quote(step)
end

--- Where steps lead.
---@param draft luaweb.JsonDraft
---@param steps string[]
---@param is_new? boolean       what they lead to need not be there yet
---@return table? container     nil: they lead nowhere
---@return string|integer key   of the place in the container; or why there is none
function M.find(draft, steps, is_new)
  local container, key = draft.holder, ""
  for i, step in ipairs(steps) do
    local within = container[key]
    if within == nil then return nil, "there is no member " .. quote(key) end
    if type(within) ~= "table" then
      local kind = within == value.null and "null" or "a " .. type(within)
      return nil, "nothing lies within " .. kind
    end
    local next_key, why = key_of(within, step, is_new and i == #steps)
    if not next_key then return nil, why end
    container, key = within, next_key
  end
  if container[key] == nil and not is_new then
    return nil, "there is no member " .. quote(key)
  end
  return container, key
end

--- Copies a value for a place.
---@param draft luaweb.JsonDraft
---@param steps string[]
---@param v any
---@return any copied        nil: a limit is passed
---@return string? message   which one
function M.copy_for(draft, steps, v)
  return json_copy.copy(draft.budget, v, draft.budget.depth - #steps)
end

--- Puts a value at a place: as a member, or in front of the element that is there.
---@param draft luaweb.JsonDraft
---@param steps string[]
---@param v any              taken
---@return boolean? done     nil: there is no such place, or a limit is passed
---@return string? message
function M.insert(draft, steps, v)
  local container, key = M.find(draft, steps, true)
  if not container then return nil, key end
  if not is_array(container) then
    container[key] = v
    return true
  end
  table.insert(container, key, v)
  return json_copy.spend(draft.budget, (#container - key) / SHIFTED)
end

--- Takes away what is at a place, which is not the whole document.
---@param draft luaweb.JsonDraft
---@param steps string[]
---@return any v             nil: there is nothing, or a limit is passed
---@return string? message
function M.take(draft, steps)
  local container, key = M.find(draft, steps)
  if not container then return nil, key end
  local v = container[key]
  if not is_array(container) then
    container[key] = nil
    return v
  end
  local done, why = json_copy.spend(draft.budget, (#container - key) / SHIFTED)
  if not done then return nil, why end
  return table.remove(container, key)
end

return M
