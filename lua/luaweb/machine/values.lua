-- SPDX-License-Identifier: MIT
-- What the properties of machines may hold, and how it is said to C: as a text and a
-- number.  A reader takes a value that an app has declared, or that its function has
-- returned for a request, and gives both; or nil and what it wants instead.
-- RFC 9110 §5.6.2, §8.3 - §8.8, §10.2, §12.5; Fetch for origins.
local abi = require "luaweb.abi"
local ffi = require "ffi"
local token = require "luaweb.token"

local C = abi.C
local byte, floor, concat = string.byte, math.floor, table.concat

local M = {}

local TOKEN = token.PATTERN
local LAST_DATE = 253402300799 -- of the year 9999

-- Texts -------------------------------------------------------------------------------

-- The octets that a pattern is for.
local function set(pattern)
  local octets = {}
  for i = 0, 255 do octets[i] = string.char(i):find(pattern) ~= nil end
  return octets
end

local FIELD = set "[^%z\1-\8\10-\31\127]"
local TAG = set "[^%z\1-\32\"\127]"
local URI = set "[^%z\1-\32\"<>\\^`{|}\127-\255]"

-- A loop and no pattern: readers run for requests too, and no pattern is ever compiled.
local function all_of(octets, text, first, last)
  for i = first, last do
    if not octets[byte(text, i)] then return false end
  end
  return true
end

local function is_text(value)
  return type(value) == "string" and value ~= ""
end

