-- SPDX-License-Identifier: MIT
-- Lines of the access log for the eye (--access-log terminal:path): colours where that
-- is a terminal, and without delay.
local eventually = require "spec.support.eventually"
local ffi = require "ffi"
local process = require "spec.support.process"

ffi.cdef [[
int posix_openpt(int flags);
int grantpt(int fd);
int unlockpt(int fd);
char *ptsname(int fd);
int setenv(const char *name, const char *value, int replaces);
int unsetenv(const char *name);
intptr_t spec_pty_read(int fd, void *data, size_t size) __asm__("read");
int spec_pty_close(int fd) __asm__("close");
]]

local RDWR_NOCTTY_NONBLOCK = 0x902

local C = ffi.C
local room = ffi.new "char[4096]"
local fd -- our end

-- A terminal: the path of its other end.
local function terminal()
  fd = C.posix_openpt(RDWR_NOCTTY_NONBLOCK)
  assert(fd >= 0 and C.grantpt(fd) == 0 and C.unlockpt(fd) == 0, "no terminal")
  return ffi.string(C.ptsname(fd))
end

-- What was written to it, as soon as that is a line.
local function read_line()
  local text = ""
  eventually("a line", function()
    local n = C.spec_pty_read(fd, room, 4096)
    if n > 0 then text = text .. ffi.string(room, n) end
    return text:find "\n"
  end)
  return text
end

after_each(function()
  process.clean()
  if fd then C.spec_pty_close(fd) end
  fd = nil
end)

describe("The access log of a terminal", function()
  it("has colours", function()
    local child = process.serve("apps/hello.lua", "--access-log",
      "terminal:" .. terminal())
    child:ask(process.get "/hello/fred")
    assert.matches("^GET    \27%[32m 200\27%[0m\27%[2m %d+%.%d ms +14? ?%d* B +"
      .. "\27%[0m /hello/fred\27%[2m  /hello{/name}\27%[0m\r?\n", read_line())
    child:stop()
  end)

  it("has none where it is a file", function()
    local path = process.path "lines"
    local child = process.serve("apps/hello.lua", "--access-log", "terminal:" .. path)
    child:ask(process.get "/hello/fred")
    local text
    eventually("a line", function()
      local file = io.open(path)
      text = file and file:read "*a" or ""
      if file then file:close() end
      return text:find "\n"
    end)
    assert.matches("^GET     200 %d+%.%d ms +%d+ B +/hello/fred  /hello{/name}\n$",
      text)
    child:stop()
  end)

  it("makes no file of its name where the server changes its user", function()
    local lfs = require "lfs"
    for _, where in ipairs { "terminal:-", "combined:-", "json:-" } do
      local child = process.serve("apps/hello.lua", "--access-log", where,
        "--user", "root")
      child:stop()
      assert.is_nil(lfs.attributes(where))
    end
  end)

  it("has none where NO_COLOR is set", function()
    C.setenv("NO_COLOR", "1", 1)
    local ok, child = pcall(process.serve, "apps/hello.lua", "--access-log",
      "terminal:" .. terminal())
    C.unsetenv "NO_COLOR"
    assert(ok, child)
    child:ask(process.get "/hello/fred")
    assert.matches("^GET     200 %d+%.%d ms ", read_line())
    child:stop()
  end)
end)
