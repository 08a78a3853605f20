-- SPDX-License-Identifier: MIT
-- Machines and resources as an app declares them: what keys there are, what they may
-- hold, and the methods that follow.  Nothing runs here.
local params = require "luaweb.params"
local trace = require "luaweb.trace"

local M = {}

---@class luaweb.Machine
---@field config table          key -> value, includes merged in
---@field places table          key -> where it was declared
---@field place string
local Machine = {}
Machine.__index = Machine

---@class luaweb.Resource
---@field template string
---@field machine luaweb.Machine
---@field place string
local Resource = {}
Resource.__index = Resource

M.Machine, M.Resource = Machine, Resource

local TOKEN = "^[%w!#$%%&'*+%-.^_`|~]+$"

local function fail(place, key, message)
  error(("%s: %s: %s"):format(place, key, message), 0)
end

local function is_operation(key)
  return key:find "^do_" ~= nil
end

-- PATCH -> do_patch, VERSION-CONTROL -> do_version_control
local function operation_of(method)
  return "do_" .. method:lower():gsub("-", "_")
end

local function is_read(method)
  return method == "GET" or method == "HEAD"
end

local function check_handler(place, key, value)
  if type(value) ~= "function" and type(value) ~= "string" then
    fail(place, key, "wants a function of the request, or a string")
  end
end

-- Methods that no operation speaks for.
local without_operation = {
  do_get     = "handle_ok answers GET and HEAD",
  do_head    = "handle_ok answers GET and HEAD",
  do_trace   = "TRACE is never served",
  do_connect = "CONNECT is never served",
}

local function check_operation(place, key, value)
  if without_operation[key] then fail(place, key, without_operation[key]) end
  if type(value) ~= "function" then
    fail(place, key, "wants a function of the request")
  end
end

local function is_list(value)
  if type(value) ~= "table" or #value == 0 then return false end
  local count = 0
  for _ in pairs(value) do count = count + 1 end
  return count == #value
end

-- Why it can't be among `methods`, or nil.
local function fault_of_method(method, seen)
  if type(method) ~= "string" or not method:find(TOKEN) or method == "*" then
    return "is not a method"
  end
  if method == "TRACE" or method == "CONNECT" then return "is never served" end
  return seen[method] and "is there twice" or nil
end

local function check_methods(place, key, value)
  if value == "*" then return end
  if not is_list(value) then fail(place, key, 'wants a list of methods, or "*"') end
  local seen = {}
  for _, method in ipairs(value) do
    local fault = fault_of_method(method, seen)
    if fault then fail(place, key, tostring(method) .. " " .. fault) end
    seen[method] = true
  end
end

local function check_body_limit(place, key, value)
  if type(value) ~= "number" or value ~= value or value < 0 then
    fail(place, key, "wants a number of octets")
  end
end

local function check_params(place, key, value)
  local fault = params.fault(value)
  if fault then fail(place, key, fault) end
end

local checks = {
  methods = check_methods,
  handle_ok = check_handler,
  body_limit = check_body_limit,
  params = check_params,
}

local function check(place, key, value)
  if type(key) ~= "string" then
    fail(place, tostring(key), "a machine includes machines and has named keys")
  end
  if checks[key] then return checks[key](place, key, value) end
  if key:find "^do_[%l%d_]+$" then return check_operation(place, key, value) end
  fail(place, key, "no machine has this key")
end

--- Declares a machine: the array part lists machines that it includes, in order; its
--- own keys win.
---@param spec table
---@return luaweb.Machine
function M.machine(spec)
  local place = trace.place()
  if type(spec) ~= "table" then error(place .. ": web.machine wants a table", 0) end
  local machine = setmetatable({ config = {}, places = {}, place = place }, Machine)
  for i = 1, #spec do
    local included = spec[i]
    if getmetatable(included) ~= Machine then
      fail(place, "[" .. i .. "]", "a machine includes machines, not a "
        .. type(included))
    end
    for key, value in pairs(included.config) do
      machine.config[key], machine.places[key] = value, included.places[key]
    end
  end
  local included = #spec
  for key, value in pairs(spec) do
    local listed = type(key) == "number" and key >= 1 and key <= included
    if not listed then
      check(place, key, value)
      machine.config[key], machine.places[key] = value, place
    end
  end
  return machine
