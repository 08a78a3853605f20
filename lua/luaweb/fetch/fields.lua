-- SPDX-License-Identifier: MIT
-- Header fields as apps give them: a table by name, whose values are texts, numbers or
-- lists of these, and an array part of { name, value } where the order counts.  Made to
-- pairs that can go on the wire as they are: nothing ends a line early.
-- RFC 9110 §5.1, §5.5.
local json = require "luaweb.json"
local scalar = require "luaweb.scalar"
local token = require "luaweb.token"

local M = {}

local MOST = 1000 -- lines

-- What says where a message ends, and how a connection is used.
local OWN = {
  ["transfer-encoding"] = true, ["keep-alive"] = true, upgrade = true, te = true,
  trailer = true, expect = true, ["proxy-connection"] = true,
}

local function fail(what, message, ...)
  error(("%s: headers: "):format(what) .. message:format(...), 0)
end

local function check_name(what, name)
  if type(name) ~= "string" then
    fail(what, "a name is a string, not a %s", type(name))
  elseif not token.is_one(name) then
    fail(what, "%q is not a header name", name)
  elseif OWN[name:lower()] then
    fail(what, "%s is not the app's: how a message is framed follows from its content",
      name)
  end
end

--- A text without the blanks around it.  One pattern for both ends would look at a run
--- of blanks once for each of them: seconds, for what a head may have.
---@param text string
---@return string
function M.trimmed(text)
  local first = text:find "[^ \t]"
  return first and text:match("^.*[^ \t]", first) or ""
end

local function text_of(what, name, value)
  if type(value) == "number" then
    local text, fault = scalar.text(value)
    return text or fail(what, "%s: %s", name, fault)
  elseif type(value) ~= "string" then
    fail(what, "%s has a value that is a %s, not a string", name, type(value))
  elseif value:find "[%z\1-\8\10-\31\127]" then
    fail(what, "%s has a value with a line end or another control octet", name)
  end
  return M.trimmed(value)
end

local function add(what, pairs_, name, value)
  check_name(what, name)
  if type(value) == "table" then
    for i = 1, #value do
      pairs_[#pairs_ + 1] = { name, text_of(what, name, value[i]) }
    end
  else
    pairs_[#pairs_ + 1] = { name, text_of(what, name, value) }
  end
end

-- The named ones, in an order that is always the same.
local function add_named(what, pairs_, given)
  local names = {}
  for name in pairs(given) do
    local is_listed = type(name) == "number" and name >= 1 and name <= #given
    if not is_listed then
      check_name(what, name)
      names[#names + 1] = name
    end
  end
  table.sort(names)
  for _, name in ipairs(names) do add(what, pairs_, name, given[name]) end
end

--- Pairs of names and values; raises what can't be sent.
---@param what string   the call, for messages
---@param given table?
---@return string[][]
function M.read(what, given)
  local list = {}
  if given == nil then return list end
  if type(given) ~= "table" then
    error(("%s: headers wants a table, not a %s"):format(what, type(given)), 0)
  end
  for i = 1, #given do
    if type(given[i]) ~= "table" then
      fail(what, "[%d] is not { name, value }", i)
    end
    add(what, list, given[i][1], given[i][2])
  end
  add_named(what, list, given)
  if #list > MOST then fail(what, "more than %d lines", MOST) end
  return list
end

--- The value of the first field of a name, or nil.
---@param list string[][]
---@param name string   lower case
---@return string?
function M.get(list, name)
  for _, pair in ipairs(list) do
    if pair[1]:lower() == name then return pair[2] end
  end
end

--- The fields but those of some names.
---@param list string[][]
---@param names table<string, boolean>   lower case
---@return string[][]
function M.without(list, names)
  local kept = {}
  for _, pair in ipairs(list) do
    if not names[pair[1]:lower()] then kept[#kept + 1] = pair end
  end
  return kept
end

-- Received ones -----------------------------------------------------------------------

---@class luaweb.ReceivedFields   by name in any case; several values joined by ", "
local Received = {}

--- All values of a field, one a line, in order of arrival.
---@param name string   in any case
---@return string[]
function Received:all(name)
  local found, lower = json.array {}, name:lower()
  for _, pair in ipairs(rawget(self, 1)) do
    if pair[1]:lower() == lower then found[#found + 1] = pair[2] end
  end
  return found
end

--- Iterates in order of arrival: for name, value in headers:each() do; names in lower
--- case.
function Received:each()
  local list, i = rawget(self, 1), 0
  return function()
    i = i + 1
    if list[i] then return list[i][1]:lower(), list[i][2] end
  end
end

local received_mt = {
  __index = function(self, name)
    if Received[name] then return Received[name] end
    if type(name) ~= "string" then return nil end
    local values = Received.all(self, name)
    return values[1] and table.concat(values, ", ")
  end,
}

--- A view over pairs of names and values, which it keeps.
---@param list string[][]
---@return luaweb.ReceivedFields
function M.received(list)
  return setmetatable({ list }, received_mt)
end

return M
