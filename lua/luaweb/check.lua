-- SPDX-License-Identifier: MIT
-- `luaweb check`: asks every resource of an app what HTTP requires of it, and reports
-- what is wrong, what is seldom meant, and what could not be tried.
local absent = require "luaweb.check.absent"
local cases = require "luaweb.check.case"
local json = require "luaweb.json"
local methods = require "luaweb.check.methods"
local reads = require "luaweb.check.reads"
local requests = require "luaweb.probe.request"
local samples = require "luaweb.check.samples"

local M = {}

local NOWHERE = "/luaweb-check-no-such-path"

-- The command line --------------------------------------------------------------------

---@class luaweb.CheckWanted
---@field headers [string, string][]
---@field params table<string, string>
---@field is_json boolean

--- Reads the command line.
---@param words string[]
---@param flags table
---@return luaweb.CheckWanted?
---@return string? message   wrong usage
function M.read(words, flags)
  if #words ~= 1 then return nil, "want one app, e.g.: luaweb check apps/hello.lua" end
  local headers, fault = requests.headers(flags.H)
  if not headers then return nil, fault end
  local params = {}
  for _, text in ipairs(flags.param) do
    local name, value = text:match "^([^=]+)=(.+)$"
    if not name then return nil, ("--param %s: want name=value"):format(text) end
    params[name] = value
  end
  return { headers = headers, params = params, is_json = flags.json or false }
end

-- Resources ---------------------------------------------------------------------------

local function set_of(names)
  local set = {}
  for _, name in ipairs(names) do set[name] = true end
  return set
end

local function new_case(probe, wanted, resource, number, findings)
  local assembly = resource.assembly
  return cases.new { probe = probe, number = number, findings = findings,
    template = resource.template or "unmatched paths", machine = assembly.machine,
    graph = assembly.rows.graph, has = set_of(assembly.names),
    headers = wanted.headers }
end

-- Whether the path leads to the resource: another one may be nearer.
local function is_reached(case)
  local asked = case:ask "OPTIONS"
  if not asked or case:is_own(asked.trace) then return asked ~= nil end
  local other = asked.trace and case.probe.app.machines[asked.trace.resource]
  case:skip(("%s does not lead here but to %s: give --param"):format(case.path,
    other and other.template or "no resource"))
  return false
end

-- What is a variable elsewhere.
local function check_template(case)
  for word in case.template:gmatch "/:([%a_][%w_]*)" do
    case:warn((":%s is a literal: a variable is {%s}"):format(word, word))
  end
end

local function check_resource(case, wanted)
  check_template(case)
  local demands = case.machine.config.params
  local path, missing = samples.path(case.template, demands, wanted.params)
  case.path, case.has_variables = path, samples.variables(case.template)[1] ~= nil
  if not path then
    return case:skip(("no sample goes with params.%s = %q: give --param %s=..."):format(
      missing, demands[missing], missing))
  end
  if not is_reached(case) then return end
  methods.check(case)
  reads.check(case)
  absent.check(case, wanted.params)
end

local function check_unmatched(case)
  case.path = NOWHERE
  local asked = case:ask "GET"
  if not asked or not case:is_own(asked.trace) then return end
  if asked.status >= 500 then
    case:fault(("GET of a path without a resource answers %d"):format(asked.status))
  elseif asked.status == 401 and not asked.answer:field "WWW-Authenticate" then
    case:fault "its 401 has no WWW-Authenticate (RFC 9110 §15.5.2)"
  end
end

-- Reporting ---------------------------------------------------------------------------

local words_of = { error = "", warning = "warning: ", skipped = "not tried: " }

local function counted(n, one, many)
  return ("%d %s"):format(n, n == 1 and one or many)
end

local function write_lines(summary)
  for _, finding in ipairs(summary.findings) do
    print(("%s: %s: %s%s"):format(finding.place, finding.template,
      words_of[finding.level], finding.what))
  end
  print(("%s, %s: %s, %s, %d not tried"):format(
    counted(summary.resources, "resource", "resources"),
    counted(summary.requests, "request", "requests"),
    counted(summary.errors, "error", "errors"),
    counted(summary.warnings, "warning", "warnings"), summary.skipped))
end

local function summary_of(probe, findings)
  local counts = { error = 0, warning = 0, skipped = 0 }
  for _, finding in ipairs(findings) do
    counts[finding.level] = counts[finding.level] + 1
  end
  return { findings = findings, resources = #probe.app.machines,
    requests = probe.count, errors = counts.error, warnings = counts.warning,
    skipped = counts.skipped }
end

-- A name that no template has would be given in vain.
local function unknown_param(probe, params)
  local known = {}
  for _, resource in ipairs(probe.app.machines) do
    for _, variable in ipairs(samples.variables(resource.template)) do
      known[variable.name] = true
    end
  end
  for name in pairs(params) do
    if not known[name] then return name end
  end
end

--- Checks an app, and reports on standard output.
---@param probe luaweb.Probe
---@param wanted luaweb.CheckWanted
---@return boolean? is_good   nothing is wrong; nil: wrong usage
---@return string? message
function M.run(probe, wanted)
  local unknown = unknown_param(probe, wanted.params)
  if unknown then
    return nil, ("--param %s: no template has this variable"):format(unknown)
  end
  local findings = json.array()
  for i, resource in ipairs(probe.app.machines) do
    check_resource(new_case(probe, wanted, resource, i, findings), wanted)
  end
  check_unmatched(new_case(probe, wanted, probe.app.unmatched, nil, findings))
  local summary = summary_of(probe, findings)
  if wanted.is_json then
    print(json.encode(summary))
  else
    write_lines(summary)
  end
  return summary.errors == 0
end

return M
