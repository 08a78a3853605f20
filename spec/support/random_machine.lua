-- SPDX-License-Identifier: MIT
-- Machines at random, as Lua text: what web.machine takes, and what the reference walk
-- reads.  Each of them loads: what an app must not say together is not said.  Functions
-- answer by the X-Seed field of the request, alike for both.  Owns nothing.
local keys_of = require "spec.support.random_keys"

local decision, function_of = keys_of.decision, keys_of.function_of
local list_of, lists = keys_of.list_of, keys_of.lists

local M = {}

-- What does the work ------------------------------------------------------------------

local CONTENTS = {
  '"content"', '"content"', '"content"', '""', "nil", "true", "false", "404", "204",
  'web.text("text")', 'web.html("html")', 'web.json { a = 1 }', "{ a = 1 }",
  'web.text("own"):header("ETag", "\\"own\\"")', 'web.text("x"):status(200)',
  'web.text("x"):status(203)', "web.status(404)", "web.status(200)", "web.status(204)",
  'web.text("x"):header("Vary", "X-Own")', 'throw(web.status(410))', 'throw("a fault")',
  'web.streaming(function(out) out:write("stream") end)', '("x"):rep(66000)',
  'web.text("x"):header("Cache-Control", "no-store")', "304", "200", "201",
  'web.redirect("/there")', 'web.bytes("image/png", "0123456789")', "web.status(401)",
  'web.text("x"):status(404):header("ETag", "\\"e\\"")',
}

local WORKS = {
  "nil", "nil", "nil", "true", "true", "false", '"done"', '"done"', "{ done = true }",
  'web.text("done")', 'web.created("/new")', 'web.created("/new", "made")',
  'web.accepted()', "web.status(200)", "412", "201", "200", "304", "206",
  'web.text("done"):header("ETag", "\\"new\\"")', 'web.status(409)', "99",
  'throw(web.status(409))', 'throw("a fault")', 'web.redirect("/done")',
  'web.text("done"):status(200)', 'web.streaming(function(out) out:write("s") end)',
}

local function contents(r, name)
  local items = {}
  for i = 1, r:number(4) do items[i] = r:pick(CONTENTS) end
  return function_of(name, items)
end

local function content(r, name)
  if r:chance(70) then return contents(r, name) end
  return r:pick { '"constant"', '"constant"', 'web.html("constant")', '""',
    'web.text("constant"):status(200)', '("0123456789"):rep(9000)', "{ 1, 2 }" }
end

local function work(r, name)
  local items = {}
  for i = 1, r:number(4) do items[i] = r:pick(WORKS) end
  return function_of(name, items)
end

local HANDLERS = { "handle_created", "handle_accepted", "handle_no_content",
  "handle_see_other", "handle_not_modified", "handle_permanent_redirect",
  "handle_bad_request", "handle_unauthorized", "handle_forbidden", "handle_not_found",
  "handle_method_not_allowed", "handle_not_acceptable", "handle_conflict",
  "handle_gone",
  "handle_precondition_failed", "handle_content_too_large",
  "handle_unsupported_media_type", "handle_range_not_satisfiable",
  "handle_precondition_required", "handle_internal_server_error",
  "handle_not_implemented", "handle_service_unavailable" }

local SAYINGS = { '"said"', 'web.html("<b>said</b>")', '{ why = "so" }', '""',
  'web.text("said"):header("Vary", "X-Own")', 'web.bytes("image/png", "said")' }

local TYPES = { "text/html", "application/json", "text/plain", "image/png" }

local function add_representation(r, keys)
  if not r:chance(35) then
    if r:chance(20) then
      keys.available_media_types = lists(TYPES, 1, 3)(r, "available_media_types")
    end
    keys.handle_ok = content(r, "handle_ok")
    return
  end
  local texts, types = {}, r:some(TYPES, 1, 3)
  local form = r:chance(30) and "{ %q, %s }" or "[%q] = %s"
  for i, media_type in ipairs(types) do
    texts[i] = form:format(media_type, content(r, "handle_ok " .. media_type))
  end
  keys.handle_ok = "{ " .. table.concat(texts, ", ") .. " }"
  if r:chance(20) then keys.available_media_types = list_of(types) end
end

-- What is included is made for others too: it need not be in reach.
local function handlers(r)
  local keys = {}
  for _, name in ipairs(r:some(HANDLERS, 1, 5)) do
    keys[name] = r:pick(SAYINGS)
    if r:chance(50) then
      keys[name] = function_of(name, { "nil", unpack(r:some(SAYINGS, 1, 3)) })
    end
  end
  return keys
end

local OPERATIONS = { POST = "do_post", PUT = "do_put", PATCH = "do_patch",
  DELETE = "do_delete", BREW = "do_brew", ["M-SEARCH"] = "do_m_search" }
