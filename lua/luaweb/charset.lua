-- SPDX-License-Identifier: MIT
-- Content as UTF-8 text: what Content-Type says about it, and the few charsets that are
-- read.  RFC 9110 §8.3.
local abi = require "luaweb.abi"
local ffi = require "ffi"
local utf8 = require "luaweb.utf8"

local C, host = abi.C, abi.host

local M = {}

-- Content whose charset is not said is UTF-8.
local IS_UTF8 = { [""] = true, ["utf-8"] = true, utf8 = true, ["us-ascii"] = true }
local IS_LATIN1 = { ["iso-8859-1"] = true, latin1 = true }

local parts = ffi.new "struct luaweb_slice[3]"

--- What a Content-Type says.
---@param value string?
---@return string? media_type   in lower case; "": malformed, nil: there is none
---@return string charset       in lower case; "" where it says none
function M.content_type(value)
  if not value then return nil, "" end
  if not C.luaweb_media_type(host, value, #value, parts, parts + 1, parts + 2) then
    return "", ""
  end
  return ffi.string(parts[0].data, parts[0].size),
    ffi.string(parts[1].data, parts[1].size):lower()
end

--- Whether M.to_utf8 knows it.
---@param charset string   in lower case; "": none is said
---@return boolean
function M.is_known(charset)
  return IS_UTF8[charset] or IS_LATIN1[charset] or false
end

local function from_latin1(text)
  return (text:gsub("[\128-\255]", function(c)
    local octet = c:byte()
    return string.char(octet < 192 and 194 or 195, octet < 192 and octet or octet - 64)
  end))
end

--- Octets as UTF-8.
---@param octets string
---@param charset string   a known one
---@return string? text
---@return integer? invalid_at   the octet where it is not UTF-8
function M.to_utf8(octets, charset)
  if IS_LATIN1[charset] then return from_latin1(octets) end
  local invalid_at = utf8.find_invalid(octets, 1, #octets)
  if invalid_at then return nil, invalid_at end
  return octets
end

return M
