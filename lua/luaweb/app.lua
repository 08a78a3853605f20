-- SPDX-License-Identifier: MIT
-- Apps: the list of resources that a script returns, and how it is handed to C.
local abi = require "luaweb.abi"
local ffi = require "ffi"
local host = require "luaweb.host"
local loader = require "luaweb.loader"
local machine = require "luaweb.machine"
local params = require "luaweb.params"
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

local why, other = ffi.new "const char *[1]", ffi.new "int[1]"

-- Adds the template to C: its number.
local function number_of_template(capp, resource, list)
  local template = resource.template
  local number = C.luaweb_app_resource(abi.host, capp, template, #template, why, other)
  if number >= 0 then return number end
  local message = ("the template %q %s"):format(template, ffi.string(why[0]))
  local same = list[other[0] + 1]
  if same then
    message = ("%s: %q at %s"):format(message, same.template, same.place)
  end
  error(resource.place .. ": " .. message, 0)
end

local function is_same(key, a, b)
  return a == b or (key == "params" and params.equal(a, b))
end

-- Adds what a resource's machine says to what is known of its template.
local function add_config(first, resource)
  for key, value in pairs(resource.machine.config) do
    local known = first.config[key]
    if known ~= nil and not is_same(key, known, value) then
      error(("%s: %s: %q has %s already, declared at %s"):format(resource.place, key,
        resource.template, key, first.places[key]), 0)
    end
    first.config[key], first.places[key] = value, resource.machine.places[key]
  end
end

-- Resources whose templates mean the same are one; the same key twice is a
-- contradiction.  By the number that C knows them by, plus one.
local function merge(capp, resources)
  local list = {}
  for _, resource in ipairs(resources) do
    local i = number_of_template(capp, resource, list) + 1
    list[i] = list[i] or setmetatable({ template = resource.template, config = {},
      places = {}, place = resource.place }, machine.Machine)
    add_config(list[i], resource)
  end
  return list
end

local function number_of(numbers, fn, guard)
  if not numbers[fn] then
    local constant = fn
    local handler = type(fn) == "function" and fn or function() return constant end
    numbers[fn] = host.register(guard and guard(handler) or handler)
  end
  return numbers[fn]
end

local function add_machine(capp, resource, methods, numbers)
  local lines, config = {}, resource.config
  local guard = config.params and params.guard(config.params)
  if guard then numbers = {} end
  for i, entry in ipairs(methods) do
    lines[i] = ("%s %d"):format(entry.method, number_of(numbers, entry.fn, guard))
  end
  local text = table.concat(lines, "\n")
  local number = C.luaweb_app_machine(abi.host, capp, text, #text,
    config.body_limit or -1, why)
  if number < 0 then
    error(("%s: %s: %s"):format(resource.place, resource.template,
      ffi.string(why[0])), 0)
  end
  return number
end

local function add_demands(capp, number, resource)
  local unknown = resource.config.params
    and params.demand(capp, number, resource.config.params)
  if not unknown then return end
  error(("%s: params: the template %q has no variable %s"):format(
    resource.places.params, resource.template, unknown), 0)
end

-- Ends the building of the app in C.
local function build(capp, list)
  local hidden = list[C.luaweb_app_build(abi.host, capp, other) + 1]
  if not hidden then return end
  local winner = list[other[0] + 1]
  error(("%s: the template %q is never reached: its paths go to %q at %s"):format(
    hidden.place, hidden.template, winner.template, winner.place), 0)
end

--- Hands the app to C, which keeps it as long as the worker lives.
---@return ffi.cdata* capp    for luaweb_listen and the like
---@return table[] routes     template, methods, place; in order of declaration
function App:install()
  local capp, numbers, routes = C.luaweb_app_new(abi.host), {}, {}
  local list = merge(capp, self.resources)
  for i, resource in ipairs(list) do
    local methods = machine.methods(resource, resource.template)
    C.luaweb_app_assign(abi.host, capp, i - 1,
      add_machine(capp, resource, methods, numbers))
    add_demands(capp, i - 1, resource)
    routes[i] = { template = resource.template, methods = {}, place = resource.place }
    for j, entry in ipairs(methods) do routes[i].methods[j] = entry.method end
  end
  build(capp, list)
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
