-- SPDX-License-Identifier: MIT
-- A machine with all that follows from its keys: what its schemes answer, the media
-- types of its handlers, an entity tag, its graph and its methods.  Checked, and ready
-- to be handed to C.
local auth = require "luaweb.auth"
local contradictions = require "luaweb.machine.contradictions"
local graph = require "luaweb.graph"
local keys = require "luaweb.machine.keys"
local machines = require "luaweb.machine"
local methods = require "luaweb.machine.methods"
local representation = require "luaweb.machine.representation"
local rows = require "luaweb.graph.rows"
local tag = require "luaweb.response.tag"

local M = {}

---@class luaweb.Assembly
---@field machine luaweb.Machine
---@field label string                    what it serves: a template, for messages
---@field names string[]                  its methods as the author would list them
---@field methods luaweb.Method[]         as C gets them
---@field components luaweb.Component[]
---@field rows luaweb.Rows                of its graph
---@field listed any                      available_media_types as declared
---@field reach luaweb.Reach?             once contradictions wanted it

local function imply(machine, key, value)
  if machine.config[key] ~= nil then return end
  machine.config[key], machine.places[key] = value, machine.place
end

-- Authentication ----------------------------------------------------------------------

-- A refused token is named in the challenge (RFC 6750 §3.1): that wants the request.
local function challenge_of(schemes)
  for _, scheme in ipairs(schemes) do
    if scheme.name == "bearer" then
      return function(req) return auth.challenges(schemes, req) end
    end
  end
  return auth.challenges(schemes)
end

local function add_schemes(machine)
  local schemes = machine.schemes
  if not schemes[1] then return end
  imply(machine, "authorized", auth.authorized(schemes))
  imply(machine, "challenge", challenge_of(schemes))
end

-- Representations ---------------------------------------------------------------------

local dimensions = { "available_media_types", "available_languages",
  "available_charsets" }

-- Whether there is one representation only: then one tag is right for it.
local function is_single(config)
  for _, key in ipairs(dimensions) do
    local value = config[key]
    if type(value) == "function" or (value and #value > 1) then return false end
  end
  return config.available_content_codings == nil
end

-- What never changes has a tag that never changes.
local function add_tag(machine)
  local config = machine.config
  if config.entity_tag ~= nil or config.handle_ok == nil then return end
  if representation.offers(config.handle_ok) or not is_single(config) then return end
  local text = representation.constant(config.handle_ok)
  if text then imply(machine, "entity_tag", tag.etag(text)) end
end

local function add_media_types(machine)
  local offers, list = representation.offers(machine.config.handle_ok), {}
  for i, offer in ipairs(offers or {}) do list[i] = offer.media_type end
  if offers then imply(machine, "available_media_types", list) end
end

-- Graphs ------------------------------------------------------------------------------

local function has_patch(names)
  for _, name in ipairs(names) do
    if name == "PATCH" or name == "*" then return true end
  end
  return false
end

-- Those that it includes, and those that its keys belong to.
local function components_of(machine, names)
  local wanted = {}
  for _, component in ipairs(machine.components) do wanted[component] = true end
  for name in pairs(machine.config) do
    local component = keys.find(name).component
    if component == graph.components.cors then wanted[component] = true end
    if name == "do_patch" then component = graph.components.patch end
    if component == graph.components.patch and has_patch(names) then
      wanted[component] = true
    end
  end
  local list = {}
  for component in pairs(wanted) do list[#list + 1] = component end
  return list
end

local function rows_of(assembly)
  local ok, built = pcall(graph.build, assembly.components)
  if ok then ok, built = pcall(rows.of, built) end
  if not ok then
    machines.fail(assembly.machine.place, assembly.label, "components", built)
  end
  return built
end

local function assemble(machine, label, names)
  local assembly = { machine = machine, label = label, names = names,
    listed = machine.config.available_media_types }
  add_schemes(machine)
  add_media_types(machine)
  assembly.components = components_of(machine, names)
  assembly.rows = rows_of(assembly)
  return assembly
end

--- Puts together the machine of a resource.  Raises its first contradiction.
---@param machine luaweb.Machine   its own; what follows is added to it
---@param label string             the template
---@return luaweb.Assembly
function M.of(machine, label)
  local names = methods.names(machine, label)
  local assembly = assemble(machine, label, names)
  assembly.methods = methods.of(machine.config, names, assembly.rows.custom)
  contradictions.check(assembly)
  add_tag(machine)
  return assembly
end

-- Unmatched paths ---------------------------------------------------------------------

local NO_PATH = "unmatched paths"
local of_resources = { operation = true, methods = true, params = true }

-- What serves a resource that is there is of no use, and an error in not_found.
local function drop_what_serves(machine)
  for name in pairs(machine.config) do
    local serves = name == "handle_ok" or of_resources[keys.find(name).kind]
    if serves and machine.own[name] then
      machines.fail(machine.places[name], "not_found", name,
        "there is nothing to serve: nothing can reach it")
    end
    if serves then machine.config[name] = nil end
  end
end

--- Puts together the machine of all paths without a resource: whatever the method,
--- there is nothing.
---@param machine luaweb.Machine   its own; what follows is added to it
---@return luaweb.Assembly
function M.of_unmatched(machine)
  local config = machine.config
  drop_what_serves(machine)
  config.exists, config.may_create, config.may_recreate = false, false, false
  local assembly = assemble(machine, NO_PATH, {})
  assembly.methods = { { name = "*", like = "GET" },
    methods.of(config, {}, {})[1] } -- OPTIONS
  contradictions.check(assembly)
  return assembly
end

return M
