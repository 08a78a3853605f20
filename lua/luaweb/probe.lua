-- SPDX-License-Identifier: MIT
-- An app that is looked at: started in this process, listening nowhere, asked through
-- a transport in memory, its walks noted.  The same octets, parser and machines as any
-- client's, and functions of the app run.  It judges nothing.
local abi = require "luaweb.abi"
local ffi = require "ffi"
local http_reader = require "luaweb.client.http_reader"
local socket = require "luaweb.client.socket"

local C = abi.C
local M = {}

local TIMEOUT = 10  -- seconds for a whole answer
local PAUSE = 0.05  -- seconds without octets, after which an answer may be whole
local STREAM = 0.2  -- seconds behind a head, after which its content may never end

---@class luaweb.Probe
---@field app luaweb.App
---@field count integer            requests so far
---@field private capp ffi.cdata*
local Probe = {}
Probe.__index = Probe

---@class luaweb.ProbeRequest
---@field method string
---@field target string
---@field headers [string, string][]?   as they are sent, in order
---@field body string?
---@field stops boolean?   an answer whose content does not end soon is given as it is

---@class luaweb.ProbeAnswer
---@field status integer
---@field line string                  the status line
---@field fields [string, string][]    names as they were sent, in order
---@field body string
---@field rest string                  what came behind the answer: it has to be empty
local Answer = {}
Answer.__index = Answer

--- Starts an app that was installed.
---@param app luaweb.App
---@param capp ffi.cdata*
---@return luaweb.Probe
function M.start(app, capp)
  if app.on_start then app.on_start(app) end
  return M.of(app, capp)
end

--- Looks at an app that serves.
---@param app luaweb.App
---@param capp ffi.cdata*
---@return luaweb.Probe
function M.of(app, capp)
  return setmetatable({ app = app, capp = capp, count = 0 }, Probe)
end

--- Ends it; walks are no longer noted.
function Probe:stop()
  C.luaweb_explain_trace(abi.host, false)
end

-- Asking ------------------------------------------------------------------------------

