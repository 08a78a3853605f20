-- SPDX-License-Identifier: MIT
-- Whom a server runs as.  Root's specs see the change to another user; those of another
-- user see what is refused to them.
local control = require "spec.support.control"
local ffi = require "ffi"
local lfs = require "lfs"
local process = require "spec.support.process"

ffi.cdef "unsigned geteuid(void); int chmod(const char *path, unsigned mode);"

local IS_ROOT = ffi.C.geteuid() == 0
local NOBODY = 65534
local APP = [[
local web = require "luaweb"
return web.app { web.get("/", function() return "good" end) }
]]

after_each(process.clean)

-- The app, in a folder that all may enter and read.
local function app_for_all()
  local path = process.file("app.lua", APP)
  ffi.C.chmod(path:match "^(.*)/", tonumber("755", 8))
  ffi.C.chmod(path, tonumber("644", 8))
  return path
end

-- The fields of a process's status that tell who it is.
local function who(pid)
  local file = assert(io.open(("/proc/%d/status"):format(pid)))
  local text = file:read "*a"
  file:close()
  return {
    uids = text:match "\nUid:%s*([%d\t]*)", gids = text:match "\nGid:%s*([%d\t]*)",
    groups = text:match "\nGroups:[ \t]*([%d ]*)",
    capabilities = tonumber(text:match "\nCapPrm:%s*(%x+)", 16),
    no_new_privs = text:match "\nNoNewPrivs:%s*(%d)",
  }
end

-- The one line of a server that doesn't start.
local function refusal(code, ...)
  local ended = process.run(...)
  assert.equal(code, ended.code)
  assert.equal("", ended.output)
  return ended.errors:match "^luaweb: ([^\n]+)\n$"
end

local function both(child)
  return { who(child.pid), who(child:workers()[1]) }
end

describe("a server", function()
  it("gains no privileges, nor does what it starts", function()
    local child = process.serve(app_for_all())
    for _, is in ipairs(both(child)) do assert.equal("1", is.no_new_privs) end
  end)

  it("can't be of a user or group that is not there: code 2", function()
    local app = app_for_all()
    assert.equal("--user nix: there is no such user", refusal(2, app, "--user", "nix"))
    assert.equal("--group nix: there is no such group",
      refusal(2, app, "--group", "nix"))
    assert.equal("--user 4294967295: there is no such user",
      refusal(2, app, "--user", "4294967295"))
  end)
end)

if not IS_ROOT then
  describe("a server that root has not started", function()
    it("can't become another user: code 2", function()
      assert.equal("--user root: only root can become another user",
        refusal(2, app_for_all(), "--user", "root"))
    end)

    it("may be told to be who it is", function()
      local child = process.serve(app_for_all(), "--user", tostring(ffi.C.geteuid()))
      assert.equal("good", child:ask(process.get "/").body)
    end)
  end)
  return
end

