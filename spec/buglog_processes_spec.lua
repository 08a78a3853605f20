-- SPDX-License-Identifier: MIT
-- What people who run other servers have told of in public, tried on the processes of
-- this one: signals that reach all of them, workers that end in bad moments, what the
-- programs that an app starts inherit, logs that nobody reads.
local eventually = require "spec.support.eventually"
local lfs = require "lfs"
local process = require "spec.support.process"
local tree = require "spec.support.tree"

local ROOT, HELD, SLOW = process.get "/", process.get "/held", process.get "/slow"

-- "/" tells which process answers, and /held which one never does.
local APP = [[
local log = require "luaweb.log"
local web = require "luaweb"
local pid = io.open "/proc/self/stat":read "*n"
local function run(command)
  local pipe = io.popen(command)
  local text = pipe:read "*a"
  pipe:close()
  return text
end
return web.app {
  web.get("/", function() return tostring(pid) end),
  web.get("/held", function() print("held by " .. pid) web.sleep(60) end),
  web.get("/slow", function() print "begun" web.sleep(0.5) return "slow" end),
  web.get("/child", function() return run "sleep 60 >/dev/null 2>&1 & echo $!" end),
  web.get("/signals", function() return run "grep SigIgn /proc/self/status" end),
  web.get("/log/{lines}", function(req)
    for i = 1, tonumber(req.params.lines) do log.warn(i .. ": " .. ("x"):rep(99)) end
  end),
}
]]

local binary = process.binary

after_each(function()
  process.binary = binary
  process.clean()
end)

local function ask(child, target)
  return child:ask(process.get(target)).body
end

local function serve(count, ...)
  local child = process.serve(process.file("app.lua", APP), "--workers",
    tostring(count), ...)
  child:expect "/log"
  eventually("each worker answers", function()
    local seen, found = {}, 0
    for _ = 1, 8 * count do
      local pid = ask(child, "/")
      if not seen[pid] then seen[pid], found = true, found + 1 end
    end
    return found == count
  end)
  return child
end

local function signal_all(pids, name)
  for _, pid in ipairs(pids) do tree.signal(pid, name) end
end

-- Connects until a worker holds a request.
local function hold(child, worker)
  repeat
    child:connect(HELD)
    local pid = tonumber(child:expect "^held by (%d+)$")
  until pid == worker
end

-- Ends a server that would wait for requests.
local function end_now(child)
  child:signal "TERM"
  child:signal "TERM"
  return child:wait()
end

describe("a signal to every process of a server", function()
  local child, workers, conns

  before_each(function()
    child = serve(2)
    workers, conns = child:workers(), {}
    for i = 1, 4 do
      conns[i] = child:connect(SLOW)
      child:expect "^begun$"
    end
  end)

  local function all_are_answered()
    for _, conn in ipairs(conns) do
      assert.equal("slow", process.answers(conn).body)
      conn:close()
    end
  end

  for _, name in ipairs { "TERM", "INT" } do
    it("is one stop, also where the master was faster: SIG" .. name, function()
      local witness = child:connect()
      assert.equal(200, child:ask(ROOT, witness).status)
      child:signal(name)
      assert.equal("closed", select(2, process.rest(witness)))
      witness:close()
      signal_all(workers, name)
      all_are_answered()
      assert.equal(0, (child:wait()))
    end)

    it("is one stop, also where workers are faster: SIG" .. name, function()
      signal_all(workers, name)
      child:signal(name)
      all_are_answered()
      assert.equal(0, (child:wait()))
    end)
  end

  it("is one reload: SIGHUP", function()
    signal_all(workers, "HUP")
    child:signal "HUP"
    all_are_answered()
    child:says "generation 2 serves in 2 workers"
    child:signal "HUP"
    child:says "generation 3 serves in 2 workers"
    assert.same(workers, child:workers())
    child:stop()
  end)

  it("is one upgrade: SIGUSR2", function()
    signal_all(workers, "USR2")
    child:signal "USR2"
    all_are_answered()
    child:says "upgrade: pid %d+ serves, this one ends"
    local pid = tonumber(child:errors():match "upgrade: pid (%d+) serves")
    assert.equal(200, child:ask(ROOT).status)
    tree.signal(pid, "TERM")
    assert.equal(0, (child:wait()))
  end)
end)

