-- SPDX-License-Identifier: MIT
-- The fields of the CORS protocol in plain Lua, for the reference walk.  Who is refused
-- is refused by the browser: nothing here changes a status.  Owns nothing.  Fetch.
local http = require "spec.support.reference_http"
local machines = require "spec.support.reference_machine"

local value = machines.value
local M = {}

local function is_star(given)
  return given == "*" or (type(given) == "table" and given[1] == "*")
end

local function list_text(given)
  return type(given) == "table" and table.concat(given, ", ") or given
end

--- Has the machine a policy?
function M.is_used(machine)
  for key in pairs(machine) do
    if key:find "^cors_" or key == "origin_allowed" then return true end
  end
  return false
end

-- Says the policy the same to everyone?  true: all are allowed; false: nobody is; nil:
-- it depends on the request.
local function constant(machine)
  local enabled, allowed = machine.cors_enabled, machine.origin_allowed
  if enabled == false or allowed == false then return false end
  if allowed == nil and machine.cors_origins == nil then return false end
  local is_literal = (enabled == nil or enabled == true)
    and (allowed == nil or allowed == true) and not machine.cors_credentials
  return is_literal and is_star(machine.cors_origins) or nil
end

local function allow_methods(walk)
  local given = value(walk, "cors_methods")
  local listed = list_text(machines.methods(walk.machine, walk.context.is_unmatched))
  if given == nil or (is_star(given) and value(walk, "cors_credentials")) then
    return listed
  end
  return list_text(given)
end

-- The names of a request's list that are tokens.
local function requested_headers(walk)
  local names = {}
  local text = http.joined(walk.request, "Access-Control-Request-Headers") or ""
  for _, name in ipairs((http.split(text, ",", true))) do
    if name:find "^[%w!#$%%&'*+%-.^_`|~]+$" then names[#names + 1] = name end
  end
  return names[1] and table.concat(names, ", ") or nil
end

local function add_vary(fields, name)
  fields.vary = fields.vary and fields.vary .. ", " .. name or name
end

local function add_preflight(walk, must)
  local headers, age = value(walk, "cors_headers"), value(walk, "cors_max_age")
  must["access-control-allow-methods"] = allow_methods(walk)
  if is_star(headers) and value(walk, "cors_credentials") then
    headers = requested_headers(walk)
    add_vary(must, "Access-Control-Request-Headers")
  end
  local list = headers and list_text(headers)
  must["access-control-allow-headers"] = list ~= "" and list or nil
  must["access-control-max-age"] = age and ("%d"):format(math.ceil(age))
  local asks = http.only(walk.request, "Access-Control-Request-Private-Network")
  if asks == "true" and value(walk, "cors_private_network") == true then
    must["access-control-allow-private-network"] = "true"
  end
end

local function add_allowed(walk, must, origin, is_preflight)
  must["access-control-allow-origin"] = origin
  if value(walk, "cors_credentials") then
    must["access-control-allow-credentials"] = "true"
  end
  if is_preflight then return add_preflight(walk, must) end
  local expose = value(walk, "cors_expose")
  local list = expose and list_text(expose)
  must["access-control-expose-headers"] = list ~= "" and list or nil
end

--- Adds what the rows of the component contribute to a response.
---@param walk spec.Walk
---@param fields spec.Fields
---@param terminal { row: string, status: integer, ends_early: boolean }
---@param passed table<string, boolean|integer>   row -> answer
function M.add(walk, fields, terminal, passed)
  if passed.origin_given == nil then return end
  local always = constant(walk.machine)
  local is_preflight = terminal.row == "not_preflight" and not terminal.ends_early
  add_vary(always == nil and fields.must or fields.may, "Origin")
  if always then
    add_allowed(walk, fields.must, "*", is_preflight)
  elseif passed.origin_allowed == true then
    local origin = http.only(walk.request, "Origin")
    add_allowed(walk, fields.must, origin, is_preflight)
  end
end

return M
