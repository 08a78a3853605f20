-- SPDX-License-Identifier: MIT
-- Holds what a machine answers on the wire against the reference walk: status, fields,
-- content, and the answers to all rows that its program asks.  Machines and requests
-- are texts, so that a difference can be pasted.  Owns the apps that it makes.
local explained = require "spec.support.explained"
local expected = require "spec.support.expected"
local http_reader = require "luaweb.client.http_reader"
local machines = require "spec.support.reference_machine"
local reference = require "spec.support.reference_walk"
local test = require "luaweb.test"
local web = require "luaweb"

local M = {}

local SECONDS = 5 -- that an answer may take

-- Functions of machines ---------------------------------------------------------------

local calls = {} -- key -> how often it was called for the request

local function seed_of(req)
  if not req.is_plain then return tonumber(req.headers["x-seed"]) or 0 end
  for _, field in ipairs(req.headers) do
    if field[1]:lower() == "x-seed" then return tonumber(field[2]) end
  end
  return 0
end

-- A number that follows from a text.
local function digest(text)
  local sum = 7
  for i = 1, #text do sum = (sum * 31 + text:byte(i)) % 1009 end
  return sum + 1
end

-- A function that gives one of these (list.n), as the request's X-Seed says.
local function pick(name, list)
  local own = digest(name)
  return function(req)
    calls[name] = (calls[name] or 0) + 1
    local value = list[(seed_of(req) * own + own) % 10007 % list.n + 1]
    if type(value) == "table" and value.thrown ~= nil then error(value.thrown, 0) end
    return value
  end
end

local function throw(value)
  return { thrown = value }
end

-- Rows of an app's own.
local audit = web.component { name = "audit", in_front_of = "is_read",
  { "audited", "___", 402, "app", true, "none" },
  { "signed", "___", 418, "app", true, "none", yes_for = "GET HEAD" },
}

local ENVIRONMENT = { web = web, pick = pick, throw = throw, audit = audit }

---@class spec.Spoken
---@field machine luaweb.Machine   for the wire
---@field keys table               for the reference
---@field components table[]

--- A machine from the text of its keys, in which `web`, `pick`, `throw` and `audit`
--- have a meaning.  What it includes is a component, or keys too.
---@param text string
---@return spec.Spoken
function M.machine(text)
  local chunk = assert(loadstring("return " .. text, "=machine"))
  local given, keys, components = setfenv(chunk, ENVIRONMENT)(), {}, {}
  local own = {}
  for i, item in ipairs(given) do
    own[i] = item == audit and audit or web.machine(item)
    if item == audit then components[1] = audit end
    for name, value in pairs(item ~= audit and item or {}) do keys[name] = value end
  end
  for name, value in pairs(given) do
    if type(name) == "string" then own[name], keys[name] = value, value end
  end
  return { machine = web.machine(own), keys = keys, components = components }
end

-- Requests ----------------------------------------------------------------------------

