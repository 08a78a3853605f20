-- SPDX-License-Identifier: MIT
-- `luaweb explain`: asks an app one request and gathers what it takes to understand the
-- answer: the resource, what the compiler made of its graph, the program, the walk with
-- reasons, the response.  Who shows it is explain_text, explain_dot, or JSON.
local dot = require "luaweb.explain.dot"
local failures = require "luaweb.explain.failure"
local ffi = require "ffi"
local fields = require "luaweb.explain.fields"
local json = require "luaweb.json"
local keys = require "luaweb.machine.keys"
local methods = require "luaweb.machine.methods"
local places = require "luaweb.explain.places"
local programs = require "luaweb.explain.program"
local reasons = require "luaweb.explain.reason"
local requests = require "luaweb.probe.request"
local text = require "luaweb.explain.text"
local walks = require "luaweb.explain.walk"

ffi.cdef "int isatty(int file);"

local M = {}

local USAGE = "want an app, a method and a path, e.g.: "
  .. "luaweb explain apps/hello.lua GET /hello"

-- The command line --------------------------------------------------------------------

---@class luaweb.ExplainWanted
---@field app string                     its path
---@field request luaweb.ProbeRequest?   nil: all resources
---@field form "text"|"json"|"dot"

local function is_target(word)
  return word:find "^/" ~= nil or word == "*" or word:find "^%w+://" ~= nil
end

-- The request that the words name.  Nil: none, or wrong usage with its message.
local function read_request(words, flags, headers)
  local method, target = words[2], words[3]
  if not method then
    local is_bare = not (flags.dot or flags.d or headers[1])
    return nil, not is_bare and USAGE or nil
  end
  if not target and is_target(method) then method, target = "GET", method end
  local fault = not target and USAGE or requests.fault(method, target or "")
  if fault then return nil, fault end
  return { method = method, target = target, headers = headers, body = flags.d }
end

--- Reads the command line.
---@param words string[]
---@param flags table
---@return luaweb.ExplainWanted?
---@return string? message   wrong usage
function M.read(words, flags)
  if #words < 1 or #words > 3 then return nil, USAGE end
  if flags.json and flags.dot then return nil, "--json or --dot: want one of them" end
  local headers, fault = requests.headers(flags.H)
  if not headers then return nil, fault end
  local request
  request, fault = read_request(words, flags, headers)
  if fault then return nil, fault end
  return { app = words[1], request = request,
    form = flags.json and "json" or flags.dot and "dot" or "text" }
end

-- Walks -------------------------------------------------------------------------------

local FAULT = 500 -- whatever fails

local function entry_of(asked, graph, program, passed)
  local row = graph.rows[passed.row]
  local step = passed.step and program.steps[passed.step + 1]
  return { row = passed.row, name = row.name, how = passed.how, step = passed.step,
    answer = programs.word(passed.answer), source = row.source,
    reason = reasons.of(asked, row.name, passed, step and step.by),
    to = passed.to and graph.rows[passed.to].name,
    jumps = passed.to ~= nil and passed.to > passed.row + 1 }
end

local function walk_of(asked, graph, program, trace)
  local walked, list = walks.of(graph, program, trace), json.array()
  local is_told = false -- of a failure, by the row whose question it was
  for i, passed in ipairs(walked.passed) do
    list[i] = entry_of(asked, graph, program, passed)
    asked.is_kept = asked.is_kept or passed.is_kept
    is_told = passed.answer == FAULT
  end
  return { rows = list, ending = { row = graph.rows[walked.row].name,
    status = walked.status, failure = not is_told and asked.failure or nil } }
end

-- The handler that speaks at a status.
local function handler_of(machine, status)
  for name in pairs(machine.config) do
    local key = keys.find(name)
    local speaks = key.kind == "handler" and key.number == status and status ~= 200
    if speaks then return places.who(machine, name) end
  end
end

local is_shown = { [200] = true, [206] = true } -- where has_reply was yes

-- Who made the content of the response, where that is known: not who failed.
local function speaker_of(asked, walk)
  local machine, method = asked.machine, asked.request.method
  for _, entry in ipairs(asked.failure and {} or walk.rows) do
    local has_reply = entry.name == "has_reply" and entry.answer == "yes"
      and is_shown[asked.status]
    local is_kept = asked.is_kept
    if has_reply or (is_kept and entry.name == "operation") then
      local key = is_kept and places.operation(machine, method)
        or places.reply(machine, method)
      return key and places.who(machine, key)
    end
  end
  return handler_of(machine, asked.status)
