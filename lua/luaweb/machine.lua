-- SPDX-License-Identifier: MIT
-- Machines and resources as an app declares them: what keys there are, what they may
-- hold, and the methods that follow.  Nothing runs here.
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

local function is_handler(place, key, value)
  if type(value) ~= "function" and type(value) ~= "string" then
    fail(place, key, "wants a function of the request, or a string")
  end
end

local function is_operation(place, key, value)
  if type(value) ~= "function" then
    fail(place, key, "wants a function of the request")
  end
end

local function check_methods(place, key, value)
  if value == "*" then return end
  if type(value) ~= "table" or #value == 0 then
    fail(place, key, 'wants a list of methods, or "*"')
  end
  for _, method in ipairs(value) do
    if type(method) ~= "string" or not method:find(TOKEN) then
      fail(place, key, tostring(method) .. " is not a method")
    end
    if method == "TRACE" or method == "CONNECT" then
      fail(place, key, method .. " is never served")
    end
  end
end

local function check_body_limit(place, key, value)
  if type(value) ~= "number" or value ~= value or value < 0 then
    fail(place, key, "wants a number of octets")
  end
end

local checks = {
  methods = check_methods,
  handle_ok = is_handler,
  body_limit = check_body_limit,
}

local function check(place, key, value)
  if type(key) ~= "string" then
    fail(place, tostring(key), "a machine includes machines and has named keys")
  end
  if checks[key] then return checks[key](place, key, value) end
  if key:find "^do_[%w_]+$" then return is_operation(place, key, value) end
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
  for i, included in ipairs(spec) do
    if getmetatable(included) ~= Machine then
      fail(place, "[" .. i .. "]", "a machine includes machines")
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

-- do_patch -> PATCH, do_version_control -> VERSION-CONTROL
local function method_of(key)
  return key:sub(4):upper():gsub("_", "-")
end

local function operation_of(config, method)
  return config["do_" .. method:lower():gsub("-", "_")]
end

-- Which function speaks for a method.
local function function_of(config, method)
  if (method == "GET" or method == "HEAD") and config.handle_ok then
    return config.handle_ok
  end
  return operation_of(config, method) or config.do_any
end

local function is_own_operation(key)
  return key:find "^do_" and key ~= "do_any"
end

-- The methods that have a function of their own, GET and HEAD first.
local function own_methods(config)
  local methods = {}
  if config.handle_ok then methods = { "GET", "HEAD" } end
  for key in pairs(config) do
    if is_own_operation(key) then methods[#methods + 1] = method_of(key) end
  end
  table.sort(methods, function(a, b)
    local rank = { GET = "0", HEAD = "1" }
    return (rank[a] or "2" .. a) < (rank[b] or "2" .. b)
  end)
  return methods
end

local function has(list, item)
  for _, one in ipairs(list) do
    if one == item then return true end
  end
  return false
end

local function check_operations(config, methods, where)
  for key in pairs(config) do
    if is_own_operation(key) and not has(methods, method_of(key)) then
      fail(where(key), key, "its method is not in `methods`: nothing can reach it")
    end
  end
  for _, method in ipairs(methods) do
    if method ~= "OPTIONS" and not function_of(config, method) then
      local is_read = method == "GET" or method == "HEAD"
      local key = is_read and "handle_ok" or "do_" .. method:lower():gsub("-", "_")
      fail(where "methods", "methods", ("%s has no function (%s)"):format(method, key))
    end
  end
end

--- The methods of a machine and the function for each.
---@param machine luaweb.Machine
---@return { method: string, fn: function|string }[]   "*" stands for any other method
function M.methods(machine)
  local config, list = machine.config, {}
  local any = config.methods == "*" or (config.do_any and not config.methods)
  local methods = not any and config.methods or own_methods(config)
  check_operations(config, methods, function(key)
    return machine.places[key] or machine.place
  end)
  for _, method in ipairs(methods) do
    local fn = function_of(config, method)
    if fn then list[#list + 1] = { method = method, fn = fn } end
  end
  if any then
    local fn = config.do_any
    if not fn then fail(machine.place, "methods", '"*" wants do_any') end
    list[#list + 1] = { method = "*", fn = fn }
  end
  if #list == 0 then
    fail(machine.place, "machine", "it has neither handle_ok nor an operation")
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
    return M.resource(template, M.machine { [key] = fn })
  end
end

return M
