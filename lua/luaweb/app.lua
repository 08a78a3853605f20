-- SPDX-License-Identifier: MIT
-- Apps: the list of resources that a script returns, and how it is handed to C.
local abi = require "luaweb.abi"
local assembly = require "luaweb.machine.assembly"
local ffi = require "ffi"
local handover = require "luaweb.machine.handover"
local keys = require "luaweb.machine.keys"
local loader = require "luaweb.loader"
local machine = require "luaweb.machine"
local params = require "luaweb.machine.params"
local shutdown = require "luaweb.shutdown"
local sched = require "luaweb.sched"
local spawn = require "luaweb.spawn"
local timer = require "luaweb.timer"
local trace = require "luaweb.trace"
local values = require "luaweb.machine.values"

local C = abi.C
local M = {}

local BREATH = 0.005 -- seconds of loading, after which others have a turn

---@class luaweb.App
---@field resources luaweb.Resource[]
---@field base luaweb.Machine             what every machine includes
---@field not_found luaweb.Machine?       what the one of unmatched paths includes
---@field workers integer?                how many it wants; nil: the command line's
---@field on_start fun(app: luaweb.App)?
---@field on_stop fun(app: luaweb.App)?
---@field on_uncaught fun(err: any, job: luaweb.Job, text: string)?
---@field machines luaweb.AppMachine[]?   of the resources, once it is installed
---@field unmatched luaweb.AppMachine?    likewise, of the other paths
---@field place string
local App = {}
App.__index = App
M.App = App

---@class luaweb.AppMachine
---@field template string?
---@field assembly luaweb.Assembly
---@field number integer   of the machine in C
---@field is_apart boolean? ours: the app says nothing of it

-- Declaring ---------------------------------------------------------------------------

local function fail(app, message, ...)
  error(("%s: web.app: %s"):format(app.place, message:format(...)), 0)
end

local function what_is(item)
  if getmetatable(item) ~= machine.Machine then
    return type(item) .. ", not a resource"
  end
  return "machine, not a resource: put web.resource(template, machine) there"
end

