-- SPDX-License-Identifier: MIT
-- What a resource must obey when it is read: HEAD is GET without content, its own
-- validators give 304, refusals say what they must (RFC 9110 §8.8, §9.3.2, §11.6.1,
-- §13, §15.4).  What is negotiated is checked in check_offers.
local offers = require "luaweb.check.offers"

local M = {}

-- HEAD --------------------------------------------------------------------------------

-- Fields that HEAD need not have, or that tell of the connection (RFC 9110 §9.3.2).
local is_of_transfer = { date = true, connection = true, ["transfer-encoding"] = true,
  ["content-length"] = true }

local function by_name(answer)
  local fields = {}
  for _, pair in ipairs(answer.fields) do
    fields[pair[1]:lower()] = answer:field(pair[1])
  end
  return fields
end

-- The first field in which two answers differ, and how.
local function difference(get, head)
  local of_get, of_head = by_name(get), by_name(head)
  for name, value in pairs(of_get) do
    if not is_of_transfer[name] and of_head[name] ~= value then
      return name, of_head[name] and "another %s than GET" or "no %s, unlike GET"
    end
  end
  for name in pairs(of_head) do
    if not of_get[name] and not is_of_transfer[name] then
      return name, "%s, unlike GET"
    end
  end
  local a, b = of_get["content-length"], of_head["content-length"]
  if a and b and a ~= b then return "content-length", "another %s than GET" end
end

-- Whether GET itself does not have the same field twice.
local function varies_by_itself(case, get, name)
  local again = case:ask "GET"
  return again ~= nil and again.answer:field(name) ~= get.answer:field(name)
end

local function check_head(case, get)
  local head = case:ask "HEAD"
  if not head then return end
  if head.answer.rest ~= "" then
    case:fault "HEAD answers with content (RFC 9110 §9.3.2)"
  end
  if head.status ~= get.status then
    return case:fault(("HEAD answers %d, GET %d (RFC 9110 §9.3.2)"):format(head.status,
      get.status))
  end
  local name, how = difference(get.answer, head.answer)
  if name and not varies_by_itself(case, get, name) then
    case:fault(("HEAD has %s (RFC 9110 §9.3.2)"):format(how:format(name)))
  end
end

-- 304 ---------------------------------------------------------------------------------

-- What a 304 has where the 200 has it (RFC 9110 §15.4.5).
local of_both = { "ETag", "Cache-Control", "Content-Location", "Expires", "Vary" }
local key_of = { ["ETag"] = "entity_tag", ["Cache-Control"] = "cache_control",
  ["Expires"] = "expires", ["Vary"] = "vary", ["Last-Modified"] = "last_modified" }

local function check_fields_of_304(case, get, asked)
  for _, name in ipairs(of_both) do
    if get.answer:field(name) and not asked.answer:field(name) then
      local hint = key_of[name] and ": say it by " .. key_of[name] or ""
      case:fault(("its 304 lacks %s, which its 200 has (RFC 9110 §15.4.5)%s"):format(
        name, hint), "handle_ok")
    end
  end
end

-- Asks for what the client has already, as its validator says.
local function check_validator(case, get, name, condition, rule)
  local value = get.answer:field(name)
  if not value then return end
  local asked = case:ask("GET", { { condition, value } })
  if not asked then return end
  if asked.status == 304 then return check_fields_of_304(case, get, asked) end
  if varies_by_itself(case, get, name) then
    return case:warn(("its %s is another one at each request: no client can use it")
      :format(name), key_of[name])
  end
  local is_said = case.machine.config[key_of[name]] ~= nil
  case:fault(("%s with its own %s gets %d, not 304 (%s)%s"):format(condition, name,
    asked.status, rule, is_said and "" or ": say it by " .. key_of[name]), "handle_ok")
end

