-- SPDX-License-Identifier: MIT
-- The reference walk: follows the decision graph as its table reads, row by row, in
-- plain Lua.  `walk` takes the answers from a function; `machine_walk` finds them for a
-- machine and a request.  Compiled programs are held against it: it is clear and slow,
-- and must never share code with them.  Owns nothing.
local contents = require "spec.support.reference_content"
local cors = require "spec.support.reference_cors"
local graph = require "luaweb.graph"
local machines = require "spec.support.reference_machine"
local response_fields = require "spec.support.reference_fields"
local rows = require "spec.support.reference_rows"

local M = {}

-- The walk ----------------------------------------------------------------------------

local function words(list)
  local set = {}
  for word in (list or ""):gmatch "%S+" do set[word] = true end
  return set
end

--- The answer that the method alone gives; nil: the row really asks.
---@param row luaweb.GraphRow
---@param method string
---@return boolean?
function M.fixed(row, method)
  local yes, no, ask = words(row.yes_for), words(row.no_for), words(row.ask)
  local is_named = yes[method] or no[method] or ask[method]
  local name = is_named and method or "*"
  if yes[name] then return true end
  if no[name] then return false end
  return nil
end

---@class spec.Walked
---@field row string                              where the walk ended
---@field status integer
---@field trace [string, boolean|integer][]       each row that was passed, its answer

--- Follows the table from its first row to a terminal.
---@param built luaweb.Graph
---@param method string
---@param answer fun(name: string, row: table): boolean|integer   a status ends it
---@return spec.Walked
function M.walk(built, method, answer)
  local trace, at = {}, 1
  while true do
    local row = built.rows[at]
    local given = M.fixed(row, method)
    if given == nil then given = answer(row.name, row) end
    trace[#trace + 1] = { row.name, given }
    if type(given) == "number" then
      return { row = row.name, status = given, trace = trace }
    end
    local arrow = given and row.yes or row.no
    if arrow < 0 then return { row = row.name, status = -arrow, trace = trace } end
    at = arrow
  end
end

-- The walk of a machine ---------------------------------------------------------------

local function components_of(machine, context)
  local list = {}
  if cors.is_used(machine) then list[1] = graph.components.cors end
  if machine.do_patch ~= nil then list[#list + 1] = graph.components.patch end
  for _, own in ipairs(context.components or {}) do list[#list + 1] = own end
  return list
end

local DIMENSION_OF = {
  media_type_offered = "media_type", language_offered = "language",
  charset_offered = "charset", coding_offered = "content_coding",
}

-- The graph as the machine has it.  Where negotiation is not strict, no leads on.  What
-- answers unmatched paths does not look at the method, but for a preflight.
local function graph_of(walk)
  local built = graph.build(components_of(walk.machine, walk.context))
  local copy = { rows = {}, index = built.index }
  for i, row in ipairs(built.rows) do
    copy.rows[i] = setmetatable({}, { __index = row })
    local dimension = DIMENSION_OF[row.name]
    local is_known = type(walk.machine.strict) ~= "function"
    if dimension and is_known and not machines.is_strict(walk, dimension) then
      copy.rows[i].no = row.yes
    end
    if row.name == "not_options" and walk.context.is_unmatched then
      copy.rows[i].no_for = ""
    end
  end
  return copy
end

-- Answers a row; what ends the walk is noted, and its status given.  It ends early
-- where the status is not one to which the row leads.
local function answer_with(walk)
  return function(_, row)
    local ok, result = pcall(rows.answer, walk, row)
    if not ok then
      if type(result) ~= "table" then error(result, 0) end -- a fault of ours
      walk.ending, walk.fault = result.response, result.fault
      result = result.fault and 500 or walk.ending.code or 200
    end
    local is_led = result == -row.yes or result == -row.no
    walk.ends_early = type(result) == "number" and not is_led
    return result
  end
end

-- A 401 without challenge and a redirect without location are faults of the app.
local function check_terminal(terminal, fields)
  local status = terminal.status
  if status == 401 and not fields["www-authenticate"] then
    return "401 without challenge"
  end
  local is_redirect = status > 300 and status < 400 and status ~= 304
  if is_redirect and not fields.location then return status .. " without location" end
end

-- What is said at the terminal, and with which fields.  nil and why it can't be.
local function answer_at(walk, terminal, passed, only_constants)
  local ok, fields = pcall(function()
    walk.said = contents.said(walk, terminal, only_constants)
    return response_fields.of(walk, terminal, passed)
  end)
  if not ok and type(fields) ~= "table" then error(fields, 0) end
  if not ok then return nil, fields.fault or "a response where a value was wanted" end
  return fields, check_terminal(terminal, fields.must)
end

-- The answer of 500 in the place of one that can't be given.
local function answer_fault(walk, terminal, passed, fault)
  walk.fault, walk.reply, walk.ending = fault, nil, nil
  terminal.status, terminal.ends_early = 500, true
  return answer_at(walk, terminal, passed, true) or { must = {}, may = {} }
end

---@class spec.Terminal
---@field row string
---@field status integer
---@field ends_early boolean?   the status is none that the row leads to

---@class spec.MachineWalked: spec.Walked
---@field fields table<string, string>   lower-case name -> value: have to be there
---@field may table<string, string>      may be there
---@field calls string[]                 keys whose functions were called, in order
---@field ranges [integer, integer][]?   of a 206: first and last octets
---@field fault string?                  why it is 500
---@field text string?                   the content, for 206 the whole; nil: streamed
---@field is_short boolean               there is none but what explains the status

--- Walks a machine for a request.
---@param machine table                  its keys: literals or functions of the request
---@param request spec.PlainRequest
---@param context spec.WalkContext?
---@return spec.MachineWalked
function M.machine_walk(machine, request, context)
  local walk = machines.new(machine, request, context)
  local walked = M.walk(graph_of(walk), request.method, answer_with(walk))
  local passed = {}
  for _, step in ipairs(walked.trace) do passed[step[1]] = step[2] end
  local terminal = { row = walked.row, status = walked.status,
                     ends_early = walk.ends_early }
  local fields, fault = answer_at(walk, terminal, passed)
  if fault then fields = answer_fault(walk, terminal, passed, fault) end
  local text = "" -- where nobody says anything
  if walk.said then text = walk.said.text end
  return { row = terminal.row, status = terminal.status, trace = walked.trace,
           fields = fields.must, may = fields.may, calls = walk.calls,
           ranges = walk.ranges, fault = walk.fault, text = text,
           is_short = contents.is_short(walk, terminal.status) }
end

return M
