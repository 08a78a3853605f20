-- SPDX-License-Identifier: MIT
-- What a machine demands of captured values: params = { id = "int", name = "%a+" }.
-- C checks integers, numbers and UUIDs before Lua is entered; Lua patterns are checked
-- here, by a function that is asked before the machine.  What isn't met is a 404, and
-- no other resource is tried: the demand is the machine's, not the template's.
local abi = require "luaweb.abi"

local C = abi.C
local M = {}

local demands = {
  int = C.LUAWEB_DEMAND_INT,
  number = C.LUAWEB_DEMAND_NUMBER,
  uuid = C.LUAWEB_DEMAND_UUID,
}

-- What people write who mean one of these.
local meant = {
  integer = "int", digits = "int", float = "number", double = "number",
  decimal = "number", numeric = "number", guid = "uuid",
}

-- Without one of these a pattern is a text.
local MAGIC = "[%%.%[*+%-?^$]"

-- Behind a [: where the set ends, or nil.
local function end_of_set(pattern, at)
  if pattern:sub(at, at) == "^" then at = at + 1 end
  if pattern:sub(at, at) == "]" then at = at + 1 end
  while at <= #pattern do
    local c = pattern:sub(at, at)
    if c == "]" then return at end
    at = at + (c == "%" and 2 or 1)
  end
end

-- Behind a %: where the item ends, or nil and why it is none.
local function end_of_escape(pattern, at, captures)
  local c = pattern:sub(at, at)
  if c == "" then return nil, "ends with %" end
  if c == "b" then
    if at + 2 > #pattern then return nil, "has %b without two characters" end
    return at + 2
  end
  if c == "f" then
    local last = pattern:sub(at + 1, at + 1) == "[" and end_of_set(pattern, at + 2)
    if not last then return nil, "has %f without a set" end
    return last
  end
  if c:find "%d" and (c == "0" or not captures[tonumber(c)]) then
    return nil, ("has %%%s without that capture"):format(c)
  end
  return at
end

-- What patterns have elsewhere, and Lua's do not; nil: it has nothing of the kind.
local function foreign(pattern)
  local bare = pattern:gsub("%%.", "x")
  if bare:find("\\", 1, true) then return [[has a \: Lua patterns have %d, no \d]] end
  local count = bare:match "[^%[]({%d+,?%d*})"
  return count and ("has %s: Lua patterns have no {n}"):format(count) or nil
end

-- Why it is no Lua pattern, or nil.  Lua itself tells only when matching comes there.
local function fault_of_pattern(pattern)
  local at, open, captures = 1, {}, {}
  while at <= #pattern do
    local c, last = pattern:sub(at, at), at
    if c == "(" then
      captures[#captures + 1] = false
      open[#open + 1] = #captures
    elseif c == ")" then
      local number = table.remove(open)
      if not number then return "has a ) without its (" end
      captures[number] = true
    elseif c == "[" then
      last = end_of_set(pattern, at + 1)
      if not last then return "has a [ without its ]" end
    elseif c == "%" then
      local fault
      last, fault = end_of_escape(pattern, at + 1, captures)
      if fault then return fault end
    end
    at = last + 1
  end
  if open[1] then return "has a ( without its )" end
  return #captures > 32 and "has more than 32 captures" or nil
end

--- The pattern that a value has to match as a whole.
---@param pattern string   maybe with anchors
---@return string
function M.anchored(pattern)
  pattern = pattern:gsub("^%^", "")
  local escapes = pattern:match "(%%*)%$$"
  if escapes and #escapes % 2 == 0 then pattern = pattern:sub(1, -2) end
  return "^" .. pattern .. "$"
end

-- What is wrong with a demand that is no word of ours, or nil.
local function fault_of_demand(demand)
  local fault = foreign(demand) or fault_of_pattern(demand)
  if fault then return ("the pattern %q %s"):format(demand, fault) end
  if demand:find(MAGIC) then return nil end
  local word = demand:lower()
  word = demands[word] and word or meant[word]
  local hint = ", but a text: only one value would do"
  if word then hint = (" (did you mean %q?)"):format(word) end
  if demand:find("|", 1, true) then hint = ": Lua patterns have no |" end
  return ("%q is no pattern%s"):format(demand, hint)
end

--- Tells what is wrong with `params` of a machine.
---@param spec any
---@return string? fault
function M.fault(spec)
  if type(spec) ~= "table" then
    return 'wants a table like { id = "int" }'
  end
  for name, demand in pairs(spec) do
    if type(name) ~= "string" or type(demand) ~= "string" then
      name = tostring(name)
      return ('%s: wants "int", "number", "uuid" or a Lua pattern'):format(name)
    end
    local fault = not demands[demand] and fault_of_demand(demand)
    if fault then return ("%s: %s"):format(name, fault) end
  end
end

--- Tells C what is demanded of a resource.
---@param capp ffi.cdata*
---@param number integer                    of the resource
---@param spec table<string, string>
---@return string? unknown   a name that is no variable of the template
function M.demand(capp, number, spec)
  for name, demand in pairs(spec) do
    local kind = demands[demand] or C.LUAWEB_DEMAND_TEXT
    if not C.luaweb_app_demand(abi.host, capp, number, name, #name, kind) then
      return name
    end
  end
end

local function fits(pattern, value)
  if value == nil then return true end
  if type(value) == "string" then return value:find(pattern) ~= nil end
  for _, one in pairs(value) do
    if not one:find(pattern) then return false end
  end
  return true
end

--- What checks the patterns, if there are any, before a machine is asked anything.
---@param spec table<string, string>
---@return (fun(req: luaweb.Request): boolean)?   nil: there is nothing to check in Lua
function M.gate(spec)
  local names, patterns = {}, {}
  for name, demand in pairs(spec) do
    if not demands[demand] then
      names[#names + 1] = name
      patterns[#names] = M.anchored(demand)
    end
  end
  if not names[1] then return nil end
  return function(req)
    local params = req.params
    for i = 1, #names do
      if not fits(patterns[i], params[names[i]]) then return false end
    end
    return true
  end
end

return M
