-- SPDX-License-Identifier: MIT
-- The questions of the decision graph in plain Lua: how each row is answered for a
-- machine and a request, one function a row.  An answer is true, false, or a status
-- that ends the walk.  Literal and slow: the compiled programs are judged by it.  It
-- says nothing of response fields.  RFC 9110, RFC 5789, Fetch.
local accept = require "spec.support.reference_accept"
local answers = require "spec.support.reference_answers"
local conditions = require "spec.support.reference_conditions"
local http = require "spec.support.reference_http"
local machines = require "spec.support.reference_machine"

local ask, is_read = answers.ask, answers.is_read
local unless_asked, value = answers.unless_asked, machines.value
local USUAL_METHODS = { "GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS" }
local DEFAULT_BODY_LIMIT = 8 * 1024 * 1024

local rows = {}
for name, answer in pairs(conditions) do rows[name] = answer end

-- 1. Can this server answer at all? ---------------------------------------------------

-- The host of an absolute target, else that of Host, in lower case; nil: neither.
local function host_of(request)
  local host = request.target:match "^%a[%w+.-]*://([^/?#]*)"
  host = host or http.only(request, "Host")
  return host and host:lower()
end

rows.authority_served = unless_asked(function(walk)
  local host = host_of(walk.request)
  if walk.machine.hosts == nil or not host then return true end
  for _, served in ipairs(machines.list(walk, "hosts")) do
    if served:lower() == host or served:lower() == host:gsub(":%d*$", "") then
      return true
    end
  end
  return false
end)

function rows.method_implemented(walk)
  local machine, method = walk.machine, walk.request.method
  if walk.context.is_unmatched then return true end
  if method == "TRACE" or method == "CONNECT" then return false end
  return machines.takes_any(machine)
    or machines.names(USUAL_METHODS, method)
    or machines.names(machines.methods(machine), method)
    or machines.names(walk.context.methods, method)
end

function rows.method_allowed(walk)
  local machine = walk.machine
  return walk.context.is_unmatched or machines.takes_any(machine)
    or machines.names(machines.methods(machine), walk.request.method)
end

-- 3. Is it here? ----------------------------------------------------------------------

function rows.exists(walk, row)
  local answer = ask(walk, row)
  walk.exists = answer ~= false
  return answer
end

local function may_create(walk, row)
  local answer = walk.request.method == "PUT"
  if walk.machine[row.name] ~= nil then answer = ask(walk, row) end
  walk.is_creation = answer == true
  return answer
end
rows.may_create, rows.may_recreate = may_create, may_create

-- 4. Can we take the content that comes with it? --------------------------------------

local function is_chunked(walk)
  return http.joined(walk.request, "Transfer-Encoding") ~= nil
end

local function content_length(walk)
  return tonumber(http.only(walk.request, "Content-Length"))
end

function rows.has_content(walk)
  return is_chunked(walk) or (content_length(walk) or 0) > 0
end
rows.patch_given = rows.has_content

rows.expectation_met = unless_asked(function(walk)
  local expect = http.joined(walk.request, "Expect")
  if walk.request.version == "1.0" or not expect then return true end
  for _, member in ipairs((http.split(expect, ",", true))) do
    if member:lower() ~= "100-continue" then return false end
  end
  return true
end)

rows.length_known = unless_asked(function(walk)
  return not (value(walk, "length_required") and is_chunked(walk))
end)

rows.content_fits = unless_asked(function(walk)
  local length = content_length(walk)
  if not length then return true end -- counted while it is read
  local limit = value(walk, "body_limit") or walk.context.body_limit
  return length <= (limit or DEFAULT_BODY_LIMIT)
end)

rows.content_whole = unless_asked(function(walk)
  return http.joined(walk.request, "Content-Range") == nil
    or value(walk, "partial_put") == true
end)

-- Without a list there is none but identity, which is no coding.
rows.content_coding_known = unless_asked(function(walk)
  local codings = http.joined(walk.request, "Content-Encoding")
  if not codings then return true end
  local known = { identity = true }
  for _, name in ipairs(machines.list(walk, "acceptable_content_codings")) do
    known[accept.coding_name(name)] = true
  end
  for _, name in ipairs((http.split(codings, ",", true))) do
    if not known[accept.coding_name(name)] then return false end
  end
  return true
end)

rows.media_type_taken = unless_asked(function(walk)
  local given = http.joined(walk.request, "Content-Type")
  local taken = given and machines.list(walk, "acceptable_media_types") or {}
  return taken[1] == nil or accept.is_taken(given, taken)
end)

