-- SPDX-License-Identifier: MIT
-- Sockets of libc on 127.0.0.1, which listen and never block: what the faulty servers
-- of specs stand on.  The names have a prefix, since other specs declare some, too.
local ffi = require "ffi"

ffi.cdef [[
struct spec_address { uint16_t family, port; uint8_t host[4]; uint8_t zero[8]; };
struct spec_linger { int on, seconds; };
int spec_socket(int family, int type, int protocol) __asm__("socket");
int spec_bind(int fd, const void *address, uint32_t size) __asm__("bind");
int spec_listen(int fd, int backlog) __asm__("listen");
int spec_accept4(int fd, void *address, void *size, int flags) __asm__("accept4");
int spec_connect(int fd, const void *address, uint32_t size) __asm__("connect");
int spec_getsockname(int fd, void *address, uint32_t *size) __asm__("getsockname");
int spec_setsockopt(int fd, int level, int name, const void *value, uint32_t size)
  __asm__("setsockopt");
int spec_shutdown(int fd, int how) __asm__("shutdown");
intptr_t spec_recv(int fd, void *data, size_t size, int flags) __asm__("recv");
intptr_t spec_send(int fd, const void *data, size_t size, int flags) __asm__("send");
int spec_close(int fd) __asm__("close");
]]

local C = ffi.C
local INET, STREAM, NONBLOCK_CLOEXEC = 2, 1, 0x80800
local SOL_SOCKET, SO_LINGER, SO_RCVBUF = 1, 13, 8
local NOSIGNAL, EAGAIN = 0x4000, 11

local room = ffi.new "char[65536]"

local M = {}

local function loopback(port)
  local address = ffi.new("struct spec_address", INET)
  address.host[0], address.host[3] = 127, 1
  address.port = bit.rshift(bit.bswap(port), 16)
  return address
end

local function new_socket()
  local fd = C.spec_socket(INET, STREAM + NONBLOCK_CLOEXEC, 0)
  assert(fd >= 0, "no socket")
  return fd
end

--- Listens on a port that the kernel chooses.
---@param backlog integer   connections that may wait to be accepted, about
---@return integer fd
---@return integer port
function M.listen(backlog)
  local fd = new_socket()
  local address, size = loopback(0), ffi.new("uint32_t[1]", 16)
  -- Small, so that a client that sends too much soon has to wait.
  C.spec_setsockopt(fd, SOL_SOCKET, SO_RCVBUF, ffi.new("int[1]", 16384), 4)
  assert(C.spec_bind(fd, address, 16) == 0 and C.spec_listen(fd, backlog) == 0)
  C.spec_getsockname(fd, address, size)
  return fd, bit.rshift(bit.bswap(tonumber(address.port)), 16)
end

--- The next connection, or nil.
---@param fd integer
---@return integer?
function M.accept(fd)
  local accepted = C.spec_accept4(fd, nil, nil, NONBLOCK_CLOEXEC)
  return accepted >= 0 and accepted or nil
end

--- Begins to connect.
---@param port integer
---@return integer fd
function M.connect(port)
  local fd = new_socket()
  C.spec_connect(fd, loopback(port), 16)
  return fd
end

--- Octets; "" at the end of what the other side sends; false after a reset; nil: none
--- have come.
---@param fd integer
---@return string|false|nil
function M.receive(fd)
  local n = C.spec_recv(fd, room, 65536, 0)
  if n >= 0 then return ffi.string(room, n) end
  if ffi.errno() == EAGAIN then return nil end
  return false
end

--- How many octets were taken; false: the other side is gone; nil: there is no room.
---@param fd integer
---@param data ffi.cdata*
---@param size integer
---@return integer|false|nil
function M.send(fd, data, size)
  local n = C.spec_send(fd, data, size, NOSIGNAL)
  if n >= 0 then return tonumber(n) end
  if ffi.errno() == EAGAIN then return nil end
  return false
end

--- Sends no more.
---@param fd integer
function M.finish(fd) C.spec_shutdown(fd, 1) end

--- Closes, in order or with a reset.
---@param fd integer
---@param with_reset boolean?
function M.close(fd, with_reset)
  if with_reset then
    local linger = ffi.new("struct spec_linger", 1, 0)
    C.spec_setsockopt(fd, SOL_SOCKET, SO_LINGER, linger, ffi.sizeof(linger))
  end
  C.spec_close(fd)
end

return M
