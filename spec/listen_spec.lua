-- SPDX-License-Identifier: MIT
-- Where luaweb listens, what it says about it, and what it says when it can't.
local greeting = require "spec.support.greeting"
local lfs = require "lfs"
local process = require "spec.support.process"

local HELLO = "apps/hello.lua"

after_each(process.clean)

-- Runs a server that can't listen; the only line of its errors.
local function refused(...)
  local ended = process.run(HELLO, ...)
  assert.equal(3, ended.code)
  assert.equal("", ended.output)
  return ended.errors:match "^luaweb: ([^\n]+)\n$"
end

describe("luaweb says", function()
  it("which app it serves, where, and its resources", function()
    local child = process.serve(HELLO)
    child:expect "/hello"
    assert.equal(("luaweb serves apps/hello.lua on http://127.0.0.1:%d\n"
      .. "  /hello{/name}  GET, HEAD, OPTIONS  apps/hello.lua:13\n"):format(child.port),
      child.output)
    assert.equal("", child:errors())
  end)

  it("the port that it got for port 0", function()
    local child = process.serve(HELLO)
    assert(child.port > 0)
    assert.equal("Hello, World!", greeting("127.0.0.1", child.port))
  end)

  it("each address where it listens", function()
    local path = process.path "hello.sock"
    local child = process.start(HELLO, "--listen", "127.0.0.1:0",
      "--listen=localhost:0", "--listen", "unix:" .. path)
    local first = tonumber(child:expect "http://127%.0%.0%.1:(%d+)$")
    local second = tonumber(child:expect "http://localhost:(%d+)$")
    assert.equal("unix:" .. path, child:expect "on (unix:.*)$")
    assert(first ~= second)
    assert.equal("Hello, World!", greeting("127.0.0.1", first))
    assert.equal("Hello, World!", greeting("unix:" .. path))
  end)

  it("where it listens on IPv6", function()
    local child = process.start(HELLO, "--listen", "[::1]:0")
    local port = tonumber(child:expect "on http://%[::1%]:(%d+)$")
    assert.equal("Hello, World!", greeting("::1", port))
  end)
end)

describe("an address that is taken", function()
  it("ends the start with code 3, and its holder is named", function()
    local child = process.serve(HELLO)
    assert.equal(("can't listen on 127.0.0.1:%d: address already in use, held by "
      .. "luaweb (pid %d)"):format(child.port, child.pid),
      refused("--listen", "127.0.0.1:" .. child.port))
  end)

  it("is taken for all addresses too", function()
    local child = process.serve(HELLO)
    assert.equal(("can't listen on 0.0.0.0:%d: address already in use, held by "
      .. "luaweb (pid %d)"):format(child.port, child.pid),
      refused("--listen", "0.0.0.0:" .. child.port))
  end)

  it("is not taken for another address", function()
    local child = process.serve(HELLO)
    local other = process.start(HELLO, "--listen", "127.0.0.2:" .. child.port)
    other:expect("on http://127%.0%.0%.2:" .. child.port .. "$")
    assert.equal("Hello, World!", greeting("127.0.0.2", child.port))
    assert.equal("Hello, World!", greeting("127.0.0.1", child.port))
  end)

  it("is named with its holder on IPv6", function()
    local child = process.start(HELLO, "--listen", "[::1]:0")
    local port = child:expect ":(%d+)$"
    assert.equal(("can't listen on [::1]:%s: address already in use, held by "
      .. "luaweb (pid %d)"):format(port, child.pid),
      refused("--listen", "[::1]:" .. port))
  end)

  it("leaves nothing behind of the addresses before it", function()
    local child = process.serve(HELLO)
    local path = process.path "hello.sock"
    refused("--listen", "unix:" .. path, "--listen", "127.0.0.1:" .. child.port)
    assert.is_nil(lfs.symlinkattributes(path, "mode"))
  end)
end)

