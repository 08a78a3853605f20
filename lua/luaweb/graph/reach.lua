-- SPDX-License-Identifier: MIT
-- Which statuses the requests of a machine can end with: a walk of all ways at once,
-- through what its rows may answer.  What it can't know is taken for possible.
local response = require "luaweb.response"

local M = {}

local FAULT = 500 -- whatever fails

local is_read = { GET = true, HEAD = true }
local is_safe = { GET = true, HEAD = true, OPTIONS = true }

---@class luaweb.Reach
---@field statuses table<integer, boolean>   by arrows and literals
---@field free table<string, boolean>        methods for which a function may say any
---@field works table<string, boolean>       methods for which some function has to work

-- What is known of a row's answer: true, false, a status, or nil.
local function answer_of(machine, row, fixed)
  if fixed ~= nil then return fixed end
  local config = machine.config
  local value = config[row.name]
  if row.name == "range_wanted" and not config.accept_ranges then return false end
  if value == nil and row.who == "app" then return row.default end
  local is_known = type(value) == "boolean" or type(value) == "number"
  if is_known then return value end
end

-- Whether what the row is asked for runs a function of the app.
local function is_free(machine, row, method)
  local value = machine.config[row.name]
  if row.name == "operation" then return true end
  if row.name == "has_reply" and value == nil then
    local shown = machine.config.handle_ok
    return method.reply ~= nil or type(shown) == "table"
  end
  return type(value) == "function" or getmetatable(value) == response.Response
end

-- Notes what functions of the app may be called at a row with this answer.
local function note_functions(reach, machine, row, method, answer)
  local name = method.like or method.name
  local work = is_read[name] and "has_reply" or "operation"
  if row.name == work and answer ~= false then reach.works[name] = true end
  if answer == nil and is_free(machine, row, method) then reach.free[name] = true end
end

local function walk(reach, machine, rows, method)
  local name = method.like or method.name
  local list, fixed = rows.graph.rows, rows.answers[name] or rows.answers["*"]
  local reached = { true }
  local function follow(arrow)
    if arrow > 0 then
      reached[arrow] = true
    else
      reach.statuses[-arrow] = true
    end
  end
  for i, row in ipairs(list) do
    local answer = reached[i] and answer_of(machine, row, fixed[i])
    if reached[i] and type(answer) == "number" then
      reach.statuses[answer] = true
    elseif reached[i] then
      if answer ~= false then follow(row.yes) end
      if answer ~= true then follow(row.no) end
      note_functions(reach, machine, row, method, answer)
    end
  end
end

--- Follows all ways that requests can take.
---@param machine luaweb.Machine
---@param rows luaweb.Rows
---@param methods luaweb.Method[]
---@return luaweb.Reach
function M.of(machine, rows, methods)
  local reach = { statuses = { [FAULT] = true }, free = {}, works = {} }
  for _, method in ipairs(methods) do walk(reach, machine, rows, method) end
  return reach
end

-- Whether a function may answer a request of this method with the status.
local function may_say(status, method)
  if status == 416 then return false end
  if status == 304 then return is_read[method] ~= nil end
  if status == 201 then return not is_safe[method] and method ~= "DELETE" end
  if status == 202 then return not is_safe[method] end
  return true
end

--- Whether some request can end with a status.
---@param reach luaweb.Reach
---@param status integer
---@return boolean
function M.has(reach, status)
  if reach.statuses[status] then return true end
  for method in pairs(reach.free) do
    if may_say(status, method) then return true end
  end
  return false
end

return M
