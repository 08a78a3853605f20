-- SPDX-License-Identifier: MIT
-- What speaks at a status, as an app declares it: a function of the request, a
-- constant, or, for 200, one of these for each media type.  It sends nothing.
-- RFC 9110 §3.2, §12.
local json = require "luaweb.json"
local response = require "luaweb.response"
local values = require "luaweb.machine.values"

local Response = response.Response

local M = {}

---@class luaweb.Offer
---@field media_type string
---@field value any          a function, or a constant

local WANTS = "wants a function of the request, or a constant: a text, a response, "
  .. "or a table as JSON"

local function is_type(key)
  return type(key) == "string" and key:find("/", 1, true) ~= nil
end

-- { ["text/html"] = fn, ... }: alphabetical, as a table has no order.
local function offers_of_map(map)
  local offers = {}
  for media_type, value in pairs(map) do
    offers[#offers + 1] = { media_type = media_type, value = value }
  end
  table.sort(offers, function(a, b)
    return tostring(a.media_type) < tostring(b.media_type)
  end)
  return offers
end

-- { { "text/html", fn }, ... }: in the server's order of preference.
local function offers_of_list(list)
  local offers = {}
  for i, pair in ipairs(list) do
    local is_pair = type(pair) == "table" and #pair == 2
    offers[i] = { media_type = is_pair and pair[1] or i, value = is_pair and pair[2] }
  end
  return offers
end

--- The media types that a handle_ok is for, and what speaks for each; those of a map
--- come in alphabetical order.
---@param value any
---@return luaweb.Offer[]?   nil: it speaks for all of them, or is a constant
function M.offers(value)
  if type(value) ~= "table" or getmetatable(value) ~= nil then return nil end
  local first = value[1]
  if type(first) == "table" and is_type(first[1]) then return offers_of_list(value) end
  for key in pairs(value) do
    if is_type(key) then return offers_of_map(value) end
  end
end

--- A constant as it goes over the wire.
---@param value any
---@return string? text
---@return string? media_type   nil: that of the answer
function M.constant(value)
  if type(value) == "string" then return value end
  if type(value) ~= "table" then return nil end
  if getmetatable(value) ~= Response then return json.encode(value), response.JSON end
  local is_plain = value.content and not (value.code or value.fields or value.stream)
  if is_plain then return value.content, value.media_type end
end

--- A function of the request that gives this.
---@param value any
---@return fun(req: luaweb.Request): any
function M.speaker(value)
  if type(value) == "function" then return value end
  local constant = value
  if type(value) == "table" and getmetatable(value) ~= Response then
    constant = response.bytes(response.JSON, M.constant(value))
  end
  return function() return constant end
end

local function fault_of_one(value)
  if type(value) == "function" or type(value) == "string" then return nil end
  if type(value) ~= "table" then return WANTS end
  if getmetatable(value) == Response then return nil end
  local ok, message = pcall(json.encode, value)
  if not ok then return "is no JSON: " .. message end
end

local function fault_of_offers(offers)
  local seen = {}
  for _, offer in ipairs(offers) do
    local name = tostring(offer.media_type)
    if not values.media_types { offer.media_type } then
      return name .. " is not a media type, as others there are"
    end
    if seen[name] then return name .. " is there twice" end
    seen[name] = true
    local fault = fault_of_one(offer.value)
    if fault then return ("%s: %s"):format(name, fault) end
  end
end

--- Tells what is wrong with a handler.
---@param value any
---@param key luaweb.Key
---@return string? fault
function M.fault(value, key)
  if key.number ~= 200 or type(value) ~= "table" then return fault_of_one(value) end
  if next(value) == nil and getmetatable(value) == nil then
    return "is an empty table: what media types are there?"
  end
  local offers = M.offers(value)
  if offers then return fault_of_offers(offers) end
  return fault_of_one(value)
end

return M
