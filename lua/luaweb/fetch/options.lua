-- SPDX-License-Identifier: MIT
-- What the caller of web.fetch wants, checked and made to one plain table.  Everything
-- that is the programmer's mistake is raised here, before anything is sent, and names
-- the option.
local fields = require "luaweb.fetch.fields"
local json = require "luaweb.json"
local keys = require "luaweb.machine.keys"
local token = require "luaweb.token"
local uri = require "luaweb.fetch.uri"

local M = {}

---@class luaweb.FetchOptions
---@field method string?           GET, with content POST
---@field headers table?           by name: a value, or a list of values
---@field query table?             added to the query of the URL
---@field body string|(fun(): string?)|nil   octets, or what gives the next piece
---@field json any                 the content, as JSON
---@field form table?              the content, as a form
---@field trailers (fun(): table)?  fields behind a body that is a function
---@field timeout number?          30 s for all of it (stream: until the head is there)
---@field connect_timeout number?  10 s
---@field idle_timeout number?     30 s without an octet
---@field stream boolean?          res:read and res:chunks give the content as it comes
---@field redirects integer?       5 that are followed; 0: the 3xx is the answer
---@field downgrade boolean?       a redirect may lead from https to http
---@field max_size number?         octets of decoded content: 8 MiB (stream: no limit)
---@field decode boolean?          true: compressed content is decoded
---@field verify boolean?          true: the certificate must be the host's
---@field ca_file string?          who may sign certificates, instead of the system's
---@field proxy string|false|nil   its URL; false: none; nil: what the environment says
---@field unix string?             the path of a socket that is connected to instead
---@field max_connections integer? 64 to one origin; more wait in line
---@field trace boolean?           true: it is part of the trace of the request
---@field request_id boolean?      false: X-Request-Id is not sent

---@class luaweb.FetchCall   what a fetch is about; it changes with redirects
---@field method string
---@field uri luaweb.Uri
---@field headers string[][]
---@field body string|function|false
---@field body_size integer?     of a function's content, where it is known
---@field is_last boolean       the connection is closed after the answer
---@field is_bare boolean?      nothing is added to its headers but what frames it
---@field trailers (fun(): table?)|nil   fields behind the content in chunks
---@field timeout number
---@field connect_timeout number
---@field idle_timeout number
---@field stream boolean
---@field redirects integer
---@field downgrade boolean
---@field max_size number
---@field decode boolean
---@field verify boolean
---@field ca_file string?
---@field proxy luaweb.Uri|false|nil
---@field unix string?
---@field max_connections integer
---@field trace boolean
---@field request_id boolean

local WHOLE = 8 * 2 ^ 20 -- octets of content that is kept in memory

local is_common = { get = true, head = true, post = true, put = true, delete = true,
  options = true, patch = true }

local function check_method(method)
  if not token.is_one(method) then
    return nil, ("%q is not a method"):format(method)
  elseif method:upper() == "CONNECT" then
    return nil, "CONNECT is for proxies"
  end
  return is_common[method:lower()] and method:upper() or method
end

local function check_seconds(value)
  if value == value and value > 0 then return value end
  return nil, "wants seconds, more than 0"
end

local function check_count(value)
  if value >= 0 and value % 1 == 0 and value < math.huge then return value end
  return nil, "wants a whole number, 0 or more"
end

local function check_some(value)
  if value >= 1 and value % 1 == 0 and value < math.huge then return value end
  return nil, "wants a whole number, 1 or more"
end

local function check_size(value)
  if value >= 0 then return value end
  return nil, "wants a number of octets, 0 or more"
end

local function check_proxy(value)
  if value == false then return false end
  local proxy, message = uri.parse(value:find("://", 1, true) and value
    or "http://" .. value)
  return proxy, message
end

local function check_path(value)
  if value ~= "" and not value:find "%z" then return value end
  return nil, "wants a path"
end

local function as_is(value) return value end

local ROWS = {
  -- name            types                     default  check
  method          = { "string",                 nil,     check_method },
  headers         = { "table",                  nil,     as_is },
  query           = { "table",                  nil,     as_is },
  body            = { "string or function",     nil,     as_is },
  json            = { "any",                    nil,     as_is },
  form            = { "table",                  nil,     as_is },
  trailers        = { "function",               nil,     as_is },
  timeout         = { "number",                 30,      check_seconds },
  connect_timeout = { "number",                 10,      check_seconds },
  idle_timeout    = { "number",                 30,      check_seconds },
  stream          = { "boolean",                false,   as_is },
  redirects       = { "number",                 5,       check_count },
  downgrade       = { "boolean",                false,   as_is },
  max_size        = { "number",                 nil,     check_size },
  decode          = { "boolean",                true,    as_is },
  verify          = { "boolean",                true,    as_is },
  ca_file         = { "string",                 nil,     check_path },
  proxy           = { "string or boolean",      nil,     check_proxy },
  unix            = { "string",                 nil,     check_path },
  max_connections = { "number",                 64,      check_some },
  trace           = { "boolean",                true,    as_is },
  request_id      = { "boolean",                false,   as_is },
}

