-- SPDX-License-Identifier: MIT
-- Who holds an address on which we can't listen, as far as Linux shows it in /proc.
-- For one message at start: it reads files and runs `find`, so never while serving.
local ffi = require "ffi"

local M = {}

local WILDCARD = "^0+$"
local TABLES = { "/proc/net/tcp", "/proc/net/tcp6" }

-- The lines of a file; none when it can't be read.
local function lines_of(path)
  local file = io.open(path)
  if not file then return function() end end
  return file:lines()
end

-- 127.0.0.1 as /proc/net/tcp writes it: 0100007F where the lowest octet comes first.
local function hex_of(address)
  local octets = { address:match "^(%d+)%.(%d+)%.(%d+)%.(%d+)$" }
  if #octets == 0 then return nil end
  local form = "%02X%02X%02X%02X"
  if ffi.abi "be" then return form:format(unpack(octets)) end
  return form:format(octets[4], octets[3], octets[2], octets[1])
end

-- Whether a socket at `theirs` (hexadecimal) keeps us from listening at `ours`; that is
-- nil where it is no IPv4 address: then the port alone decides.
local function conflicts(theirs, ours)
  return not ours or theirs:find(WILDCARD) or ours:find(WILDCARD)
    or theirs:sub(-8) == ours
end

-- The inode of the socket that listens at a TCP address.
local function tcp_inode(address, port)
  local ours = hex_of(address)
  for _, path in ipairs(TABLES) do
    for line in lines_of(path) do
      local theirs, at, inode =
        line:match "^%s*%d+: (%x+):(%x+) %S+ 0A %S+ %S+ %S+%s+%d+%s+%d+ (%d+)"
      if theirs and tonumber(at, 16) == port and conflicts(theirs, ours) then
        return inode
      end
    end
  end
end

-- The inode of the socket that listens at a path.
local function unix_inode(path)
  for line in lines_of "/proc/net/unix" do
    local inode, at = line:match "^%x+: %x+ %x+ 00010000 %x+ %x+ +(%d+) (.*)$"
    if at == path then return inode end
  end
end

--- The process that listens at an address.
---@param address string   a host, or the path of a unix socket
---@param port integer?    nil: a unix socket
---@return string? who     e.g. "nginx (pid 4711)"; nil: nobody does, or we may not know
function M.find(address, port)
  local inode = port and tcp_inode(address, port) or not port and unix_inode(address)
  if not inode then return nil end
  local found = io.popen(([[find /proc/[0-9]*/fd -lname 'socket:\[%s\]' -print -quit]]
    .. " 2>/dev/null"):format(inode))
  local pid = found:read "*a":match "^/proc/(%d+)/"
  found:close()
  local name = pid and lines_of("/proc/" .. pid .. "/comm")()
  return name and ("%s (pid %s)"):format(name, pid)
end

return M
