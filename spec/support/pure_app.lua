-- SPDX-License-Identifier: MIT
-- Apps of the C core for specs, filled in without a host: graphs, machines, programs.
-- Functions are numbers that nobody calls.
local ffi = require "ffi"
local graph = require "luaweb.graph"
local pure = require "spec.support.pure"
local rows = require "luaweb.graph.rows"
local templates = require "spec.route.templates"

for _, name in ipairs { "base/arena", "base/abi_app", "machine/graph", "machine/plan",
  "machine/machine" } do
  pure.load(name)
end
local C, slice = pure.load "machine/app", templates.slice
ffi.cdef "void free(void *);"

local M = { C = C }

local FATES = { [tonumber(C.LW_FATE_FIXED)] = "fixed",
  [tonumber(C.LW_FATE_LITERAL)] = "literal", [tonumber(C.LW_FATE_UNARY)] = "unary",
  [tonumber(C.LW_FATE_UNREACHABLE)] = "unreachable",
  [tonumber(C.LW_FATE_ASKED)] = "asked" }
local FACTS = { exists = C.LW_FACT_EXISTS, missing = C.LW_FACT_MISSING,
  origin_allowed = C.LW_FACT_ORIGIN_ALLOWED }
local TERMINAL = 32768 -- LW_TERMINAL

---@class spec.PureApp
---@field app ffi.cdata*                         struct luaweb_app
---@field graphs table<luaweb.Graph, integer>
local App = {}
App.__index = App

-- Filling in --------------------------------------------------------------------------

local why, row = ffi.new "const char *[1]", ffi.new "uint32_t[1]"

