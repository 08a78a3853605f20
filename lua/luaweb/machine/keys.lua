-- SPDX-License-Identifier: MIT
-- Every key that a machine can have: one table of what it is, C's number for it, and
-- what it may hold.  Decisions come from the rows of the graph and of its components.
-- It knows no machine, and calls C for nothing but its numbers.
local abi = require "luaweb.abi"
local graph = require "luaweb.graph"
local key_names = require "luaweb.machine.key_names"
local params = require "luaweb.machine.params"
local representation = require "luaweb.machine.representation"
local response = require "luaweb.response"
local v = require "luaweb.machine.values"

local C = abi.C
local M = {}

---@class luaweb.Key
---@field name string
---@field kind "decision"|"operation"|"handler"|"property"|"methods"|"params"
---@field number integer?               of a property in C; the status of a handler
---@field read fun(value: any): string?, number|string   of a property: see values.lua
---@field convert fun(value: any): string?, number       likewise of what a function
---                                     returned: nil is none, a wrong value an error
---@field component luaweb.Component?   that it is of, or needs
---@field acts boolean?                 of a decision: it does work

-- Handlers, one for each status; handle_options speaks at none.
local handlers = {
  handle_ok = 200,
  handle_created = 201,
  handle_accepted = 202,
  handle_no_content = 204,
  handle_multiple_choices = 300,
  handle_moved_permanently = 301,
  handle_found = 302,
  handle_see_other = 303,
  handle_not_modified = 304,
  handle_temporary_redirect = 307,
  handle_permanent_redirect = 308,
  handle_bad_request = 400,
  handle_unauthorized = 401,
  handle_forbidden = 403,
  handle_not_found = 404,
  handle_method_not_allowed = 405,
  handle_not_acceptable = 406,
  handle_conflict = 409,
  handle_gone = 410,
  handle_length_required = 411,
  handle_precondition_failed = 412,
  handle_content_too_large = 413,
  handle_uri_too_long = 414,
  handle_unsupported_media_type = 415,
  handle_range_not_satisfiable = 416,
  handle_expectation_failed = 417,
  handle_misdirected_request = 421,
  handle_unprocessable_content = 422,
  handle_precondition_required = 428,
  handle_too_many_requests = 429,
  handle_unavailable_for_legal_reasons = 451,
  handle_internal_server_error = 500,
  handle_not_implemented = 501,
  handle_service_unavailable = 503,
  handle_http_version_not_supported = 505,
}

local properties = {
  -- key                           C's number                           what it holds
  { "available_media_types",      C.LUAWEB_AVAILABLE_MEDIA_TYPES,      v.media_types },
  { "available_languages",        C.LUAWEB_AVAILABLE_LANGUAGES,        v.languages },
  { "available_charsets",         C.LUAWEB_AVAILABLE_CHARSETS,         v.charsets },
  { "available_content_codings",  C.LUAWEB_AVAILABLE_CONTENT_CODINGS,  v.codings },
  { "acceptable_media_types",     C.LUAWEB_ACCEPTABLE_MEDIA_TYPES,     v.ranges },
  { "acceptable_content_codings", C.LUAWEB_ACCEPTABLE_CONTENT_CODINGS, v.codings },
  { "patch_media_types",          C.LUAWEB_PATCH_MEDIA_TYPES,          v.ranges },
  { "strict",                     C.LUAWEB_STRICT,                     v.dimensions },
  { "hosts",                      C.LUAWEB_HOSTS,                      v.hosts },
  { "vary",                       C.LUAWEB_VARY,                       v.fields },
  { "entity_tag",                 C.LUAWEB_ENTITY_TAG,                 v.entity_tag },
  { "last_modified",              C.LUAWEB_LAST_MODIFIED,              v.date },
  { "location",                   C.LUAWEB_LOCATION,                   v.uri },
  { "cache_control",              C.LUAWEB_CACHE_CONTROL,              v.text },
  { "expires",                    C.LUAWEB_EXPIRES,                    v.date },
  { "retry_after",                C.LUAWEB_RETRY_AFTER,                v.delay },
  { "challenge",                  C.LUAWEB_CHALLENGE,                  v.challenges },
  { "body_limit",                 C.LUAWEB_BODY_LIMIT,                 v.octets },
  { "length_required",            C.LUAWEB_LENGTH_REQUIRED,            v.switch },
  { "accept_ranges",              C.LUAWEB_ACCEPT_RANGES,              v.switch },
  { "partial_put",                C.LUAWEB_PARTIAL_PUT,                v.switch },
  { "cors_origins",               C.LUAWEB_CORS_ORIGINS,               v.origins },
  { "cors_methods",               C.LUAWEB_CORS_METHODS,               v.any_methods },
  { "cors_headers",               C.LUAWEB_CORS_HEADERS,               v.any_fields },
  { "cors_expose",                C.LUAWEB_CORS_EXPOSE,                v.any_fields },
  { "cors_credentials",           C.LUAWEB_CORS_CREDENTIALS,           v.switch },
  { "cors_max_age",               C.LUAWEB_CORS_MAX_AGE,               v.seconds },
  { "cors_private_network",       C.LUAWEB_CORS_PRIVATE_NETWORK,       v.switch },
  { "timeout",                    C.LUAWEB_TIMEOUT,                    v.duration },
  { "on_disconnect",              C.LUAWEB_ON_DISCONNECT,              v.disconnect },
  { "half_close_grace",           C.LUAWEB_HALF_CLOSE_GRACE,           v.duration },
}

