-- SPDX-License-Identifier: MIT
-- web.url: URI templates expanded (RFC 6570, all levels).  Knows the templates' text
-- only, whoever may serve them; what reads them backwards is in C (core/route).
local machine = require "luaweb.machine"
local null = require("luaweb.json.value").null
local percent = require "luaweb.percent"
local scalar = require "luaweb.scalar"

local encode, escape = percent.encode, percent.escape

local M = {}

local OPERATORS = {
  -- symbol first  separator  is_named  if_empty  keeps_reserved
  [""]  = { "",    ",",       false,    "",       false },
  ["+"] = { "",    ",",       false,    "",       true },
  ["#"] = { "#",   ",",       false,    "",       true },
  ["."] = { ".",   ".",       false,    "",       false },
  ["/"] = { "/",   "/",       false,    "",       false },
  [";"] = { ";",   ";",       true,     "",       false },
  ["?"] = { "?",   "&",       true,     "=",      false },
  ["&"] = { "&",   "&",       true,     "=",      false },
}
for symbol, row in pairs(OPERATORS) do
  OPERATORS[symbol] = { first = row[1], separator = row[2], is_named = row[3],
    if_empty = row[4], keeps_reserved = row[5] }
end

local MOST_KEPT = 1000 -- templates taken apart

---@class luaweb.UrlVariable
---@field name string
---@field is_exploded boolean
---@field prefix integer?

---@class luaweb.UrlExpression
---@field operator table
---@field variables luaweb.UrlVariable[]

-- Writing -----------------------------------------------------------------------------

-- Keeps reserved characters and what is escaped already.
local function encode_reserved(text)
  return (text:gsub("()([^%w%-._~:/?#%[%]@!$&'()*+,;=])", function(at, octet)
    if octet == "%" and text:find("^%x%x", at + 1) then return octet end
    return escape(octet)
  end))
end

