-- SPDX-License-Identifier: MIT
-- Why a row of the graph has answered as it did, in one sentence: a table of what C
-- looks at, and of what holds where nobody says anything.  RFC 9110; Fetch for CORS.
local fields = require "luaweb.explain.fields"
local offers = require "luaweb.explain.offers"
local places = require "luaweb.explain.places"

local M = {}

---@class luaweb.Asked        what is known of a request that was explained
---@field request luaweb.ProbeRequest
---@field machine luaweb.Machine
---@field methods string[]     as the author would list them
---@field status integer?      of the response
---@field is_past boolean?     nothing may be asked to find reasons
---@field is_kept boolean?     the operation gave content
---@field failure string?      which function has failed, and how
---@field speaker string?      who made the content of the response

-- What C answers from -----------------------------------------------------------------

-- The row looks at one field of the request; {} is its value.
local by_field = {
  -- row, field
  -- without the field               yes                              no
  authority_served = { "Host",
    "the request names no host", "{} is one of hosts", "{} is none of hosts" },
  origin_given = { "Origin",
    "there is no Origin", "Origin is {}", "there are several Origins" },
  origin_allowed = { "Origin",
    "there is no Origin", "{} is in cors_origins", "{} is not in cors_origins" },
  not_preflight = { "Access-Control-Request-Method",
    "no Access-Control-Request-Method: no preflight", "no preflight",
    "a preflight: Access-Control-Request-Method is {}" },
  expectation_met = { "Expect",
    "there is no Expect", "100-continue is met", "only 100-continue is met, not {}" },
  content_whole = { "Content-Range",
    "no Content-Range: it is whole", "partial_put takes parts",
    "there is Content-Range, and no partial_put" },
  content_coding_known = { "Content-Encoding",
    "no Content-Encoding", "{} is in acceptable_content_codings",
    "{} is not in acceptable_content_codings" },
  media_type_taken = { "Content-Type",
    "no Content-Type: it may be any", "{} is in acceptable_media_types",
    "{} is not in acceptable_media_types" },
  patch_type_taken = { "Content-Type",
    "a patch without Content-Type has no meaning", "{} is in patch_media_types",
    "{} is not in patch_media_types" },
  media_type_offered = { "Accept",
    "no Accept: the first of available_media_types",
    "one of available_media_types goes with {}",
    "none of available_media_types goes with {}" },
  language_offered = { "Accept-Language",
    "no Accept-Language: the first of available_languages",
    "one of available_languages goes with {}",
    "none of available_languages goes with {}" },
  charset_offered = { "Accept-Charset",
    "no Accept-Charset: the first of available_charsets",
    "one of available_charsets goes with {}",
    "none of available_charsets goes with {}" },
  coding_offered = { "Accept-Encoding",
    "no Accept-Encoding: the content as it is",
    "the content as it is, or a coding, goes with {}",
    "neither a coding nor the content as it is goes with {}" },
  if_match_holds = { "If-Match",
    "there is no If-Match", "{} has the current tag",
    "{} does not have the current tag", "something is here", "nothing is here" },
  if_unmodified_since_holds = { "If-Unmodified-Since",
    "there is no If-Unmodified-Since", "not modified since {}, or that does not count",
    "modified after {}" },
  if_none_match_holds = { "If-None-Match",
    "there is no If-None-Match", "{} does not have the current tag",
    "{} has the current tag", "nothing is here", "something is here" },
  if_modified_since_holds = { "If-Modified-Since",
    "there is no If-Modified-Since", "modified after {}, or that does not count",
    "not modified since {}" },
  range_wanted = { "Range",
    "there is no Range", "{} is wanted", "{} does not count here" },
  if_range_holds = { "If-Range",
    "there is no If-Range", "{} is still current", "{} is no longer current" },
  range_fits = { "Range",
    "there is no Range", "{} is there", "{} lies behind the end" },
}

-- The row looks at the content that comes with the request.
local by_content = {
  has_content = { "there is content", "there is no content" },
  patch_given = { "there is content", "there is no content: what is to be patched?" },
  length_known = { "the length is known", "the content is chunked: length_required" },
  content_fits = { "the content is not above the limit",
    "the content is above the limit" },
  created = { "nothing was there before", "it was there before" },
}

-- What was said of an offer that goes, where the machine isn't strict.
local function choice_sentence(asked, row, sentence)
  local goes = offers.goes(asked, row)
  if goes == nil then return sentence .. ", or else it is the first" end
  return goes and sentence or by_field[row][4] .. "; not strict: the first"
end

-- A yes where the machine lists nothing.
local unlisted = {
  patch_type_taken = { "patch_media_types", "no patch_media_types: it may be any" },
  content_coding_known = { "acceptable_content_codings", "{} is no coding" },
}

local function yes_sentence(asked, row)
  local entry = unlisted[row]
  if entry and asked.machine.config[entry[1]] == nil then return entry[2] end
  local sentence = by_field[row][3]
  return offers.is_choice(row) and choice_sentence(asked, row, sentence) or sentence
end

local function value_sentence(asked, row, answer)
  local entry = by_field[row]
  local value = fields.value(asked.request.headers, entry[1])
  if row == "authority_served" then value = value or "localhost" end
  if not value then return entry[2] end
  if value == "*" and entry[5] then
    return ("%s is *: %s"):format(entry[1], entry[answer and 5 or 6])
  end
  local sentence = answer and yes_sentence(asked, row) or entry[4]
  return (sentence:gsub("{}", function() return value end))
end

local conditions = { "If-Match", "If-None-Match", "If-Modified-Since",
  "If-Unmodified-Since" }

