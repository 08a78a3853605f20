-- SPDX-License-Identifier: MIT
-- One resource that is checked: what is known of it, requests to it, what was found.
local M = {}

---@class luaweb.Finding
---@field level "error"|"warning"|"skipped"
---@field place string
---@field template string
---@field what string

---@class luaweb.CheckCase
---@field probe luaweb.Probe
---@field number integer?          of the resource; nil: unmatched paths
---@field template string
---@field machine luaweb.Machine
---@field graph luaweb.Graph
---@field has table<string, boolean>   its methods; "*": any
---@field path string
---@field has_variables boolean
---@field headers [string, string][]   that each request has
---@field findings luaweb.Finding[]
local Case = {}
Case.__index = Case

---@param spec table   the fields of a case
---@return luaweb.CheckCase
function M.new(spec)
  return setmetatable(spec, Case)
end

---@class luaweb.CheckAnswer
---@field answer luaweb.ProbeAnswer
---@field status integer
---@field trace luaweb.Trace?
---@field row string?     where its walk has ended

--- Sends a request with these headers and those of the command line.
---@param method string
---@param headers [string, string][]?
---@param path string?   default: the case's
---@return luaweb.CheckAnswer?   nil: there is none, which is reported
function Case:ask(method, headers, path)
  path = path or self.path
  local all = {}
  for _, list in ipairs { self.headers, headers or {} } do
    for _, pair in ipairs(list) do all[#all + 1] = pair end
  end
  local answer, message, is_late = self.probe:ask { method = method,
    target = path, headers = all, stops = true }
  if not answer then
    local report = is_late and self.skip or self.fault -- it may be meant to last
    report(self, ("%s %s: %s"):format(method, path, message))
    return nil
  end
  local trace = self.probe:trace()
  local row = trace and self:is_own(trace) and self.graph.rows[trace.row]
  return { answer = answer, status = answer.status, trace = trace,
    row = row and row.name or nil }
end

--- Whether a request has come to the resource.
---@param trace luaweb.Trace?
---@return boolean
function Case:is_own(trace)
  return trace ~= nil and trace.resource == self.number
end

--- Whether a walk has ended above a row of the graph.
---@param asked luaweb.CheckAnswer
---@param name string
---@return boolean
function Case:ended_above(asked, name)
  return self.graph.index[asked.row] ~= nil
    and self.graph.index[asked.row] < self.graph.index[name]
end

local function add(case, level, what, key)
  local place = key and case.machine.places[key] or case.machine.place
  table.insert(case.findings, { level = level, place = place,
    template = case.template, what = what })
end

--- Something that is wrong.
---@param what string
---@param key string?   of the machine, where it is to be mended
function Case:fault(what, key) add(self, "error", what, key) end

--- Something that is allowed, and seldom meant.
---@param what string
---@param key string?
function Case:warn(what, key) add(self, "warning", what, key) end

--- Something that could not be tried, and why.
---@param what string
function Case:skip(what) add(self, "skipped", what) end

return M
