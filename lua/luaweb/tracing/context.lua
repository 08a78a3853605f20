-- SPDX-License-Identifier: MIT
-- Which trace what runs is part of (W3C Trace Context).  Of a request it is found out
-- when somebody asks; the jobs that it starts inherit it, those in the background too.
local abi = require "luaweb.abi"
local ffi = require "ffi"
local roster = require "luaweb.roster"
local sched = require "luaweb.sched"

local C, host, str = abi.C, abi.host, ffi.string
local request_at = abi.request_at
local SAMPLED = tonumber(C.LUAWEB_TRACE_SAMPLED)

local M = {}

---@class luaweb.Trace   ids are lower-case hex digits
---@field trace_id string      32 of them
---@field span_id string       16, of what is traced here
---@field parent_id string?    16, of who asked for it; nil: the trace begins here
---@field sampled boolean      spans of it are recorded
---@field state string?        the tracestate that came with it
---@field package flags integer

local scratch = ffi.new "struct luaweb_trace"
local id = ffi.new "char[16]"
local value = ffi.new "struct luaweb_slice"

local function read_scratch(state)
  return {
    trace_id = str(scratch.trace_id, 32),
    span_id = str(scratch.span_id, 16),
    parent_id = scratch.has_parent ~= 0 and str(scratch.parent_id, 16) or nil,
    sampled = bit.band(scratch.flags, SAMPLED) ~= 0,
    flags = scratch.flags,
    state = state,
  }
end

-- All lines of tracestate, as one list.
local function joined(r)
  local lines = {}
  for i = 0, r.headers.count - 1 do
    local field = r.headers.list[i]
    if str(field.name.data, field.name.size):lower() == "tracestate" then
      lines[#lines + 1] = str(field.value.data, field.value.size)
    end
  end
  return table.concat(lines, ",")
end

-- The tracestate of a request; nil: none, or none that is sound.
local function state_of(r)
  local name = "tracestate"
  if C.luaweb_header_find(host, r, false, name, #name, value) == 0 then return nil end
  local state = joined(r)
  return C.luaweb_tracestate(host, state, #state) and state or nil
end

--- The trace of a request: that of its client, or a new one.
---@param r ffi.cdata*   struct luaweb_request
---@param generation integer
---@return luaweb.Trace?   nil: it has ended
function M.of_request(r, generation)
  if not C.luaweb_trace(host, r, generation, scratch) then return nil end
  return read_scratch(scratch.has_parent ~= 0 and state_of(r) or nil)
end

--- A trace that begins here.
---@return luaweb.Trace
function M.begin()
  C.luaweb_trace_begin(host, scratch)
  return read_scratch()
end

--- Another span of a trace, below the one that it was.
---@param trace luaweb.Trace
---@return luaweb.Trace
function M.below(trace)
  C.luaweb_span_id(host, id)
  return { trace_id = trace.trace_id, span_id = str(id, 16), parent_id = trace.span_id,
    sampled = trace.sampled, flags = trace.flags, state = trace.state }
end

--- The trace that what runs is part of; nil: none.
---@return luaweb.Trace?
function M.current()
  local task = sched.self()
  if not task then return nil end
  if task.span then return task.span end
  if task.address then
    return M.of_request(request_at(task.address), task.generation)
  end
  local context = roster.context_of(task)
  return context and context.trace
end

local name = ffi.new "char[129]"

--- What names the request that what runs is part of; nil: none.
---@return string?
function M.request_id()
  local task = sched.self()
  if not task then return nil end
  if task.address then
    C.luaweb_request_id(host, request_at(task.address), name)
    return str(name)
  end
  local context = roster.context_of(task)
  return context and context.request_id
end

--- The value of a traceparent.
---@param trace luaweb.Trace
---@return string
function M.traceparent(trace)
  return ("00-%s-%s-%02x"):format(trace.trace_id, trace.span_id, trace.flags)
end

return M
