-- SPDX-License-Identifier: MIT
-- Hands graphs and machines to C, once, while an app loads: what is a literal as it is,
-- what is a function by the number that the host knows it by.
local abi = require "luaweb.abi"
local ffi = require "ffi"
local host = require "luaweb.host"
local keys = require "luaweb.machine.keys"
local fail = require("luaweb.machine").fail
local params = require "luaweb.machine.params"
local representation = require "luaweb.machine.representation"

local C = abi.C
local M = {}

local NO = tonumber(C.LUAWEB_ANSWER_NO)
local YES = tonumber(C.LUAWEB_ANSWER_YES)
local ASK = tonumber(C.LUAWEB_ANSWER_ASK)
local TEXT = "text/plain; charset=utf-8"

---@class luaweb.Handover
---@field private capp ffi.cdata*
---@field private graphs table<luaweb.Rows, integer>
local Handover = {}
Handover.__index = Handover

--- Begins for an app.
---@param capp ffi.cdata*
---@return luaweb.Handover
function M.new(capp)
  return setmetatable({ capp = capp, graphs = {} }, Handover)
end

local why, which = ffi.new "const char *[1]", ffi.new "uint32_t[1]"

-- The number of a graph in C, which gets each once.
local function number_of_graph(self, assembly)
  local rows = assembly.rows
  if self.graphs[rows] then return self.graphs[rows] end
  local list = rows.graph.rows
  local number = C.luaweb_app_graph(abi.host, self.capp, rows.list, #list, why, which)
  if number < 0 then
    local row = list[which[0] + 1]
    fail(assembly.machine.place, assembly.label, row and row.name or "components",
      ffi.string(why[0]))
  end
  self.graphs[rows] = number
  return number
end

-- A yes to has_reply leaves it to what makes the representation.
local function leaves_it(key, value)
  return key.name == "has_reply" and value == true
end

---@class luaweb.Filling   a machine in C that is being filled in
---@field capp ffi.cdata*
---@field number integer
---@field assembly luaweb.Assembly

local function refuse(filling, key, message)
  local machine = filling.assembly.machine
  fail(machine.places[key] or machine.place, filling.assembly.label, key, message)
end

local function add_answer(filling, key, value)
  local row = filling.assembly.rows.graph.index[key.name]
  if not row or leaves_it(key, value) then return end
  local answer, fn = value, 0
  if type(value) == "boolean" then
    answer = value and YES or NO
  elseif type(value) ~= "number" then
    answer = ASK
    fn = host.register(key.acts and "operation" or "decision",
      representation.speaker(value))
  end
  C.luaweb_machine_answer(abi.host, filling.capp, filling.number, row - 1, answer, fn)
end

local function add_property(filling, key, value)
  local text, number, fn = "", 0, 0
  if type(value) == "function" then
    fn = host.register("property", value, key.convert, key.name)
  else
    text, number = key.read(value)
  end
  C.luaweb_machine_property(abi.host, filling.capp, filling.number, key.number, text,
    #text, number, fn)
end

local function add_offers(filling, offers)
  local config, by_type = filling.assembly.machine.config, {}
  for _, offer in ipairs(offers) do by_type[offer.media_type] = offer.value end
  for i, media_type in ipairs(config.available_media_types) do
    local fn = host.register("reply", representation.speaker(by_type[media_type]))
    local has_room = C.luaweb_machine_offer(abi.host, filling.capp, filling.number,
      i - 1, fn)
    if not has_room then
      refuse(filling, "handle_ok", ("more than %d media types"):format(i - 1))
    end
  end
end

-- A text is a representation of the negotiated type, but a message in plain text.
local function add_constant(filling, key, text, media_type)
  if not media_type and key.number >= 300 then media_type = TEXT end
  return C.luaweb_machine_constant(abi.host, filling.capp, filling.number, key.number,
    media_type, media_type and #media_type or 0, text, #text)
end

local function add_function(filling, key, value)
  local fn = host.register("handler", representation.speaker(value))
  return C.luaweb_machine_handler(abi.host, filling.capp, filling.number, key.number,
    fn)
end

-- A function that makes the representation goes with the methods.
local function add_handler(filling, key, value)
  if not key.number then return end
  local is_ok = key.number == 200
  local offers = is_ok and representation.offers(value)
  if offers then return add_offers(filling, offers) end
  local text, media_type = representation.constant(value)
  local has_room = true
  if text then
    has_room = add_constant(filling, key, text, media_type)
  elseif not is_ok then
    has_room = add_function(filling, key, value)
  end
  if not has_room then refuse(filling, key.name, "there are too many handlers") end
end

local function add_gate(filling, _, value)
  local gate = params.gate(value)
  if not gate then return end
  local fn = host.register("decision", gate)
  C.luaweb_machine_gate(abi.host, filling.capp, filling.number, fn)
end

local adders = { decision = add_answer, property = add_property,
  handler = add_handler, params = add_gate }

local function add_method(filling, method)
  local name, bits = method.name, filling.assembly.rows.bits
  local operation = method.operation and host.register("operation", method.operation)
  local reply = method.reply and host.register("reply", method.reply)
  return C.luaweb_machine_method(abi.host, filling.capp, filling.number, name, #name,
    bits[method.like or name] or bits["*"], operation or 0, reply or 0)
end

--- Hands a machine over.
---@param assembly luaweb.Assembly
---@return integer number   of the machine in C
function Handover:add(assembly)
  local graph = number_of_graph(self, assembly)
  local filling = { capp = self.capp, assembly = assembly,
    number = C.luaweb_app_machine(abi.host, self.capp, graph) }
  for i, method in ipairs(assembly.methods) do
    if not add_method(filling, method) then
      refuse(filling, "methods", ("more than %d, or %s is too long"):format(i - 1,
        method.name))
    end
  end
  for name, value in pairs(assembly.machine.config) do
    local key = keys.find(name)
    local add = adders[key.kind]
    if add then add(filling, key, value) end
  end
  return filling.number
end

return M