--- A field value.
function M.text(value)
  if is_text(value) and all_of(FIELD, value, 1, #value) then return value, 0 end
  return nil, "wants a text without control octets"
end

--- "tag" or W/"tag", with the quotes.
function M.entity_tag(value)
  if is_text(value) then
    local first = byte(value, 1) == 87 and byte(value, 2) == 47 and 3 or 1 -- W/
    local is_quoted = #value > first and byte(value, first) == 34
      and byte(value, #value) == 34
    if is_quoted and all_of(TAG, value, first + 1, #value - 1) then return value, 0 end
  end
  return nil, 'wants an entity tag with its quotes, like "v1" or W/"v1" (see web.etag)'
end

-- Readers of what a function has given for a request: C judges the octets.
M.of_function = {
  [M.text] = function(value)
    if is_text(value) then return value, 0 end
    return nil, "wants a text"
  end,
  [M.entity_tag] = function(value)
    if is_text(value) then return value, 0 end
    return nil, "wants an entity tag"
  end,
}

--- A URI reference.
function M.uri(value)
  if is_text(value) and all_of(URI, value, 1, #value) then return value, 0 end
  return nil, "wants a URI, percent-encoded where need be"
end

-- Numbers -----------------------------------------------------------------------------

local function is_count(value, most)
  return type(value) == "number" and value >= 0 and value <= most
end

--- Seconds since 1970; parts of a second do not count.
function M.date(value)
  if is_count(value, LAST_DATE) then return "1", floor(value) end
  return nil, "wants a date: a number of seconds since 1970"
end

--- Octets.
function M.octets(value)
  if is_count(value, math.huge) then return "1", value end
  return nil, "wants a number of octets"
end

--- Seconds; a part of one counts as a whole.
function M.seconds(value)
  if is_count(value, LAST_DATE) then
    local whole = math.ceil(value)
    return ("%d"):format(whole), whole
  end
  return nil, "wants a number of seconds"
end

local LONGEST = 1e9 -- seconds, about 31 years

--- Seconds, as milliseconds; 0 where there is none.
function M.duration(value)
  if is_count(value, LONGEST) then return "1", math.ceil(value * 1000) end
  return nil, "wants a number of seconds, from 0 to 1e9 (and no function: it is known "
    .. "before any is called)"
end

local disconnects = { cancel = C.LUAWEB_DISCONNECT_CANCEL,
  notify = C.LUAWEB_DISCONNECT_NOTIFY, ignore = C.LUAWEB_DISCONNECT_IGNORE }

--- What becomes of a request whose client is gone.
function M.disconnect(value)
  local number = disconnects[value]
  if number then return "1", tonumber(number) end
  return nil, 'wants "cancel", "notify" or "ignore"'
end

local DATE = "^%a%a%a, %d%d %a%a%a %d%d%d%d %d%d:%d%d:%d%d GMT$"

--- Seconds, or a date as HTTP writes it.
function M.delay(value)
  if type(value) == "string" and (value:find "^%d+$" or value:find(DATE)) then
    return value, 0
  end
  local text, number = M.seconds(value)
  if text then return text, number end
  return nil, "wants a number of seconds, or a date as in HTTP"
end

--- true or false.
function M.switch(value)
  if value == true then return "1", 1 end
  if value == false then return "0", 0 end
  return nil, "wants true or false"
end

-- Lists -------------------------------------------------------------------------------

--- Whether a table is a list without holes and other keys.
---@param value any
---@return boolean
function M.is_list(value)
  if type(value) ~= "table" then return false end
  local count = 0
  for _ in pairs(value) do count = count + 1 end
  return count == #value
end

-- Makes the reader of a list.
--   what      of what: "media types"
--   is_item   whether a text may stand in it
--   options   star: "*" may stand for the list; empty: it may have no item
local function list(what, is_item, options)
  options = options or {}
  local wants = "wants a list of " .. what .. (options.star and ', or "*"' or "")
  return function(value)
    if options.star and value == "*" then return value, 0 end
    if not M.is_list(value) then return nil, wants end
    if #value == 0 and not options.empty then return nil, "is an empty list" end
    for _, item in ipairs(value) do
      if type(item) ~= "string" or not is_item(item) then
        return nil, ("%s: %s is none"):format(wants, tostring(item))
      end
    end
    return concat(value, "\n"), 0
  end
end

local is_token = token.is_one

local function is_name(item) -- a token that is no wildcard
  return item ~= "*" and is_token(item)
end

local parts = ffi.new "struct luaweb_slice[3]"

local function is_range(item)
  if not C.luaweb_media_type(abi.host, item, #item, parts, parts + 1, parts + 2) then
    return false
  end
  local main, sub = item:match "^([^/]*)/([^;%s]*)"
  if main == "*" then return sub == "*" end -- no range is "*/html"
  return not main:find("*", 1, true) and (sub == "*" or not sub:find("*", 1, true))
end

local function is_media_type(item)
  return is_range(item) and not item:match("^[^;]*"):find("*", 1, true)
end

-- RFC 5646 §2.1, without its registry
local function is_language(item)
  local first, rest = item:match "^(%a+)(.*)$"
  if not first or #first > 8 then return false end
  for part in rest:gmatch "[^-]+" do
    if #part > 8 or part:find "%W" then return false end
  end
  return not rest:find "%-%-" and not rest:find "%-$" and not rest:find "^[^-]"
end

-- As browsers send it: a scheme and an authority in lower case.
local function is_origin(item)
  return item == "null" or item:find "^%l[%l%d+.-]*://[^/?#@%s%u%c]+$" ~= nil
end

local function is_host(item)
  return item:find "^[^%s%c/?#@,]+$" ~= nil
end

local function is_challenge(item)
  return item:find("^" .. TOKEN .. " *%f[ %z][^%c]*$") ~= nil
end

local DIMENSIONS = { media_type = true, language = true, charset = true,
  content_coding = true }

local function is_dimension(item)
  return DIMENSIONS[item] ~= nil
end

M.media_types = list("media types", is_media_type)
M.ranges = list('media types, "text/*" included', is_range)
M.languages = list("language tags", is_language)
M.charsets = list("charsets", is_name)
M.codings = list("content codings", is_name)
M.fields = list("header names", is_token)
M.hosts = list("host names", is_host)
M.challenges = list("challenges", is_challenge)
M.dimensions = list("media_type, language, charset, content_coding", is_dimension,
  { empty = true })
M.origins = list('origins like "https://example.com"', is_origin,
  { star = true, empty = true })
M.any_methods = list("methods", is_name, { star = true })
M.any_fields = list("header names", is_name, { star = true, empty = true })

-- Methods -----------------------------------------------------------------------------

local USUAL = { GET = true, HEAD = true, POST = true, PUT = true, PATCH = true,
  DELETE = true, OPTIONS = true }

-- Why it can't be among `methods`, or nil.
local function fault_of_method(method, seen)
  if type(method) ~= "string" or not is_name(method) then return "is not a method" end
  if method == "TRACE" or method == "CONNECT" then return "is never served" end
  local usual = method:upper()
  if usual ~= method and USUAL[usual] then
    return ("is not %s: methods are case-sensitive"):format(usual)
  end
  return seen[method] and "is there twice" or nil
end

--- Tells what is wrong with the methods of a machine.
---@param value any
---@return string? fault
function M.fault_of_methods(value)
  if value == "*" then return nil end
  if not M.is_list(value) or #value == 0 then
    return 'wants a list of methods, or "*"'
  end
  local seen = {}
  for _, method in ipairs(value) do
    local fault = fault_of_method(method, seen)
    if fault then return ("%s %s"):format(tostring(method), fault) end
    seen[method] = true
  end
end

return M