describe("an address that does not exist", function()
  it("ends the start with code 3: a host without address", function()
    local host = ("x"):rep(64) .. ".invalid" -- too long to be asked for anywhere
    assert.matches(("^can't listen on %s:0: %%a"):format(host),
      refused("--listen", host .. ":0"))
  end)

  it("ends the start with code 3: an address of another machine", function()
    assert.equal("can't listen on 192.0.2.1:0: address not available",
      refused("--listen", "192.0.2.1:0"))
  end)

  it("ends the start with code 3: a folder that is not there", function()
    local path = process.path "missing/hello.sock"
    assert.equal(("can't listen on unix:%s: no such file or directory"):format(path),
      refused("--listen", "unix:" .. path))
  end)

  it("ends the start with code 3: a path that is too long", function()
    local path = process.path(("x"):rep(108))
    assert.equal(("can't listen on unix:%s: name too long"):format(path),
      refused("--listen", "unix:" .. path))
  end)
end)

describe("a unix socket", function()
  local function serve_at(path)
    local child = process.start(HELLO, "--listen", "unix:" .. path)
    child:expect "on unix:"
    return child
  end

  it("may have the longest path that there is", function()
    local path = process.path ""
    path = path .. ("x"):rep(107 - #path)
    serve_at(path)
    assert.equal("Hello, World!", greeting("unix:" .. path))
  end)

  it("is removed at the end", function()
    local path = process.path "hello.sock"
    local child = serve_at(path)
    assert.equal("socket", lfs.symlinkattributes(path, "mode"))
    child:signal "TERM"
    assert.equal(0, (child:wait()))
    assert.is_nil(lfs.symlinkattributes(path, "mode"))
  end)

  it("is replaced when its server died", function()
    local path = process.path "hello.sock"
    local child = serve_at(path)
    child:signal "KILL"
    child:wait()
    assert.equal("socket", lfs.symlinkattributes(path, "mode"))
    serve_at(path)
    assert.equal("Hello, World!", greeting("unix:" .. path))
  end)

  it("stays its server's while that lives", function()
    local path = process.path "hello.sock"
    local child = serve_at(path)
    assert.equal(("can't listen on unix:%s: address already in use, held by luaweb "
      .. "(pid %d)"):format(path, child.pid), refused("--listen", "unix:" .. path))
    assert.equal("Hello, World!", greeting("unix:" .. path))
  end)

  it("never takes the place of a file", function()
    local path = process.file("precious", "data")
    assert.equal(("can't listen on unix:%s: address already in use, by a file that is "
      .. "no socket"):format(path), refused("--listen", "unix:" .. path))
    assert.equal("file", lfs.symlinkattributes(path, "mode"))
    assert.equal(4, lfs.attributes(path, "size"))
  end)

  it("never takes the place of a link", function()
    local path = process.path "link"
    assert(lfs.link(process.file("precious", "data"), path, true))
    refused("--listen", "unix:" .. path)
    assert.equal("link", lfs.symlinkattributes(path, "mode"))
  end)
end)

describe("the search for a holder", function()
  it("does not blame the holder of the same port of another address", function()
    local child = process.serve(HELLO)
    local other = process.start(HELLO, "--listen", "127.0.0.2:" .. child.port)
    other:expect("on http://127%.0%.0%.2:" .. child.port .. "$")
    assert.matches("held by luaweb %(pid " .. other.pid .. "%)$",
      refused("--listen", "127.0.0.2:" .. child.port))
    assert.matches("held by luaweb %(pid " .. child.pid .. "%)$",
      refused("--listen", "127.0.0.1:" .. child.port))
  end)

  it("names the master, though its workers hold the socket too", function()
    local child = process.serve(HELLO, "--workers", "2")
    assert.matches("held by luaweb %(pid " .. child.pid .. "%)$",
      refused("--listen", "127.0.0.1:" .. child.port))
  end)
end)