end

-- The key of the function that speaks for a method; nil: none does.
local function key_for(config, method)
  local own = is_read(method) and "handle_ok" or operation_of(method)
  return config[own] ~= nil and own or config.do_any and "do_any" or nil
end

-- The methods that have a function of their own, GET and HEAD first.
local function own_methods(config)
  local methods = {}
  if config.handle_ok then methods = { "GET", "HEAD" } end
  for key in pairs(config) do
    if is_operation(key) and key ~= "do_any" then
      methods[#methods + 1] = key:sub(4):upper():gsub("_", "-")
    end
  end
  table.sort(methods, function(a, b)
    local rank = { GET = "0", HEAD = "1" }
    return (rank[a] or "2" .. a) < (rank[b] or "2" .. b)
  end)
  return methods
end

local function check_methods_have_functions(machine, methods, label)
  for _, method in ipairs(methods) do
    if method ~= "OPTIONS" and not key_for(machine.config, method) then
      local wanted = is_read(method) and "handle_ok" or operation_of(method)
      fail(machine.places.methods or machine.place, label .. "methods",
        ("%s has no function (%s)"):format(method, wanted))
    end
  end
end

local function check_functions_have_methods(machine, methods, label)
  local used = {}
  for _, method in ipairs(methods) do
    used[key_for(machine.config, method) or "none"] = true
  end
  for key in pairs(machine.config) do
    if not used[key] and (is_operation(key) or key == "handle_ok") then
      fail(machine.places[key], label .. key,
        "none of its methods is in `methods`: nothing can reach it")
    end
  end
end

local function takes_any(config)
  return config.methods == "*" or (config.do_any and not config.methods)
end

-- The methods that are known by name.
local function named_methods(machine, label)
  local config = machine.config
  if takes_any(config) and not config.do_any then
    fail(machine.places.methods, label .. "methods", '"*" wants do_any')
  end
  if not config.methods or takes_any(config) then return own_methods(config) end
  check_methods_have_functions(machine, config.methods, label)
  check_functions_have_methods(machine, config.methods, label)
  return config.methods
end

--- The methods of a machine and the function for each.
---@param machine luaweb.Machine
---@param template string?   of its resource, for errors
---@return { method: string, fn: function|string }[]   "*" stands for any other method
function M.methods(machine, template)
  local config, list = machine.config, {}
  local label = template and template .. ": " or ""
  for _, method in ipairs(named_methods(machine, label)) do
    local key = key_for(config, method) -- nil: OPTIONS, which is implied
    if key then list[#list + 1] = { method = method, fn = config[key] } end
  end
  if takes_any(config) then list[#list + 1] = { method = "*", fn = config.do_any } end
  if #list == 0 then
    fail(machine.place, label .. "machine", "it has neither handle_ok nor an operation")
  end
  return list
end

--- Declares a resource.
---@param template string   a URI template, e.g. "/hello{/name}"
---@param machine luaweb.Machine
---@return luaweb.Resource
function M.resource(template, machine)
  local place = trace.place()
  if type(template) ~= "string" then
    error(place .. ": web.resource wants a URI template first", 0)
  end
  if getmetatable(machine) ~= Machine then
    error(("%s: web.resource(%q) wants a machine second"):format(place, template), 0)
  end
  return setmetatable({ template = template, machine = machine, place = place },
    Resource)
end

--- The short forms: web.get(template, fn) is a resource whose machine has one function.
---@param key string   handle_ok, do_post, ...
---@return fun(template: string, fn: function): luaweb.Resource
function M.short(key)
  return function(template, fn)
    if fn == nil then fail(trace.place(), key, "wants a function of the request") end
    return M.resource(template, M.machine { [key] = fn })
  end
end

return M