local function write(request)
  local lines = { ("%s %s HTTP/1.1"):format(request.method, request.target) }
  local seen = {}
  for _, pair in ipairs(request.headers or {}) do
    lines[#lines + 1] = ("%s: %s"):format(pair[1], pair[2])
    seen[pair[1]:lower()] = true
  end
  local is_framed = seen["content-length"] or seen["transfer-encoding"]
  if not seen.host then table.insert(lines, 2, "Host: localhost") end
  if request.body and not is_framed then
    lines[#lines + 1] = ("Content-Length: %d"):format(#request.body)
  end
  if not seen.connection then lines[#lines + 1] = "Connection: close" end
  return table.concat(lines, "\r\n") .. "\r\n\r\n" .. (request.body or "")
end

-- The fields as they were sent: the reader makes their names lower case.
local function fields_of(octets, message)
  for _ = 1, #message.interim do octets = octets:gsub("^.-\r\n\r\n", "", 1) end
  local fields, head = {}, octets:match "^(.-\r\n)\r\n"
  for name, value in head:gmatch "\n([^:\r\n]+):[ \t]*([^\r\n]*)" do
    fields[#fields + 1] = { name, (value:gsub("[ \t]+$", "")) }
  end
  return fields
end

local function to_answer(octets, message, rest)
  return setmetatable({ status = message.status, line = message.line,
    fields = fields_of(octets, message), body = message.body, rest = rest }, Answer)
end

-- The head of an answer that streams, where it has come long ago.
local function read_open(all, since, now)
  local messages, rest = http_reader.read(all, { "HEAD" }, false)
  if not messages[1] then return nil end
  if now - (since or now) < STREAM then return nil, since or now end
  messages[1].body = rest
  return to_answer(all, messages[1], "")
end

-- The answer, or nil and why there will be none, or nil.
local function read_whole(all, method, ending)
  local is_end = ending ~= nil and ending ~= "timeout"
  local messages, rest, fault = http_reader.read(all, { method }, is_end)
  if messages[1] then return to_answer(all, messages[1], rest) end
  if is_end or fault then return nil, "no answer: " .. (fault or ending) end
end

-- Receives until the server closes, or until an answer is whole and nothing follows; or
-- where that is wanted, until it turns out to stream.
local function receive(conn, request)
  local parts, start, since, answer = {}, C.luaweb_now(abi.host), nil, nil
  while true do
    local octets, ending = conn:receive(PAUSE)
    parts[#parts + 1] = octets
    local now = C.luaweb_now(abi.host)
    local is_late = now > start + TIMEOUT
    if ending or is_late or now > start + STREAM then
      local all = table.concat(parts)
      parts = { all }
      local whole, fault = read_whole(all, request.method, ending)
      if whole or fault then return whole, fault end
      if request.stops then answer, since = read_open(all, since, now) end
      if answer then return answer end
      if is_late then
        return nil, ("no whole answer within %d s"):format(TIMEOUT), true
      end
    end
  end
end

--- Sends a request on a connection of its own and waits for the whole answer.
---@param request luaweb.ProbeRequest
---@return luaweb.ProbeAnswer? answer
---@return string? message   why there is none
---@return boolean? is_late  it takes too long
function Probe:ask(request)
  C.luaweb_explain_trace(abi.host, true)
  self.count = self.count + 1
  local conn = assert(socket.memory(self.capp))
  conn:send(write(request))
  local answer, message, is_late = receive(conn, request)
  conn:close()
  return answer, message, is_late
end

--- All values of a field joined with ", ", or nil when it is absent.
---@param name string
---@return string?
function Answer:field(name)
  local values = {}
  for _, pair in ipairs(self.fields) do
    if pair[1]:lower() == name:lower() then values[#values + 1] = pair[2] end
  end
  return values[1] and table.concat(values, ", ")
end

-- Looking -----------------------------------------------------------------------------

local NO, ASK = tonumber(C.LUAWEB_ANSWER_NO), tonumber(C.LUAWEB_ANSWER_ASK)
local KEPT = tonumber(C.LUAWEB_ANSWER_KEPT)
local MOST = tonumber(C.LUAWEB_PROGRAM_ROWS)

local fates = {
  [tonumber(C.LUAWEB_FATE_FIXED)] = "fixed",
  [tonumber(C.LUAWEB_FATE_LITERAL)] = "literal",
  [tonumber(C.LUAWEB_FATE_UNARY)] = "unary",
  [tonumber(C.LUAWEB_FATE_UNREACHABLE)] = "unreachable",
  [tonumber(C.LUAWEB_FATE_ASKED)] = "asked",
}
local speakers = {
  [tonumber(C.LUAWEB_BY_CORE)] = "core",
  [tonumber(C.LUAWEB_BY_APP)] = "app",
  [tonumber(C.LUAWEB_BY_OPERATION)] = "operation",
}

-- true, false or a status; nil: it is asked.
local function answer_of(number)
  if number >= 200 then return number end
  if number == ASK then return nil end
  return number ~= NO
end

---@class luaweb.Arrow
---@field step integer?     of the program, from 0; or a terminal:
---@field row integer?
---@field status integer?

---@class luaweb.ProgramRow
---@field name string
---@field fate "fixed"|"literal"|"unary"|"unreachable"|"asked"
---@field answer boolean|integer|nil   of fixed and literal ones

---@class luaweb.Step
---@field row integer
---@field by "core"|"app"|"operation"
---@field yes luaweb.Arrow
---@field no luaweb.Arrow

---@class luaweb.Program
---@field number integer              the same for methods that have it in common
---@field start luaweb.Arrow
---@field rows luaweb.ProgramRow[]    of the whole graph
---@field steps luaweb.Step[]         the first is step 0

local room = ffi.new "struct luaweb_program"

local function arrow_of(number)
  if number >= 0 then return { step = number } end
  local terminal = room.terminals[-1 - number]
  return { row = terminal.row + 1, status = terminal.status }
end

--- The program by which a method of a resource is answered.
---@param resource integer?   its place among app.machines; nil: of unmatched paths
---@param method string
---@return luaweb.Program
function Probe:program(resource, method)
  local number = (resource or 0) - 1
  assert(C.luaweb_explain_program(abi.host, self.capp, number, method, room))
  local program = { number = room.number, start = arrow_of(room.start), rows = {},
    steps = {} }
  for i = 1, room.row_count do
    local row = room.rows[i - 1]
    program.rows[i] = { name = ffi.string(row.name), fate = fates[row.fate],
      answer = answer_of(row.answer) }
  end
  for i = 1, room.step_count do
    local step = room.steps[i - 1]
    program.steps[i] = { row = step.row + 1, by = speakers[step.by],
      yes = arrow_of(step.yes), no = arrow_of(step.no) }
  end
  return program
end

---@class luaweb.Traced
---@field row integer
---@field answer boolean|integer
---@field is_kept boolean   an operation that gave content

---@class luaweb.Trace
---@field resource integer?    its place among app.machines; nil: none matched
---@field answers luaweb.Traced[]
---@field row integer          where the walk has ended
---@field status integer

local answers, ending = ffi.new("struct luaweb_traced[?]", MOST),
  ffi.new "struct luaweb_ending"

local function trace_of(count)
  local list = {}
  for i = 1, count do
    local entry = answers[i - 1]
    list[i] = { row = entry.row + 1, answer = answer_of(entry.answer),
      is_kept = entry.answer == KEPT }
  end
  return { resource = ending.resource >= 0 and ending.resource + 1 or nil,
    answers = list, row = ending.row + 1, status = ending.status }
end

--- The walk of the request that was asked last.
---@return luaweb.Trace?   nil: none has walked; the server answered by itself
function Probe:trace()
  local count = C.luaweb_explain_read(abi.host, answers, MOST, ending)
  if ending.status == 0 and count == 0 then return nil end
  return trace_of(count)
end

--- The walk of a request that was remembered while the app is developed.
---@param id number
---@return luaweb.Trace?   nil: it is not known any more, or has not walked
function Probe:trace_of(id)
  local count = C.luaweb_dev_walk(abi.host, id, answers, MOST, ending)
  return count >= 0 and trace_of(count) or nil
end

return M
