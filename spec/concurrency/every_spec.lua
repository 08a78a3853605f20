-- SPDX-License-Identifier: MIT
-- web.every: when the function is called, what its errors do, and how it ends.
local error_log = require "spec.support.error_log"
local every_module = require "luaweb.every"
local ivar = require "luaweb.ivar"
local job = require "luaweb.job"
local now = require("system").monotime
local process = require "spec.support.process"
local roster = require "luaweb.roster"
local scope = require "luaweb.scope"
local web = require "luaweb"

local every, next_beat = every_module.every, every_module.next_beat

after_each(process.clean)

-- Lets it run until it was called so many times; gives the times of the calls.
local function calls_of(seconds, count, fn)
  local times, done = {}, ivar.new()
  local handle
  handle = every(seconds, function()
    times[#times + 1] = now()
    if fn then fn(#times) end
    if #times >= count then done:try_fill(true) end
  end)
  done:read()
  handle:stop()
  return times
end

describe("web.every", function()
  it("is a function of luaweb", function()
    assert.equal(every, web.every)
  end)

  it("calls the function again and again, first when the time is over", function()
    local start = now()
    local times = calls_of(0.02, 3)
    assert.is_true(times[1] - start >= 0.018)
    assert.is_true(times[3] - start >= 0.058)
  end)

  it("keeps to multiples of the time, however long calls take", function()
    for _, case in ipairs {
      { 0, 0, 1 },      -- the start
      { 1, 1.01, 2 },   -- a short call
      { 2, 2.99, 3 },   -- one that takes almost the whole time
      { 3, 3.999, 4 },  -- a timer that has ended early
      { 4, 9.5, 10 },   -- a long call: five beats are left out
      { 4, 10.0, 11 },
    } do
      assert.equal(case[3], next_beat(case[1], case[2]))
    end
  end)

  it("never calls it while it runs, and leaves out the beats meanwhile", function()
    local running, most, start = 0, 0, now()
    calls_of(0.005, 3, function()
      running = running + 1
      most = math.max(most, running)
      web.sleep(0.03)
      running = running - 1
    end)
    assert.equal(1, most)
    assert.is_true(now() - start >= 0.09)
  end)

  it("calls it in a job of its own, that of the server", function()
    local first, second, own_scope
    calls_of(0.001, 2, function(i)
      if i == 1 then first = job.self() else second = job.self() end
      own_scope = require("luaweb.spawn").scope()
    end)
    assert.is_true(first ~= nil and second ~= nil and first ~= second)
    assert.equal(roster.server, own_scope)
  end)

  it("goes on when the scope in which it was started has ended", function()
    local called = ivar.new()
    local handle = scope.run(function()
      return every(0.01, function() called:try_fill "called" end)
    end)
    assert.equal("called", called:read())
    handle:stop()
  end)

  it("tells the error log what a call raises, and goes on", function()
    local log = error_log.of(function()
      calls_of(0.001, 4, function(i)
        if i == 1 then error "boom" end
        if i == 2 then error({}, 0) end
        if i == 3 then coroutine.yield() end
      end)
    end)
    assert.matches(" error web.every: the function at .-every_spec.lua:%d+ failed: "
      .. ".-every_spec.lua:%d+: boom\n%s+stack traceback:", log)
    assert.matches("failed: %(error object is a table value: table: 0x", log)
    assert.matches("failed: coroutine.yield can't be called here", log)
  end)

  it("survives a stack overflow", function()
    local log = error_log.of(function()
      local function deep() return 1 + deep() end
      calls_of(0.001, 2, function(i) if i == 1 then deep() end end)
    end)
    assert.matches("stack overflow", log)
  end)

  it("refuses what is no time, no function, or another option", function()
    for _, seconds in ipairs { 0, -1, 0.0001, 0 / 0, math.huge, "1", false } do
      local ok, message = pcall(function() every(seconds, print) end)
      assert.is_false(ok)
      assert.matches("every_spec.lua:%d+: web.every wants a number of seconds, 0.001",
        message)
    end
    assert.matches("web.every wants a function", select(2, pcall(every, 1)))
    for _, options in ipairs { { once = 1 }, { twice = true }, { true } } do
      assert.matches("web.every knows one option: once = true or false",
        select(2, pcall(every, 1, print, options)))
    end
  end)

  it("takes `once`: in one worker of all", function()
    every(60, print, { once = true }):stop()
    every(60, print, { once = false }):stop()
  end)
end)

describe("what web.every gives", function()
  -- Of the server, once what has ended is gone.
  local function jobs_left()
    for _ = 1, 3 do job.yield() end
    return roster.server.count
  end

  it("stops it, and leaves nothing behind", function()
    local count, called = jobs_left(), 0
    local handle = every(0.02, function() called = called + 1 end)
    assert.equal(count + 1, jobs_left())
    handle:stop()
    handle:stop()
    assert.equal(count, jobs_left())
    web.sleep(0.04)
    assert.equal(0, called)
  end)

  it("may be stopped by the function itself, which goes on", function()
    local count, called, done = jobs_left(), 0, ivar.new()
    local handle
    handle = every(0.001, function()
      called = called + 1
      handle:stop()
      web.sleep(0.01)
      done:try_fill(true)
    end)
    done:read()
    web.sleep(0.01)
    assert.equal(1, called)
    assert.equal(count, jobs_left())
  end)

  it("may be stopped while a call runs, which goes on", function()
    local begun, done = ivar.new(), ivar.new()
    local handle = every(0.001, function()
      begun:try_fill(true)
      web.sleep(0.01)
      done:try_fill "to its end"
    end)
    begun:read()
    handle:stop()
    assert.equal("to its end", done:read())
  end)
end)

describe("a process with web.every", function()
  local function app()
    return process.file("app.lua", ([[
local web = require "luaweb"
local called, prints = 0
web.every(0.005, function()
  called = called + 1
  if prints then print "called" end
end)
web.every(3600, print)
while called < 2 do web.sleep(0.001) end
print "called while it loads"
return web.app {
  on_stop = function() print "stopped" end,
  web.get("/slow", function()
    print "begun"
    while not io.open %q do web.sleep(0.005) end
    prints = true
    web.sleep(0.1)
    print "ended"
    return ""
  end),
}
]]):format(process.path "go"))
  end

  it("calls it while the app loads, and ends all the same", function()
    local ended = process.run("routes", app())
    assert.same({ 0, "" }, { ended.code, ended.errors })
    assert.matches("^called while it loads\n", ended.output)
  end)

  it("calls it while it serves", function()
    local child = process.serve(app())
    child:expect "/slow"
    local conn = child:connect(process.get "/slow")
    process.file("go", "")
    child:expect "^called$"
    conn:close()
    child:stop()
  end)

  it("begins no call once it is told to stop, and doesn't wait for the next", function()
    local child = process.serve(app())
    child:expect "/slow"
    local witness, conn = child:connect(), child:connect(process.get "/slow")
    child:expect "^begun$"
    child:signal "TERM"
    process.rest(witness) -- closed once the stop has begun
    process.file("go", "")
    local code, output = child:wait()
    conn:close()
    assert.equal(0, code)
    assert.matches("begun\nended\nstopped\n$", output)
    assert.equal("", child:errors())
  end)
end)
