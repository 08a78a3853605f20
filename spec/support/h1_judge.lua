-- SPDX-License-Identifier: MIT
-- Judges what a client saw against one allowed outcome of a case of h1-requests.jsonl.
-- Owns nothing, waits for nothing, knows no connection.  It must never pass what it
-- does not understand: an expectation of an unknown name is an error.
local cjson = require "cjson"
local octets = require("spec.support.pure").octets
local regex = require "spec.support.regex"

local M = {}

---@class spec.Seen
---@field messages luaweb.HttpMessage[]
---@field rest string       octets that are no complete message
---@field err string?       why they can't become one
---@field raw string        all octets
---@field at_end boolean    the server closed or reset

local function shown(value)
  if value == nil then return "absent" end
  if type(value) == "string" then
    return '"' .. value:sub(1, 60):gsub("[%c\128-\255]", function(char)
      return ("\\x%02x"):format(char:byte())
    end) .. '"'
  end
  return cjson.encode(value)
end
M.shown = shown

local function same_list(a, b)
  if #a ~= #b then return false end
  for i, value in ipairs(a) do
    if b[i] ~= value then return false end
  end
  return true
end

local function fits_status(wanted, status)
  for _, want in ipairs(wanted) do
    if want == status then return true end
    if type(want) == "string" and want:sub(1, 1) == tostring(status):sub(1, 1) then
      return true
    end
  end
  return false
end

local function fits_header(want, value)
  if want == cjson.null then return value == nil end
  if type(want) == "string" then return value == octets(want) end
  if want.present then return value ~= nil end
  if want.re then return value ~= nil and regex.matches(want.re, value) end
  if want.not_re then return value == nil or not regex.matches(want.not_re, value) end
  error("unknown expectation of a header: " .. cjson.encode(want), 0)
end

-- What /reflect says of a header: text, as cjson decodes it on both sides.
local function fits_values(want, values)
  if type(want) == "string" then return same_list({ want }, values) end
  if want.re then return #values == 1 and regex.matches(want.re, values[1]) end
  return same_list(want, values)
end

-- The JSON of /reflect: UTF-8, and of code points below 256 only.
local function decoded(body)
  if body:gsub("[\194\195][\128-\191]", ""):find "[\128-\255]" then return nil end
  local ok, value = pcall(cjson.decode, body)
  return ok and type(value) == "table" and value or nil
end

local REFLECTED = {}   -- name in an expectation -> why the reflection is not it, or nil

local function exact(name)
  REFLECTED[name] = function(want, reflection)
    if reflection[name] == want then return nil end
    return ("reflected %s is %s, wanted %s"):format(
      name, shown(reflection[name]), shown(want))
  end
end
exact "target"
exact "method"
exact "authority"
exact "body_len"

function REFLECTED.absent(names, reflection)
  for _, name in ipairs(names) do
    if reflection.headers[name] then
      return ("header %s reached the application: %s"):format(
        name, shown(reflection.headers[name]))
    end
  end
end

function REFLECTED.headers(wanted, reflection)
  for name, want in pairs(wanted) do
    local values = reflection.headers[name] or {}
    if not fits_values(want, values) then
      return ("reflected header %s is %s, wanted %s"):format(
        name, shown(values), cjson.encode(want))
    end
  end
end

function REFLECTED.joined(wanted, reflection)
  for name, want in pairs(wanted) do
    local value = table.concat(reflection.headers[name] or {}, ", ")
    if value ~= want then
      return ("reflected header %s is %s, wanted %s"):format(
        name, shown(value), shown(want))
    end
  end
end

local EXPECTED = {}    -- name in an expectation -> why the message does not fit, or nil

function EXPECTED.status(want, message)
  if fits_status(want, message.status) then return nil end
  return ("status %d is not in %s"):format(message.status, cjson.encode(want))
end

function EXPECTED.interim(want, message)
  if same_list(want, message.interim) then return nil end
  return ("interim answers [%s], wanted [%s]"):format(
    table.concat(message.interim, ","), table.concat(want, ","))