local function add_resources(app, spec)
  for i = 1, #spec do
    local item = spec[i]
    if getmetatable(item) ~= machine.Resource then
      fail(app, "entry %d is a %s", i, what_is(item))
    end
    app.resources[#app.resources + 1] = item
  end
end

local function set_function(app, key, value)
  if type(value) ~= "function" then fail(app, "%s wants a function", key) end
  app[key] = value
end

local setters = { on_start = set_function, on_stop = set_function,
  on_uncaught = set_function }

function setters.includes(app, key, value)
  if not values.is_list(value) then fail(app, "%s wants a list of machines", key) end
  for i, item in ipairs(value) do
    local fault = machine.include_item(app.base, item)
    if fault then fail(app, "%s: [%d]: %s", key, i, fault) end
  end
  machine.raise_fault(app.base, key)
end

function setters.not_found(app, key, value)
  if getmetatable(value) ~= machine.Machine then
    fail(app, "%s wants a machine", key)
  end
  machine.raise_fault(value, key)
  app.not_found = value
end

function setters.workers(app, key, value)
  local is_count = type(value) == "number" and value >= 1 and value % 1 == 0
    and value < math.huge
  if not is_count then fail(app, "%s wants a whole number from 1", key) end
  app.workers = value
end

--- Declares an app: a list of resources, what all of them include, and functions that
--- run at start and stop.
---@param spec table
---@return luaweb.App
function M.app(spec)
  local place = trace.place()
  if type(spec) ~= "table" then error(place .. ": web.app wants a table", 0) end
  local app = setmetatable({ resources = {}, place = place,
    base = machine.new(place) }, App)
  add_resources(app, spec)
  for key, value in pairs(spec) do
    local is_listed = type(key) == "number" and key >= 1 and key <= #spec
    if not is_listed and not setters[key] then
      local meant = type(key) == "string" and keys.meant(key, setters)
      fail(app, "no app has the key %s%s", tostring(key),
        meant and (" (did you mean %s?)"):format(meant) or "")
    end
    if not is_listed then setters[key](app, key, value) end
  end
  return app
end

-- Resources ---------------------------------------------------------------------------

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

-- Adds what a resource's machine says to what is known of its template.
local function add_machine(known, resource)
  local key = machine.join(known, resource.machine)
  if not key then return end
  error(("%s: %s: %q has %s already, declared at %s"):format(resource.place, key,
    resource.template, key, known.places[key]), 0)
end

-- Resources whose templates mean the same are one; the same key twice is a
-- contradiction.  By the number that C knows them by, plus one.
local function merge(capp, resources)
  local list = {}
  for _, resource in ipairs(resources) do
    local i = number_of_template(capp, resource, list) + 1
    list[i] = list[i] or { template = resource.template, place = resource.place,
      machine = machine.new(resource.place), is_apart = resource.is_apart }
    add_machine(list[i].machine, resource)
  end
  return list
end

-- What all machines include, and what this one says, which wins.
local function with_base(base, own)
  if not next(base.config) and not base.schemes[1] and not base.components[1] then
    return own
  end
  local whole = machine.new(own.place)
  machine.include(whole, base)
  machine.include(whole, own)
  whole.own = own.own
  return whole
end

local function add_demands(capp, number, resource)
  local config, places = resource.machine.config, resource.machine.places
  local unknown = config.params and params.demand(capp, number, config.params)
  if not unknown then return end
  error(("%s: params: the template %q has no variable %s"):format(places.params,
    resource.template, unknown), 0)
end

-- Ends the building of the app in C.
local function build(capp, list)
  local hidden = list[C.luaweb_app_build(abi.host, capp, other) + 1]
  if not hidden then return end
  local winner = list[other[0] + 1]
  error(("%s: the template %q is never reached: its paths go to %q at %s"):format(
    hidden.place, hidden.template, winner.template, winner.place), 0)
end

local function add_unmatched(self, capp, out)
  local whole = machine.new(self.place)
  machine.include(whole, self.base)
  if self.not_found then
    machine.include(whole, self.not_found)
    for key in pairs(self.not_found.own) do whole.own[key] = true end
  end
  local assembled = assembly.of_unmatched(whole)
  local number = out:add(assembled)
  C.luaweb_app_unmatched(abi.host, capp, number)
  self.unmatched = { assembly = assembled, number = number }
end

-- Many resources take long, and others are served meanwhile: gives what lets them have
-- their turn, now and then.
local function breather()
  local last = C.luaweb_now(abi.host)
  return function()
    if C.luaweb_now(abi.host) - last < BREATH or not sched.may_wait() then return end
    timer.sleep(0)
    last = C.luaweb_now(abi.host)
  end
end

--- Hands the app to C, which keeps it as long as the Lua state lives.
---@return ffi.cdata* capp    for luaweb_listen and the like
function App:install()
  local capp = C.luaweb_app_new(abi.host)
  local list, out = merge(capp, self.resources), handover.new(capp)
  self.machines = {}
  local breathe = breather()
  for i, resource in ipairs(list) do
    breathe()
    local whole = resource.is_apart and resource.machine
      or with_base(self.base, resource.machine)
    resource.machine = whole
    local assembled = assembly.of(whole, resource.template)
    local number = out:add(assembled)
    C.luaweb_app_assign(abi.host, capp, i - 1, number)
    add_demands(capp, i - 1, resource)
    self.machines[i] = { template = resource.template, assembly = assembled,
      number = number, is_apart = resource.is_apart }
  end
  add_unmatched(self, capp, out)
  build(capp, list)
  if self.on_uncaught then spawn.on_uncaught(self.on_uncaught) end
  if self.on_stop then shutdown.on_stop(function() self.on_stop(self) end) end
  return capp
end

--- Runs a script that returns an app.  Raises one message with file and line.
---@param path string
---@return luaweb.App
function M.load(path)
  local chunk, message = loadfile(path)
  if not chunk then error(message, 0) end
  loader.add_folder(path:match "^(.*)/[^/]*$" or ".")
  machine.forget_faults()
  local app = trace.run_chunk(chunk)
  machine.raise_pending()
  if getmetatable(app) ~= App then
    error(("%s: the script must return web.app { ... }"):format(path), 0)
  end
  return app
end

return M
