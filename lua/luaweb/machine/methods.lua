-- SPDX-License-Identifier: MIT
-- The methods of a machine, and what speaks for each: those that are listed, else those
-- that have an operation or a representation.  RFC 9110 §9.1, §9.3, §10.2.1.
local fail = require("luaweb.machine").fail
local representation = require "luaweb.machine.representation"

local M = {}

---@class luaweb.Method
---@field name string                            "*": any that is not named
---@field like string?                           the method whose rows it walks
---@field operation fun(req: luaweb.Request)?
---@field reply fun(req: luaweb.Request)?        makes the representation

local USUAL = { "GET", "HEAD", "POST", "PUT", "PATCH", "DELETE" }

local function is_read(method)
  return method == "GET" or method == "HEAD"
end

--- The key of a method's operation: PATCH -> do_patch, VERSION-CONTROL ->
--- do_version_control.
---@param method string
---@return string
function M.operation_of(method)
  return "do_" .. method:lower():gsub("-", "_")
end

local function is_operation(key)
  return key:find "^do_" ~= nil
end

-- The key of what speaks for a method; nil: nothing does.
local function key_for(config, method)
  local own = is_read(method) and "handle_ok" or M.operation_of(method)
  return config[own] ~= nil and own or config.do_any and "do_any" or nil
end

-- The methods that have a key of their own, GET and HEAD first.
local function own_methods(config)
  local methods = {}
  for key in pairs(config) do
    if is_operation(key) and key ~= "do_any" then
      methods[#methods + 1] = key:sub(4):upper():gsub("_", "-")
    end
  end
  table.sort(methods)
  if config.handle_ok ~= nil then
    table.insert(methods, 1, "HEAD")
    table.insert(methods, 1, "GET")
  end
  return methods
end

-- GET listed means HEAD listed.
local function with_head(listed)
  local methods, has = {}, {}
  for _, method in ipairs(listed) do has[method] = true end
  for _, method in ipairs(listed) do
    methods[#methods + 1] = method
    if method == "GET" and not has.HEAD then methods[#methods + 1] = "HEAD" end
  end
  return methods
end

--- The key that a method lacks to be answered; nil: it has what it needs.
---@param config table<string, any>
---@param method string
---@return string?
function M.lacks(config, method)
  if method == "OPTIONS" or key_for(config, method) then return nil end
  return is_read(method) and "handle_ok" or M.operation_of(method)
end

-- handle_ok also speaks after a write, but not for what was just deleted.
local function check_functions_have_methods(machine, methods, label)
  local used = {}
  for _, method in ipairs(methods) do
    used[key_for(machine.config, method) or "none"] = true
    if method ~= "DELETE" and method ~= "OPTIONS" then used.handle_ok = true end
  end
  for key in pairs(machine.config) do
    if not used[key] and (is_operation(key) or key == "handle_ok") then
      fail(machine.places[key], label, key,
        "none of its methods is in `methods`: nothing can reach it")
    end
  end
end

local function takes_any(config)
  return config.methods == "*" or (config.do_any and not config.methods)
end

--- The methods of a machine as its author would list them; "*" is any other one.
---@param machine luaweb.Machine
---@param label string   of its resource, for errors
---@return string[]
function M.names(machine, label)
  local config = machine.config
  local methods
  if config.methods == "*" and not config.do_any then
    fail(machine.places.methods, label, "methods", '"*" wants do_any')
  end
  if config.methods and not takes_any(config) then
    methods = with_head(config.methods)
    check_functions_have_methods(machine, methods, label)
  else
    methods = own_methods(config)
    if takes_any(config) then methods[#methods + 1] = "*" end
  end
  return methods[1] and methods or { "GET", "HEAD" }
end

--- The methods that a resource allows, as they are shown: OPTIONS is always one.
---@param names string[]   see M.names
---@return string[]
function M.shown(names)
  local list, has_options = {}, false
  for i, name in ipairs(names) do
    list[i] = name
    has_options = has_options or name == "OPTIONS" or name == "*"
  end
  if not has_options then list[#list + 1] = "OPTIONS" end
  return list
end

-- What makes the representation where it is one function for all media types.
local function reply_of(config)
  local value = config.handle_ok
  if value == nil or representation.offers(value) then return nil end
  return not representation.constant(value) and representation.speaker(value) or nil
end

local function method_of(config, name, reply)
  if name == "OPTIONS" then
    local value = config.handle_options
    reply = value ~= nil and representation.speaker(value) or nil
    return { name = name, reply = reply }
  end
  if is_read(name) then
    if config.handle_ok == nil then reply = config.do_any end
    return { name = name, reply = reply }
  end
  if name == "DELETE" then reply = nil end -- it would look up what is gone
  return { name = name, operation = config[M.operation_of(name)] or config.do_any,
    reply = reply }
end

--- What speaks for each method.  "*" becomes the usual methods, those that rows of the
--- graph name, and any other; OPTIONS is always there.
---@param config table<string, any>
---@param names string[]      see M.names
---@param custom string[]     further methods that the graph tells apart
---@return luaweb.Method[]
function M.of(config, names, custom)
  local list, has, reply = {}, {}, reply_of(config)
  local function add(name)
    if not has[name] then list[#list + 1] = method_of(config, name, reply) end
    has[name] = true
  end
  for _, name in ipairs(names) do
    if name == "*" then
      for _, usual in ipairs(USUAL) do add(usual) end
      for _, other in ipairs(custom) do add(other) end
    end
    add(name)
  end
  add "OPTIONS"
  return list
end

return M