-- What has to be known before any function of the machine is called.
local literal = { timeout = true, on_disconnect = true, half_close_grace = true }

-- Properties of components.
local needs = { patch_media_types = graph.components.patch }

-- Names that look like operations and are none.
local no_operations = {
  do_get     = "handle_ok answers GET and HEAD",
  do_head    = "handle_ok answers GET and HEAD",
  do_options = "handle_options answers OPTIONS",
  do_trace   = "TRACE is never served",
  do_connect = "CONNECT is never served",
}

local operations = { "do_post", "do_put", "do_patch", "do_delete", "do_any" }

local keys = {} -- by name

-- Whether a function has returned nothing: nil, an empty list, false where it is no
-- switch.
local function is_nothing(value, read)
  return value == nil or (value == false and read ~= v.switch)
    or (type(value) == "table" and next(value) == nil)
end

-- What a function has returned for a request, for C.
local function converter(name, read)
  read = v.of_function[read] or read
  return function(value)
    if is_nothing(value, read) then return nil, 0 end
    local text, number = read(value)
    if not text then error(("%s %s"):format(name, number), 0) end
    return text, number
  end
end

local function add_properties()
  for _, property in ipairs(properties) do
    local name, number, read = property[1], tonumber(property[2]), property[3]
    local component = needs[name] or (name:find "^cors_" and graph.components.cors)
    keys[name] = { name = name, kind = "property", number = number, read = read,
      convert = converter(name, read), component = component or nil }
  end
end

-- The operation is known by its methods' names.
local function add_decisions(rows, component)
  for _, row in ipairs(rows) do
    local is_asked = row[4]:find "app" and row[1] ~= "operation"
    if is_asked and not keys[row[1]] then
      keys[row[1]] = { name = row[1], kind = "decision", component = component,
        acts = component and row.acts }
    end
  end
end

for name, status in pairs(handlers) do
  keys[name] = { name = name, kind = "handler", number = status }
end
for _, name in ipairs(operations) do
  keys[name] = { name = name, kind = "operation" }
end
keys.handle_options = { name = "handle_options", kind = "handler" }
keys.methods = { name = "methods", kind = "methods" }
keys.params = { name = "params", kind = "params" }
add_properties()
add_decisions(graph.rows)
for _, component in pairs(graph.components) do add_decisions(component, component) end

--- Declares rows of an app's own (see graph.component): their names become keys.
---@param spec table
---@return luaweb.Component
function M.component(spec)
  local component = graph.component(spec)
  add_decisions(component, component)
  return component
end

--- The key of a name; nil: no machine has it.
---@param name any
---@return luaweb.Key?
function M.find(name)
  if keys[name] then return keys[name] end
  local is_custom = type(name) == "string" and name:find "^do_[%l%d_]+$"
    and not no_operations[name]
  return is_custom and { name = name, kind = "operation" } or nil
end

-- Faults ------------------------------------------------------------------------------

-- How many letters are to be changed, added or left out to make one word of another.
local function distance(a, b)
  local row = {}
  for j = 0, #b do row[j] = j end
  for i = 1, #a do
    local diagonal
    diagonal, row[0] = row[0], i
    for j = 1, #b do
      local cost = a:byte(i) == b:byte(j) and 0 or 1
      local least = math.min(row[j] + 1, row[j - 1] + 1, diagonal + cost)
      diagonal, row[j] = row[j], least
    end
  end
  return row[#b]
end

--- The name among some that somebody may have meant; nil: none is like it.
---@param name string
---@param names table<string, any>   default: those of the keys
---@return string?
function M.meant(name, names)
  local best, least = nil, math.max(2, math.floor(#name / 3)) + 1
  for other in pairs(names or keys) do
    local far = distance(name, other)
    if far < least or (far == least and best and other < best) then
      best, least = other, far
    end
  end
  return best
end

-- Why no machine has a key of this name.
local function fault_of_name(name)
  if no_operations[name] then return no_operations[name] end
  local known, meant = key_names.find(name), M.meant(name)
  return "no machine has this key" .. (known and ": " .. known
    or meant and (" (did you mean %s?)"):format(meant) or "")
end

-- A status that an app may give: 206 and 416 need what only C knows.
local function fault_of_status(value)
  if value ~= math.floor(value) or value < 200 or value > 599 then
    return "a status is a whole number from 200 to 599"
  end
  if value == 206 or value == 416 then
    return ("%d is a status that no app gives: it follows from Range"):format(value)
  end
end

local function fault_of_decision(value)
  if type(value) == "number" then return fault_of_status(value) end
  if type(value) == "boolean" or type(value) == "function"
    or getmetatable(value) == response.Response then
    return nil
  end
  return "wants true, false, a status, a response, or a function of the request"
end

local faults = {
  decision = fault_of_decision,
  operation = function(value)
    return type(value) ~= "function" and "wants a function of the request" or nil
  end,
  handler = representation.fault,
  methods = v.fault_of_methods,
  params = params.fault,
}

--- Tells what is wrong with what a machine declares.
---@param name any    the key
---@param value any
---@return string? fault
function M.fault(name, value)
  if type(name) ~= "string" then
    return "a machine includes machines and has named keys"
  end
  local key = M.find(name)
  if not key then return fault_of_name(name) end
  if key.kind ~= "property" then return faults[key.kind](value, key) end
  if literal[name] then
    local text, fault = key.read(value)
    return not text and fault or nil
  end
  if type(value) == "function" then return nil end
  local text, fault = key.read(value)
  return not text and fault .. ", or a function of the request" or nil
end

return M
