-- SPDX-License-Identifier: MIT
-- Negotiation (core/http/accept.h) from Lua: a header's text and a list of offers in,
-- the offer out.  A header is nil (no such field), a string, or a list of lines.
local ffi = require "ffi"
local pure = require "spec.support.pure"

local C = pure.load "http/accept"

local M = {
  MEDIA = C.LW_ACCEPT_MEDIA_TYPE, LANGUAGE = C.LW_ACCEPT_LANGUAGE,
  CHARSET = C.LW_ACCEPT_CHARSET, CODING = C.LW_ACCEPT_CODING,
}

--- The field of each dimension.
M.FIELDS = {
  [M.MEDIA] = "Accept", [M.LANGUAGE] = "Accept-Language",
  [M.CHARSET] = "Accept-Charset", [M.CODING] = "Accept-Encoding",
}

-- Slices point into these strings, which therefore stay until the next call.
local texts = {}

local function slice(text)
  texts[#texts + 1] = text
  return ffi.new("struct luaweb_slice", text, #text)
end

--- Fields from pairs of name and value.
local function fields_of(lines)
  local list = ffi.new("struct luaweb_field[?]", #lines + 1)
  for i, line in ipairs(lines) do
    list[i - 1].name, list[i - 1].value = slice(line[1]), slice(line[2])
  end
  texts[#texts + 1] = list
  return ffi.new("struct luaweb_fields", list, #lines)
end

local function slices_of(offers)
  local list = ffi.new("struct luaweb_slice[?]", #offers + 1)
  for i, offer in ipairs(offers) do list[i - 1] = slice(offer) end
  return list
end

--- The request's fields, others around those of the dimension.
local function headers_with(dimension, header)
  texts = {}
  local name = M.FIELDS[dimension]
  local lines = { { "Host", "*" }, { "X-" .. name, "*/*, *" } }
  for i, value in ipairs(type(header) == "table" and header or { header }) do
    lines[#lines + 1] = { i % 2 == 1 and name or name:upper(), value }
  end
  lines[#lines + 1] = { "Accept-Ranges", "*, */*" }
  return fields_of(lines)
end

--- The offer that is chosen, or nil.
function M.choose(dimension, header, offers)
  local headers = headers_with(dimension, header)
  local index = C.lw_accept_choose(dimension, headers, slices_of(offers), #offers)
  assert(index >= -1 and index < #offers)
  return offers[index + 1]
end

--- The coding that is chosen, or nil: none.
function M.choose_coding(header, offers)
  local headers = headers_with(M.CODING, header)
  local index = C.lw_accept_choose_coding(headers, slices_of(offers), #offers)
  assert(index >= -1 and index < #offers)
  return offers[index + 1]
end

--- What an offer weighs, 0..1000.
function M.quality(dimension, header, offer)
  return C.lw_accept_quality(dimension, headers_with(dimension, header), slice(offer))
end

function M.takes_identity(header)
  return C.lw_accept_identity(headers_with(M.CODING, header))
end

return M