describe("a worker", function()
  it("that was told to end by somebody leaves new connections to the others",
    function()
      local child = serve(2)
      local one, other = unpack(child:workers())
      hold(child, one)
      tree.signal(one, "TERM")
      for _ = 1, 20 do assert.equal(200, child:ask(ROOT).status) end
      assert.equal(tostring(other), ask(child, "/"))
      assert.is_true(tree.is_alive(one))
      end_now(child)
    end)

  it("that is stopped while it rests leaves new connections to the others", function()
    local child = serve(2)
    local one, other = unpack(child:workers())
    tree.signal(one, "STOP")
    for _ = 1, 20 do assert.equal(tostring(other), ask(child, "/")) end
    tree.signal(one, "CONT")
    child:stop()
  end)

  it("that is killed in a stop is not started again, and holds up nothing", function()
    local child = serve(2)
    local workers, witness = child:workers(), child:connect()
    for _, pid in ipairs(workers) do hold(child, pid) end
    assert.equal(200, child:ask(ROOT, witness).status)
    child:signal "TERM"
    assert.equal("closed", select(2, process.rest(witness)))
    signal_all(workers, "KILL")
    assert.equal(0, (child:wait()))
    assert.equal("", child:errors())
  end)

  it("that can't be started holds up no stop", function()
    local child = serve(1)
    process.file("app.lua", "error 'no database'")
    child:signal_worker "KILL"
    child:says "again in 0.8 s"
    child:signal "TERM"
    assert.equal(0, (child:wait()))
    assert.is_nil(child:errors():find "again in 1.6 s")
  end)

  it("is started again, and reloads, though the executable is gone", function()
    process.binary = process.path "luaweb"
    assert.equal(0, os.execute(("cp %s %s"):format(binary, process.binary)))
    local child = serve(1)
    assert(os.remove(process.binary))
    child:signal_worker "KILL"
    assert.equal(200, child:ask(ROOT).status)
    child:signal "HUP"
    child:says "generation 2 serves"
    assert.equal(200, child:ask(ROOT).status)
    child:signal "TERM"
    assert.equal(0, (child:wait()))
  end)
end)

describe("a master that was killed", function()
  it("leaves the port to the next one at once, and requests to their end", function()
    local child = serve(2)
    local conn = child:connect(SLOW)
    child:expect "^begun$"
    child:signal "KILL"
    local next_one = process.start("apps/hello.lua", "--listen",
      "127.0.0.1:" .. child.port)
    next_one:expect "http://"
    assert.equal("slow", process.answers(conn).body)
    conn:close()
    next_one:stop()
  end)
end)

describe("a program that an app starts", function()
  -- What a process has open, but for files.
  local function open(pid)
    local found = {}
    for name in lfs.dir(("/proc/%s/fd"):format(pid)) do
      local path = ("/proc/%s/fd/%s"):format(pid, name)
      local target = lfs.symlinkattributes(path, "target") or ""
      local kind = target:match "^%a+"
      if kind == "socket" or kind == "anon" or target:find "^/memfd:" then
        found[target] = true
      end
    end
    return found
  end

  it("has nothing open of the server, whose port is free when it ends", function()
    local before = open "self"
    local child = serve(2)
    local pid = tonumber(ask(child, "/child"))
    for target in pairs(open(pid)) do assert(before[target], target) end
    child:stop()
    local again = process.start("apps/hello.lua", "--listen",
      "127.0.0.1:" .. child.port)
    again:expect "http://"
    assert.is_true(tree.is_alive(pid))
    tree.signal(pid, "KILL")
    again:stop()
  end)

  it("ignores no signal that the server has other uses for", function()
    local child = serve(1)
    local theirs = ask(child, "/signals"):match "%x+\n"
    local ours = io.popen "grep SigIgn /proc/self/status":read "*a":match "%x+\n"
    assert.equal(ours, theirs)
    child:stop()
  end)
end)

describe("the error log", function()
  -- A server whose log is a FIFO, and who reads it.
  local function serve_with_fifo()
    local path = process.path "log"
    assert.equal(0, os.execute("mkfifo " .. path))
    local reader = assert(io.open(path, "r+")) -- opens at once, and for writers too
    local child = process.start_after("exec 2>" .. path .. "; ",
      process.file("app.lua", APP), "--listen", "127.0.0.1:0", "--workers", "1")
    child.port = tonumber(child:expect "http://127%.0%.0%.1:(%d+)$")
    return child, reader
  end

  it("that nobody reads holds up nobody; what that costs is told to who does",
    function()
      local child, reader = serve_with_fifo()
      assert.equal(204, child:ask(process.get "/log/3000").status)
      assert.equal(200, child:ask(ROOT).status)
      local read, lost = 0, nil
      for line in reader:lines() do
        lost = line:match "warn  (%d+) lines of this log: lost, since nobody read it"
        if lost then break end
        local number = tonumber(line:match " (%d+): x+$")
        if number then
          read = read + 1
          assert.equal(read, number)
        end
        if number == 200 then -- there is room again
          assert.equal(204, child:ask(process.get "/log/1").status)
        end
      end
      assert.equal(3000, read + lost)
      reader:close()
      child:stop()
    end)

  it("whose reader has gone ends nobody, the master neither", function()
    local child, reader = serve_with_fifo()
    reader:close()
    assert.equal(204, child:ask(process.get "/log/10").status)
    local first = child:workers()[1]
    tree.signal(first, "KILL")
    assert.equal(200, child:ask(ROOT).status)
    assert.is_not_equal(first, child:workers()[1])
    child:signal "HUP"
    child:stop()
  end)
end)
