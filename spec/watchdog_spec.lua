-- SPDX-License-Identifier: MIT
-- The watchdog: what is said of a handler or job that does not let go of the worker,
-- which is replaced.
local lfs = require "lfs"
local eventually = require "spec.support.eventually"
local process = require "spec.support.process"

after_each(process.clean)

local TIMEOUT = "0.3"

local APP = "spec/apps/stuck.lua"

local line_of, count = {}, 0
for line in io.lines(APP) do
  count = count + 1
  local name = line:match "%-%- ([%w_]+)$"
  if name then line_of[name] = count end
end

local function serve(...) return process.serve(APP, ...) end

-- Its log, once a line has the pattern.
local function log_with(child, pattern)
  eventually("a line of the log with " .. pattern, function()
    return child:errors():find(pattern)
  end)
  return child:errors()
end

local function count_of(text, pattern)
  return select(2, text:gsub(pattern, ""))
end

-- "stuck.lua:7" as a pattern
local function place(name)
  return "[^%s]*stuck%.lua:" .. line_of[name] .. "%f[^%d]"
end

-- Whether a thread has a signal blocked.
local function is_blocked(pid, tid, signal)
  local file = assert(io.open(("/proc/%s/task/%s/status"):format(pid, tid)))
  local mask = file:read("*a"):match "SigBlk:%s*(%x+)"
  file:close()
  local at = #mask - math.floor((signal - 1) / 4)
  local digit = tonumber(mask:sub(at, at), 16)
  return math.floor(digit / 2 ^ ((signal - 1) % 4)) % 2 == 1
end

local HELD = " holds up the worker, for %d+%.%d s now %(%-%-stall%-timeout%), at:\n"

-- What each is told by, and the lines that the traceback has.
local stuck = {
  { "/loop", "a compiled loop in a handler",
    "%[%x+%-%d+%] GET /loop: the handler " .. place "handler" .. " of /loop{/more%*}",
    { "compiled", "called" } },
  { "/interpreted", "an interpreted loop in a handler",
    "GET /interpreted: the handler .* of /interpreted", { "interpreted" } },
  { "/waited", "a handler that has waited before",
    "GET /waited: the handler .* of /waited", { "compiled" } },
  { "/coroutine", "a coroutine of the app's own",
    "GET /coroutine: the handler .* of /coroutine", { "compiled", "inner", "outer" } },
  { "/decision", "a decision",
    "GET /decision: the handler " .. place "decision" .. " of /decision",
    { "compiled" } },
  { "/job", "a job", "%[%x+%-%d+%] the job " .. place "job" .. " %(background%)",
    { "compiled" } },
  { "/job_in_coroutine", "a coroutine of a job", "the job .* %(%x+%-%d+%)",
    { "compiled", "inner" } },
  { "/pool", "a handler, while threads of the pool are busy",
    "GET /pool: the handler .* of /pool", { "compiled" } },
  { "/execute", "a program that os.execute waits for",
    "GET /execute: the handler .* of /execute", { "execute" } },
  { "/find", "a pattern that string.find has no end with",
    "GET /find: the handler .* of /find", { "find" } },
  { "/poll", "a function of the C library that compiled code has called",
    "GET /poll: the handler .* of /poll", { "poll" } },
  { "/finalizer", "a finalizer", "GET /finalizer: the handler .* of /finalizer",
    { "finalizer" } },
}