-- The media type is what a patch means: without one there is nothing to do.
rows.patch_type_taken = unless_asked(function(walk)
  local given = http.joined(walk.request, "Content-Type")
  if not given then return false end
  local taken = machines.list(walk, "patch_media_types")
  return taken[1] == nil or accept.is_taken(given, taken)
end)

-- 5. Which representation would we send? ----------------------------------------------

-- Without a coding one can always send, behind all that is offered; and to a client
-- that says nothing, which may not know any.
local function codings(walk, offers)
  local all = { unpack(offers) }
  all[#all + 1] = "identity"
  return http.joined(walk.request, "Accept-Encoding") and all or { "identity" }
end

local function offered(dimension)
  return function(walk, row)
    local offers = machines.offers(walk, dimension)
    if offers and dimension == "content_coding" then offers = codings(walk, offers) end
    local chosen = offers and accept.choose(walk.request, dimension, offers)
    walk.accepted[dimension] = chosen or (offers and offers[1])
    if walk.machine[row.name] ~= nil then return ask(walk, row) end
    return offers == nil or chosen ~= nil or not machines.is_strict(walk, dimension)
  end
end

rows.media_type_offered = offered "media_type"
rows.language_offered = offered "language"
rows.charset_offered = offered "charset"
rows.coding_offered = offered "content_coding"

-- 7. Do it. ---------------------------------------------------------------------------

-- Does a response say which status it wants?
local function with_status(given)
  return machines.is_response(given) and given.code ~= nil
end

function rows.operation(walk)
  local given = value(walk, machines.operation_key(walk))
  if given == nil or type(given) == "boolean" then return given ~= false end
  if type(given) == "number" then return answers.number(walk, given) end
  if with_status(given) then error({ response = given }, 0) end
  walk.reply = machines.content(given)
  return true
end

-- PUT and PATCH created what the walk came through creation for; of the other methods
-- only the app knows.
function rows.created(walk, row)
  local method = walk.request.method
  if method == "PUT" or method == "PATCH" then return walk.is_creation end
  return ask(walk, row)
end

-- 8. What do we send back? ------------------------------------------------------------

-- What a handler gave: content of a 200, nothing, or the end of the walk.
local function reply_with(walk, given)
  if given == nil or given == true then return false end
  if given == false then error({ fault = "the handler failed" }, 0) end
  if type(given) == "number" then
    if given ~= 200 then return answers.number(walk, given) end
    walk.reply = { text = "" }
    return true
  end
  if with_status(given) and given.code ~= 200 then error({ response = given }, 0) end
  walk.reply = machines.content(given)
  return true
end

-- The handler that speaks for a method, if the operation did not.
local function handler_of(walk)
  local machine, method = walk.machine, walk.request.method
  if method == "OPTIONS" then return "handle_options" end
  if is_read(walk) then return machine.handle_ok ~= nil and "handle_ok" or "do_any" end
  return method ~= "DELETE" and "handle_ok" or nil -- it would look up what is gone
end

-- After these, what handle_ok says is the state of the target; what other methods have
-- to do with it, nobody knows.
local CHANGES = { PUT = true, POST = true, PATCH = true }

local function reply(walk)
  if walk.reply then return true end
  local key = handler_of(walk)
  if not key or walk.machine[key] == nil then return false end
  local answer = reply_with(walk, machines.handle(walk, key))
  walk.is_current_state = CHANGES[walk.request.method] and answer == true
  return answer
end

-- The app may say whether there is a reply; what it is comes from where it always does.
function rows.has_reply(walk, row)
  local wanted = walk.machine.has_reply == nil or ask(walk, row)
  if wanted ~= true then return wanted end
  return reply(walk)
end

-- Component cors ----------------------------------------------------------------------

function rows.origin_given(walk)
  return http.only(walk.request, "Origin") ~= nil
end

rows.origin_allowed = unless_asked(function(walk)
  local origin = http.only(walk.request, "Origin")
  local origins = machines.list(walk, "cors_origins")
  if origins[1] == "*" then return not value(walk, "cors_credentials") end
  return machines.names(origins, origin)
end)

function rows.not_preflight(walk)
  return http.joined(walk.request, "Access-Control-Request-Method") == nil
end

local M = {}

--- Answers a row that the method does not fix.
---@param walk spec.Walk
---@param row luaweb.GraphRow
---@return boolean|integer answer   a status ends the walk
---errors: { response } or { fault }, which end it too
function M.answer(walk, row)
  local answer = (rows[row.name] or ask)(walk, row)
  if answer == nil then return false end
  return answer
end

return M
