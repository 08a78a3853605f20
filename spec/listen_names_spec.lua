-- SPDX-License-Identifier: MIT
-- Names with several addresses, IPv6, several listeners, and the mode of unix sockets.
local eventually = require "spec.support.eventually"
local ffi = require "ffi"
local greeting = require "spec.support.greeting"
local lfs = require "lfs"
local process = require "spec.support.process"
local raw_socket = require "spec.support.raw_socket"
local socket = require "luaweb.client.socket"

ffi.cdef "unsigned umask(unsigned mode); unsigned getuid(void);"

local HELLO = "apps/hello.lua"

-- Flags that let root listen where others reach it, too.
local ALSO_AS_ROOT = ffi.C.getuid() == 0 and { "--user", "root" } or {}

after_each(process.clean)

local function is_deaf(address, port)
  local conn = socket.connect(address, port)
  if not conn then return true end
  local _, ending = conn:receive(5)
  conn:close()
  return ending == "reset"
end

-- Runs a server that can't listen; the only line of its errors.
local function refused(...)
  local ended = process.run(HELLO, ...)
  assert.equal(3, ended.code)
  return ended.errors:match "^luaweb: ([^\n]+)\n$"
end

describe("localhost", function()
  it("is 127.0.0.1 and ::1, with one port", function()
    local child = process.start(HELLO, "--listen", "localhost:0")
    local port = tonumber(child:expect "on http://localhost:(%d+)$")
    assert.equal("Hello, World!", greeting("127.0.0.1", port))
    assert.equal("Hello, World!", greeting("::1", port))
  end)

  it("is said once, in the letters that it was given in", function()
    local child = process.start(HELLO, "--listen", "LocalHost:0")
    child:expect "on http://LocalHost:%d+$"
    child:expect "/hello"
    assert.equal(1, select(2, child.output:gsub("luaweb serves", "")))
  end)

  it("is all of it or nothing: an address that is taken is an error", function()
    local fd, port = raw_socket.listen(1) -- on 127.0.0.1 alone
    local message = refused("--listen", "localhost:" .. port)
    raw_socket.close(fd)
    assert.matches("^can't listen on localhost:%d+: address already in use, held by ",
      message)
    local child = process.start(HELLO, "--listen", "[::1]:" .. port)
    child:expect("on http://%[::1%]:" .. port .. "$") -- nothing was left behind
  end)

  it("gives both of its ports back at the end", function()
    local child = process.start(HELLO, "--listen", "localhost:0")
    local port = tonumber(child:expect ":(%d+)$")
    child:stop()
    local other = process.start(HELLO, "--listen", "localhost:" .. port)
    other:expect("on http://localhost:" .. port .. "$")
    assert.equal("Hello, World!", greeting("::1", port))
    assert.equal("Hello, World!", greeting("127.0.0.1", port))
  end)
end)

-- The first line of a file, or nil.
local function line_of(path)
  local file = io.open(path)
  local line = file and file:read "*l"
  if file then file:close() end
  return line
end

describe("A name with several addresses", function()
  it("keeps them all when another executable takes over", function()
    local pid_file, path = process.path "pid", process.path "a.sock"
    local child = process.start(HELLO, "--listen", "localhost:0", "--listen",
      "unix:" .. path, "--listen", "[::1]:0", "--pid-file", pid_file, "--control",
      process.path "control", "--workers", "2")
    local first, port = child.pid, tonumber(child:expect "http://localhost:(%d+)$")
    local other = tonumber(child:expect "http://%[::1%]:(%d+)$")
    child:expect "/hello"
    child:signal "USR2"
    child:expect("on http://localhost:" .. port .. "$")
    child:expect "/hello" -- the last that it prints
    eventually("another one is the server", function()
      local pid = tonumber(line_of(pid_file) or "")
      child.pid = pid or first
      return pid and pid ~= first
    end)
    for _ = 1, 4 do
      assert.equal("Hello, World!", greeting("127.0.0.1", port))
      assert.equal("Hello, World!", greeting("::1", port))
      assert.equal("Hello, World!", greeting("::1", other))
      assert.equal("Hello, World!", greeting("unix:" .. path))
    end
    child:signal "TERM"
    child.pid = first
    assert.equal(0, (child:wait()))
    assert.is_true(is_deaf("127.0.0.1", port) and is_deaf("::1", port))
    assert.is_nil(lfs.symlinkattributes(path, "mode"))
  end)
end)

