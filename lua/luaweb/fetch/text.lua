-- SPDX-License-Identifier: MIT
-- The content of an answer as UTF-8 text, by the rules of req:text.
local abi = require "luaweb.abi"
local ffi = require "ffi"
local utf8 = require "luaweb.utf8"

local C, host = abi.C, abi.host

local M = {}

local IS_UTF8 = { [""] = true, ["utf-8"] = true, utf8 = true, ["us-ascii"] = true }
local IS_LATIN1 = { ["iso-8859-1"] = true, latin1 = true }

local parts = ffi.new "struct luaweb_slice[3]"

local function charset_of(content_type)
  if not content_type then return "" end
  local is_type = C.luaweb_media_type(host, content_type, #content_type, parts,
    parts + 1, parts + 2)
  return is_type and ffi.string(parts[1].data, parts[1].size):lower() or ""
end

local function from_latin1(text)
  return (text:gsub("[\128-\255]", function(c)
    local octet = c:byte()
    return string.char(octet < 192 and 194 or 195, octet < 192 and octet or octet - 64)
  end))
end

--- Octets as UTF-8.
---@param octets string
---@param content_type string?   what says the charset
---@return string?
---@return string? message
function M.decode(octets, content_type)
  local charset = charset_of(content_type)
  if IS_LATIN1[charset] then return from_latin1(octets) end
  if not IS_UTF8[charset] then
    return nil, ("the charset %q is neither UTF-8 nor Latin-1"):format(charset)
  end
  local invalid_at = utf8.find_invalid(octets, 1, #octets)
  if invalid_at then
    return nil, ("the content is not UTF-8 at octet %d"):format(invalid_at)
  end
  return octets
end

return M
