-- SPDX-License-Identifier: MIT
-- Where the control socket and the pid file lie, who may have them, and how a running
-- server is found.
local control = require "spec.support.control"
local ffi = require "ffi"
local lfs = require "lfs"
local process = require "spec.support.process"
local web = require "luaweb"

local HELLO = "apps/hello.lua"

after_each(process.clean)

local function read(path)
  local file = io.open(path)
  local text = file and file:read "*a"
  if file then file:close() end
  return text
end

local function exists(path)
  return lfs.symlinkattributes(path, "mode") ~= nil
end

-- One of the workers is ready before all are, and before the pid is written.
local function pid_in(path)
  require "spec.support.eventually"("a pid in " .. path, function()
    return (read(path) or ""):find "^%d+\n$"
  end)
  return tonumber(read(path))
end

describe("the control socket and the pid file", function()
  it("are named after the first address, in $XDG_RUNTIME_DIR", function()
    local child = process.serve(HELLO)
    assert.equal("socket", lfs.symlinkattributes(control.path(child.port, ".sock"),
      "mode"))
    assert.equal(child.pid, pid_in(control.path(child.port, ".pid")))
  end)

  local NAMES = {
    ["localhost:0"] = "^luaweb%-localhost%-%d+%.sock$",
    ["[::1]:0"] = "^luaweb%-::1%-%d+%.sock$",
    ["unix:%s/a b.sock"] = "^luaweb%-unix%-[%w%-._]*%-a%-b%.sock%.sock$",
  }
  for address, name in pairs(NAMES) do
    it("have names that a shell needs no quotes for: " .. address, function()
      local folder = process.path "x":match "^(.*)/"
      process.start(HELLO, "--listen", address:format(folder)):expect "serves"
      local found
      for file in lfs.dir(folder) do
        if file:find "^luaweb.*%.sock$" then found = file end
      end
      assert.matches(name, found)
    end)
  end

  it("have a short name where the address is long", function()
    local folder = process.path "x":match "^(.*)/"
    process.start(HELLO, "--listen", "unix:" .. folder .. "/" .. ("y"):rep(60))
      :expect "serves"
    local names = 0
    for file in lfs.dir(folder) do
      if file:find "^luaweb%-unix%-.*%-%x%x%x%x%x%x%x%x%.sock$" then
        names = names + 1
        assert.is_true(#file < 80)
      end
    end
    assert.equal(1, names)
  end)

  it("lie where --control and --pid-file say", function()
    local path, pid_file = process.path "my.sock", process.path "my.pid"
    local child = process.serve(HELLO, "--control", path, "--pid-file", pid_file)
    assert.equal(child.pid, pid_in(pid_file))
    assert.equal("rw-r--r--", lfs.attributes(pid_file, "permissions"))
    assert.matches("pid " .. child.pid, process.run("status", "--control", path).output)
    assert.is_false(exists(control.path(child.port, ".sock")))
    child:stop()
    assert.is_false(exists(path) or exists(pid_file))
  end)

  it("are replaced when they were left behind", function()
    local path, pid_file = process.path "my.sock", process.path "my.pid"
    local first = process.serve(HELLO, "--control", path, "--pid-file", pid_file)
    pid_in(pid_file)
    first:signal "KILL"
    first:wait()
    assert.is_true(exists(path) and exists(pid_file))
    assert.matches("nobody listens there: that server has ended",
      process.run("status", "--control", path).errors)
    local child = process.serve(HELLO, "--control", path, "--pid-file", pid_file)
    assert.matches("pid " .. child.pid, process.run("status", "--control", path).output)
    require "spec.support.eventually"("its pid", function()
      return read(pid_file) == child.pid .. "\n"
    end)
    child:stop()
  end)

  it("stay when somebody has put others in their place", function()
    local path, pid_file = process.path "my.sock", process.path "my.pid"
    local child = process.serve(HELLO, "--control", path, "--pid-file", pid_file)
    pid_in(pid_file)
    os.remove(path)
    process.file("my.sock", "theirs")
    process.file("my.pid", "1\n")
    child:stop()
    assert.same({ "theirs", "1\n" }, { read(path), read(pid_file) })
  end)

  it("are handed on at an upgrade", function()
    local child = process.serve(HELLO, "--drain-timeout", "1")
    local pid_file = control.path(child.port, ".pid")
    assert.equal(child.pid, pid_in(pid_file))
    child:signal "USR2"
    require "spec.support.eventually"("the new server's pid", function()
      return read(pid_file) ~= child.pid .. "\n" and read(pid_file):find "^%d"
    end)
    local pid = pid_in(pid_file)
    require "spec.support.eventually"("the last master has ended", function()
      return not exists("/proc/" .. child.pid .. "/exe")
    end)
    assert.equal(pid, pid_in(pid_file))
    local address = "127.0.0.1:" .. child.port
    assert.matches("pid " .. pid, process.run("status", "--listen", address).output)
    assert.equal(0, process.run("stop", "--listen", address).code)
    child:wait() -- the new server has its output, too
    assert.is_false(exists(pid_file) or exists(control.path(child.port, ".sock")))
  end)

  it("are a starting server's while the last one drains", function()
    local path, pid_file = process.path "my.sock", process.path "my.pid"
    local app = process.file("app.lua", [[
local web = require "luaweb"
return web.app { web.get("/", function() web.sleep(1) return "late" end) }
]])
    local old = process.serve(app, "--control", path, "--pid-file", pid_file)
    local conn = old:connect(process.get "/")
    web.sleep(0.1)
    old:signal "TERM"
    web.sleep(0.1)
    local new = process.serve(app, "--control", path, "--pid-file", pid_file)
    assert.equal("late", process.answers(conn).body)
    conn:close()
    old:wait()
    assert.matches("pid " .. new.pid, process.run("status", "--control", path).output)
    assert.equal(new.pid, pid_in(pid_file))
    new:stop()
  end)
end)

describe("a control socket that can't be", function()
  local function refused(...)
    local ended = process.run(HELLO, "--listen", "127.0.0.1:0", ...)
    assert.equal(3, ended.code)
    return ended.errors:match "^luaweb: ([^\n]+)\n$"
  end

  it("because another server has it: code 3, and it is named", function()
    local path = process.path "my.sock"
    local child = process.serve(HELLO, "--control", path)
    assert.equal(("another server (pid %d) runs with the control socket %s: stop it "
      .. "(luaweb stop), or name another path by --control"):format(child.pid, path),
      refused("--control", path))
    assert.matches("pid " .. child.pid, process.run("status", "--control", path).output)
  end)

  it("because of a file, a folder that is not there, a long name: code 3", function()
    local path = process.file("mine", "text")
    assert.equal(("can't make the control socket %s: a file lies there that is no "
      .. "socket"):format(path), refused("--control", path))
    assert.equal("text", read(path))
    assert.matches("nowhere/x: No such file or directory$",
      refused("--control", process.path "nowhere/x"))
    assert.matches("File name too long$", refused("--control", "/" .. ("x"):rep(200)))
  end)

  it("nor a pid file: code 3, and nothing is left", function()
    local path = process.path "my.sock"
    assert.matches("^can't write the pid file .*nowhere/x: No such file or directory$",
      refused("--control", path, "--pid-file", process.path "nowhere/x"))
    assert.is_false(exists(path))
  end)
end)

describe("a running server", function()
  ffi.cdef "unsigned geteuid(void);"

  it("is found when it is the only one", function()
    if exists "/run/luaweb" and #(io.popen("ls /run/luaweb"):read "*a") > 0 then
      return -- this machine has others
    end
    local child = process.serve(HELLO)
    assert.matches("pid " .. child.pid, process.run("status").output)
  end)

  it("has to be named when there are several: code 2, and all are named", function()
    local first, second = process.serve(HELLO), process.serve(HELLO)
    local ended = process.run("reload")
    assert.equal(2, ended.code)
    assert.matches("several servers run here: name one by %-%-control, or by "
      .. "%-%-listen", ended.errors)
    for _, child in ipairs { first, second } do
      assert.is_truthy(ended.errors:find("--control " .. control.path(child.port,
        ".sock"), 1, true))
    end
  end)

  it("that is not there: code 5, and where it was looked for", function()
    local ended = process.run("reload", "--listen", "127.0.0.1:1")
    assert.equal(5, ended.code)
    assert.matches("^luaweb: no server that listens on 127.0.0.1:1 answers: looked "
      .. "into [^\n]*/run/luaweb; %-%-control names the socket of a server\n$",
      ended.errors)
    ended = process.run("stop", "--control", process.path "x")
    assert.equal(5, ended.code)
    assert.equal(("luaweb: no server answers at %s: No such file or directory\n")
      :format(process.path "x"), ended.errors)
  end)

  it("that stands still: code 5 after --timeout", function()
    local child = process.serve(HELLO)
    child:signal "STOP"
    local ended = process.run("status", "--timeout", "0.2", "--listen",
      "127.0.0.1:" .. child.port)
    child:signal "CONT"
    assert.equal(5, ended.code)
    assert.equal(("luaweb: the server (pid %d) has not answered within 0.2 s\n")
      :format(child.pid), ended.errors)
  end)

  local WRONG = {
    [{ "reload", "now" }] = "reload: wants no argument: now",
    [{ "reload", "--json" }] =
      "reload: this option is not one of this command's: --json",
    [{ "stop", "--max-body", "1", "--dot" }] =
      "stop: this option is not one of this command's: --dot",
    [{ "status", "--timeout", "soon" }] =
      "status: --timeout wants seconds, 0 or more: soon",
    [{ "status", "--now" }] = "status: this option is not one of this command's: --now",
  }
  for words, message in pairs(WRONG) do
    it("is not told nonsense: " .. table.concat(words, " "), function()
      local ended = process.run(unpack(words))
      assert.equal(2, ended.code)
      assert.equal(("luaweb: %s\nTry: luaweb %s --help\n"):format(message, words[1]),
        ended.errors)
    end)
  end

  for _, command in ipairs { "reload", "stop", "status" } do
    it("luaweb " .. command .. " --help has a page", function()
      local ended = process.run(command, "--help")
      assert.equal(0, ended.code)
      assert.matches("^luaweb " .. command .. " .*\nExamples\n.*\nExit codes: 0 ",
        ended.output)
    end)
  end
end)
