-- SPDX-License-Identifier: MIT
-- Who says what in a machine, in words with file and line: functions, literals and what
-- the framework has added for the app.
local methods = require "luaweb.machine.methods"
local representation = require "luaweb.machine.representation"
local trace = require "luaweb.trace"

local M = {}

local own_folder -- as trace.place_of names it

-- The module of ours that a function is from, or nil.
local function own_module(fn)
  own_folder = own_folder or trace.place_of(own_module):match "^(.*/)explain/"
  local place = trace.place_of(fn)
  if place:sub(1, #own_folder) ~= own_folder then return nil end
  return place:match("^([%w_/]+)%.lua:%d+$", #own_folder + 1)
end

--- Where the value of a key is declared; of a function where it is written.
---@param machine luaweb.Machine
---@param key string
---@return string?
function M.place(machine, key)
  local value = machine.config[key]
  if type(value) == "function" and not own_module(value) then
    return trace.place_of(value)
  end
  return machine.places[key]
end

local function with_place(what, place)
  return place and ("%s at %s"):format(what, place) or what
end

--- Schemes, each with the place of its function: "web.basic at app.lua:30".
---@param machine luaweb.Machine
---@param name string?   only those of this name, in lower case
---@return string[]
function M.schemes(machine, name)
  local list = {}
  for _, scheme in ipairs(machine.schemes) do
    if not name or scheme.name == name then
      list[#list + 1] = with_place("web." .. scheme.name, trace.place_of(scheme.verify))
    end
  end
  return list
end

--- Whether it is schemes that answer for a key.
---@param machine luaweb.Machine
---@param key string
---@return boolean
function M.is_by_schemes(machine, key)
  local value = machine.config[key]
  return type(value) == "function" and own_module(value) == "auth"
end

--- Who answers for a key: "allowed at app.lua:30".
---@param machine luaweb.Machine
---@param key string
---@return string
function M.who(machine, key)
  local value = machine.config[key]
  local module = type(value) == "function" and own_module(value)
  if module == "auth" then
    return ("%s, by %s"):format(key, table.concat(M.schemes(machine), ", "))
  end
  if module == "request/memo" then key = key .. ", by web.memo" end
  return with_place(key, M.place(machine, key))
end

--- Who answers for a decision, where its name is known: "the function at app.lua:30".
---@param machine luaweb.Machine
---@param key string
---@return string
function M.speaker(machine, key)
  local value = machine.config[key]
  local is_function = type(value) == "function"
  local module = is_function and own_module(value)
  local what = is_function and "the function" or "the response"
  if module == "request/memo" then what = "web.memo" end
  return with_place(what, M.place(machine, key))
end

-- Whether a function stands at a place, alone or among others for media types.
local function is_at(value, place)
  if type(value) == "function" then return trace.place_of(value) == place end
  for _, offer in ipairs(representation.offers(value) or {}) do
    if is_at(offer.value, place) then return true end
  end
  return false
end

--- The keys whose functions stand at a place.
---@param machine luaweb.Machine
---@param place string   as trace.place_of gives it
---@return string[]      in alphabetical order
function M.keys_at(machine, place)
  local list = {}
  for key, value in pairs(machine.config) do
    if is_at(value, place) then list[#list + 1] = key end
  end
  table.sort(list)
  return list
end

--- The key of the operation of a method: "do_put", "do_any".
---@param machine luaweb.Machine
---@param method string
---@return string
function M.operation(machine, method)
  local own = methods.operation_of(method)
  return machine.config[own] ~= nil and own or "do_any"
end

--- The key of what makes the representation for a method, or nil.
---@param machine luaweb.Machine
---@param method string
---@return string?
function M.reply(machine, method)
  local config = machine.config
  if method == "OPTIONS" then
    return config.handle_options ~= nil and "handle_options" or nil
  end
  if method == "DELETE" then return nil end
  if config.handle_ok ~= nil then return "handle_ok" end
  local is_read = method == "GET" or method == "HEAD"
  return is_read and config.do_any and "do_any" or nil
end

return M
