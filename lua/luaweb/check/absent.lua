-- SPDX-License-Identifier: MIT
-- What a resource answers for what is not there, where --param has named something that
-- is: any status but a failure.
local reads = require "luaweb.check.reads"
local samples = require "luaweb.check.samples"

local M = {}

-- The values of the command line but for one.
local function with(given, name, value)
  local copy = {}
  for key, one in pairs(given) do copy[key] = one end
  copy[name] = value
  return copy
end

local function check_variable(case, given, name)
  local demands = case.machine.config.params
  local value = samples.absent(demands and demands[name], given[name])
  local path = value and samples.path(case.template, demands, with(given, name, value))
  local asked = path and case:ask("GET", nil, path)
  if asked and case:is_own(asked.trace) and asked.status == 500 then
    case:fault(("GET %s answers 500: what is not there is a 404; see the error log")
      :format(path), "handle_ok")
  end
end

--- Checks a resource by asking for what is most likely not there: one variable after
--- the other is another than --param says.
---@param case luaweb.CheckCase
---@param given table<string, string>   by --param
function M.check(case, given)
  if not reads.has_get(case) then return end
  for _, variable in ipairs(samples.variables(case.template)) do
    if given[variable.name] then check_variable(case, given, variable.name) end
  end
end

return M
