-- SPDX-License-Identifier: MIT
-- The Lua side of the border to C (core/base/abi.h): declares it, and checks that both
-- sides mean the same structs.  boot.lua opens it before any other module loads.
local ffi = require "ffi"

local M = { C = ffi.C }

local sizes = { "slice", "field", "fields", "param", "params", "request",
  "event", "row" }

local pointer -- to a request: the type, once it is declared

--- Declares the border for this host.
---@param host lightuserdata  the host that owns this Lua state
---@param border string       the text of core/base/abi*.h without preprocessor lines
function M.open(host, border)
  ffi.cdef(border)
  pointer = ffi.typeof "struct luaweb_request *"
  M.host = ffi.cast("struct luaweb_host *", host)
  local seen = ffi.new "struct luaweb_sizes"
  ffi.C.luaweb_sizes(M.host, seen)
  for _, name in ipairs(sizes) do
    local ours = ffi.sizeof("struct luaweb_" .. name)
    if seen[name] ~= ours then
      error(("struct luaweb_%s has %d octets in C and %d in Lua"):format(name,
        seen[name], ours))
    end
  end
end

--- The struct of a request at its address, which is how requests are named in Lua: an
--- address is a plain number, where a pointer would be one object more to collect.
---@param address integer
---@return ffi.cdata* r   struct luaweb_request *
function M.request_at(address)
  local r = ffi.cast(pointer, address)
  return r
end

return M
