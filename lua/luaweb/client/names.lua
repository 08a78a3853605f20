-- SPDX-License-Identifier: MIT
-- Host names: which addresses they have.
local abi = require "luaweb.abi"

local C, host = abi.C, abi.host

local M = {}

--- The addresses of a host.
---@param name string      a host name, or a numeric address
---@param _timeout number? seconds
---@return string[]? addresses   numeric, the one to be preferred first
---@return string? message
function M.resolve(name, _timeout)
  if name == "localhost" then return { "127.0.0.1" } end
  if C.luaweb_address_version(host, name) ~= 0 then return { name } end
  return nil, "can't look up names yet"
end

return M
