-- SPDX-License-Identifier: MIT
-- A server under systemd: sockets that it gets, and what it tells about itself.  The
-- spec plays the service manager.
local control = require "spec.support.control"
local lfs = require "lfs"
local process = require "spec.support.process"
local service = require "spec.support.service"
local socket = require "luaweb.client.socket"

local HELLO = "apps/hello.lua"
local GET = process.get "/hello"

after_each(process.clean)
after_each(service.clean)

local function greeting(address, port)
  local conn = assert(socket.connect(address, port))
  conn:send(GET)
  local answer = process.answers(conn)
  conn:close()
  return answer.body
end

-- A server that tells us how it is.
local function told(prelude, ...)
  local manager = service.notify("@luaweb-spec-" .. math.random(2 ^ 31))
  local child = process.start_after(prelude .. "export NOTIFY_SOCKET="
    .. manager.address .. "; ", ...)
  return manager, child
end

local function environment(pid)
  local file = assert(io.open(("/proc/%d/environ"):format(pid), "rb"))
  local text = file:read "*a"
  file:close()
  return text
end

local function parent_of(pid)
  local file = assert(io.open(("/proc/%d/status"):format(pid)))
  local text = file:read "*a"
  file:close()
  return tonumber(text:match "\nPPid:%s*(%d+)")
end

describe("sockets that were passed", function()
  it("are where it listens, with all workers", function()
    local tcp, port = service.tcp(true)
    local path = process.path "passed.sock"
    local unix = service.unix(path)
    local child = process.start_after(service.pass({ tcp, unix }, "http:local"), HELLO,
      "--workers", "2")
    child:expect("serves apps/hello.lua on http://127%.0%.0%.1:" .. port .. "$")
    child:expect("on unix:" .. path:gsub("%p", "%%%0") .. "$")
    for _ = 1, 5 do
      assert.equal("Hello, World!", greeting("127.0.0.1", port))
      assert.equal("Hello, World!", greeting("unix:" .. path))
    end
    assert.equal("socket", lfs.attributes(control.path(port, ".sock"), "mode"))
    assert.is_nil(environment(child:workers()[1]):find "LISTEN_")
    child:stop()
    assert.equal("socket", lfs.attributes(path, "mode")) -- it is not ours to remove
  end)

  it("are kept over reloads and upgrades, with what waits in them", function()
    local tcp, port = service.tcp(true)
    local child = process.start_after(service.pass { tcp }, HELLO, "--drain-timeout",
      "1")
    child.port = port
    child:expect "serves"
    assert.matches("^generation 2", control.ask(child, "reload"))
    child:signal "USR2"
    child:expect("serves apps/hello.lua on http://127%.0%.0%.1:" .. port .. "$")
    require "spec.support.eventually"("the last master has ended", function()
      return not lfs.symlinkattributes("/proc/" .. child.pid .. "/exe", "mode")
    end)
    assert.equal("Hello, World!", greeting("127.0.0.1", port))
    assert.equal(0, process.run("stop", "--listen", "127.0.0.1:" .. port).code)
    child:wait()
  end)

  it("are not used where --listen is given", function()
    local tcp, port = service.tcp(true)
    local child = process.start_after(service.pass { tcp }, HELLO, "--listen",
      "127.0.0.1:0")
    assert.are_not.equal(port, tonumber(child:expect "http://127%.0%.0%.1:(%d+)$"))
    assert.matches("%-%-listen is given: the 1 socket%(s%) of LISTEN_FDS are not used",
      child:errors())
  end)

  it("are another process's where LISTEN_PID says so", function()
    local tcp, port = service.tcp(true)
    local child = process.start_after(service.pass { tcp } .. "export LISTEN_PID=1; ",
      HELLO, "--listen", "127.0.0.1:0")
    assert.are_not.equal(port, tonumber(child:expect "http://127%.0%.0%.1:(%d+)$"))
    assert.is_nil(child:errors():find "LISTEN_FDS")
  end)

  local WRONG = {
    ["does not listen (Accept=yes makes such; it must be no)"] = function()
      return (service.tcp(false))
    end,
    ["is no stream socket (ListenStream= makes one)"] = function()
      return service.unix(process.path "datagrams", true)
    end,
  }
  for message, make in pairs(WRONG) do
    it("must listen: one that " .. message, function()
      local child = process.start_after(service.pass { make() }, HELLO)
      assert.equal(3, (child:wait()))
      assert.equal(("luaweb: LISTEN_FDS: descriptor 3 %s\n"):format(message),
        child:errors())
    end)
  end

  it("must be sockets, and not too many", function()
    local function refusal(prelude)
      local child = process.start_after("export LISTEN_PID=$$; " .. prelude, HELLO)
      assert.equal(3, (child:wait()))
      return child:errors()
    end
    assert.equal("luaweb: LISTEN_FDS: descriptor 3 is no socket\n",
      refusal "export LISTEN_FDS=1; exec 3</dev/null; ")
    assert.equal("luaweb: LISTEN_FDS: 65 sockets, but 64 at most are taken\n",
      refusal "export LISTEN_FDS=65; ")
  end)
end)

