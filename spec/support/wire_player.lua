-- SPDX-License-Identifier: MIT
-- Reads the wire documents (spec/wire/*.md) and plays their examples.  A player owns
-- its connection until `play` returns; it waits, so it runs as a job.  It must never
-- pass what it does not understand: a document that is not in this form is an error.
--
-- A document is a title (`# ...`), prose, and examples.  An example begins with its
-- promise (`## ...`), which is the name of its test, and has blocks, played in order
-- on a new connection:
--
--   ```request                the client sends these octets
--   ```request, 200 times     the same, repeated
--   ```response               the server answers so
--   ```response to HEAD       the same, where Content-Length does not mean content
--   ```response, 200 times    the same answer that often
--
-- A line of a request ends in CRLF; but the last line, when it is not empty, ends where
-- it ends.  So an empty last line ends a head, and a last line with text ends a body.
-- Escapes: \r \n \t \\ \xHH, \{300 a} for a repeated text; and a backslash at the end
-- of a line joins it to the next one without CRLF.
--
-- A response is its status line, the headers that it must have at least (in any order;
-- `Name: (any)` and `Name: (absent)` say just that), and, after an empty line, its
-- body; without an empty line the body is left open.  A final answer must have a Date.
-- Two responses are not HTTP: `closes` (the server ends the connection and sends no
-- more) and `nothing` (for a short while nothing comes; the connection stays open).
-- An example that does not end in `closes` ends with a probe: the connection must
-- answer one more request, so that a stream that is out of step is found.
local web = require "luaweb"
local now = require("system").monotime
local reader = require "luaweb.client.http_reader"

local M = {}

local ANSWER_S = 2         -- for an answer or a close to come
local NOTHING_S = 0.02     -- quiet time that counts as nothing
local PROBE = "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"
local DATE = "^%a%a%a, %d%d %a%a%a %d%d%d%d %d%d:%d%d:%d%d GMT$"
local ESCAPES = { r = "\r", n = "\n", t = "\t", ["\\"] = "\\" }


-- Reading a document ------------------------------------------------------------------

local function unescaped(text)
  text = text:gsub("\\{(%d+) ([^}]*)}", function(count, piece)
    return piece:rep(tonumber(count))
  end)
  return (text:gsub("\\(.?)(%x?%x?)", function(kind, after)
    if kind == "x" and #after == 2 then return string.char(tonumber(after, 16)) end
    if not ESCAPES[kind] then error("unknown escape \\" .. kind .. after, 0) end
    return ESCAPES[kind] .. after
  end))
end

-- The octets of lines[from] and the following.
local function octets(lines, from)
  local parts = {}
  for i = from, #lines do
    local line = lines[i]
    if line:find "\\$" and not line:find "\\\\$" then
      parts[#parts + 1] = line:sub(1, -2)
    else
      parts[#parts + 1] = line .. ((i < #lines or line == "") and "\r\n" or "")
    end
  end
  return unescaped(table.concat(parts))
end

local function read_answer(lines, words)
  local answer = { kind = "answer", status_line = lines[1], headers = {},
                   method = words:find "HEAD" and "HEAD" or "GET" }
  for i = 2, #lines do
    if lines[i] == "" then
      answer.body = octets(lines, i + 1)
      break
    end
    local name, value = lines[i]:match "^([^:%s]+): (.*)$"
    if not name then error("not a header: " .. lines[i], 0) end
    answer.headers[#answer.headers + 1] = { name, unescaped(value) }
  end
  return answer
end

-- What the words after ``` may be.
local BLOCKS = { ["request"] = true, ["response"] = true, ["response to HEAD"] = true }

-- Adds what a block says to the example's steps.
local function add_block(steps, info, lines)
  local words, times = info:gsub(", %d+ times$", ""), info:match ", (%d+) times$"
  if not BLOCKS[words] or not lines[1] then error("unknown block ```" .. info, 0) end
  local count, step = tonumber(times) or 1
  if words == "request" then
    step, count = { kind = "request", octets = octets(lines, 1):rep(count) }, 1
  elseif not lines[2] and (lines[1] == "closes" or lines[1] == "nothing") then
    step = { kind = lines[1] }
  else
    step = read_answer(lines, words)
  end
  for _ = 1, count do steps[#steps + 1] = step end
end

local function add_line(document, line, state)
  if state.info and line == "```" then
    add_block(state.example.steps, state.info, state.lines)
    state.info = nil
  elseif state.info then
    table.insert(state.lines, line)
  elseif line:find "^```" then
    if not state.example then error("a block before the first promise", 0) end
    state.info, state.lines = line:sub(4), {}
  elseif line:find "^## " then
    state.example = { title = line:sub(4), steps = {} }
    table.insert(document.examples, state.example)
  elseif line:find "^# " then
    document.title = line:sub(3)
  end
end

---@class spec.Example
---@field title string
---@field steps table[]   kind: request, answer, closes, nothing

--- Reads a document.
---@param path string
---@return { title: string, examples: spec.Example[] }
function M.read(path)
  local document, state, number = { examples = {} }, {}, 0
  for line in io.lines(path) do
    number = number + 1
    local ok, err = pcall(add_line, document, line, state)
    if not ok then error(("%s:%d: %s"):format(path, number, err), 0) end
  end
  for _, example in ipairs(document.examples) do
    local last = example.steps[#example.steps]
    if state.info or not last or last.kind == "request" then
      error(("%s: no response in %q"):format(path, example.title), 0)
    end
  end
  return document
end

-- Playing an example ------------------------------------------------------------------

local Player = {}
Player.__index = Player

function Player:receive(wait_s)
  if self.at_end then return end
  local data, why = self.conn:receive(math.max(wait_s, 0))
  self.received = self.received .. (data or "")
  self.at_end = not data and why ~= "timeout"
end

-- A step gives nil, or what was wrong.
local STEPS = {}

function STEPS.request(self, step)
  local size = self.piece or #step.octets
  for at = 1, #step.octets, size do
    if not self.conn:send(step.octets:sub(at, at + size - 1)) then break end
    if self.piece then
      web.sleep(0)
      self:receive(0)
    end
  end
end

local function header_fault(message, name, want)
  local value = message:header(name:lower())
  local fits = value == want
  if want == "(absent)" then fits = value == nil end
  if want == "(any)" then fits = value ~= nil end
  if fits then return nil end
  return ("%s is %s, wanted %s"):format(name, value or "absent", want)
end

local function answer_fault(step, message)
  if message.line ~= step.status_line then return "wanted " .. step.status_line end
  for _, pair in ipairs(step.headers) do
    local fault = header_fault(message, pair[1], pair[2])
    if fault then return fault end
  end
  if message.status >= 200 and not (message:header "date" or ""):find(DATE) then
    return "no Date"
  end
  if step.body and message.body ~= step.body then
    return ("body %q, wanted %q"):format(message.body, step.body)
  end
end

function STEPS.answer(self, step)
  local deadline = now() + ANSWER_S
  local message, rest = reader.next(self.received, step.method, self.at_end)
  while not message and rest == "" and not self.at_end and now() < deadline do
    self:receive(deadline - now())
    message, rest = reader.next(self.received, step.method, self.at_end)
  end
  if not message then
    return ("wanted %s, got %q%s %s"):format(
      step.status_line, self.received, self.at_end and " and a close" or "", rest)
  end
  local fault = answer_fault(step, message)
  if fault then return fault .. "; got " .. self.received end
  self.received = rest
end

function STEPS.nothing(self)
  self:receive(NOTHING_S)
  if self.received == "" and not self.at_end then return nil end
  local close = self.at_end and " and a close" or ""
  return ("not nothing: %q%s"):format(self.received, close)
end

function STEPS.closes(self)
  local deadline = now() + ANSWER_S
  while not self.at_end and now() < deadline do self:receive(deadline - now()) end
  if self.received ~= "" then return ("more than wanted: %q"):format(self.received) end
  return not self.at_end and "the connection is still open" or nil
end

local function probe(self)
  STEPS.request(self, { octets = PROBE })
  local fault = STEPS.answer(self, { status_line = "HTTP/1.1 200 OK", headers = {},
                                     method = "GET", body = "root" })
    or STEPS.nothing(self)
  return fault and "the probe request failed: " .. fault
end

local function run(self, example)
  for i, step in ipairs(example.steps) do
    local fault = STEPS[step.kind](self, step)
    if fault then return ("block %d: %s"):format(i, fault) end
  end
  if example.steps[#example.steps].kind ~= "closes" then return probe(self) end
end

--- Plays an example on a new connection.
---@param example spec.Example
---@param conn table        a raw connection; the player takes it
---@param piece integer?    octets per write; nil: each block in one
---@return string? fault    nil: all went as the document says
function M.play(example, conn, piece)
  local player = setmetatable({ conn = conn, piece = piece, received = "",
                                at_end = false }, Player)
  local done, fault = pcall(run, player, example)
  conn:close()
  if not done then error(fault, 0) end
  return fault
end

return M