local function check_option(what, name, value)
  local row = ROWS[name]
  if not row then
    local meant = type(name) == "string" and keys.meant(name, ROWS)
    error(("%s: there is no option %s%s"):format(what, tostring(name),
      meant and (" (did you mean %s?)"):format(meant) or ""), 0)
  end
  local is_typed = row[1] == "any" or (row[1]):find(type(value), 1, true)
  if not is_typed or (name == "proxy" and value == true) then
    error(("%s: %s wants a %s, not a %s"):format(what, name, row[1], type(value)), 0)
  end
  local checked, message = row[3](value)
  if checked == nil then error(("%s: %s: %s"):format(what, name, message), 0) end
  return checked
end

-- Content -----------------------------------------------------------------------------

local function add_type(call, media_type)
  if fields.get(call.headers, "content-type") then return end
  table.insert(call.headers, { "Content-Type", media_type })
end

-- The length that the app has said, which is its word only for a function's content.
local function take_length(what, call)
  local length = fields.get(call.headers, "content-length")
  if not length then return end
  call.headers = fields.without(call.headers, { ["content-length"] = true })
  local size = length:find "^%d+$" and tonumber(length)
  local is_right = size and size <= 2 ^ 53
  if type(call.body) ~= "function" then
    is_right = is_right and size == #(call.body or "")
  end
  if not is_right then
    error(("%s: headers: Content-Length is %s, which the content is not"):format(what,
      length), 0)
  end
  call.body_size = size
end

local function count_contents(call)
  return (call.body ~= nil and 1 or 0) + (call.json ~= nil and 1 or 0)
    + (call.form ~= nil and 1 or 0)
end

-- The content as octets (or the function that gives them), and its media type.
local function make_content(what, call)
  call.body = call.body or false
  if call.json ~= nil then
    call.body = json.encode(call.json)
    add_type(call, "application/json")
  elseif call.form then
    call.body = uri.encode_pairs(call.form, what .. ": form"):gsub("%%20", "+")
    add_type(call, "application/x-www-form-urlencoded")
  end
end

local function set_content(what, call)
  local count = count_contents(call)
  if count > 1 then
    error(what .. ": body, json and form: one of them is the content", 0)
  end
  make_content(what, call)
  take_length(what, call)
  call.method = call.method or (count > 0 and "POST" or "GET")
  if count > 0 and call.method == "TRACE" then
    error(what .. ": method: TRACE has no content", 0)
  end
  if call.trailers and type(call.body) ~= "function" then
    error(what .. ": trailers come behind a body that is a function", 0)
  end
end

local function check_connection(what, call)
  if #fields.received(call.headers):all "host" > 1 then
    error(what .. ": headers: there is one Host", 0)
  end
  local connections = fields.received(call.headers):all "connection"
  call.is_last = connections[1] ~= nil
  for _, connection in ipairs(connections) do
    if connection:lower() ~= "close" then
      error(what .. ": headers: Connection may be close, and nothing else", 0)
    end
  end
end

-- Reading -----------------------------------------------------------------------------

local function check_arguments(what, url, options)
  if type(url) ~= "string" then
    error(("%s wants a URL first, not a %s"):format(what, type(url)), 0)
  end
  if options ~= nil and type(options) ~= "table" then
    error(("%s wants a table of options second, not a %s"):format(what, type(options)),
      0)
  end
end

local defaults = {}
for name, row in pairs(ROWS) do defaults[name] = row[2] end
local call_mt = { __index = defaults }

-- The options that were given, checked.
local function read_options(what, options)
  local call = {}
  for name, value in pairs(options or {}) do
    call[name] = check_option(what, name, value)
  end
  return setmetatable(call, call_mt)
end

-- The URL with what is added to its query.
local function read_url(what, url, query)
  local to, message = uri.parse(url)
  local more = query and uri.encode_pairs(query, what .. ": query") or ""
  if to and more ~= "" then to.query = to.query and to.query .. "&" .. more or more end
  return to, message
end

--- Checks the arguments of a call.  Raises the programmer's mistakes.
---@param what string     "web.fetch"
---@param url string
---@param options luaweb.FetchOptions?
---@return luaweb.FetchCall?
---@return string? message   why the URL can't be asked
function M.read(what, url, options)
  check_arguments(what, url, options)
  local call = read_options(what, options)
  call.headers = fields.read(what, call.headers)
  check_connection(what, call)
  set_content(what, call)
  call.max_size = call.max_size or (call.stream and math.huge or WHOLE)
  local message
  call.uri, message = read_url(what, url, call.query)
  if not call.uri then return nil, message end
  return call
end

return M