local WRITES = { "POST", "PUT", "PATCH", "DELETE", "BREW", "M-SEARCH" }

local function add_operations(r, keys, methods)
  local uses_any = false
  for _, method in ipairs(methods) do
    local name = OPERATIONS[method]
    if name and r:chance(85) then
      keys[name] = work(r, name)
    elseif name then
      uses_any = true
    end
  end
  if uses_any then keys.do_any = work(r, "do_any") end
end

local function some_methods(r)
  local methods = r:chance(85) and { "GET" } or {}
  for _, method in ipairs(r:some(WRITES, methods[1] and 0 or 1, 4)) do
    methods[#methods + 1] = method
  end
  return methods
end

local function add_methods(r, keys)
  local methods = some_methods(r)
  if methods[1] == "GET" then add_representation(r, keys) end
  add_operations(r, keys, methods)
  if keys.do_any or r:chance(30) then
    if r:chance(20) then methods[#methods + 1] = "OPTIONS" end
    keys.methods = list_of(r:some(methods, #methods, #methods))
  end
  if r:chance(6) then
    keys.methods, keys.do_any = r:chance(50) and '"*"' or nil, work(r, "do_any")
  end
  if r:chance(10) then keys.handle_options = content(r, "handle_options") end
end

local function add_patch(r, keys)
  if not keys.do_patch then return end
  if r:chance(60) then
    keys.patch_media_types = lists({ "application/merge-patch+json", "text/plain",
      "application/*" }, 1, 2)(r, "patch_media_types")
  end
  if r:chance(5) then keys.patch_type_taken = decision(r, "patch_type_taken") end
end

-- What belongs together ---------------------------------------------------------------

-- What leads to no redirect.
local STAYS = { stays_for_good = "true", stays_for_now = "true", see_other = "false" }

local function wants_challenge(name, text)
  return text == "401" or (name == "authorized" and text ~= "true")
end

local function wants_location(name, text)
  return (STAYS[name] ~= nil and text ~= STAYS[name]) or text == "302"
    or text == "308"
end

-- A 401 has a challenge and a redirect a location, where that can be seen while an app
-- loads.
local function add_needs(keys)
  local has_challenge, has_location = keys.challenge, keys.location
  for name, text in pairs(keys) do
    if not has_challenge and wants_challenge(name, text) then
      has_challenge = '{ "Basic" }'
    end
    if not has_location and wants_location(name, text) then
      has_location = '"/there"'
    end
  end
  keys.challenge, keys.location = has_challenge, has_location
end

-- Properties that may be of no use to a machine, which then must not be its own.
local MAYBE_USELESS = { "acceptable_media_types", "acceptable_content_codings",
  "body_limit", "length_required", "partial_put", "location" }

local function take_shared(keys)
  local shared = {}
  for _, name in ipairs(MAYBE_USELESS) do shared[name], keys[name] = keys[name], nil end
  return shared
end

-- Component rows of the app's own, which agreement.lua knows as `audit`.
local function add_audit(r, keys)
  for _, name in ipairs(r:some({ "audited", "signed" }, 0, 2)) do
    keys[name] = decision(r, name)
  end
end

local function text_of(keys, included)
  local names, lines = {}, {}
  for name in pairs(keys) do names[#names + 1] = name end
  table.sort(names)
  for i, text in ipairs(included or {}) do lines[i] = ("  %s,\n"):format(text) end
  for _, name in ipairs(names) do
    lines[#lines + 1] = ("  %s = %s,\n"):format(name, keys[name])
  end
  return "{\n" .. table.concat(lines) .. "}"
end

--- A machine.
---@param r spec.Random
---@return string   Lua text of its keys
function M.text(r)
  local keys, included = {}, {}
  keys_of.add_decisions(r, keys)
  keys_of.add_properties(r, keys)
  add_methods(r, keys)
  add_patch(r, keys)
  if r:chance(15) then
    add_audit(r, keys)
    included[1] = "audit"
  end
  add_needs(keys)
  included[#included + 1] = text_of(take_shared(keys))
  if r:chance(40) then included[#included + 1] = text_of(handlers(r)) end
  return text_of(keys, included)
end

--- What answers paths that no resource has: decisions and properties.
---@param r spec.Random
---@return string
function M.unmatched_text(r)
  local keys = {}
  keys_of.add_decisions(r, keys)
  keys_of.add_properties(r, keys)
  keys.exists, keys.may_create, keys.may_recreate = "false", "false", "false"
  add_needs(keys)
  local included = { text_of(take_shared(keys)) }
  if r:chance(40) then included[2] = text_of(handlers(r)) end
  return text_of(keys, included)
end

return M
