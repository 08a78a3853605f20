-- SPDX-License-Identifier: MIT
-- Entity tags that an app makes of what its representations depend on.  Any text will
-- do: its digest is the tag, so that nothing of it shows and every octet is allowed.
-- RFC 9110 §8.8.3.
local abi = require "luaweb.abi"
local ffi = require "ffi"

local C, host = abi.C, abi.host
local M = {}

local digest = ffi.new "char[32]"

local function digest_of(value, what)
  if type(value) == "number" then value = ("%.17g"):format(value) end
  if type(value) ~= "string" then
    error(what .. " wants a string or a number", 3)
  end
  C.luaweb_digest(host, value, #value, digest)
  return ffi.string(digest)
end

--- A strong tag: the octets of the representation follow from the value alone.
---@param value string|number
---@return string
function M.etag(value)
  return '"' .. digest_of(value, "web.etag") .. '"'
end

--- A weak tag: representations of one value mean the same, but may differ in octets.
---@param value string|number
---@return string
function M.weak_etag(value)
  return 'W/"' .. digest_of(value, "web.weak_etag") .. '"'
end

return M