local function precondition_sentence(asked, answer)
  local given = {}
  for _, name in ipairs(conditions) do
    if fields.value(asked.request.headers, name) then given[#given + 1] = name end
  end
  if answer then return "there is " .. table.concat(given, ", ") end
  if not given[1] then return "there is none" end
  return table.concat(given, ", ") .. " does not count here"
end

-- What ended the walk where it was asked.
local function ended(asked, who, passed)
  local is_failure = passed.answer == 500 or (asked.is_past and not passed.answer)
  if is_failure and asked.failure then return asked.failure end
  if passed.answer then return ("%s answered %d"):format(who, passed.answer) end
  return who .. " has not answered"
end

local function reply_sentence(asked, answer, passed)
  local key = places.reply(asked.machine, asked.request.method)
  if asked.is_kept then return "the operation gave content" end
  if not key and answer == false then
    return asked.request.method == "DELETE"
      and "a DELETE shows only what its operation gives" or "nothing gave content"
  end
  local who = places.who(asked.machine, key or "handle_ok")
  if answer == true then return who .. " gave content" end
  if answer == false then return who .. " gave nothing" end
  return ended(asked, who, passed)
end

local function core_sentence(asked, name, passed)
  local answer = passed.answer
  if name == "has_reply" then return reply_sentence(asked, answer, passed) end
  if type(answer) ~= "boolean" then return ended(asked, name, passed) end
  if name == "precondition_given" then return precondition_sentence(asked, answer) end
  if by_content[name] then return by_content[name][answer and 1 or 2] end
  if by_field[name] then return value_sentence(asked, name, answer) end
  return "found in the request"
end

-- What is known while the app loads ---------------------------------------------------

-- Where the app says nothing.
local known = {
  -- row                        yes, no
  authority_served = { "no hosts: any authority is served" },
  http_version_supported = { "the parser has refused others" },
  method_implemented = { "the server knows it", "no resource of the app lists it" },
  uri_fits = { "the parser has refused longer ones" },
  may_create = { "a PUT may", "no may_create: only a PUT may" },
  may_recreate = { "a PUT may", "no may_recreate: only a PUT may" },
  length_known = { "no length_required" },
  media_type_taken = { "no acceptable_media_types: it may be any" },
  media_type_offered = { "no available_media_types: nothing to choose" },
  language_offered = { "no available_languages: nothing to choose" },
  charset_offered = { "no available_charsets: nothing to choose" },
  coding_offered = { "no available_content_codings: nothing to choose" },
  if_unmodified_since_holds = { "no last_modified: nothing to compare" },
  if_modified_since_holds = { "no last_modified: nothing to compare" },
  content_well_formed = { "nobody says how it should be" },
  created = { nil, "no created" },
  range_wanted = { nil, "no accept_ranges" },
  origin_allowed = { 'cors_origins is "*"', "no cors_origins" },
}

local function constant_sentence(asked)
  local key = places.reply(asked.machine, asked.request.method)
  return key and places.who(asked.machine, key) .. " is a constant" or "nothing to show"
end

local function methods_sentence(asked, answer)
  local list = table.concat(asked.methods, ", ")
  if list == "" then return "any method finds nothing" end
  return answer and "one of its methods: " .. list or "its methods are " .. list
end

local function literal_sentence(asked, name, answer)
  local machine = asked.machine
  if machine.config[name] ~= nil then
    local place = machine.places[name]
    return place and "literal, " .. place or "no resource is here"
  end
  if name == "has_reply" then return constant_sentence(asked) end
  if name == "method_allowed" then return methods_sentence(asked, answer) end
  local sentences = known[name]
  return sentences and sentences[answer and 1 or 2] or "default"
end

-- All of it ---------------------------------------------------------------------------

-- Only those schemes are asked that the credentials are for.
local function scheme_sentence(asked, passed)
  local credentials = fields.value(asked.request.headers, "Authorization") or ""
  local named = places.schemes(asked.machine, credentials:match("^%S*"):lower())
  local list = named[1] and named or places.schemes(asked.machine)
  local who, answer = table.concat(list, ", "), passed.answer
  if type(answer) ~= "boolean" then return ended(asked, who, passed) end
  if not (answer or named[1]) then return "no credentials for " .. who end
  if answer and list[2] then who = "one of " .. who end
  return ("%s answered %s"):format(who, answer and "true" or "false")
end

local function app_sentence(asked, name, passed)
  if places.is_by_schemes(asked.machine, name) then
    return scheme_sentence(asked, passed)
  end
  local who = places.speaker(asked.machine, name)
  if type(passed.answer) ~= "boolean" then return ended(asked, who, passed) end
  return ("%s answered %s"):format(who, passed.answer and "true" or "false")
end

local function operation_sentence(asked, passed)
  local key = places.operation(asked.machine, asked.request.method)
  local who = places.who(asked.machine, key)
  if type(passed.answer) ~= "boolean" then return ended(asked, who, passed) end
  if not passed.answer then return who .. " answered false" end
  return who .. (passed.is_kept and " has done it, and gave content" or " has done it")
end

--- Why a row that a request has passed answers as it does.
---@param asked luaweb.Asked
---@param name string             of the row
---@param passed luaweb.Passed
---@param by string?              of the program's step, where it is asked
---@return string
function M.of(asked, name, passed, by)
  if passed.how == "fixed" then return "fixed: " .. asked.request.method end
  if passed.how == "literal" then
    return literal_sentence(asked, name, passed.answer)
  end
  if passed.how == "unary" then return "not asked: both answers lead to the same" end
  if by == "app" then return app_sentence(asked, name, passed) end
  if by == "operation" then return operation_sentence(asked, passed) end
  return core_sentence(asked, name, passed)
end

return M
