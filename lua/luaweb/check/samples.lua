-- SPDX-License-Identifier: MIT
-- Paths to try templates with: variables get what --param says, else a sample that the
-- machine's `params` let through; expressions that may be empty stay empty.
local params = require "luaweb.machine.params"
local url = require "luaweb.url"

local M = {}

local of_kind = { int = "1", number = "1",
  uuid = "00000000-0000-4000-8000-000000000001" }
local SAMPLE = "1"

-- Likewise, of what nobody has.
local ABSENT = "luaweb-check-absent"
local absent_of_kind = { int = "987654321", number = "987654321",
  uuid = "ffffffff-ffff-4fff-bfff-ffffffffffff" }

-- Texts that a Lua pattern may be for.
local candidates = { "1", "a", "A", "abc", "ab-cd", "a1", "42", "2024-01-01",
  "12345678", "deadbeef", "a.b", "a_b", "en", "v1" }

--- Variables of a template, in order.
---@param template string
---@return { name: string, may_be_empty: boolean }[]
function M.variables(template)
  local list = {}
  for operator, items in template:gmatch "{([+#./;?&]?)([^{}]*)}" do
    for name in items:gmatch "([^,*:]+)[^,]*" do
      list[#list + 1] = { name = name,
        may_be_empty = operator ~= "" and operator ~= "+" }
    end
  end
  return list
end

-- A text that a pattern takes as a whole, or nil.
local function fitting(pattern, but)
  local whole = params.anchored(pattern)
  for _, text in ipairs(candidates) do
    if text ~= but and text:find(whole) then return text end
  end
end

local function value_of(name, demand, given)
  if given[name] then return given[name] end
  if not demand then return SAMPLE end
  return of_kind[demand] or fitting(demand)
end

--- A value for which most likely nothing is there; nil: no sample goes with the demand.
---@param demand string?   of the machine's `params`
---@param given string     what there is
---@return string?
function M.absent(demand, given)
  if not demand then return ABSENT end
  local whole = not absent_of_kind[demand] and params.anchored(demand)
  if whole and ABSENT:find(whole) then return ABSENT end
  return absent_of_kind[demand] or fitting(demand, given)
end

--- A path of a template.
---@param template string
---@param demands table<string, string>?   `params` of its machine
---@param given table<string, string>      by --param
---@return string? path
---@return string? name   of the variable for which there is no sample
function M.path(template, demands, given)
  local values = {}
  for _, variable in ipairs(M.variables(template)) do
    local name = variable.name
    if given[name] or not variable.may_be_empty then
      local value = value_of(name, demands and demands[name], given)
      if not value then return nil, name end
      values[name] = value
    end
  end
  return url.url(template, values)
end

return M
