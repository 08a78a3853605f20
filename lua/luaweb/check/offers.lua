-- SPDX-License-Identifier: MIT
-- What a resource that is negotiated must obey: Vary names what the choice depends on,
-- and nothing acceptable is 406 where the machine is strict (RFC 9110 §12.5, §15.5.7).
local representation = require "luaweb.machine.representation"

local M = {}

---@class luaweb.Dimension
---@field name string        as `strict` says it
---@field field string       of the request
---@field chosen string      of the response: tells what was chosen
---@field key string         what there is to choose from
---@field row string
---@field others string[]    values to try beside the offers
---@field nothing string     what no offer goes with

local dimensions = {
  { name = "media_type", field = "Accept", chosen = "Content-Type",
    key = "available_media_types", row = "media_type_offered",
    others = { "text/html", "application/json", "text/plain" },
    nothing = "application/x-luaweb-check" },
  { name = "language", field = "Accept-Language", chosen = "Content-Language",
    key = "available_languages", row = "language_offered", others = { "en", "de" },
    nothing = "x-luaweb" },
  { name = "charset", field = "Accept-Charset", chosen = "Content-Type",
    key = "available_charsets", row = "charset_offered", others = { "iso-8859-1" },
    nothing = "x-luaweb-check" },
  { name = "content_coding", field = "Accept-Encoding", chosen = "Content-Encoding",
    key = "available_content_codings", row = "coding_offered", others = { "gzip" },
    nothing = "x-luaweb-check, identity;q=0" },
}

local function listed(case, dimension)
  local value = case.machine.config[dimension.key]
  return type(value) == "table" and value or {}
end

-- A value with which something else is chosen, or nil.
local function find_other(case, get, dimension)
  local usual = get.answer:field(dimension.chosen)
  for _, values in ipairs { listed(case, dimension), dimension.others } do
    for _, value in ipairs(values) do
      local asked = case:ask("GET", { { dimension.field, value } })
      local is_other = asked and asked.status == 200
        and asked.answer:field(dimension.chosen) ~= usual
      if is_other then return value end
    end
  end
end

local function has_member(list, name)
  for member in (list or ""):lower():gmatch "[^,%s]+" do
    if member == "*" or member == name:lower() then return true end
  end
  return false
end

local function check_vary(case, get, dimension)
  local value = find_other(case, get, dimension)
  if not value or has_member(get.answer:field "Vary", dimension.field) then return end
  case:fault(("with %s: %s it has another %s, but its Vary does not name %s "
    .. "(RFC 9110 §12.5.5)"):format(dimension.field, value, dimension.chosen,
    dimension.field), "handle_ok")
end

-- Whether nothing acceptable has to be 406.
local function is_strict(case, dimension)
  local config = case.machine.config
  local strict = config.strict or { "media_type" }
  if type(strict) == "function" or config[dimension.row] ~= nil then return false end
  for _, name in ipairs(strict) do
    if name == dimension.name then return listed(case, dimension)[1] ~= nil end
  end
  return false
end

local function check_nothing(case, dimension)
  if not is_strict(case, dimension) then return end
  local asked = case:ask("GET", { { dimension.field, dimension.nothing } })
  if asked and asked.status ~= 406 then
    case:fault(("%s: %s gets %d, not 406 (RFC 9110 §15.5.7)"):format(dimension.field,
      dimension.nothing, asked.status), dimension.key)
  end
end

local function is_json(media_type)
  local plain = (media_type or ""):lower():match "^[^;%s]*"
  return plain == "application/json" or plain:find "%+json$" ~= nil
end

-- A function for a media type that returns a table gives JSON all the same.
local function check_types(case)
  local offers = representation.offers(case.machine.config.handle_ok) or {}
  for _, offer in ipairs(offers) do
    local asked = not is_json(offer.media_type)
      and case:ask("GET", { { "Accept", offer.media_type } })
    if asked and asked.status == 200 and is_json(asked.answer:field "Content-Type") then
      case:warn(("what handle_ok has for %s answers %s: a table is JSON"):format(
        offer.media_type, asked.answer:field "Content-Type"), "handle_ok")
    end
  end
end

--- Checks what depends on the Accept fields.
---@param case luaweb.CheckCase
---@param get luaweb.CheckAnswer   a GET without them
function M.check(case, get)
  for _, dimension in ipairs(dimensions) do
    check_vary(case, get, dimension)
    check_nothing(case, dimension)
  end
  check_types(case)
end

return M
