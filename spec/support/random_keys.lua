-- SPDX-License-Identifier: MIT
-- Keys of machines at random, as Lua text: decisions and properties.  Functions are
-- written as agreement.lua understands them.  Owns nothing.
local M = {}

local function q(text) return ("%q"):format(text) end

--- A list of texts.
---@param items string[]
---@return string
function M.list_of(items)
  local texts = {}
  for i, item in ipairs(items) do texts[i] = q(item) end
  return "{ " .. table.concat(texts, ", ") .. " }"
end

--- A function that gives one of these texts.
---@param name string
---@param items string[]
---@return string
function M.function_of(name, items)
  return ("pick(%s, { n = %d, %s })"):format(q(name), #items, table.concat(items, ", "))
end

local list_of, function_of = M.list_of, M.function_of

-- Decisions ---------------------------------------------------------------------------

local DECISIONS = {
  "authority_served", "service_available", "http_version_supported", "uri_fits",
  "within_rate", "well_formed", "authorized", "allowed", "legally_available",
  "stays_for_good", "stays_for_now", "exists", "exists", "exists", "exists",
  "never_was",
  "may_create", "may_create", "may_recreate", "single_choice", "expectation_met",
  "length_known", "content_fits", "content_whole", "content_coding_known",
  "media_type_taken", "media_type_offered", "language_offered", "charset_offered",
  "coding_offered", "precondition_optional", "content_well_formed", "content_valid",
  "conflict_free", "completed", "see_other", "created", "created",
}

-- Where yes is not the usual answer.
local RARE_YES = { see_other = true, created = true }

local STATUSES = { "404", "403", "200", "204", "302", "308", "410", "409", "503", "415",
                   "401", "202", "405", "451", "422" }

-- What ends a walk, or makes it fail.
local ENDINGS = {
  "web.status(403)", 'web.text("no"):status(404)', 'web.text("yes")', "web.status(200)",
  'web.status(429):header("Retry-After", "7")', 'web.redirect("/there")',
  'web.status(401):header("WWW-Authenticate", "Own")', "web.status(401)",
  'throw(web.status(409))', 'throw(web.text("thrown"))', 'throw("a fault")',
  '"no answer"',
  "304", "web.status(302)", 'web.status(503):header("Vary", "X-Own")', "206", "99",
}

local function answer(r, name)
  local usual = RARE_YES[name] and "false" or "true"
  local other = RARE_YES[name] and "true" or "false"
  local dice = r:number(20)
  if dice <= 12 then return usual end
  if dice <= 16 then return other end
  if dice == 17 then return "nil" end
  return r:pick(dice <= 18 and STATUSES or ENDINGS)
end

local function answers(r, name)
  local items = {}
  for i = 1, 1 + r:number(4) do items[i] = answer(r, name) end
  return function_of(name, items)
end

--- What a machine may say to a row.
---@param r spec.Random
---@param name string
---@return string
function M.decision(r, name)
  if r:chance(60) then return answers(r, name) end
  local dice = r:number(10)
  if dice <= 5 then return "true" end
  if dice <= 8 then return "false" end
  if dice == 9 then return r:pick(STATUSES) end
  return r:pick { "web.status(403)", 'web.text("no"):status(404)', 'web.text("yes")' }
end

--- Adds some decisions.
---@param r spec.Random
---@param keys table<string, string>
function M.add_decisions(r, keys)
  for _ = 1, r:number(8) - 1 do
    local name = r:pick(DECISIONS)
    keys[name] = M.decision(r, name)
  end
  if r:chance(4) then
    keys.has_reply = r:pick { "true", "false", function_of("has_reply",
      { "true", "true", "false", "nil", "404", 'web.text("said")' }) }
  end
end

-- Properties --------------------------------------------------------------------------

--- Makes what a list property may be.
---@param items string[]
---@return fun(r: spec.Random, name: string): string
function M.lists(items, least, most)
  return function(r, name)
    if r:chance(75) then return list_of(r:some(items, least, most)) end
    local texts = { "nil" }
    for i = 2, 1 + r:number(3) do texts[i] = list_of(r:some(items, least, most)) end
    return function_of(name, texts)
  end
end

local lists = M.lists

local function values(texts)
  return function(r, name)
    if r:chance(60) then return r:pick(texts) end
    return function_of(name, { "nil", unpack(r:some(texts, 1, 3)) })
  end
end

local switches = values { "true", "true", "false" }

-- { key, chance in percent, what it may be }
local PROPERTIES = {
  { "available_languages", 15, lists({ "en", "de", "de-CH", "fr" }, 1, 3) },
  { "available_charsets", 10, lists({ "utf-8", "iso-8859-1", "utf-16" }, 1, 2) },
  { "available_content_codings", 12, lists({ "gzip", "br", "identity" }, 1, 2) },
  { "acceptable_media_types", 15,
    lists({ "application/json", "text/*", "image/png", "text/html;level=1" }, 1, 2) },
  { "acceptable_content_codings", 12, lists({ "gzip", "br" }, 1, 2) },
  { "strict", 15,
    lists({ "media_type", "language", "charset", "content_coding" }, 1, 4) },
  { "hosts", 8, lists({ "example.com", "other.example", "localhost:81" }, 1, 2) },
  { "vary", 10, lists({ "Cookie", "User-Agent", "Accept" }, 1, 2) },
  { "entity_tag", 45, values { '"\\"a\\""', '"\\"b\\""', '"W/\\"a\\""' } },
  { "last_modified", 30, values { "784111777", "784111777.9", "1500000000" } },
  { "location", 30, values { '"/there"', '"http://example.com/a%20b"' } },
  { "cache_control", 20, values { '"max-age=60"', '"private, no-cache"' } },
  { "expires", 10, values { "784111777", "0" } },
  { "retry_after", 20, values { "5", "1.5", '"120"' } },
  { "challenge", 25, lists({ 'Basic realm="a"', "Bearer", 'Own a="b,c"' }, 1, 2) },
  { "body_limit", 20, values { "0", "3", "10", "100" } },
  { "length_required", 8, switches },
  { "accept_ranges", 30, switches },
  { "partial_put", 10, switches },
}

local CORS = {
  { "cors_origins", 80,
    lists({ "http://a.example", "http://b.example", "null" }, 1, 2) },
  { "cors_methods", 30, lists({ "GET", "PUT", "BREW" }, 1, 3) },
  { "cors_headers", 30, lists({ "X-One", "Authorization" }, 1, 2) },
  { "cors_expose", 30, lists({ "X-Two", "ETag" }, 1, 2) },
  { "cors_credentials", 40, switches },
  { "cors_max_age", 30, values { "60", "0", "1.5" } },
  { "cors_private_network", 20, switches },
  { "cors_enabled", 20, M.decision },
  { "origin_allowed", 10, M.decision },
}

local function add_all(r, keys, properties)
  for _, property in ipairs(properties) do
    local name, percent, make = property[1], property[2], property[3]
    if r:chance(percent) then keys[name] = make(r, name) end
  end
end

-- "*" stands for all; with credentials only where it may.
local function add_stars(r, keys)
  local has_credentials = keys.cors_credentials == "true"
  local names = has_credentials and { "cors_methods", "cors_headers" }
    or { "cors_methods", "cors_headers", "cors_origins", "cors_expose" }
  for _, name in ipairs(names) do
    if r:chance(25) then keys[name] = '"*"' end
  end
  if r:chance(10) then
    keys.cors_origins = function_of("cors_origins", { '"*"', "nil",
      '{ "http://a.example" }' })
  end
end

--- Adds some properties.
---@param r spec.Random
---@param keys table<string, string>
function M.add_properties(r, keys)
  add_all(r, keys, PROPERTIES)
  if r:chance(5) then keys.strict = "{}" end
  if not r:chance(25) then return end
  add_all(r, keys, CORS)
  add_stars(r, keys)
end

return M
