-- SPDX-License-Identifier: MIT
-- A service manager as a spec plays it: sockets that it has opened for a server, and
-- the socket on which the server tells how it is.
local ffi = require "ffi"

ffi.cdef [[
struct spec_un { uint16_t family; char path[108]; };
struct spec_in { uint16_t family; uint16_t port; uint32_t address; char pad[8]; };
int socket(int domain, int type, int protocol);
int bind(int fd, const void *address, unsigned size);
int listen(int fd, int backlog);
int getsockname(int fd, void *address, unsigned *size);
long recv(int fd, void *data, size_t size, int flags);
int close(int fd);
int unlink(const char *path);
]]

local C = ffi.C
local UNIX, INET = 1, 2
local STREAM, DGRAM = 1, 2
local CLOEXEC, DONTWAIT = 0x80000, 0x40

local M = {}
local open = {} -- descriptors to close in `clean`

local function keep(fd)
  assert(fd >= 0, "socket")
  open[#open + 1] = fd
  return fd
end

local function bind(fd, address, size)
  assert(C.bind(fd, address, size) == 0, "bind")
end

-- "/path", or "@name" in the abstract namespace.
local function un(path)
  local address = ffi.new("struct spec_un", UNIX)
  ffi.copy(address.path, path, #path)
  if path:sub(1, 1) == "@" then address.path[0] = 0 end
  return address, 2 + #path
end

-- Sockets -----------------------------------------------------------------------------

--- A TCP socket of 127.0.0.1, which a child inherits.
---@param is_listening boolean
---@return integer fd
---@return integer port
function M.tcp(is_listening)
  local fd = keep(C.socket(INET, STREAM, 0))
  local address = ffi.new("struct spec_in", INET, 0, 0x0100007f)
  local size = ffi.new("unsigned[1]", ffi.sizeof(address))
  bind(fd, address, ffi.sizeof(address))
  if is_listening then assert(C.listen(fd, 16) == 0) end
  C.getsockname(fd, address, size)
  local port = address.port
  return fd, bit.bor(bit.lshift(bit.band(port, 255), 8), bit.rshift(port, 8))
end

--- A unix socket, which a child inherits.
---@param path string
---@param is_datagrams boolean?
---@return integer fd
function M.unix(path, is_datagrams)
  local fd = keep(C.socket(UNIX, is_datagrams and DGRAM or STREAM, 0))
  bind(fd, un(path))
  if not is_datagrams then assert(C.listen(fd, 16) == 0) end
  return fd
end

--- What a shell runs so that these are passed to who it becomes: as 3, 4, ...
---@param fds integer[]
---@param names string?
---@return string
function M.pass(fds, names)
  local lines = { ("export LISTEN_PID=$$ LISTEN_FDS=%d; "):format(#fds) }
  if names then lines[1] = lines[1] .. "export LISTEN_FDNAMES=" .. names .. "; " end
  for i, fd in ipairs(fds) do
    -- By way of a high number: the shell may use low ones itself.
    lines[i + 1] = ("exec %d<&%d; "):format(100 + i, fd)
  end
  for i in ipairs(fds) do
    lines[#lines + 1] = ("exec %d<&%d %d<&-; "):format(2 + i, 100 + i, 100 + i)
  end
  return table.concat(lines)
end

-- Being told ------------------------------------------------------------------------

---@class spec.Notify
---@field address string  for NOTIFY_SOCKET
---@field fd integer
---@field private list table?  messages that `expect` has not come to
local Notify = {}
Notify.__index = Notify

--- Listens for what a server tells.
---@param address string  "/path" or "@name"
---@return spec.Notify
function M.notify(address)
  local fd = keep(C.socket(UNIX, DGRAM + CLOEXEC, 0))
  bind(fd, un(address))
  return setmetatable({ address = address, fd = fd }, Notify)
end

--- All messages that have come, each as a table of its lines.
---@return table<string, string>[]
function Notify:take()
  local data, list = ffi.new "char[2048]", {}
  local size = C.recv(self.fd, data, 2048, DONTWAIT)
  while size >= 0 do
    local lines = {}
    for name, value in ffi.string(data, size):gmatch "([%w_]+)=([^\n]*)" do
      lines[name] = value
    end
    list[#list + 1] = lines
    size = C.recv(self.fd, data, 2048, DONTWAIT)
  end
  return list
end

--- Waits for a message that has this line; those before it are forgotten.
---@param name string   e.g. "READY"
---@return table<string, string>
function Notify:expect(name)
  local found
  require "spec.support.eventually"("told " .. name, function()
    if not self.list or #self.list == 0 then self.list = self:take() end
    while not found and #self.list > 0 do
      local lines = table.remove(self.list, 1)
      if lines[name] then found = lines end
    end
    return found
  end)
  return found
end

--- Closes what was opened; belongs into after_each.
function M.clean()
  for _, fd in ipairs(open) do C.close(fd) end
  open = {}
end

return M
