-- SPDX-License-Identifier: MIT
-- Decodes content through core/http/decode.h, for specs.
local ffi = require "ffi"
local pure = require "spec.support.pure"

local C = pure.load "http/decode"

local M = {}

local function slice(text, size)
  return ffi.new("struct luaweb_slice", { text, size or #text })
end

--- A decoder, or nil.
function M.decoder_for(codings, limit, ratio)
  local limits = ffi.new("struct lw_decoder_limits", limit or 1e9, ratio or 0)
  local decoder = C.lw_decoder_new(slice(codings), limits)
  return decoder ~= nil and ffi.gc(decoder, C.lw_decoder_free) or nil
end

--- Decodes octets that come `step` at a time: the content; or nil, the status, why, and
--- how much content there was before.
function M.decode(codings, octets, step, limit, ratio)
  local decoder = assert(M.decoder_for(codings, limit, ratio))
  local piece, why = ffi.new "struct luaweb_slice[1]", ffi.new "const char *[1]"
  local start, come = ffi.cast("const char *", octets), 0
  local rest, parts, size = ffi.new "struct luaweb_slice[1]", {}, 0
  rest[0] = slice("", 0)
  while true do
    local status = C.lw_decoder_next(decoder, rest, come == #octets, piece, why)
    if status == 0 then
      assert(piece[0].size > 0)
      parts[#parts + 1] = pure.string(piece[0])
      size = size + tonumber(piece[0].size)
    elseif status == 1 then
      assert(rest[0].size == 0 and come < #octets)
      local more = math.min(step or #octets, #octets - come)
      rest[0].data, rest[0].size = start + come, more
      come = come + more
    elseif status == 2 then
      return table.concat(parts)
    else
      return nil, status, ffi.string(why[0]), size
    end
  end
end

--- Why octets are refused.
function M.refusal(codings, octets, step)
  local content, status, why = M.decode(codings, octets, step)
  if content or status ~= 400 then error(("not refused: %q"):format(octets)) end
  return why
end

return M