local function check_form_of_tag(case, get)
  local tag = get.answer:field "ETag"
  if tag and not tag:find '^W?/?"[!#-~\128-\255]*"$' then
    case:fault(("its ETag %s is none: it wants quotes (RFC 9110 §8.8.3)"):format(tag),
      "handle_ok")
    return false
  end
  return true
end

local function check_success(case, get)
  if get.status == 200 then
    if check_form_of_tag(case, get) then
      check_validator(case, get, "ETag", "If-None-Match", "RFC 9110 §13.1.2")
    end
    check_validator(case, get, "Last-Modified", "If-Modified-Since", "RFC 9110 §13.1.3")
    offers.check(case, get)
  end
end

-- Refusals ----------------------------------------------------------------------------

local function check_challenge(case, get)
  if not get.answer:field "WWW-Authenticate" then
    case:fault("its 401 has no WWW-Authenticate (RFC 9110 §15.5.2)", "authorized")
  end
  case:skip "what is behind its 401: give -H 'Authorization: ...'"
end

-- A handler that finds out by itself that nothing is there: preconditions were asked
-- before, as if there were something.
local function check_absence(case, get)
  local program = case.probe:program(case.number, "GET")
  local row = case.graph.index.exists
  local is_late = get.row == "has_reply" and program.rows[row].fate ~= "asked"
  local star = is_late and case:ask("GET", { { "If-None-Match", "*" } })
  if star and star.status == 304 then
    case:warn("its handler finds out by itself that nothing is there (404), so that "
      .. "If-None-Match: * gets 304: say it by exists (RFC 9110 §13.2.1)", "handle_ok")
  end
  if case.has_variables then
    case:skip(("what is there: GET %s answers 404: give --param"):format(case.path))
  elseif not is_late then
    case:warn(("GET %s answers 404"):format(case.path))
  end
end

local is_redirect = { [301] = true, [302] = true, [303] = true, [307] = true,
  [308] = true }
local lasting = { [301] = 308, [302] = 307 }

local function warn_of_post(case, status, key)
  if not lasting[status] or not (case.has.POST or case.has["*"]) then return false end
  case:warn(("%s answers %d where POST is allowed: a client may turn it into GET; %d "
    .. "keeps the method (RFC 9110 §15.4)"):format(key, status, lasting[status]), key)
  return true
end

local function check_redirect(case, get)
  if is_redirect[get.status] and not get.answer:field "Location" then
    case:warn(("its %d has no Location (RFC 9110 §15.4)"):format(get.status))
  end
  local is_asked = get.row and get.row ~= "has_reply"
  local is_literal = is_asked and type(case.machine.config[get.row]) == "number"
  if is_asked and not is_literal then warn_of_post(case, get.status, get.row) end
end

-- What a machine says whatever it is asked.
local function check_literals(case)
  for key, value in pairs(case.machine.config) do
    if type(value) == "number" and case.graph.index[key] then
      warn_of_post(case, value, key)
    end
  end
end

-- All of it ---------------------------------------------------------------------------

local function check_refusal(case, get)
  local status = get.status
  if status == 401 then return check_challenge(case, get) end
  if status == 404 then return check_absence(case, get) end
  if status >= 300 and status < 400 then return check_redirect(case, get) end
  if status == 500 then return case:fault "GET answers 500: see the error log" end
  if status >= 300 then
    case:skip(("what it gives: GET %s answers %d"):format(case.path, status))
  end
end

--- Whether a resource can be read without a function of any method being called.
---@param case luaweb.CheckCase
---@return boolean
function M.has_get(case)
  return case.has.GET or (case.has["*"] and case.machine.config.handle_ok ~= nil)
    or false
end

--- Checks a resource by reading it.
---@param case luaweb.CheckCase
function M.check(case)
  check_literals(case)
  if not M.has_get(case) then return end
  local get = case:ask "GET"
  if not get then return end
  check_refusal(case, get)
  if get.status ~= 500 then check_head(case, get) end
  check_success(case, get)
end

return M