describe("root's server with --user", function()
  it("is that user in all its processes, with none of root's rights", function()
    local child = process.serve(app_for_all(), "--user", "nobody")
    for _, is in ipairs(both(child)) do
      assert.equal(("65534\t"):rep(3) .. "65534", is.uids)
      assert.equal(("65534\t"):rep(3) .. "65534", is.gids)
      assert.equal(0, is.capabilities)
      assert.is_nil(is.groups:find "%f[%d]0%f[%D]")
      assert.equal("1", is.no_new_privs)
    end
    assert.equal("good", child:ask(process.get "/").body)
    child:stop()
  end)

  it("takes numbers, and a group of its own", function()
    local child = process.serve(app_for_all(), "--user", "12345", "--group", "23456")
    for _, is in ipairs(both(child)) do
      assert.equal(("12345\t"):rep(3) .. "12345", is.uids)
      assert.equal(("23456\t"):rep(3) .. "23456", is.gids)
      assert.equal("", is.groups)
    end
    child:stop()
  end)

  it("has bound before, also for all its workers, at a port of root's", function()
    -- The kernel never chooses such a port; an address of our own makes it free.
    local own = ("127.%d.%d.%d:79"):format(math.random(255), math.random(255),
      math.random(254))
    local child = process.start(app_for_all(), "--user", "nobody", "--workers", "2",
      "--listen", "127.0.0.1:0", "--listen", own)
    child.port = tonumber(child:expect "http://127%.0%.0%.1:(%d+)$")
    child:expect("http://" .. own .. "$")
    require "spec.support.eventually"("two workers", function()
      return #child:workers() == 2
    end)
    assert.is_nil(child:errors():find "can't listen")
    for _ = 1, 8 do assert.equal("good", child:ask(process.get "/").body) end
    child:stop()
  end)

  it("goes on through reloads, dead workers and upgrades", function()
    local child = process.serve(app_for_all(), "--user", "nobody", "--drain-timeout",
      "1")
    local address = "127.0.0.1:" .. child.port
    assert.matches("^generation 2", control.ask(child, "reload"))
    local worker = child:workers()[1]
    child:signal_worker "KILL"
    require "spec.support.eventually"("another worker", function()
      local now = child:workers()[1]
      return now and now ~= worker
    end)
    child:signal "USR2"
    require "spec.support.eventually"("the last master has ended", function()
      return not lfs.symlinkattributes("/proc/" .. child.pid .. "/exe", "mode")
    end)
    local file = assert(io.open(control.path(child.port, ".pid")))
    local pid = file:read "*n"
    file:close()
    assert.are_not.equal(child.pid, pid)
    assert.equal(("65534\t"):rep(3) .. "65534", who(pid).uids)
    assert.equal("good", child:ask(process.get "/").body)
    assert.equal(0, process.run("stop", "--listen", address).code)
    child:wait()
  end)

  it("gives that user its sockets, pid file and log", function()
    local log, unix = process.path "access.log", process.path "http.sock"
    local child = process.serve(app_for_all(), "--user", "nobody", "--access-log", log,
      "--listen", "unix:" .. unix)
    require "spec.support.eventually"("its pid", function()
      return (lfs.attributes(control.path(child.port, ".pid"), "size") or 0) > 0
    end)
    for _, path in ipairs { log, unix, control.path(child.port, ".sock"),
      control.path(child.port, ".pid") } do
      assert.equal(NOBODY, lfs.attributes(path, "uid"))
    end
    child:ask(process.get "/")
    child:stop()
    assert.is_true(lfs.attributes(log, "size") > 0)
    -- The folder is root's: the pid file can't go, but nobody's pid is in it.
    assert.equal(0, lfs.attributes(control.path(child.port, ".pid"), "size"))
  end)

  it("changes no file that is there, nor what a link leads to", function()
    app_for_all()
    local victim = process.file("victim", "root's")
    assert(lfs.link(victim, process.path "link.log", true))
    process.run(process.path "app.lua", "--user", "nobody", "--listen", "127.0.0.1:0",
      "--access-log", process.path "link.log")
    assert.equal(0, lfs.attributes(victim, "uid"))
  end)

  it("says as whom it could not open its log", function()
    local log = process.path "closed/access.log"
    assert(lfs.mkdir(log:match "^(.*)/"))
    ffi.C.chmod(log:match "^(.*)/", tonumber("700", 8))
    assert.equal(("--access-log %s: permission denied, as user nobody"):format(log),
      refusal(2, app_for_all(), "--user", "nobody", "--access-log", log,
        "--listen", "127.0.0.1:0"))
  end)

  it("must let that user read the app: code 1", function()
    local path = process.file("app.lua", APP)
    ffi.C.chmod(path, tonumber("600", 8))
    ffi.C.chmod(path:match "^(.*)/", tonumber("755", 8))
    assert.equal(path .. ": user nobody may not read it: it and the folders above it "
      .. "must let that user in (chmod, chgrp)",
      refusal(1, path, "--user", "nobody", "--listen", "127.0.0.1:0"))
  end)
end)

describe("root's server without --user", function()
  local WARNING = " warn  serving as root: a fault of the app is a fault of root; "
    .. "give %-%-user and a user who may read the app, e%.g%. www%-data\n"

  -- What it says as it is: Child:errors leaves this warning out.
  local function errors_of(...)
    local path = process.path "all-errors"
    local child = process.start_after("exec 2>" .. path .. "; ", ...)
    child:expect "serves"
    child:stop()
    local file = assert(io.open(path))
    local text = file:read "*a"
    file:close()
    return text
  end

  it("is warned where only this machine reaches it", function()
    local app = app_for_all()
    assert.matches(WARNING, errors_of(app, "--listen", "127.0.0.1:0", "--listen",
      "[::1]:0", "--listen", "127.9.9.9:0", "--listen", "unix:" .. process.path "x"))
  end)

  for _, address in ipairs { "0.0.0.0:0", "[::]:0" } do
    it("is refused where others do, with what to do: " .. address, function()
      assert.equal("this is root, and others can reach it: a fault of the app would be "
        .. "theirs as root.  Give --user and a user who may read the app, e.g. --user "
        .. "www-data; or listen on 127.0.0.1 only",
        refusal(2, app_for_all(), "--listen", "127.0.0.1:0", "--listen", address))
    end)

    it("may be insisted on by --user root: " .. address, function()
      assert.matches(WARNING, errors_of(app_for_all(), "--listen", address, "--user",
        "root"))
    end)
  end

  it("is refused with a --group only", function()
    assert.matches("^this is root, and others", refusal(2, app_for_all(), "--listen",
      "0.0.0.0:0", "--group", "nogroup"))
  end)
end)
