-- SPDX-License-Identifier: MIT
-- Reads what proxies say of a client through core/http/forwarded.h.  The trusted ones
-- are 10.0.0.0/8 and fd00::/8.
local ffi = require "ffi"
local pure = require "spec.support.pure"

pure.load "base/peer"
pure.load "base/arena"
local C = pure.load "http/forwarded"

local M = {}

local TRUSTED = { "10.0.0.0/8", "fd00::/8" }

local trusted = ffi.new "struct lw_networks[1]"
for _, text in ipairs(TRUSTED) do
  assert(C.lw_networks_add(trusted, ffi.new("struct luaweb_slice", text, #text)))
end

local function said(slice)
  return slice.size > 0 and pure.string(slice) or nil
end

---@class spec.Said
---@field peer string?
---@field scheme string?
---@field host string?

--- Reads fields { { name, value }, ... } in this order.
---@param fields string[][]
---@return spec.Said? found
---@return string? why      nothing is to be believed
---@return integer result   0, -1 or 400
function M.read(fields)
  local list = ffi.new("struct luaweb_field[?]", math.max(#fields, 1))
  for i, field in ipairs(fields) do
    local name, value = unpack(field)
    list[i - 1].name = ffi.new("struct luaweb_slice", name, #name)
    list[i - 1].value = ffi.new("struct luaweb_slice", value, #value)
  end
  local headers = ffi.new("struct luaweb_fields", list, #fields)
  local arena = ffi.new "struct lw_arena[1]"
  local found, why = ffi.new "struct lw_forwarded[1]", ffi.new "const char *[1]"
  C.lw_arena_construct(arena)
  local result = C.lw_forwarded_read(headers, trusted, arena, found, why)
  local it = { peer = said(found[0].peer), scheme = said(found[0].scheme),
    host = said(found[0].host) }
  C.lw_arena_destruct(arena)
  if result == 0 then return it, nil, 0 end
  assert(next(it) == nil, "something was taken")
  return nil, ffi.string(why[0]), result
end

--- The same for lines of one field.
---@param name string
---@param ... string
function M.lines(name, ...)
  local fields = {}
  for i, value in ipairs { ... } do fields[i] = { name, value } end
  return M.read(fields)
end

return M
