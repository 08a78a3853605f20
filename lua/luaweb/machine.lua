-- SPDX-License-Identifier: MIT
-- Machines and resources as an app declares them: keys with their places, included
-- machines, schemes and components added up.  What is wrong with a machine is raised
-- when it gets a template, which the message names.  Nothing runs here.
local auth = require "luaweb.auth"
local graph = require "luaweb.graph"
local keys = require "luaweb.machine.keys"
local trace = require "luaweb.trace"

local M = {}

---@class luaweb.Machine
---@field config table<string, any>      key -> value, includes merged in
---@field places table<string, string>   key -> where it was declared
---@field own table<string, boolean>     the keys that no included machine has brought
---@field schemes table[]                of web.auth, in order
---@field components luaweb.Component[]
---@field place string
---@field declared string[]?             where those were that it is joined from
---@field fault luaweb.Fault?            what is wrong with it
local Machine = {}
Machine.__index = Machine

---@class luaweb.Fault
---@field place string
---@field key string
---@field message string

---@class luaweb.Resource
---@field template string
---@field machine luaweb.Machine
---@field place string
local Resource = {}
Resource.__index = Resource

M.Machine, M.Resource = Machine, Resource

-- Faults ------------------------------------------------------------------------------

local pending = {} -- faults that were not raised yet

--- Ends the loading of an app.
---@param place string
---@param label string?    what the machine is for: the template of its resource
---@param key string
---@param message string
function M.fail(place, label, key, message)
  label = label and label .. ": " or ""
  error(("%s: %s%s: %s"):format(place, label, key, message), 0)
end

--- Raises what is wrong with a machine, if there is something.
---@param machine luaweb.Machine
---@param label string?
function M.raise_fault(machine, label)
  local fault = machine.fault
  if not fault then return end
  for i, one in ipairs(pending) do
    if one == fault then table.remove(pending, i) end
  end
  M.fail(fault.place, label, fault.key, fault.message)
end

--- Forgets the faults of machines that no resource has, before a script is loaded.
function M.forget_faults()
  pending = {}
end

--- Raises the first fault of a machine that no resource has.
function M.raise_pending()
  if pending[1] then M.raise_fault { fault = pending[1] } end
end

