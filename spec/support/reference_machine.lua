-- SPDX-License-Identifier: MIT
-- A machine as the reference walk reads it: what its keys say of one request.  It is a
-- plain table of keys, literals or functions of a plain request; each function is asked
-- at most once.  Owns the state of one walk.  It decides nothing: reference_rows.lua
-- does.
local http = require "spec.support.reference_http"
local json = require "luaweb.json"
local response = require "luaweb.response"
local tag = require "luaweb.response.tag"

local M = {}

---@class spec.Walk                        the state of one walk
---@field machine table<string, any>
---@field request spec.PlainRequest
---@field context spec.WalkContext
---@field values table<string, any[]>      what functions answered
---@field calls string[]                   keys of the functions called, in order
---@field exists boolean
---@field is_creation boolean              the walk came through may_create
---@field accepted table<string, string>   what negotiation chose, by dimension
---@field reply spec.Content?              what will be sent
---@field is_current_state boolean?        handle_ok spoke behind a write
---@field ending table?                    the response that ended the walk
---@field fault string?                    why the status is 500

---@class spec.WalkContext
---@field methods string[]?         listed by other machines of the app
---@field components table[]?       the app's own, beside cors and patch
---@field now integer?              seconds, for two-digit years
---@field body_limit integer?       of machines without their own
---@field is_unmatched boolean?     the machine answers paths that no resource has

---@class spec.Content
---@field text string?              nil: not known before it is sent
---@field media_type string?

--- A new walk of a machine for a request.
---@return spec.Walk
function M.new(machine, request, context)
  return { machine = machine, request = request, context = context or {}, values = {},
           calls = {}, exists = machine.exists ~= false, is_creation = false,
           accepted = {} }
end

-- Keys --------------------------------------------------------------------------------

function M.is_response(value)
  return type(value) == "table" and getmetatable(value) == response.Response
end