describe("--stall-timeout", function()
  for _, one in ipairs(stuck) do
    local target, what, who, lines = unpack(one)
    it("names " .. what .. ", and replaces the worker", function()
      local child = serve("--stall-timeout", TIMEOUT, "--workers", "1")
      local before = child:ask(process.get "/pid").body
      local conn = child:connect(process.get(target))
      local log = log_with(child, "is started again")
      assert.matches(who .. HELD, log)
      local stack = log:match("%(%-%-stall%-timeout%), at:\n(.*)")
      for _, name in ipairs(lines) do assert.matches("\t" .. place(name), stack) end
      assert.equal(1, count_of(log, "holds up the worker"))
      assert.matches("error worker 1 %(pid " .. before .. "%) has stood still for "
        .. "%d+%.%d s %(%-%-stall%-timeout%) and is ended\n", log)
      if not log:find "does not end: killed\n" then -- as it is on a busy machine
        assert.matches("worker 1 %(pid " .. before .. "%) ended with exit code 5", log)
      end
      assert.not_equal(before, child:ask(process.get "/pid").body)
      conn:close()
    end)
  end

  it("keeps its signals from all threads but that of the loop", function()
    local child = serve("--workers", "1")
    local pid = child:ask(process.get "/pid").body
    assert.equal("busy", child:ask(process.get "/busy").body)
    local others = 0
    for tid in lfs.dir("/proc/" .. pid .. "/task") do
      if tid:find "^%d" then
        local is_loop = tid == pid
        assert.equal(not is_loop, is_blocked(pid, tid, 27), "SIGPROF of " .. tid)
        assert.equal(not is_loop, is_blocked(pid, tid, 35), "SIGRTMIN+1 of " .. tid)
        if not is_loop then others = others + 1 end
      end
    end
    assert.is_true(others > 4)
    os.execute("kill -KILL " .. pid)
  end)

  it("finds what stands still in the new generation, and in the old one", function()
    for _, target in ipairs { "/loop", "/old" } do
      local child = serve("--stall-timeout", TIMEOUT, "--workers", "1")
      local conn = child:connect()
      if target == "/old" then
        assert(conn:send(process.get(target)))
        child:expect "^begun$"
      end
      child:signal "HUP"
      log_with(child, "generation 2 serves")
      if target == "/loop" then assert(conn:send(process.get(target))) end
      assert.matches("GET " .. target .. ": the handler .* of " .. target .. ".*"
        .. HELD, log_with(child, "is started again"))
      conn:close()
    end
  end)

  it("cuts the target of a request in the log after 512 octets", function()
    local child = serve("--stall-timeout", TIMEOUT, "--workers", "1")
    local conn = child:connect(process.get("/loop/" .. ("x"):rep(2000)))
    local log = log_with(child, "holds up the worker")
    assert.matches("%] GET /loop/x+%.%.%.: the handler ", log)
    assert.equal(512, #log:match "%] (GET /loop/x+)%.%.%.")
    conn:close()
  end)

  it("has another worker serve meanwhile", function()
    local child = serve("--stall-timeout", "2", "--workers", "2")
    local conn = child:connect(process.get "/loop")
    child:expect "^begun$"
    local pid = child:ask(process.get "/pid").body
    for _ = 1, 20 do assert.equal(pid, child:ask(process.get "/pid").body) end
    log_with(child, "holds up the worker")
    conn:close()
  end)

  it("says nothing of a handler that is slow, but not too slow", function()
    local child = serve("--stall-timeout", "5", "--workers", "1")
    for _ = 1, 3 do assert.equal("slow", child:ask(process.get "/slow").body) end
    assert.equal("", child:errors())
  end)

  for _, what in ipairs { "slow", "blocks" } do
    it(("says nothing of many that together take longer: /%s"):format(what), function()
      local child = serve("--stall-timeout", "3", "--workers", "1")
      local conn = child:connect(process.get("/" .. what):rep(16))
      assert.equal(16, #{ process.answers(conn, 16) })
      assert.equal("", child:errors())
      conn:close()
    end)
  end

  it("0 lets a handler hold up the worker for ever", function()
    local child = serve("--stall-timeout", "0", "--workers", "1")
    local pid = child:ask(process.get "/pid").body
    local conn = child:connect(process.get "/loop")
    require("luaweb").sleep(0.8)
    assert.equal("", child:errors())
    os.execute("kill -KILL " .. pid)
    conn:close()
  end)

  it("ends a worker whose master was killed meanwhile", function()
    local child = serve("--stall-timeout", TIMEOUT, "--workers", "1")
    local pid = child:ask(process.get "/pid").body
    local conn = child:connect(process.get "/loop")
    child:expect "^begun$"
    child:signal "KILL"
    eventually("the end of the worker", function()
      return not lfs.attributes("/proc/" .. pid)
    end)
    assert.matches("GET /loop: the handler ", child:errors())
    conn:close()
  end)

  it("ends a worker that is to stop, too", function()
    local child = serve("--stall-timeout", TIMEOUT, "--workers", "1")
    local conn = child:connect(process.get "/loop")
    child:expect "^begun$"
    child:signal "TERM"
    assert.equal(5, (child:wait()))
    assert.matches("GET /loop: the handler ", child:errors())
    conn:close()
  end)
end)

describe("--stall-warning", function()
  local HOLDS = " holds up the worker, for 0%.%d s now %(%-%-stall%-warning%), at:\n"

  it("warns once of each handler that computes for longer, and goes on", function()
    local child = serve("--stall-warning", "0.1", "--workers", "1")
    assert.equal("slow", child:ask(process.get "/slow").body)
    assert.matches("warn  %[%x+%-%d+%] GET /slow: the handler .* of /slow" .. HOLDS,
      child:errors())
    assert.equal("slow", child:ask(process.get "/slow").body)
    assert.equal(2, count_of(child:errors(), "GET /slow: [^\n]* holds up"))
  end)

  it("warns of one that a C function has held up, behind that", function()
    local child = serve("--stall-warning", "0.1", "--workers", "1")
    assert.equal("blocked", child:ask(process.get "/blocks").body)
    assert.matches("GET /blocks: the handler .* of /blocks" .. HOLDS, child:errors())
  end)

  it("is 0.1 in luaweb dev", function()
    local child = process.start("dev", APP, "--listen", "127.0.0.1:0")
    child.port = tonumber(child:expect "http://127%.0%.0%.1:(%d+)$")
    assert.equal("blocked", child:ask(process.get "/blocks").body)
    assert.matches("GET /blocks: the handler .* of /blocks" .. HOLDS, child:errors())
  end)

  it("is off unless it is wanted", function()
    local child = serve("--workers", "1")
    assert.equal("slow", child:ask(process.get "/slow").body)
    assert.equal("", child:errors())
  end)
end)