local function note_fault(machine, key, message)
  if machine.fault then return end
  machine.fault = { place = machine.place, key = key, message = message }
  pending[#pending + 1] = machine.fault
end

-- Adding up ---------------------------------------------------------------------------

-- Both lists as one, each item once.
local function union(a, b)
  local list, seen = {}, {}
  for _, items in ipairs { a, b } do
    for _, item in ipairs(items) do
      if not seen[item] then list[#list + 1] = item end
      seen[item] = true
    end
  end
  return list
end

local function items_of(list, req)
  if type(list) == "function" then list = list(req) end
  return type(list) == "table" and list or { list }
end

-- Two values of `vary`.
local function vary_by_both(a, b)
  if a == nil or a == b then return b end
  if type(a) == "table" and type(b) == "table" then return union(a, b) end
  return function(req) return union(items_of(a, req), items_of(b, req)) end
end

local function put(machine, key, value, place)
  if key == "vary" then value = vary_by_both(machine.config.vary, value) end
  machine.config[key], machine.places[key] = value, place
end

local function add_lists(machine, other)
  machine.schemes = union(machine.schemes, other.schemes)
  machine.components = union(machine.components, other.components)
end

--- A machine that says nothing yet.
---@param place string
---@return luaweb.Machine
function M.new(place)
  return setmetatable({ config = {}, places = {}, own = {}, schemes = {},
    components = {}, place = place }, Machine)
end

--- Adds what another machine says, which wins.
---@param machine luaweb.Machine
---@param other luaweb.Machine
function M.include(machine, other)
  for key, value in pairs(other.config) do
    put(machine, key, value, other.places[key])
  end
  add_lists(machine, other)
  machine.declared = other.declared or machine.declared
  machine.fault = machine.fault or other.fault
end

-- Whether two values say the same.
local function is_same(a, b)
  if a == b then return true end
  if type(a) ~= "table" or type(b) ~= "table" or getmetatable(a) ~= getmetatable(b) then
    return false
  end
  for key, value in pairs(a) do
    if not is_same(value, b[key]) then return false end
  end
  for key in pairs(b) do
    if a[key] == nil then return false end
  end
  return true
end

--- Adds what another machine says, which must not contradict.
---@param machine luaweb.Machine
---@param other luaweb.Machine
---@return string? key   that has two values
function M.join(machine, other)
  for key, value in pairs(other.config) do
    local known = machine.config[key]
    if known ~= nil and key ~= "vary" and not is_same(known, value) then return key end
    put(machine, key, value, other.places[key])
    machine.own[key] = machine.own[key] or other.own[key]
  end
  add_lists(machine, other)
  machine.declared = union(machine.declared or {}, { other.place })
end

-- Declaring ---------------------------------------------------------------------------

-- What web.basic and the like have given.
local function is_scheme(item)
  return type(item) == "table" and getmetatable(item) ~= nil
    and type(rawget(item, "challenge")) == "string" and rawget(item, "verify") ~= nil
end

--- Adds what stands in an array part: machines, web.auth, components.
---@param machine luaweb.Machine
---@param item any
---@return string? fault
function M.include_item(machine, item)
  local kind = getmetatable(item)
  if kind == Machine then
    M.include(machine, item)
  elseif kind == auth.Auth then
    machine.schemes = union(machine.schemes, item.schemes)
  elseif kind == graph.Component then
    machine.components = union(machine.components, { item })
  elseif is_scheme(item) then
    return ("put web.%s into web.auth { ... }"):format(item.name)
  else
    return "a machine includes machines, not a " .. type(item)
  end
end

local function fault_of(key, value)
  if is_scheme(value) or getmetatable(value) == auth.Auth then
    return "web.auth { ... } stands in the array part"
  end
  return keys.fault(key, value)
end

local function declare(machine, key, value)
  local fault = fault_of(key, value)
  if fault then return note_fault(machine, tostring(key), fault) end
  put(machine, key, value, machine.place)
  machine.own[key] = true
end

-- The named keys of a table in an order that is always the same.
local function named_keys(spec)
  local list = {}
  for key in pairs(spec) do
    local is_listed = type(key) == "number" and key >= 1 and key <= #spec
    if not is_listed then list[#list + 1] = key end
  end
  table.sort(list, function(a, b) return tostring(a) < tostring(b) end)
  return list
end

--- Declares a machine: the array part lists what it includes (machines, web.auth,
--- components), in order; its own keys win.
---@param spec table
---@return luaweb.Machine
function M.machine(spec)
  local place = trace.place()
  if type(spec) ~= "table" then error(place .. ": web.machine wants a table", 0) end
  local machine = M.new(place)
  for i = 1, #spec do
    local fault = M.include_item(machine, spec[i])
    if fault then note_fault(machine, ("[%d]"):format(i), fault) end
  end
  for _, key in ipairs(named_keys(spec)) do declare(machine, key, spec[key]) end
  return machine
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
  M.raise_fault(machine, template)
  return setmetatable({ template = template, machine = machine, place = place },
    Resource)
end

--- The short forms: web.get(template, fn) is a resource whose machine has one key.
---@param key string   handle_ok, do_post, ...
---@return fun(template: string, fn: function): luaweb.Resource
function M.short(key)
  return function(template, fn)
    if fn == nil and type(template) == "string" then
      M.fail(trace.place(), template, key, "wants a function of the request")
    end
    local is_whole = key == "do_any" and getmetatable(fn) == Machine -- web.proxy's
    return M.resource(template, is_whole and fn or M.machine { [key] = fn })
  end
end

return M