-- Runs one of the machine's functions.  `error(response)` ends the walk with it; any
-- other error is a 500.
local function run(walk, key, fn)
  walk.calls[#walk.calls + 1] = key
  local ok, result = pcall(fn, walk.request)
  if ok then return result end
  if M.is_response(result) then error({ response = result }, 0) end
  error({ fault = key .. " raised an error" }, 0)
end

--- What a key says: its literal, or what its function answers.
---@param walk spec.Walk
---@param key string
function M.value(walk, key)
  local declared = walk.machine[key]
  if type(declared) ~= "function" then return declared end
  if not walk.values[key] then walk.values[key] = { run(walk, key, declared) } end
  return walk.values[key][1]
end

--- A list where a key may have one member without a table around it.
function M.list(walk, key)
  local value = M.value(walk, key)
  return type(value) == "table" and value or { value }
end

-- Methods -----------------------------------------------------------------------------

-- PATCH -> do_patch, VERSION-CONTROL -> do_version_control
function M.operation_key(walk)
  local own = "do_" .. walk.request.method:lower():gsub("-", "_")
  return walk.machine[own] ~= nil and own or "do_any"
end

function M.takes_any(machine)
  return machine.methods == "*" or (machine.methods == nil and machine.do_any ~= nil)
end

local function own_methods(machine)
  local list = {}
  for key in pairs(machine) do
    local name = key:match "^do_(.*)$"
    if name and name ~= "any" then list[#list + 1] = name:upper():gsub("_", "-") end
  end
  table.sort(list)
  if machine.handle_ok ~= nil then table.insert(list, 1, "GET") end
  return list
end

--- The methods that a machine allows and Allow names.  HEAD comes with GET, OPTIONS
--- with every machine.  Where any token is allowed, the list has the usual ones.
---@param machine table
---@param takes_any boolean?   whatever the machine says
---@return string[]
function M.methods(machine, takes_any)
  local given = machine.methods
  if type(given) ~= "table" then given = own_methods(machine) end
  local list, seen = {}, {}
  local function add(method)
    if not seen[method] then list[#list + 1] = method end
    seen[method] = true
  end
  for _, method in ipairs(given) do
    add(method)
    if method == "GET" then add "HEAD" end
  end
  if takes_any or M.takes_any(machine) then
    for method in ("GET HEAD POST PUT PATCH DELETE"):gmatch "%S+" do add(method) end
  end
  add "OPTIONS"
  return list
end

-- Is the method one that the list names?
function M.names(list, method)
  for _, name in ipairs(list or {}) do
    if name == method then return true end
  end
  return false
end

-- Handlers ----------------------------------------------------------------------------

local function is_type(key)
  return type(key) == "string" and key:find("/", 1, true) ~= nil
end

-- Media types and what speaks for each, in order of preference: pairs as they are, keys
-- in alphabetic order.  nil: the value is a function, or a constant.
local function by_type(value)
  if type(value) ~= "table" or M.is_response(value) then return nil end
  if type(value[1]) == "table" and is_type(value[1][1]) then return value end
  local pairs_of = {}
  for key, handler in pairs(value) do
    if not is_type(key) then return nil end
    pairs_of[#pairs_of + 1] = { key, handler }
  end
  table.sort(pairs_of, function(a, b) return a[1] < b[1] end)
  return pairs_of
end

-- Validators --------------------------------------------------------------------------

local DIMENSIONS = { "available_media_types", "available_languages",
                     "available_charsets" }

-- The text of a constant; nil: it is none, or is by media type.
local function constant_text(value)
  if M.is_response(value) then
    local says_more = value.code or value.fields or value.stream
    return not says_more and value.content or nil
  end
  if type(value) == "table" and not by_type(value) then return json.encode(value) end
  return type(value) == "string" and value or nil
end

local function has_choice(machine)
  for _, key in ipairs(DIMENSIONS) do
    local offers = machine[key]
    if type(offers) == "function" or (offers and #offers > 1) then return true end
  end
  return machine.available_content_codings ~= nil
end

-- A constant that is the only representation never changes, and neither does its tag.
local function constant_tag(machine)
  local text = constant_text(machine.handle_ok)
  return text and not has_choice(machine) and tag.etag(text) or nil
end

--- The current entity tag; nil: none, or nothing is there.
---@return string?
function M.entity_tag(walk)
  if not walk.exists then return nil end
  if walk.machine.entity_tag ~= nil then return M.value(walk, "entity_tag") end
  return constant_tag(walk.machine)
end

--- The modification date in whole seconds; nil: none, or nothing is there.
---@return integer?
function M.last_modified(walk)
  local seconds = walk.exists and M.value(walk, "last_modified")
  return seconds and math.floor(seconds) or nil
end

--- The date that a field names; nil: it is absent, twice there, or no date.
---@return integer?
function M.date_of(walk, name)
  local text = http.only(walk.request, name)
  return text and http.date(text, walk.context.now or os.time()) or nil
end

-- Offers ------------------------------------------------------------------------------

local OFFER_KEYS = {
  media_type = "available_media_types", language = "available_languages",
  charset = "available_charsets", content_coding = "available_content_codings",
}

--- What there is to choose from; nil: the machine says nothing of the dimension.  A
--- handle_ok by media types declares them.
---@return string[]?
function M.offers(walk, dimension)
  local offers = M.value(walk, OFFER_KEYS[dimension])
  local handlers = dimension == "media_type" and by_type(walk.machine.handle_ok)
  if not offers and handlers then
    offers = {}
    for i, pair in ipairs(handlers) do offers[i] = pair[1] end
  end
  return offers and offers[1] and offers or nil
end

--- Are the offers of a dimension those of a function?
function M.may_offer(walk, dimension)
  return type(walk.machine[OFFER_KEYS[dimension]]) == "function"
end

--- Is the answer 406 where nothing of a dimension is acceptable?
function M.is_strict(walk, dimension)
  if walk.machine.strict == nil then return dimension == "media_type" end
  return M.names(M.list(walk, "strict"), dimension)
end

-- Content -----------------------------------------------------------------------------

--- A string, a table or a response as content.
---@return spec.Content
function M.content(value)
  if type(value) == "string" then return { text = value } end
  if not M.is_response(value) then
    return { text = json.encode(value), media_type = "application/json" }
  end
  local text = value.content or (not value.stream and "" or nil)
  return { text = text, media_type = value.media_type, response = value }
end

--- Runs the handler of a reply: handle_ok as it is or by media type, or another key.
function M.handle(walk, key)
  local handlers = by_type(walk.machine[key])
  if not handlers then return M.value(walk, key) end
  for _, pair in ipairs(handlers) do
    local is_chosen = pair[1] == walk.accepted.media_type
    if is_chosen and type(pair[2]) == "function" then return run(walk, key, pair[2]) end
    if is_chosen then return pair[2] end
  end
end

return M
