-- SPDX-License-Identifier: MIT
-- Programs and walks as specs look at them, through the border that explains
-- (core/base/abi_explain.h).  Owns nothing but its structs.
local abi = require "luaweb.abi"
local ffi = require "ffi"

local C, host = abi.C, abi.host
local M = {}

M.KEPT = tonumber(C.LUAWEB_ANSWER_KEPT)

local FATES = { fixed = C.LUAWEB_FATE_FIXED, literal = C.LUAWEB_FATE_LITERAL,
  unary = C.LUAWEB_FATE_UNARY, unreachable = C.LUAWEB_FATE_UNREACHABLE,
  asked = C.LUAWEB_FATE_ASKED }
local BY = {
  [tonumber(C.LUAWEB_BY_CORE)] = "core", [tonumber(C.LUAWEB_BY_APP)] = "app",
  [tonumber(C.LUAWEB_BY_OPERATION)] = "operation",
}

local fate_names = {}
for name, number in pairs(FATES) do fate_names[tonumber(number)] = name end

---@class spec.Program
---@field number integer                  equal programs have one
---@field fates table<string, string>     row -> fixed, literal, unary, ...
---@field answers table<string, integer>  row -> what it is known to answer
---@field counts table<string, integer>   fate -> rows
---@field is_asked table<string, boolean>
---@field start string                    a row, or a status and the row of its terminal
---@field steps string[]                  "row by yes no"

-- The row of a step, or "404 exists" of a terminal.
local function place(program, arrow)
  if arrow >= 0 then return ffi.string(program.rows[program.steps[arrow].row].name) end
  local terminal = program.terminals[-1 - arrow]
  return ("%d %s"):format(terminal.status, ffi.string(program.rows[terminal.row].name))
end

local function step_text(program, step)
  local name = ffi.string(program.rows[step.row].name)
  return ("%s (%s): yes %s, no %s"):format(name, BY[step.by], place(program, step.yes),
    place(program, step.no))
end

local function read(struct)
  local program = { number = struct.number, fates = {}, answers = {}, is_asked = {},
    counts = {}, steps = {}, row_count = struct.row_count }
  for name in pairs(FATES) do program.counts[name] = 0 end
  for i = 0, struct.row_count - 1 do
    local row = struct.rows[i]
    local name, fate = ffi.string(row.name), fate_names[row.fate]
    program.fates[name], program.answers[name] = fate, row.answer
    program.counts[fate] = program.counts[fate] + 1
    program.is_asked[name] = fate == "asked"
  end
  program.start = place(struct, struct.start)
  for i = 0, struct.step_count - 1 do
    program.steps[i + 1] = step_text(struct, struct.steps[i])
  end
  return program
end

--- The program of a method, or nil where there is no such resource.
---@param capp ffi.cdata*
---@param resource integer   counted from 0; -1: of unmatched paths
---@param method string
---@return spec.Program?
function M.program(capp, resource, method)
  local struct = ffi.new "struct luaweb_program"
  if not C.luaweb_explain_program(host, capp, resource, method, struct) then
    return nil
  end
  return read(struct)
end

--- Begins or ends to note walks.
---@param on boolean?
function M.trace(on)
  C.luaweb_explain_trace(host, on and true or false)
end

local MOST = tonumber(C.LUAWEB_PROGRAM_ROWS)
local answers = ffi.new("struct luaweb_traced[?]", MOST)
local ending = ffi.new "struct luaweb_ending"

--- The walk that has begun last.
---@return { answers: { row: string, answer: integer }[], status: integer, row: integer,
---          resource: integer }
function M.walk()
  local list = {}
  for i = 0, C.luaweb_explain_read(host, answers, MOST, ending) - 1 do
    list[i + 1] = { row = ffi.string(answers[i].name), answer = answers[i].answer }
  end
  return { answers = list, status = ending.status, row = ending.row,
           resource = ending.resource }
end

return M
