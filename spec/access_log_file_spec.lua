-- SPDX-License-Identifier: MIT
-- Where the access log goes: files that are appended to and opened anew, and paths that
-- can't be opened.
local job = require "luaweb.job"
local lfs = require "lfs"
local log_file = require "spec.support.log_file"
local process = require "spec.support.process"
local web = require "luaweb"

local ROOT = process.get "/"
local APP = "spec/apps/cases.lua"
local LINE = '^127%.0%.0%.1 %- %- %[[^%]]+%] "GET / HTTP/1%.1" 200 4 "%-" "%-"$'

after_each(process.clean)

local function serve(where, ...)
  return process.serve(APP, "--access-log", where, ...)
end

local function run(command)
  assert.equal(0, os.execute(command))
end

local function ask(child, count)
  local conn = child:connect()
  for _ = 1, count do assert.equal(200, child:ask(ROOT, conn).status) end
  conn:close()
end

-- Waits until the error log has this; the whole of it.
local function says(child, pattern)
  for _ = 1, 100 do
    if child:errors():find(pattern) then return child:errors() end
    web.sleep(0.05)
  end
  error(("no %q in the log:\n%s"):format(pattern, child:errors()), 2)
end

local function now()
  return tonumber((assert(io.open "/proc/uptime"):read "*n"))
end

describe("A log file", function()
  it("is appended to", function()
    local path = process.file("access.log", "what was there\n")
    ask(serve(path), 2)
    local lines = log_file.lines(3, path)
    assert.equal("what was there", lines[1])
    assert.matches(LINE, lines[2])
    assert.matches(LINE, lines[3])
  end)

  it("may be shared by several servers: lines stay whole", function()
    local path = process.path "access.log"
    local one, other = serve(path), serve(path)
    local first, second = job.spawn(ask, one, 300), job.spawn(ask, other, 300)
    first:join()
    second:join()
    for _, line in ipairs(log_file.lines(600, path)) do assert.matches(LINE, line) end
  end)

  it("is complete when the server ends", function()
    local path = process.path "access.log"
    local child = serve(path)
    ask(child, 50)
    child:stop()
    assert.equal(50, #log_file.split(log_file.read(path)))
  end)
end)

describe("SIGUSR1", function()
  local function appears(path)
    for _ = 1, 100 do
      if lfs.attributes(path) then return end
      web.sleep(0.02)
    end
    error("there is no " .. path, 2)
  end

  local function rotate(child, path, to)
    assert(os.rename(path, to))
    child:signal "USR1"
  end

  it("opens the file anew: what came before is in the old one", function()
    local path = process.path "access.log"
    local child = serve(path)
    ask(child, 20)
    rotate(child, path, path .. ".1")
    log_file.lines(20, path .. ".1")
    ask(child, 30)
    log_file.lines(30, path)
    log_file.lines(20, path .. ".1")
    child:stop()
  end)

  it("loses no line and doubles none, while requests go on", function()
    local path = process.path "access.log"
    local child = serve(path)
    local all = job.spawn(ask, child, 1500)
    for i = 1, 5 do
      web.sleep(0.03)
      appears(path) -- as soon as the last signal was heard
      rotate(child, path, path .. "." .. i)
    end
    all:join()
    local paths = { path }
    for i = 1, 5 do paths[i + 1] = path .. "." .. i end
    for _, line in ipairs(log_file.lines(1500, unpack(paths))) do
      assert.matches(LINE, line)
    end
    child:stop()
  end)

  it("is heard without a request, too", function()
    local path = process.path "access.log"
    local child = serve(path)
    rotate(child, path, path .. ".1")
    appears(path)
  end)

  it("does nothing to a server without an access log", function()
    local child = process.serve(APP)
    child:signal "USR1"
    web.sleep(0.05)
    assert.equal("root", child:ask(ROOT).body)
    child:stop()
  end)

  it("does nothing to a log on the standard output", function()
    local child = serve "-"
    child:signal "USR1"
    child:ask(ROOT)
    child:expect(LINE)
    child:stop()
  end)

  it("goes on with the old file where there can't be a new one, and says so", function()
    local folder = process.path "logs"
    run("mkdir " .. folder)
    local path = folder .. "/access.log"
    local child = serve(path)
    run(("mv %s %s.1"):format(folder, folder))
    child:signal "USR1"
    says(child, "error access log: can't reopen " .. path:gsub("%p", "%%%0")
      .. ": no such file or directory\n")
    ask(child, 3)
    log_file.lines(3, folder .. ".1/access.log")
    run("mkdir " .. folder) -- and it can be tried again
    child:signal "USR1"
    web.sleep(0.1)
    ask(child, 2)
    log_file.lines(2, path)
  end)
end)

describe("A path that can't be opened", function()
  local function is_refused(where, why)
    local began = now()
    local ended = process.run(APP, "--listen", "127.0.0.1:0", "--access-log", where)
    assert.equal(2, ended.code)
    assert.equal(("luaweb: --access-log %s: %s\n"):format(where, why), ended.errors)
    assert.equal("", ended.output)
    assert(now() - began < 20)
  end

  it("ends luaweb with code 2 and the reason: no such folder", function()
    is_refused(process.path "missing/access.log", "no such file or directory")
  end)

  it("ends luaweb with code 2 and the reason: a folder", function()
    is_refused("json:/tmp", "illegal operation on a directory")
  end)

  it("ends luaweb with code 2 and the reason: a FIFO that nobody reads", function()
    local path = process.path "fifo"
    run("mkfifo " .. path)
    is_refused(path, "nobody reads this FIFO")
  end)

  it("ends luaweb with code 2: no path at all", function()
    assert.equal(2, process.run(APP, "--access-log", "").code)
    assert.equal(2, process.run(APP, "--access-log", "json:").code)
  end)
end)
