-- SPDX-License-Identifier: MIT
-- Headers of the PROXY protocol, version 2, as proxies write them; also wrong ones.
local M = {}

local SIGNATURE = "\r\n\r\n\0\r\nQUIT\n"

M.V4 = "\192\0\2\1" .. "\198\51\100\1" .. "\17\92" .. "\1\187" -- 192.0.2.1
M.V6 = "\32\1\13\184" .. ("\0"):rep(11) .. "\9" .. "\32\1\13\184" .. ("\0"):rep(11)
  .. "\1" .. "\17\92" .. "\1\187" -- 2001:db8::9
M.UNIX = "/run/client" .. ("\0"):rep(97) .. "/run/server" .. ("\0"):rep(97)

--- A header.  `first`: version and command, e.g. 0x21; `family`: with transport, e.g.
--- 0x11; `block`: addresses and what follows; `size`: that it says, else that of block.
---@param first integer
---@param family integer
---@param block string
---@param size integer?
---@return string
function M.version_2(first, family, block, size)
  size = size or #block
  return SIGNATURE .. string.char(first, family, math.floor(size / 256), size % 256)
    .. block
end

--- Something that is added behind the addresses.
---@param kind integer
---@param value string
---@return string
function M.added(kind, value)
  return string.char(kind, math.floor(#value / 256), #value % 256) .. value
end

return M
