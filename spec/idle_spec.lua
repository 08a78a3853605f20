-- SPDX-License-Identifier: MIT
-- What a server does while nobody asks it for anything: it collects the garbage that
-- requests have left (core/host/collector.c), and then nothing.
local json = require "luaweb.json"
local process = require "spec.support.process"
local web = require "luaweb"

local APP = "spec/apps/idle.lua"

after_each(process.clean)

local function stats(child)
  return json.decode(child:ask(process.get "/stats").body)
end

-- How often the process has stopped to wait: grows whenever anything wakes it.
local function wakes(child)
  return child:status "voluntary_ctxt_switches"
end

-- Waits until the process sleeps, and then for longer; how often that was disturbed.
local function disturbances(child, seconds)
  local before
  for _ = 1, 200 do
    before = wakes(child)
    web.sleep(0.1)
    if wakes(child) == before then break end
  end
  web.sleep(seconds)
  return wakes(child) - before
end

describe("a worker without work", function()
  it("collects the garbage that requests have left, without another request", function()
    local child = process.serve(APP)
    child:ask(process.get "/garbage/80000")
    child:expect "^collected$"
    child:stop()
  end)

  it("gives back what it held", function()
    local child = process.serve(APP)
    disturbances(child, 0)
    local before = stats(child)
    child:ask(process.get "/garbage/80000")
    disturbances(child, 0)
    local now = stats(child)
    assert.is_true(now.lua_heap < before.lua_heap + 2 ^ 20, now.lua_heap)
    assert.is_true(now.collections > before.collections)
    assert.is_true(now.longest_gc_step > 0 and now.longest_gc_step < 60)
    child:stop()
  end)

  it("sleeps once that is done", function()
    local child = process.serve(APP)
    assert.equal(0, disturbances(child, 1))
    child:ask(process.get "/garbage/80000")
    assert.equal(0, disturbances(child, 1))
    child:stop()
  end)

  it("looks at most twice at what stays in use", function()
    local child = process.serve(APP)
    disturbances(child, 0)
    local before = stats(child).collections
    child:ask(process.get "/kept/80000")
    assert.equal(0, disturbances(child, 1))
    local done = stats(child).collections - before
    assert.is_true(done >= 1 and done <= 2, done)
    child:stop()
  end)

  it("does not collect for a little garbage", function()
    local child = process.serve(APP)
    child:ask(process.get "/garbage/80000") -- what is counted begins with a collection
    child:expect "^collected$"
    disturbances(child, 0)
    local before = stats(child).collections
    for _ = 1, 5 do child:ask(process.get "/garbage/100") end
    disturbances(child, 0)
    assert.equal(before, stats(child).collections)
    child:stop()
  end)

  it("does not collect where the app has stopped the collector", function()
    local child = process.serve(APP)
    disturbances(child, 0)
    child:ask(process.get "/stop")
    local before = stats(child)
    child:ask(process.get "/garbage/80000")
    assert.equal(0, disturbances(child, 0.2))
    local now = stats(child)
    assert.equal(before.collections, now.collections)
    assert.is_true(now.lua_heap > before.lua_heap + 2 ^ 21)
    child:stop()
  end)

  it("logs what finalizers raise, and goes on", function()
    local child = process.serve(APP)
    child:ask(process.get "/raising/80000")
    child:expect "^others ran$"
    assert.equal(0, disturbances(child, 0.5))
    assert.equal("root", child:ask(process.get "/").body)
    local _, count = child:errors():gsub(
      " error a finalizer failed: [^\n]*idle.lua:%d+: raised by a finalizer\n", "")
    assert.equal(2, count)
  end)

  it("runs a job that a finalizer has woken", function()
    local child = process.serve(APP)
    child:ask(process.get "/telling/80000")
    child:expect "^told$"
    child:stop()
  end)

  it("answers while it collects", function()
    local child = process.serve(APP)
    child:ask(process.get "/kept/200000")
    local conn = child:connect()
    for i = 1, 200 do
      child:ask(process.get(i % 10 == 0 and "/garbage/10000" or "/"), conn)
      if i % 20 == 0 then web.sleep(0.012) end
    end
    conn:close()
    child:stop()
  end)
end)
