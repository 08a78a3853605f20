-- SPDX-License-Identifier: MIT
-- What the compiler made of a machine's graph for a method: which pass has removed
-- which rows, and the program that is left, with who answers each of its questions.
local json = require "luaweb.json"
local places = require "luaweb.explain.places"

local M = {}

--- An answer as people say it; nil where there is none.
---@param answer boolean|integer|nil
---@return string?
function M.word(answer)
  if answer == true then return "yes" end
  if answer == false then return "no" end
  return answer and tostring(answer)
end

---@class luaweb.Passes   each list has { row, name, answer, place }
---@field rows integer          of the graph, with those of its components
---@field components table[]    { name, rows }
---@field fixed table[]         answered by the method
---@field literal table[]       answered while the app loads
---@field after_literal integer
---@field unary table[]         both answers lead to the same
---@field after_unary integer
---@field unreachable table[]   nobody comes there
---@field after_subgraph integer

-- By the order of their rows' places, as graph.build has it.
local function components_of(assembly)
  local list, numbers = json.array(), {}
  for i, component in ipairs(assembly.components) do
    list[i] = { name = component.name, rows = #component }
    numbers[list[i]] = component.number
  end
  table.sort(list, function(a, b) return numbers[a] < numbers[b] end)
  return list
end

--- What each pass has removed.
---@param program luaweb.Program
---@param assembly luaweb.Assembly
---@return luaweb.Passes
function M.passes(program, assembly)
  local machine, lists = assembly.machine, {}
  for _, fate in ipairs { "fixed", "literal", "unary", "unreachable", "asked" } do
    lists[fate] = json.array()
  end
  for i, row in ipairs(program.rows) do
    local said = row.fate == "literal" and machine.config[row.name] ~= nil
    table.insert(lists[row.fate], { row = i, name = row.name,
      answer = M.word(row.answer), place = said and machine.places[row.name] or nil })
  end
  local after_literal = #program.rows - #lists.fixed - #lists.literal
  return { rows = #program.rows, components = components_of(assembly),
    fixed = lists.fixed, literal = lists.literal,
    after_literal = after_literal, unary = lists.unary,
    after_unary = after_literal - #lists.unary, unreachable = lists.unreachable,
    after_subgraph = #lists.asked }
end

-- Programs ----------------------------------------------------------------------------

-- Properties that C reads for a row: the app may have functions for them.
local read_by = {
  authority_served = { "hosts" },
  origin_allowed = { "cors_origins" },
  length_known = { "length_required" },
  content_fits = { "body_limit" },
  content_whole = { "partial_put" },
  content_coding_known = { "acceptable_content_codings" },
  media_type_taken = { "acceptable_media_types" },
  patch_type_taken = { "patch_media_types" },
  media_type_offered = { "available_media_types", "strict" },
  language_offered = { "available_languages", "strict" },
  charset_offered = { "available_charsets", "strict" },
  coding_offered = { "available_content_codings", "strict" },
  precondition_given = { "last_modified" },
  if_match_holds = { "entity_tag" },
  if_none_match_holds = { "entity_tag" },
  if_unmodified_since_holds = { "last_modified" },
  if_modified_since_holds = { "last_modified" },
  if_range_holds = { "entity_tag", "last_modified" },
  range_wanted = { "accept_ranges" },
}

-- Who answers a step, in words.
local function who_answers(step, name, machine, method)
  if step.by == "app" then return places.who(machine, name) end
  if step.by == "operation" then
    return places.who(machine, places.operation(machine, method))
  end
  if name == "has_reply" then
    local key = places.reply(machine, method)
    return key and places.who(machine, key) or "C"
  end
  local asked = {}
  for _, key in ipairs(read_by[name] or {}) do
    if type(machine.config[key]) == "function" then
      asked[#asked + 1] = places.who(machine, key)
    end
  end
  return asked[1] and "C, with " .. table.concat(asked, ", ") or "C"
end

local function arrow_of(program, arrow)
  if arrow.step then return { step = arrow.step } end
  return { status = arrow.status, row = program.rows[arrow.row].name }
end

---@class luaweb.ShownProgram
---@field number integer   the same for methods that have it in common
---@field start table      { step } or { row, status }
---@field steps table[]    { step, row, by, who, yes, no }

--- The program as it is shown.
---@param program luaweb.Program
---@param machine luaweb.Machine
---@param method string
---@return luaweb.ShownProgram
function M.shown(program, machine, method)
  local steps = json.array()
  for i, step in ipairs(program.steps) do
    local name = program.rows[step.row].name
    steps[i] = { step = i - 1, row = name, by = step.by,
      who = who_answers(step, name, machine, method),
      yes = arrow_of(program, step.yes), no = arrow_of(program, step.no) }
  end
  return { number = program.number, start = arrow_of(program, program.start),
    steps = steps }
end

-- All resources -----------------------------------------------------------------------

-- Methods of a resource, and one that it does not have.
local function methods_of(assembly)
  local list, has_options, takes_any = {}, false, false
  for i, method in ipairs(assembly.names) do
    list[i] = method
    has_options = has_options or method == "OPTIONS"
    takes_any = takes_any or method == "*"
  end
  if not has_options then list[#list + 1] = "OPTIONS" end
  return list, takes_any
end

-- The methods of a resource in groups that have a program in common.
local function groups_of(probe, i, assembly)
  local groups, by_number = json.array(), {}
  for _, method in ipairs(methods_of(assembly)) do
    local program = probe:program(i, method)
    local group = by_number[program.number]
    if not group then
      local shown = M.shown(program, assembly.machine, method)
      group = { methods = json.array(), rows = #program.rows, asked = json.array(),
        status = shown.start.status }
      for n, step in ipairs(shown.steps) do group.asked[n] = step.row end
      by_number[program.number] = group
      groups[#groups + 1] = group
    end
    table.insert(group.methods, method)
  end
  return groups
end

--- What is asked of each method of each resource.
---@param probe luaweb.Probe
---@return table[]   { template, place, programs = { methods, rows, asked, status } }
function M.overview(probe)
  local list = json.array()
  for i, resource in ipairs(probe.app.machines) do
    list[i] = { template = resource.template,
      place = resource.assembly.machine.place,
      programs = groups_of(probe, i, resource.assembly) }
  end
  return list
end

return M
