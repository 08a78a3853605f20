-- SPDX-License-Identifier: MIT
-- The fields of a request and its response as they may be shown: secrets are not, and
-- each field of the response with what has put it there.
local places = require "luaweb.explain.places"

local M = {}

local LONGEST = 60 -- octets of a value within a sentence
local HIDDEN = "(not shown)"

-- Credentials, and what stands for them.
local is_secret = { ["authorization"] = true, ["proxy-authorization"] = true,
  ["cookie"] = true, ["authentication-info"] = true,
  ["proxy-authentication-info"] = true }

-- "Basic (not shown)": the scheme is no secret.
local function hidden(name, value)
  if name == "set-cookie" then
    return (value:gsub("^([^=;]*=)[^;]*", function(key) return key .. HIDDEN end))
  end
  local scheme = name:find "authorization$" and value:match "^([%w%-]+) "
  return scheme and scheme .. " " .. HIDDEN or HIDDEN
end

--- A field's value as it may be shown.
---@param name string
---@param value string
---@return string
function M.shown(name, value)
  name = name:lower()
  if is_secret[name] or name == "set-cookie" then return hidden(name, value) end
  return value
end

--- A request's value of a field, for a sentence; nil: it has none.
---@param headers [string, string][]?
---@param name string
---@return string?
function M.value(headers, name)
  local values = {}
  for _, pair in ipairs(headers or {}) do
    if pair[1]:lower() == name:lower() then
      values[#values + 1] = M.shown(name, pair[2])
    end
  end
  if not values[1] then return nil end
  local text = table.concat(values, ", ")
  return #text <= LONGEST and text or text:sub(1, LONGEST - 3) .. "..."
end

-- Where they come from ----------------------------------------------------------------

-- Of a field: the property that it is from.
local sources = {
  ["etag"] = "entity_tag",
  ["last-modified"] = "last_modified",
  ["cache-control"] = "cache_control",
  ["expires"] = "expires",
  ["location"] = "location",
  ["retry-after"] = "retry_after",
  ["www-authenticate"] = "challenge",
  ["accept-ranges"] = "accept_ranges",
  ["accept-patch"] = "patch_media_types",
  ["accept-post"] = "acceptable_media_types",
  ["accept"] = "acceptable_media_types",
  ["accept-encoding"] = "acceptable_content_codings",
  ["content-language"] = "available_languages",
  ["content-encoding"] = "available_content_codings",
  ["access-control-allow-origin"] = "cors_origins",
  ["access-control-allow-credentials"] = "cors_credentials",
  ["access-control-allow-methods"] = "cors_methods",
  ["access-control-allow-headers"] = "cors_headers",
  ["access-control-expose-headers"] = "cors_expose",
  ["access-control-max-age"] = "cors_max_age",
  ["access-control-allow-private-network"] = "cors_private_network",
}

-- Of a member of Vary: the property because of which it is there.
local varies_by = {
  ["accept"] = "available_media_types",
  ["accept-language"] = "available_languages",
  ["accept-charset"] = "available_charsets",
  ["accept-encoding"] = "available_content_codings",
  ["origin"] = "cors_origins",
  ["access-control-request-headers"] = "cors_headers",
}

-- What no key of a machine decides.
local always = {
  ["allow"] = "the methods of the resource",
  ["content-range"] = "range_fits",
  ["content-location"] = "what the client would get here now",
  ["access-control-allow-methods"] = "the methods of the resource",
  ["content-length"] = "the content",
  ["transfer-encoding"] = "content of unknown length",
  ["connection"] = "the connection",
  ["date"] = "the clock",
}

-- The key because of which a response varies by a field.
local function key_of_member(config, member)
  local key = varies_by[member:lower()]
  if key and config[key] ~= nil then return key end
  return config.vary ~= nil and "vary" or nil
end

-- Each member by its property.  The explanation of a refusal is negotiated too.
local function vary_source(asked, value)
  local config, found = asked.machine and asked.machine.config or {}, {}
  for member in value:gmatch "[^,%s]+" do
    local key = key_of_member(config, member)
    if key and not found[key] then
      found[key], found[#found + 1] = true, places.who(asked.machine, key)
    end
  end
  if found[1] then return table.concat(found, ", ") end
  if value:lower() == "origin" then return "the component cors" end
  return asked.status >= 300 and "luaweb's explanation" or "the app"
end

local function type_source(asked)
  if asked.speaker then return asked.speaker end
  return asked.status >= 300 and "luaweb's explanation" or "the app"
end

--- What has put a field into the response, in a few words.
---@param asked luaweb.Asked
---@param name string
---@param value string
---@return string
function M.source(asked, name, value)
  name = name:lower()
  if name == "content-type" then return type_source(asked) end
  if name == "vary" then return vary_source(asked, value) end
  local key = sources[name]
  if key and asked.machine and asked.machine.config[key] ~= nil then
    return places.who(asked.machine, key)
  end
  return always[name] or "the app"
end

return M