-- The first characters of a text; where escapes are kept, one of them is a character.
local function prefix_of(text, count, keeps_escapes)
  local at = 1
  while count > 0 and at <= #text do
    local escaped = keeps_escapes and text:match("^%%%x%x", at)
    local character = escaped or text:match("^[\192-\255][\128-\191]*", at)
    at = at + (character and #character or 1)
    count = count - 1
  end
  return text:sub(1, at - 1)
end

-- Values ------------------------------------------------------------------------------

local function fail(message, ...)
  error(("web.url: " .. message):format(...), 0)
end

-- The text of a value that is not composite.
local function text_of(name, value)
  local text, fault = scalar.text(value)
  return text or fail("%s: %s", name, fault)
end

local function is_undefined(value)
  return value == nil or value == null
end

local function is_pair(value)
  return type(value) == "table" and #value == 2
end

-- The members of a list, as texts.
local function list_members(name, list)
  local members = {}
  for i = 1, #list do
    if not is_undefined(list[i]) then
      members[#members + 1] = { value = text_of(name, list[i]) }
    end
  end
  return members
end

-- The members of a map that is given as a list of pairs, in its order.
local function pair_members(name, list)
  local members = {}
  for i = 1, #list do
    local key, value = list[i][1], list[i][2]
    if not is_undefined(value) then
      members[#members + 1] = { key = text_of(name, key), value = text_of(name, value) }
    end
  end
  return members
end

-- The members of a map, by key.
local function map_members(name, map)
  local list = {}
  for key, value in pairs(map) do list[#list + 1] = { text_of(name, key), value } end
  table.sort(list, function(a, b) return a[1] < b[1] end)
  return pair_members(name, list)
end

-- The members of a composite value: lists have only values, maps keys besides.
local function members_of(name, value)
  if #value == 0 then return map_members(name, value) end
  for i = 1, #value do
    if not is_pair(value[i]) then return list_members(name, value) end
  end
  return pair_members(name, value)
end

-- Expanding (RFC 6570 §3.2.1) ---------------------------------------------------------

local function named(operator, name, value)
  return name .. (value == "" and operator.if_empty or "=" .. value)
end

-- A variable whose value is a text.
local function expand_text(operator, variable, text)
  if variable.prefix then
    text = prefix_of(text, variable.prefix, operator.keeps_reserved)
  end
  text = operator.encode(text)
  return operator.is_named and named(operator, variable.name, text) or text
end

-- One with members that is not exploded: all of them in one item.
local function expand_joined(operator, variable, members)
  local texts = {}
  for _, member in ipairs(members) do
    if member.key then texts[#texts + 1] = operator.encode(member.key) end
    texts[#texts + 1] = operator.encode(member.value)
  end
  local text = table.concat(texts, ",")
  return operator.is_named and variable.name .. "=" .. text or text
end

-- An exploded one: each member is an item.
local function expand_exploded(operator, variable, members)
  local items = {}
  for i, member in ipairs(members) do
    local name = member.key and operator.encode(member.key) or variable.name
    local value = operator.encode(member.value)
    if operator.is_named then
      items[i] = named(operator, name, value)
    else
      items[i] = member.key and name .. "=" .. value or value
    end
  end
  return table.concat(items, operator.separator)
end

-- The text of a variable, or nil when it is undefined.
local function expand_variable(operator, variable, value)
  if is_undefined(value) then return nil end
  if type(value) ~= "table" then
    return expand_text(operator, variable, text_of(variable.name, value))
  end
  local members = members_of(variable.name, value)
  if not members[1] then return nil end
  if variable.prefix then
    fail("%s: a prefix can't be taken of a table", variable.name)
  end
  local expand = variable.is_exploded and expand_exploded or expand_joined
  return expand(operator, variable, members)
end

local function expand_expression(expression, params)
  local operator, items = expression.operator, {}
  for _, variable in ipairs(expression.variables) do
    items[#items + 1] = expand_variable(operator, variable, params[variable.name])
  end
  if not items[1] then return "" end
  return operator.first .. table.concat(items, operator.separator)
end

-- Reading (RFC 6570 §2) ---------------------------------------------------------------

local function is_name(text)
  if text == "" or ("." .. text .. "."):find("..", 1, true) then return false end
  return text:gsub("%%%x%x", ""):find "^[%w_.]*$" ~= nil
end

-- A variable as it stands in an expression, or nil.
local function read_variable(text)
  local name, star = text:match "^([^*:]*)(%*?)$"
  local prefix
  if not name then name, prefix = text:match "^([^*:]*):([1-9]%d?%d?%d?)$" end
  if not name or not is_name(name) then return nil end
  return { name = name, is_exploded = star == "*",
    prefix = prefix and tonumber(prefix) }
end

local function read_expression(text)
  local symbol, list = text:match "^([+#./;?&]?)(.*)$"
  local expression = { operator = OPERATORS[symbol], variables = {} }
  for item in (list .. ","):gmatch "(.-)," do
    local variable = read_variable(item)
    if not variable then return nil end
    table.insert(expression.variables, variable)
  end
  return expression
end

local function is_literal(text)
  return not text:find "[%c \"<>\\^`{|}\127]" and not text:gsub("%%%x%x", ""):find "%%"
end

-- The parts of a template: literal texts, ready to be copied, and expressions.
local function read(template)
  local parts, at = {}, 1
  while at <= #template do
    local literal, inner, behind = template:match("^([^{]*){([^{}]*)}()", at)
    literal = literal or template:sub(at)
    if not is_literal(literal) then fail("%q is no URI template", template) end
    parts[#parts + 1] = encode_reserved(literal)
    if inner then
      local expression = read_expression(inner)
      if not expression then
        fail("%q has an expression that is none: {%s}", template, inner)
      end
      parts[#parts + 1] = expression
    end
    at = behind or #template + 1
  end
  return parts
end

for _, operator in pairs(OPERATORS) do
  operator.encode = operator.keeps_reserved and encode_reserved or encode
end

local kept, kept_count = {}, 0

local function parts_of(template)
  if kept[template] then return kept[template] end
  if kept_count == MOST_KEPT then kept, kept_count = {}, 0 end
  local parts = read(template)
  kept[template], kept_count = parts, kept_count + 1
  return parts
end

local function expand(template, params)
  local texts = {}
  for i, part in ipairs(parts_of(template)) do
    texts[i] = type(part) == "string" and part or expand_expression(part, params)
  end
  return table.concat(texts)
end

--- Expands a template.  What has no value is left out, as RFC 6570 wants it.
---@param what string|luaweb.Resource     a template, or the resource that has it
---@param params? table<string, any>      strings, numbers, booleans; lists; maps, which
--- are written by key, or in their order as a list of pairs: { { "k", "v" }, ... }
---@return string url    Raises an error for what is no template, and for a value that
--- can't be written.
---source: RFC 6570
function M.url(what, params)
  local template = what
  if getmetatable(what) == machine.Resource then template = what.template end
  if type(template) ~= "string" then
    error("web.url wants a template or a resource first", 2)
  end
  if params ~= nil and type(params) ~= "table" then
    error("web.url wants a table of values second", 2)
  end
  local ok, result = pcall(expand, template, params or {})
  if not ok then error(result, 2) end
  return result
end

return M