local function number_of_graph(self, built)
  if not self.graphs[built] then
    local list = rows.of(built).list
    self.graphs[built] = C.lw_app_add_graph(self.app, list, #built.rows, why, row)
  end
  return self.graphs[built]
end

local function say(machine, built, says)
  for name, value in pairs(says or {}) do
    local said = machine.said[assert(built.index[name], name) - 1]
    if type(value) == "boolean" then
      said.answer = value and C.LUAWEB_ANSWER_YES or C.LUAWEB_ANSWER_NO
    elseif type(value) == "table" then
      said.answer, said["function"] = C.LUAWEB_ANSWER_ASK, value[1]
    else
      said.answer = value
    end
  end
end

local function set(machine, properties)
  for name, value in pairs(properties or {}) do
    local property = C["LUAWEB_" .. name:upper()]
    local text, number, fn = "1", 0, 0
    if type(value) == "table" then fn = value[1] end
    if type(value) == "number" then number = value end
    if type(value) == "string" then text = value end
    C.lw_machine_set(machine, property, slice(text), number, fn)
  end
end

---@class spec.PureMachine
---@field components luaweb.Component[]?
---@field methods table[]        { name, operation, reply }; 0: none
---@field says table<string, any>?   row -> literal, or { function }
---@field has table<string, any>?    property -> likewise
---@field handlers table<integer, string|integer>?   status -> constant, or function

--- Adds a machine.
---@param spec spec.PureMachine
---@return integer? number   nil: too many methods, or one that is too long
function App:machine(spec)
  local built = graph.build(spec.components)
  local bits = rows.of(built).bits
  local number = C.lw_app_add_machine(self.app, number_of_graph(self, built))
  local machine = self.app.machines[number]
  for _, method in ipairs(spec.methods) do
    local name, operation, reply = method[1], method[2] or 0, method[3] or 0
    local has_room = C.lw_machine_add_method(machine, slice(name),
      bits[name] or bits["*"], operation, reply)
    if not has_room then return nil end
  end
  say(machine, built, spec.says)
  set(machine, spec.has)
  for status, value in pairs(spec.handlers or {}) do
    local fn = type(value) == "number" and value or 0
    local text = slice(fn == 0 and value or "")
    assert(C.lw_machine_add_handler(machine, status, fn, slice "", text))
  end
  return number
end

--- Adds a resource with its machine: its number, or nil, why not, and the other one.
function App:resource(template, machine)
  local refusal = ffi.new "struct lw_refusal"
  local number = C.lw_app_add_resource(self.app, slice(template), refusal)
  if number < 0 then return nil, ffi.string(refusal.why), refusal.other end
  C.lw_app_assign(self.app, number, machine)
  return number
end

--- Demands something of a variable; false: there is none.
function App:demand(resource, name, what)
  return C.lw_app_demand(self.app, resource, slice(name), C["LUAWEB_DEMAND_" .. what])
end

-- Where no resource matches there is nothing, whatever the method.
local function add_unmatched(self)
  local number = self:machine { methods = { { "*" }, { "OPTIONS" } }, says = {
    exists = false, may_create = false, may_recreate = false, not_options = true } }
  local machine = self.app.machines[number]
  machine.is_unmatched = true
  machine.methods[0].bit = C.LUAWEB_METHOD_GET
  self.app.unmatched = machine
end

--- Ends the filling in: the number of a resource that nothing leads to, and of that
--- which takes its paths; or nil.
function App:build()
  local winner = ffi.new "int32_t[1]"
  add_unmatched(self)
  local hidden = C.lw_app_build(self.app, winner)
  if hidden >= 0 then return hidden, winner[0] end
end

---@return spec.PureApp
function M.new()
  local app = ffi.new "struct luaweb_app"
  C.lw_app_construct(app)
  return setmetatable({ app = ffi.gc(app, C.lw_app_destruct), graphs = {} }, App)
end

-- Looking -----------------------------------------------------------------------------

local function name_of(machine, number)
  return ffi.string(machine.graph.rows[number].given.name)
end

-- The row of a step, or the status and the row of a terminal.
local function place(machine, plan, arrow)
  if arrow < TERMINAL then return name_of(machine, plan.steps[arrow].row) end
  local terminal = plan.terminals[arrow - TERMINAL]
  return ("%d %s"):format(terminal.status, name_of(machine, terminal.row))
end

local function facts_of(plan)
  local list = {}
  for name, fact in pairs(FACTS) do
    if bit.band(plan.facts, fact) ~= 0 then list[#list + 1] = name end
  end
  table.sort(list)
  return table.concat(list, " ")
end

---@class spec.PurePlan
---@field start string     a row, or "204 has_reply": the end
---@field steps string[]   "row: yes place, no place"
---@field facts string
---@field fates table<string, string>
---@field counts table<string, integer>
---@field plan ffi.cdata*

--- What becomes of the graph for a method of a machine.
---@param method string
---@return spec.PurePlan
function App:plan(number, method)
  local machine, report = self.app.machines[number], ffi.new "struct lw_report"
  local found = C.lw_app_method(self.app, machine, slice(method))
  local plan = ffi.gc(C.lw_plan_compile(machine, found, report), ffi.C.free)
  local seen = { steps = {}, fates = {}, counts = { fixed = 0, literal = 0, unary = 0,
    unreachable = 0, asked = 0 }, facts = facts_of(plan), plan = plan }
  for i = 0, machine.graph.count - 1 do
    local fate = FATES[report.fates[i]]
    seen.fates[name_of(machine, i)] = fate
    seen.counts[fate] = seen.counts[fate] + 1
  end
  for i = 0, plan.step_count - 1 do
    local step = plan.steps[i]
    seen.steps[i + 1] = ("%s: yes %s, no %s"):format(name_of(machine, step.row),
      place(machine, plan, step.yes), place(machine, plan, step.no))
  end
  seen.start = place(machine, plan, plan.start)
  return seen
end

--- Who serves a request: the number of the machine, its method, what was captured, the
--- template; or how the program of a refused one ends.
---@param method string
---@param target string
---@param is_server_wide boolean?
---@return table
function App:decide(method, target, is_server_wide)
  local request = ffi.new "struct luaweb_request"
  local decision = ffi.new "struct lw_decision"
  local path, query = target:match "^([^?]*)%??(.*)$"
  request.method, request.path = slice(method), slice(path)
  request.query = slice(query)
  request.has_query = target:find("?", 1, true) and 1 or 0
  local arena = ffi.new "struct lw_arena"
  C.lw_arena_construct(arena)
  C.lw_app_decide(self.app, request, is_server_wide or false, arena, decision)
  local found = { resource = pure.string(decision.resource) }
  if decision.machine ~= nil then
    local machine, program = decision.machine, decision.method.program
    local is_resource = machine ~= self.app.unmatched
    found.vars = is_resource and templates.vars(decision.match) or nil
    found.operation, found.reply = decision.method.operation, decision.method.reply
    found.start = place(machine, program, program.start)
    found.allow = ffi.string(machine.allow)
    found.is_unmatched = not is_resource
  end
  C.lw_arena_destruct(arena)
  return found
end

return M
