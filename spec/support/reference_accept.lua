-- SPDX-License-Identifier: MIT
-- Proactive negotiation in plain Lua for the reference walk: what an offer weighs for
-- a client, and which one it likes best.  Slow and literal on purpose; shares nothing
-- with the C code that is judged by it.  Owns nothing.  RFC 9110 §8.3, §12.4, §12.5,
-- RFC 4647 §3.3.1, §3.4.
local http = require "spec.support.reference_http"

local M = {}

local TOKEN = "^[%w!#$%%&'*+%-.^_`|~]+$"
local LEAST = 1 -- thousandths: above nothing

local function is_token(text)
  return text:find(TOKEN) ~= nil
end

-- Members: { value, parameters, weight } ----------------------------------------------

local function unquoted(text)
  local inner = text:match '^"(.*)"$'
  return inner and inner:gsub("\\(.)", "%1") or text
end

-- Thousandths; nil: it is no weight.
local function weight_of(text)
  local whole, fraction = text:match "^([01])%.(%d?%d?%d?)$"
  if text == "0" or text == "1" then whole, fraction = text, "" end
  if not whole or (whole == "1" and fraction:find "[^0]") then return nil end
  return tonumber(whole) * 1000 + tonumber((fraction .. "000"):sub(1, 3))
end

-- name and value of "name=value"; nil: it is none.
local function parameter(text)
  local name, value = text:match "^([^=]+)=(.+)$"
  if not name or not is_token(name) then return nil end
  if not is_token(value) and not value:find '^".*"$' then return nil end
  return name:lower(), value
end

-- "a/b; c=d; q=0.5" -> value a/b, parameters { c = "d" }, weight 500; nil: malformed.
-- What follows the weight says nothing of the offer.
local function member_of(text)
  local pieces, is_open = http.split(text, ";", true)
  if is_open or not pieces[1] then return nil end
  local member = { value = pieces[1]:lower(), parameters = {} }
  for i = 2, #pieces do
    local name, value = parameter(pieces[i])
    if not name or (name == "q" and member.weight) then return nil end
    if name == "q" then
      member.weight = weight_of(value)
      if not member.weight then return nil end
    elseif not member.weight then
      member.parameters[name] = unquoted(value)
    end
  end
  member.weight = member.weight or 1000
  return member
end

local function is_media_range(value)
  local main, sub = value:match "^([^/]+)/([^/]+)$"
  if not main or not is_token(main) or not is_token(sub) then return false end
  return main ~= "*" or sub == "*"
end

local function is_language(value)
  return value == "*" or (value:find "^%a[%w%-]*$" ~= nil and not value:find "%-%-"
    and not value:find "%-$")
end

-- How specific a member's hold on an offer is; nil: it has none -----------------------

-- Letter case counts in values, that of charset excepted.
local function is_same_value(name, a, b)
  return a == b or (name == "charset" and a ~= nil and a:lower() == b:lower())
end

local function media_hold(member, offer)
  local count = 0
  for name, value in pairs(member.parameters) do
    if not is_same_value(name, offer.parameters[name], value) then return nil end
    count = count + 1
  end
  local any_of_its_type = offer.value:match "^[^/]+" .. "/*"
  if member.value == offer.value then return 2000 + count end
  if member.value == any_of_its_type then return 1000 + count end
  return member.value == "*/*" and count or nil
end

local function lies_in(language, range)
  return language == range or language:sub(1, #range + 1) == range .. "-"
end

local function language_hold(member, offer)
  if lies_in(offer.value, member.value) then return 1000 + #member.value end
  if lies_in(member.value, offer.value) then return 1 + #member.value / 1000 end
  return member.value == "*" and 0 or nil
end

local function name_hold(member, offer)
  if member.value == offer.value then return 1 end
  return member.value == "*" and 0 or nil
end

local ALIASES = { ["x-gzip"] = "gzip", ["x-compress"] = "compress" }

local function coding_name(name)
  name = name:lower()
  return ALIASES[name] or name
end
M.coding_name = coding_name

local function coding_hold(member, offer)
  local value = coding_name(member.value)
  return name_hold({ value = value }, { value = coding_name(offer.value) })
end

-- name           field              its members     how they hold an offer
local DIMENSIONS = {
  media_type     = { "Accept",          is_media_range, media_hold },
  language       = { "Accept-Language", is_language,    language_hold },
  charset        = { "Accept-Charset",  is_token,       name_hold },
  content_coding = { "Accept-Encoding", is_token,       coding_hold },
}

-- Weighing ----------------------------------------------------------------------------

-- The members that are well formed; nil: the client says nothing of the dimension.
local function members_of(request, name)
  local dimension = DIMENSIONS[name]
  local text = http.joined(request, dimension[1])
  if not text then return nil end
  local members = {}
  for _, part in ipairs((http.split(text, ",", true))) do
    local member = member_of(part)
    if member and dimension[2](member.value) then
      members[#members + 1] = member
    end
  end
  if not members[1] and name ~= "content_coding" then return nil end
  return members
end

--- What an offer weighs, in thousandths; 0: it is not acceptable.
---@param request spec.PlainRequest
---@param name "media_type"|"language"|"charset"|"content_coding"
---@param text string   the offer
---@return integer
function M.weight(request, name, text)
  local members = members_of(request, name)
  if not members then return 1000 end
  local offer = assert(member_of(text), "an offer is malformed")
  local best, weight = -1, nil
  for _, member in ipairs(members) do
    local hold = DIMENSIONS[name][3](member, offer)
    if hold and (hold > best or (hold == best and member.weight > weight)) then
      best, weight = hold, member.weight
    end
  end
  if not weight and name == "content_coding" and offer.value == "identity" then
    return LEAST -- nobody refused it
  end
  return weight or 0
end

--- The offer that the client likes best, of equals the first; nil: it accepts none.
---@param offers string[]
---@return string?
function M.choose(request, name, offers)
  local best, weight = nil, 0
  for _, offer in ipairs(offers) do
    local this = M.weight(request, name, offer)
    if this > weight then best, weight = offer, this end
  end
  return best
end

-- Content-Type and Content-Encoding of a request --------------------------------------

--- A media type and its parameters; nil: it is none.
function M.media_type(text)
  local member = member_of(text)
  if not member or not is_media_range(member.value) or member.value:find "%*" then
    return nil
  end
  return member
end

--- Whether a media type is one of a list, whose members may have stars, and parameters
--- that it then must have too.  Case does not matter.
---@param text string
---@param list string[]
function M.is_taken(text, list)
  local media = M.media_type(text)
  for _, taken in ipairs(media and list or {}) do
    if media_hold(assert(member_of(taken)), media) then return true end
  end
  return false
end

return M