end

function EXPECTED.interim_any()
  return nil
end

function EXPECTED.body(want, message)
  if message.body == octets(want) then return nil end
  return ("body %s (%d octets)"):format(shown(message.body), #message.body)
end

function EXPECTED.body_not_re(want, message)
  return regex.matches(want, message.body) and "the body has forbidden text" or nil
end

function EXPECTED.version(want, message)
  if message.version == want then return nil end
  return "the answer says HTTP/" .. message.version
end

function EXPECTED.status_line_re(want, message)
  if regex.matches(want, message.line) then return nil end
  return "status line " .. shown(message.line)
end

function EXPECTED.headers(want, message)
  for name, value in pairs(want) do
    if not fits_header(value, message:header(name)) then
      return ("header %s is %s, wanted %s"):format(
        name, shown(message:header(name)), cjson.encode(value))
    end
  end
end

function EXPECTED.reflect(want, message)
  local reflection = decoded(message.body)
  if not reflection then return "the answer is not JSON: " .. shown(message.body) end
  reflection.headers = reflection.headers or {}
  for name, value in pairs(want) do
    local check = REFLECTED[name] or error("unknown reflection " .. name, 0)
    local reason = check(value, reflection)
    if reason then return reason end
  end
end

local function message_fault(want, message)
  if not want.interim and not want.interim_any and #message.interim > 0 then
    return "unexpected interim answers " .. table.concat(message.interim, ",")
  end
  for name, value in pairs(want) do
    local check = EXPECTED[name] or error("unknown expectation " .. name, 0)
    local reason = check(value, message)
    if reason then return reason end
  end
end

local OUTCOME_KINDS = { "http09", "h2", "upgrade", "responses" }
local OUTCOMES = {}    -- kind -> why what was seen does not fit, or nil

function OUTCOMES.http09(_, seen)
  local fits = seen.at_end and seen.raw ~= "" and seen.raw:sub(1, 5) ~= "HTTP/"
  return not fits and "not an HTTP/0.9 answer" or nil
end

-- RFC 9113 §4.1: the type is the fourth octet of a frame, and 4 is SETTINGS.
function OUTCOMES.h2(_, seen)
  if #seen.raw >= 9 and seen.raw:byte(4) == 4 then return nil end
  return "not an HTTP/2 SETTINGS frame"
end

function OUTCOMES.upgrade(protocol, seen)
  local first = seen.messages[1]
  local chosen = first and first.switched and (first:header "upgrade" or ""):lower()
  return chosen ~= protocol and "not switched" or nil
end

function OUTCOMES.responses(want, seen)
  if seen.err then return seen.err end
  if #seen.messages ~= #want then
    return ("%d answers, wanted %d"):format(#seen.messages, #want)
  end
  for i, message in ipairs(seen.messages) do
    local reason = message_fault(want[i], message)
    if reason then return ("answer %d: %s"):format(i, reason) end
  end
  if seen.rest ~= "" then return "octets left over: " .. shown(seen.rest) end
end

--- Tells why what was seen is not this outcome.  The state of the connection (`conn`)
--- is judged by the caller, who has it.
---@param outcome table     one of a case's `accept`
---@param seen spec.Seen
---@return string? reason   nil: it is this outcome
function M.fault(outcome, seen)
  for _, kind in ipairs(OUTCOME_KINDS) do
    if outcome[kind] then return OUTCOMES[kind](outcome[kind], seen) end
  end
  error("unknown outcome", 0)
end

--- What came, in a few words: "100+200,404 then close".
---@param seen spec.Seen
---@param was_reset boolean
---@return string
function M.summary(seen, was_reset)
  local parts = {}
  for i, message in ipairs(seen.messages) do
    parts[i] = table.concat(message.interim, "+") .. (message.interim[1] and "+" or "")
      .. message.status
  end
  local text = #parts > 0 and table.concat(parts, ",") or "no answer"
  return text .. (was_reset and " then reset" or seen.at_end and " then close" or "")
end

return M