end

local function add_walk(explained, probe, trace, asked, failure)
  local resource = probe.app.machines[trace.resource] or probe.app.unmatched
  local assembly, method = resource.assembly, asked.request.method
  local program = probe:program(trace.resource, method)
  local machine = assembly.machine
  asked.machine = machine
  asked.methods = trace.resource and methods.shown(assembly.names) or {}
  asked.failure = failure and failures.text(machine, method, failure)
  explained.resource = trace.resource and { template = resource.template,
    methods = json.array(asked.methods), place = machine.place,
    params = machine.config.params } or nil
  explained.passes = programs.passes(program, assembly)
  explained.program = programs.shown(program, machine, method)
  explained.walk = walk_of(asked, assembly.rows.graph, program, trace)
  asked.speaker = asked.status and speaker_of(asked, explained.walk)
end

-- Messages ----------------------------------------------------------------------------

local function shown_fields(pairs_of, asked)
  local list = json.array()
  for i, pair in ipairs(pairs_of) do
    list[i] = { name = pair[1], value = fields.shown(pair[1], pair[2]),
      from = asked and fields.source(asked, pair[1], pair[2]) or nil }
  end
  return list
end

local function request_of(request)
  return { method = request.method, target = request.target,
    fields = shown_fields(request.headers), size = #(request.body or "") }
end

local function response_of(asked, answer)
  local is_ours = not asked.machine and answer.status >= 400
  return { line = answer.line, status = answer.status, size = #answer.body,
    fields = shown_fields(answer.fields, asked),
    text = is_ours and answer.body:gsub("%s+$", "") or nil }
end

---@class luaweb.Explained   all of it as texts and numbers
---@field request table      { method, target, fields, size }
---@field resource table?    { template, methods, params, place }; nil: none matched
---@field passes luaweb.Passes?          nil: no machine was asked
---@field program luaweb.ShownProgram?
---@field walk table?        { rows = { row, name, how, step, answer, reason, ... },
---                            ending = { row, status, failure } }
---@field response table?    { line, status, fields = { name, value, from }, size,
---                            text }: why the server has refused it by itself
---@field fault string?      why there is none

--- Asks a request and gathers what there is to know.
---@param probe luaweb.Probe
---@param request luaweb.ProbeRequest
---@return luaweb.Explained
function M.of(probe, request)
  local answer, fault, failure = failures.ask(probe, request)
  local trace = probe:trace()
  local asked = { request = request, status = answer and answer.status }
  local explained = { request = request_of(request), fault = fault }
  if trace then add_walk(explained, probe, trace, asked, failure) end
  explained.response = answer and response_of(asked, answer)
  return explained
end

--- Gathers what there is to know of a walk that was noted before.  Nothing is asked.
---@param probe luaweb.Probe
---@param trace luaweb.Trace
---@param request luaweb.ProbeRequest
---@param status integer?            of its answer; nil: there is none yet
---@param failure luaweb.Failure?
---@return luaweb.Explained   without a response
function M.of_walk(probe, trace, request, status, failure)
  local asked = { request = request, status = status, is_past = true }
  local explained = { request = request_of(request) }
  add_walk(explained, probe, trace, asked, failure)
  return explained
end

-- Showing -----------------------------------------------------------------------------

local function wants_colour()
  local no_colour = os.getenv "NO_COLOR"
  return ffi.C.isatty(1) == 1 and (no_colour == nil or no_colour == "")
end

local function as_json(what) return json.encode(what) .. "\n" end

local forms = { text = text.write, dot = dot.write, json = as_json }

--- Explains, on standard output.
---@param probe luaweb.Probe
---@param wanted luaweb.ExplainWanted
---@return boolean is_good   always
function M.run(probe, wanted)
  local shown
  if wanted.request then
    shown = forms[wanted.form](M.of(probe, wanted.request), wants_colour())
  elseif wanted.form == "json" then
    shown = as_json(programs.overview(probe))
  else
    shown = text.overview(programs.overview(probe), wants_colour(), wanted.app)
  end
  io.stdout:write(shown)
  return true
end

return M
