-- SPDX-License-Identifier: MIT
-- Full disks and slow readers: the access log waits for them, and drops and counts what
-- it can't keep, but no request and no stop does.
local ffi = require "ffi"
local json = require "luaweb.json"
local log_file = require "spec.support.log_file"
local process = require "spec.support.process"
local web = require "luaweb"

ffi.cdef [[
int open(const char *path, int flags, ...);
int close(int fd);
ssize_t read(int fd, void *data, size_t size);
]]

local ROOT = process.get "/"
local LINE = '^127%.0%.0%.1 %- %- %[[^%]]+%] "GET / HTTP/1%.1" 200 4 "%-" "%-"$'

after_each(process.clean)

local function serve(where)
  return process.serve("spec/apps/cases.lua", "--access-log", where)
end

local function ask(child, count, octets)
  local conn = child:connect()
  for _ = 1, count do assert.equal(200, child:ask(octets or ROOT, conn).status) end
  conn:close()
end

-- Waits until the error log has this.
local function says(child, pattern)
  for _ = 1, 100 do
    if child:errors():find(pattern) then return end
    web.sleep(0.05)
  end
  error(("no %q in the log:\n%s"):format(pattern, child:errors()), 2)
end

local function now()
  return tonumber((assert(io.open "/proc/uptime"):read "*n"))
end

describe("A full disk", function()
  it("is said, while requests go on", function()
    local child = serve "/dev/full"
    ask(child, 100)
    says(child, "error access log: no space left on device\n")
    ask(child, 100)
  end)

  it("is not said over and over", function()
    local child = serve "/dev/full"
    for _ = 1, 5 do
      ask(child, 10)
      web.sleep(0.25)
    end
    local _, count = child:errors():gsub("\n", "")
    assert.equal(1, count)
  end)

  it("costs lines, which are counted and said at the end", function()
    local child = serve "/dev/full"
    ask(child, 100)
    says(child, "no space left")
    child:signal "TERM"
    assert.equal(0, (child:wait()))
    assert.matches("warn  access log: 100 lines were dropped\n", child:errors())
  end)
end)

describe("A FIFO", function()
  local READ = 2048 + 524288 -- O_RDONLY, O_NONBLOCK, O_CLOEXEC
  local LONG = process.get("/", "User-Agent: " .. ("x"):rep(8000) .. "\r\n")
  local room = ffi.new("char[?]", 65536)
  local path, reader

  before_each(function()
    path = process.path "fifo"
    assert.equal(0, os.execute("mkfifo " .. path))
    reader = ffi.C.open(path, READ)
  end)

  local function leave()
    if reader then ffi.C.close(reader) end
    reader = nil
  end

  after_each(leave)

  -- All lines that come within a time.
  local function read_for(seconds)
    local parts, latest = {}, now() + seconds
    repeat
      local n = ffi.C.read(reader, room, 65536)
      if n > 0 then parts[#parts + 1] = ffi.string(room, n) else web.sleep(0.01) end
    until now() > latest
    return log_file.split(table.concat(parts))
  end

  local function dropped(child)
    local count = 0
    for lines in child:errors():gmatch "access log: (%d+) lines were dropped\n" do
      count = count + tonumber(lines)
    end
    return count
  end

  it("gives its lines to who reads it", function()
    ask(serve(path), 20)
    local lines = read_for(0.5)
    assert.equal(20, #lines)
    for _, line in ipairs(lines) do assert.matches(LINE, line) end
  end)

  it("does not hold up requests while its reader rests", function()
    local child = serve(path)
    local began = now()
    ask(child, 600, LONG) -- more than is kept
    assert(now() - began < 10)
  end)

  it("keeps 1 MiB and more for a slow reader; the rest is dropped, and counted",
    function()
      local child = serve("json:" .. path)
      ask(child, 600, LONG)
      says(child, "warn  access log: %d+ lines were dropped")
      local lines = read_for(2)
      for _, line in ipairs(lines) do assert(json.decode(line)) end
      assert(#lines > 130, #lines .. " lines came")
      child:signal "TERM"
      child:wait()
      assert.equal(600, #lines + dropped(child))
    end)

  it("does not hold up the end while its reader rests", function()
    local child = serve(path)
    ask(child, 20, LONG)
    local began = now()
    child:signal "TERM"
    assert.equal(0, (child:wait()))
    assert(now() - began < 20, now() - began .. " s")
    local taken = #read_for(0.1)
    assert.equal(20, taken + dropped(child))
  end)

  it("that nobody reads any more is said, and the next reader gets what was kept",
    function()
      local child = serve(path)
      ask(child, 3)
      assert.equal(3, #read_for(0.5))
      leave()
      ask(child, 5)
      says(child, "error access log: broken pipe\n")
      reader = ffi.C.open(path, READ)
      ask(child, 2)
      assert.equal(7, #read_for(1))
    end)

  it("that nobody reads may be changed for another by SIGUSR1", function()
    local child = serve(path)
    leave()
    ask(child, 5)
    says(child, "broken pipe")
    os.remove(path)
    child:signal "USR1"
    log_file.lines(5, path)
  end)
end)