--- A request from its text: "PUT 1.1 /r3", fields, an empty line, content.
---@param text string
---@return spec.PlainRequest
function M.request(text)
  local head, body = text:match "^(.-)\n\n(.*)$"
  local method, version, target = head:match "^(%S+) (%S+) (%S+)"
  local headers = {}
  for name, value in head:gmatch "\n([^:\n]+): ?([^\n]*)" do
    headers[#headers + 1] = { name, value }
  end
  return { is_plain = true, method = method, version = version, target = target,
           headers = headers, body = body }
end

local function in_chunks(body)
  local half = math.floor(#body / 2)
  local parts = {}
  for _, piece in ipairs { body:sub(1, half), body:sub(half + 1) } do
    if piece ~= "" then parts[#parts + 1] = ("%x\r\n%s\r\n"):format(#piece, piece) end
  end
  return table.concat(parts) .. "0\r\n\r\n"
end

local function octets_of(request)
  local lines, is_chunked = {}, false
  lines[1] = ("%s %s HTTP/%s"):format(request.method, request.target, request.version)
  for _, field in ipairs(request.headers) do
    lines[#lines + 1] = field[1] .. ": " .. field[2]
    is_chunked = is_chunked or field[1] == "Transfer-Encoding"
  end
  lines[#lines + 1] = "Connection: close"
  local body = is_chunked and in_chunks(request.body) or request.body
  return table.concat(lines, "\r\n") .. "\r\n\r\n" .. body
end

local function exchange(client, request)
  local conn, all = client:raw(octets_of(request)), ""
  while true do
    local piece, ending = conn:receive(SECONDS)
    all = all .. (piece or "")
    local messages, _, err = http_reader.read(all, { request.method }, ending ~= nil)
    if messages[1] or err or ending then
      conn:close()
      return messages[1], err or ("no answer: %q, %s"):format(all, ending)
    end
  end
end

-- Apps --------------------------------------------------------------------------------

---@class spec.Agreement
---@field texts string[]
---@field machines spec.Spoken[]
---@field client luaweb.TestClient
---@field is_unmatched boolean
local Agreement = {}
Agreement.__index = Agreement

local function nothing() end

-- Implements methods that other machines do not have.
local OTHER = { do_brew = nothing, do_m_search = nothing }
local METHODS = { "BREW", "M-SEARCH" }

--- An app with a resource /r1, /r2, ... for each machine, and one whose methods are
--- BREW and M-SEARCH.
---@param texts string[]
---@return spec.Agreement
function M.of(texts)
  local self = setmetatable({ texts = texts, machines = {} }, Agreement)
  local app = { web.resource("/other", web.machine(OTHER)) }
  for i, text in ipairs(texts) do
    self.machines[i] = M.machine(text)
    app[i + 1] = web.resource("/r" .. i, self.machines[i].machine)
  end
  self.client = test.app(web.app(app))
  return self
end

--- An app that includes a machine, for paths that no resource has.
---@param text string
---@return spec.Agreement
function M.of_unmatched(text)
  local made = M.machine(text)
  local app = web.app { web.resource("/other", web.machine(OTHER)),
                        not_found = made.machine }
  return setmetatable({ texts = { text }, machines = { made }, is_unmatched = true,
    client = test.app(app) }, Agreement)
end

--- The methods that a machine has.
---@param index integer
---@return string[]
function Agreement:methods(index)
  return machines.methods(self.machines[index].keys)
end

-- Comparing ---------------------------------------------------------------------------

-- An answer of the reference as C numbers it.
local function number_of(answer)
  if type(answer) == "boolean" then return answer and 1 or 0 end
  return answer
end

-- The rows that the program asks, with the reference's answers.
local function asked(program, trace)
  local list = {}
  for _, step in ipairs(trace) do
    if program.is_asked[step[1]] then
      list[#list + 1] = step[1] .. " " .. number_of(step[2])
    end
  end
  return table.concat(list, "\n")
end

local function traced(walk)
  local list = {}
  for i, step in ipairs(walk.answers) do
    list[i] = step.row .. " " .. (step.answer == explained.KEPT and 1 or step.answer)
  end
  return table.concat(list, "\n")
end

local function trace_fault(self, index, request, walked)
  local resource = self.is_unmatched and -1 or index
  local program = explained.program(self.client.capp, resource, request.method)
  local wanted, got = asked(program, walked.trace), traced(explained.walk())
  if wanted == got then return nil end
  return ("asked, by the reference:\n%s\nby the program:\n%s"):format(wanted, got)
end

local function called_twice()
  for name, count in pairs(calls) do
    if count > 1 then return ("%s was called %d times"):format(name, count) end
  end
end

-- The difference, or nil; and what came back.
local function compare(self, index, request, is_traced)
  local made = self.machines[index]
  local context = { methods = METHODS, is_unmatched = self.is_unmatched,
                    components = made.components, now = os.time() }
  local walked = reference.machine_walk(made.keys, request, context)
  calls = {}
  local message, err = exchange(self.client, request)
  if not message then return err end
  return called_twice() or expected.fault(walked, request, message)
    or (is_traced and trace_fault(self, index, request, walked)) or nil, message
end

--- What differs for a request, with all that is needed to see it again; nil: nothing.
---@param index integer      of the machine
---@param text string        of the request
---@param is_traced boolean? the answers to its questions are compared too
---@return string?
---@return luaweb.HttpMessage?
function Agreement:difference(index, text, is_traced)
  explained.trace(is_traced)
  local ok, fault, message = pcall(compare, self, index, M.request(text), is_traced)
  explained.trace(false)
  if ok and not fault then return nil, message end
  return ("%s\n\n  agree([==[\n%s]==], [==[\n%s]==]%s)"):format(tostring(fault),
    self.texts[index], text, self.is_unmatched and ", true" or "")
end

--- Raises what differs between a machine and the reference for a request.
---@param machine string         its text
---@param request string         with its empty line, or without that and content
---@param is_unmatched boolean?  the machine answers for paths without a resource
---@return luaweb.HttpMessage    what came back
function M.agree(machine, request, is_unmatched)
  local self = is_unmatched and M.of_unmatched(machine) or M.of { machine }
  local text, answer = request:gsub("^\n", ""), nil
  if not text:find("\n\n", 1, true) then text = text .. "\n\n" end
  for _, is_traced in ipairs { true, false } do
    local difference, message = self:difference(1, text, is_traced)
    if difference then error(difference, 2) end
    answer = message
  end
  return answer
end

return M
