-- SPDX-License-Identifier: MIT
-- What the specs of the client's network side share.
local ffi = require "ffi"
local lfs = require "lfs"

local M = {}

--- The message that a function raises, with its place.
---@param fn function
---@return string
function M.error_of(fn, ...)
  local ok, message = pcall(fn, ...)
  assert(not ok, "no error was raised")
  return tostring(message)
end

--- How many descriptors this process has open.
---@return integer
function M.descriptors()
  local count = 0
  for _ in lfs.dir "/proc/self/fd" do count = count + 1 end
  return count
end

--- Receives until the connection ends.
---@param conn luaweb.Socket
---@return string octets
---@return string ending   "closed", "reset" or "timeout"
function M.receive_all(conn)
  local parts = {}
  while true do
    local octets, ending = conn:receive(10)
    if not octets then return table.concat(parts), ending end
    parts[#parts + 1] = octets
  end
end

--- Receives so many octets.
---@param conn luaweb.Socket
---@param size integer
---@return string
function M.receive_octets(conn, size)
  local parts, count = {}, 0
  while count < size do
    local octets, ending = conn:receive(10)
    if not octets then error(("%s after %d octets"):format(ending, count), 2) end
    parts[#parts + 1], count = octets, count + #octets
  end
  return table.concat(parts)
end

--- Octets without a pattern that a mistake could follow, the same each time.
---@param size integer
---@return string
function M.octets(size)
  local out, state = ffi.new("uint8_t[?]", size), 1
  for i = 0, size - 1 do
    state = (state * 1103515245 + 12345) % 2147483648
    out[i] = state / 65536 % 256
  end
  return ffi.string(out, size)
end

return M