describe("systemd is told", function()
  it("when all workers serve, and what, by either kind of address", function()
    local path = process.path "notify"
    local manager = service.notify(path)
    local child = process.start_after("export NOTIFY_SOCKET=" .. path .. "; ", HELLO,
      "--listen", "127.0.0.1:0", "--workers", "2")
    assert.matches("^Serves apps/hello.lua on http://127.0.0.1:%d+: 2 workers, "
      .. "generation 1$", manager:expect "READY".STATUS)
    assert.is_nil(environment(child:workers()[1]):find "NOTIFY_SOCKET")
    child:stop()
    local other, second = told("", HELLO, "--listen", "127.0.0.1:0")
    assert.is_truthy(other:expect "READY".STATUS)
    second:stop()
  end)

  it("that it reloads, since when, and that it is ready again", function()
    local path = process.file("app.lua", "return require('luaweb').app {}")
    local manager, child = told("", path, "--listen", "127.0.0.1:0")
    child.port = tonumber(child:expect "http://127%.0%.0%.1:(%d+)$")
    manager:expect "READY"
    assert.matches("ok\n$", control.ask(child, "reload"))
    assert.is_truthy(tonumber(manager:expect "RELOADING".MONOTONIC_USEC))
    assert.matches("generation 2$", manager:expect "READY".STATUS)
    process.file("app.lua", "return 1")
    control.ask(child, "reload")
    manager:expect "RELOADING"
    assert.matches("generation 2$", manager:expect "READY".STATUS)
  end)

  it("that it stops", function()
    local manager, child = told("", HELLO, "--listen", "127.0.0.1:0")
    manager:expect "READY"
    child:stop()
    manager:expect "STOPPING"
  end)

  it("nothing but its end by one that never served", function()
    local path = process.file("app.lua", "return 1")
    local manager, child = told("", path, "--listen", "127.0.0.1:0")
    assert.equal(1, (child:wait()))
    for _, lines in ipairs(manager:take()) do assert.is_nil(lines.READY) end
  end)

  it("which process it is, after an upgrade", function()
    local manager, child = told("export WATCHDOG_USEC=400000; ", HELLO, "--listen",
      "127.0.0.1:0", "--drain-timeout", "1")
    child.port = tonumber(child:expect "http://127%.0%.0%.1:(%d+)$")
    manager:expect "READY"
    child:signal "USR2"
    local pid = tonumber(manager:expect "MAINPID".MAINPID)
    assert.are_not.equal(child.pid, pid)
    assert.are_not.equal(child.pid, parent_of(pid)) -- systemd waits for its own only
    require "spec.support.eventually"("the last master has ended", function()
      return not lfs.symlinkattributes("/proc/" .. child.pid .. "/exe", "mode")
    end)
    assert.matches("pid " .. pid, control.ask(child, "status"))
    manager:take()
    manager:expect "WATCHDOG"
    assert.equal(0, process.run("stop", "--listen", "127.0.0.1:" .. child.port).code)
    child:wait()
  end)

  it("that it lives, again and again", function()
    local manager, child = told("export WATCHDOG_USEC=200000 WATCHDOG_PID=$$; ", HELLO,
      "--listen", "127.0.0.1:0")
    manager:expect "READY"
    for _ = 1, 4 do manager:expect "WATCHDOG" end
    child:stop()
  end)

  it("not that it lives while no worker can answer", function()
    local path = process.file("app.lua", [[
local web = require "luaweb"
return web.app { web.get("/", function() while true do end end) }
]])
    local manager, child = told("export WATCHDOG_USEC=200000; ", path, "--listen",
      "127.0.0.1:0", "--workers", "1", "--stall-timeout", "0")
    child.port = tonumber(child:expect "http://127%.0%.0%.1:(%d+)$")
    manager:expect "WATCHDOG"
    local conn = child:connect(process.get "/")
    require "spec.support.eventually"("it is silent", function()
      manager:take()
      require("luaweb").sleep(0.3)
      return #manager:take() == 0
    end)
    conn:close()
  end)

  it("nothing where its variables are for somebody else, or odd", function()
    local manager, child = told("export WATCHDOG_USEC=200000 WATCHDOG_PID=1; ", HELLO,
      "--listen", "127.0.0.1:0")
    manager:expect "READY"
    require("luaweb").sleep(0.3)
    for _, lines in ipairs(manager:take()) do assert.is_nil(lines.WATCHDOG) end
    child:stop()
    local odd = process.start_after("export NOTIFY_SOCKET=vsock:2:1; ", HELLO,
      "--listen", "127.0.0.1:0")
    odd:expect "serves"
    assert.matches("NOTIFY_SOCKET=vsock:2:1: no address of a unix socket", odd:errors())
    odd:stop()
  end)
end)