describe("IPv6", function()
  it("does not take the port of IPv4 with it", function()
    local child = process.start(HELLO, "--listen", "[::]:0", unpack(ALSO_AS_ROOT))
    local port = tonumber(child:expect "on http://%[::%]:(%d+)$")
    assert.equal("Hello, World!", greeting("::1", port))
    assert.is_true(is_deaf("127.0.0.1", port))
    local other = process.start(HELLO, "--listen", "0.0.0.0:" .. port,
      unpack(ALSO_AS_ROOT))
    other:expect("on http://0%.0%.0%.0:" .. port .. "$")
    assert.equal("Hello, World!", greeting("127.0.0.1", port))
  end)

  it("may be listened at beside IPv4, with the same port", function()
    local child = process.start(HELLO, "--listen", "127.0.0.1:0")
    local port = child:expect ":(%d+)$"
    child:stop()
    child = process.start(HELLO, "--listen", "0.0.0.0:" .. port, "--listen",
      "[::]:" .. port, unpack(ALSO_AS_ROOT))
    child:expect("http://%[::%]:" .. port .. "$")
    assert.equal("Hello, World!", greeting("127.0.0.1", tonumber(port)))
    assert.equal("Hello, World!", greeting("::1", tonumber(port)))
  end)

  it("may be written in any of its forms", function()
    local child = process.start(HELLO, "--listen", "[0:0:0::0:1]:0")
    local port = tonumber(child:expect "on http://%[0:0:0::0:1%]:(%d+)$")
    assert.equal("Hello, World!", greeting("::1", port))
  end)

  it("of one link wants to know which", function()
    assert.equal("can't listen on [fe80::1]:0: invalid argument; say on which link, "
      .. "e.g. [fe80::1%eth0]:8080", refused("--listen", "[fe80::1]:0"))
  end)

  it("of a link that there is not can't be listened at", function()
    assert.matches("^can't listen on %[fe80::1%%nolink0%]:0: %a",
      refused("--listen", "[fe80::1%nolink0]:0"))
  end)

  it("of this link can't be listened at where we don't have it", function()
    assert.equal("can't listen on [fe80::1%lo]:0: address not available",
      refused("--listen", "[fe80::1%lo]:0"))
  end)
end)

describe("Several listeners", function()
  it("lead to one app, and all end with it", function()
    local path = process.path "a.sock"
    local child = process.start(HELLO, "--listen", "127.0.0.1:0", "--listen",
      "localhost:0", "--listen", "unix:" .. path, "--listen", "[::1]:0")
    local first = tonumber(child:expect "http://127%.0%.0%.1:(%d+)$")
    local second = tonumber(child:expect "http://localhost:(%d+)$")
    child:expect "on unix:"
    local last = tonumber(child:expect "http://%[::1%]:(%d+)$")
    assert(first ~= second and second ~= last)
    local all = { { "127.0.0.1", first }, { "127.0.0.1", second }, { "::1", second },
      { "unix:" .. path }, { "::1", last } }
    for _, at in ipairs(all) do
      assert.equal("Hello, World!", greeting(at[1], at[2]))
    end
    child:stop()
    for _, at in ipairs(all) do assert.is_true(is_deaf(at[1], at[2])) end
  end)

  it("can't be the same twice", function()
    local child = process.serve(HELLO)
    local at = "127.0.0.1:" .. child.port
    child:stop()
    assert.matches("address already in use", refused("--listen", at, "--listen", at))
  end)
end)

-- The permissions of the unix socket that a server makes, under this umask.
local function mode_of(umask, ...)
  local path = process.path("mode" .. umask)
  local before = ffi.C.umask(tonumber(umask, 8))
  local child = process.start(HELLO, "--listen", "unix:" .. path, ...)
  ffi.C.umask(before)
  child:expect "on unix:"
  local permissions = lfs.symlinkattributes(path, "permissions")
  assert.equal("Hello, World!", greeting("unix:" .. path))
  child:stop()
  return permissions
end

describe("A unix socket", function()
  it("is its owner's alone, whatever the umask", function()
    assert.equal("rw-------", mode_of "000")
    assert.equal("rw-------", mode_of "022")
  end)

  it("has the mode of --unix-mode, whatever the umask", function()
    assert.equal("rw-rw----", mode_of("077", "--unix-mode", "660"))
    assert.equal("rw-rw-rw-", mode_of("022", "--unix-mode=0666"))
    assert.equal("rwxrwxrwx", mode_of("000", "--unix-mode", "777"))
  end)

  for _, text in ipairs { "888", "rw", "1777", "0", "000", "", "-600", "660 ", "0x1b0",
      "00660" } do
    it("has no mode " .. ("%q"):format(text), function()
      local ended = process.run(HELLO, "--unix-mode", text)
      assert.equal(2, ended.code)
      assert.equal(("luaweb: --unix-mode %s: want an octal mode, e.g. 660\n"
        .. "Try: luaweb --help\n"):format(text), ended.errors)
    end)
  end
end)
