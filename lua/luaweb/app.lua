-- SPDX-License-Identifier: MIT
-- Apps: the list of resources that a script returns, and how it is handed to C.
local abi = require "luaweb.abi"
local ffi = require "ffi"
local host = require "luaweb.host"
local loader = require "luaweb.loader"
local machine = require "luaweb.machine"
local trace = require "luaweb.trace"

local C = abi.C
local M = {}

---@class luaweb.App
---@field resources luaweb.Resource[]
---@field on_start fun(app: luaweb.App)?
---@field on_stop fun(app: luaweb.App)?
---@field place string
local App = {}
App.__index = App
M.App = App

local hooks = { on_start = true, on_stop = true }

local function add_resources(app, spec)
  for i = 1, #spec do
    local item = spec[i]
    if getmetatable(item) == machine.Resource then
      app.resources[#app.resources + 1] = item
    else
      error(("%s: web.app: entry %d is a %s, not a resource"):format(app.place, i,
        type(item)), 0)
    end
  end
end

--- Declares an app: a list of resources, and functions that run at start and stop.
---@param spec table
---@return luaweb.App
function M.app(spec)
  local place = trace.place()
  if type(spec) ~= "table" then error(place .. ": web.app wants a table", 0) end
  local app = setmetatable({ resources = {}, place = place }, App)
  add_resources(app, spec)
  for key, value in pairs(spec) do
    local listed = type(key) == "number" and key >= 1 and key <= #spec
    if not listed and not hooks[key] then
      error(("%s: web.app: no app has the key %s"):format(place, tostring(key)), 0)
    end
    if hooks[key] then
      if type(value) ~= "function" then
        error(("%s: web.app: %s wants a function"):format(place, key), 0)
      end
      app[key] = value
    end
  end
  return app
end

-- Resources with equal templates are one; the same key twice is a contradiction.
local function merge(resources)
  local list, by_template = {}, {}
  for _, resource in ipairs(resources) do
    local first = by_template[resource.template]
    if not first then
      first = { template = resource.template, place = resource.place, config = {},
        places = {}, machine = resource.machine }
      by_template[resource.template] = first
      list[#list + 1] = first
    end
    for key, value in pairs(resource.machine.config) do
      if first.config[key] ~= nil and first.config[key] ~= value then
        error(("%s: %s: %q has %s already, declared at %s"):format(resource.place, key,
          resource.template, key, first.places[key]), 0)
      end
      first.config[key], first.places[key] = value, resource.machine.places[key]
    end
  end
  return list
end

-- Where a template was declared that matches the same paths, as text for an error.
local function place_of_same(resources, template)
  local shape = template:gsub("{(/?)[^}]*}", "{%1}")
  for _, resource in ipairs(resources) do
    if resource.template ~= template
      and resource.template:gsub("{(/?)[^}]*}", "{%1}") == shape then
      return (": %q at %s"):format(resource.template, resource.place)
    end
  end
  return ""
end

local why = ffi.new "const char *[1]"

local function number_of(numbers, fn)
  if not numbers[fn] then
    local constant = fn
    numbers[fn] = host.register(type(fn) == "function" and fn
      or function() return constant end)
  end
  return numbers[fn]
end

local function add_machine(capp, resource, methods, numbers)
  local lines = {}
  for i, entry in ipairs(methods) do
    lines[i] = ("%s %d"):format(entry.method, number_of(numbers, entry.fn))
  end
  local text = table.concat(lines, "\n")
  local number = C.luaweb_app_machine(abi.host, capp, text, #text,
    resource.config.body_limit or -1, why)
  if number < 0 then
    error(("%s: %s: %s"):format(resource.place, resource.template,
      ffi.string(why[0])), 0)
  end
  return number
end

--- Hands the app to C, which keeps it as long as the worker lives.
---@return ffi.cdata* capp    for luaweb_listen and the like
---@return table[] routes     template, methods, place; in order of declaration
function App:install()
  local capp, numbers, routes = C.luaweb_app_new(abi.host), {}, {}
  local resources = merge(self.resources)
  for i, resource in ipairs(resources) do
    local merged = setmetatable({ config = resource.config, places = resource.places,
      place = resource.place }, machine.Machine)
    local methods = machine.methods(merged, resource.template)
    local number = add_machine(capp, resource, methods, numbers)
    local template = resource.template
    if C.luaweb_app_resource(abi.host, capp, template, #template, number, why) ~= 0 then
      error(("%s: the template %q %s%s"):format(resource.place, template,
        ffi.string(why[0]), place_of_same(resources, template)), 0)
    end
    routes[i] = { template = template, methods = {}, place = resource.place }
    for j, entry in ipairs(methods) do routes[i].methods[j] = entry.method end
  end
  if self.on_stop then host.on_stop(function() self.on_stop(self) end) end
  return capp, routes
end

--- Runs a script that returns an app.  Raises one message with file and line.
---@param path string
---@return luaweb.App
function M.load(path)
  local chunk, message = loadfile(path)
  if not chunk then error(message, 0) end
  loader.add_folder(path:match "^(.*)/[^/]*$" or ".")
  local app = trace.run_chunk(chunk)
  if getmetatable(app) ~= App then
    error(("%s: the script must return web.app { ... }"):format(path), 0)
  end
  return app
end

return M
