-- SPDX-License-Identifier: MIT
-- Base64, as Basic credentials want it.  RFC 4648 §4.
local M = {}

local ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"

local function digit(number, shift)
  local index = math.floor(number / 2 ^ shift) % 64 + 1
  return ALPHABET:sub(index, index)
end

--- Encodes octets.
---@param octets string
---@return string
function M.encode(octets)
  local out = {}
  for at = 1, #octets, 3 do
    local a, b, c = octets:byte(at, at + 2)
    local number = a * 65536 + (b or 0) * 256 + (c or 0)
    out[#out + 1] = digit(number, 18) .. digit(number, 12)
      .. (b and digit(number, 6) or "=") .. (c and digit(number, 0) or "=")
  end
  return table.concat(out)
end

return M
