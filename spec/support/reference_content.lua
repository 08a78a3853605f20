-- SPDX-License-Identifier: MIT
-- What is said at the end of a walk, in plain Lua for the reference walk: by the app's
-- response, the operation or the representation, else by the handler of the status; and
-- what that says of itself, its type and fields.  Owns nothing.  RFC 9110 §8.3, §15.
local http = require "spec.support.reference_http"
local machines = require "spec.support.reference_machine"

local M = {}

local HANDLERS = {
  [201] = "handle_created", [202] = "handle_accepted", [204] = "handle_no_content",
  [300] = "handle_multiple_choices", [301] = "handle_moved_permanently",
  [302] = "handle_found", [303] = "handle_see_other", [304] = "handle_not_modified",
  [307] = "handle_temporary_redirect", [308] = "handle_permanent_redirect",
  [400] = "handle_bad_request", [401] = "handle_unauthorized",
  [403] = "handle_forbidden", [404] = "handle_not_found",
  [405] = "handle_method_not_allowed", [406] = "handle_not_acceptable",
  [409] = "handle_conflict", [410] = "handle_gone", [411] = "handle_length_required",
  [412] = "handle_precondition_failed", [413] = "handle_content_too_large",
  [414] = "handle_uri_too_long", [415] = "handle_unsupported_media_type",
  [416] = "handle_range_not_satisfiable", [417] = "handle_expectation_failed",
  [421] = "handle_misdirected_request", [422] = "handle_unprocessable_content",
  [428] = "handle_precondition_required", [429] = "handle_too_many_requests",
  [451] = "handle_unavailable_for_legal_reasons",
  [500] = "handle_internal_server_error", [501] = "handle_not_implemented",
  [503] = "handle_service_unavailable", [505] = "handle_http_version_not_supported",
}

-- Who speaks --------------------------------------------------------------------------

-- Whether it is content alone: a response that says more is asked for each time.
local function is_constant(handler)
  return type(handler) ~= "function"
    and not (machines.is_response(handler) and (handler.code or handler.fields))
end

-- The content of the handler, which may have none.  Where the app's answer lacks what
-- its status needs, no function is asked any more.
local function handled(walk, status, only_constants)
  local key = HANDLERS[status]
  local handler = key and walk.machine[key]
  if handler == nil or (only_constants and not is_constant(handler)) then return nil end
  local given = machines.value(walk, key)
  return machines.content(given == nil and "" or given)
end

--- Finds what is said.
---@param walk spec.Walk
---@param terminal spec.Terminal
---@param only_constants boolean?
---@return spec.Content? said   nil: nothing by the app
---@return boolean is_handler
function M.said(walk, terminal, only_constants)
  local ending, status = walk.ending, terminal.status
  if ending and (ending.content or ending.stream) then
    return machines.content(ending), false
  end
  local is_led = not terminal.ends_early and status ~= 416
  if walk.reply and is_led then return walk.reply, false end
  return handled(walk, status, only_constants), true
end

--- Whether a short body explains the status.
function M.is_short(walk, status)
  return not walk.said and status >= 300 and status ~= 304
end

-- What it says of itself --------------------------------------------------------------

-- What explains an error is no representation.
local function is_representation(walk, status)
  return status < 300 or (walk.said == walk.reply and status < 400)
end

local function type_of(walk, said, status)
  local accepted = is_representation(walk, status) and walk.accepted or {}
  local given = said.media_type or accepted.media_type
  if not given then return "text/plain; charset=utf-8" end
  if accepted.charset and not said.media_type then
    return given .. "; charset=" .. accepted.charset
  end
  return given
end

-- Not without content, nor of parts, nor to a client that has the rest of it.
local function tells_type(walk, fields, status)
  local is_rest = status == 206 and http.joined(walk.request, "If-Range") ~= nil
  return status ~= 204 and status ~= 304 and not is_rest
    and fields.must["content-type"] ~= "multipart/byteranges"
end

local function add(fields, name, text)
  fields[name] = fields[name] and fields[name] .. ", " .. text or text
end

--- Adds the type; of nothing it need not be told.
---@param walk spec.Walk
---@param fields spec.Fields
---@param status integer
function M.add_type(walk, fields, status)
  local said = walk.said
  if not said or not tells_type(walk, fields, status) then return end
  local text = type_of(walk, said, status)
  fields[said.text == "" and "may" or "must"]["content-type"] = text
end

-- What the app's response says wins, but for Vary, which adds up.
local function add_own(fields, response)
  local own, list = {}, response and response.fields or {}
  for i = 1, #list, 2 do add(own, list[i]:lower(), tostring(list[i + 1])) end
  for name, text in pairs(own) do
    if name ~= "vary" then fields.must[name] = nil end
    add(fields.must, name, text)
  end
end

--- Adds the fields of the app's responses: what has ended the walk, and what is said.
---@param walk spec.Walk
---@param fields spec.Fields
function M.add_own(walk, fields)
  local ending, said = walk.ending, walk.said and walk.said.response
  add_own(fields, ending)
  if said ~= ending then add_own(fields, said) end
end

return M
