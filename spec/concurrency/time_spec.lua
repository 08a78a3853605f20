-- SPDX-License-Identifier: MIT
-- web.after and web.sleep (lua/luaweb/timer.lua): time as an alternative.
local alt = require "luaweb.alt"
local chan = require "luaweb.chan"
local commit_watch = require "luaweb.commit_watch"
local concurrent = require "spec.support.concurrent"
local job = require "luaweb.job"
local now = require("system").monotime
local process = require "spec.support.process"
local web = require "luaweb"

local choose = alt.choose

after_each(process.clean)

describe("web.after", function()
  it("T68 of 0 is ready at once", function()
    assert.equal("t", choose { web.after(0):wrap_value "t", alt.always(2) }:sync())
    assert.is_true((alt.poll(web.after(0))))
  end)

  it("T69 starts its clock at each sync", function()
    local t, start = web.after(0.05), now()
    t:sync()
    t:sync()
    assert.is_true(now() - start >= 0.098)
  end)

  it("T70 goes by the end of the time, then by the start", function()
    local L, jobs = concurrent.log(), {}
    for i, ms in ipairs { 30, 10, 20, 40, 40, 40, 40 } do
      jobs[i] = job.spawn(function()
        web.after(ms / 1000):sync()
        L(i)
      end)
    end
    for _, j in ipairs(jobs) do j:join() end
    assert.same({ 2, 3, 1, 4, 5, 6, 7 }, { unpack(L) })
  end)

  it("T71 refuses what is no time, and never ends where that is infinite", function()
    for _, value in ipairs { -1, 0 / 0, -math.huge, "1" } do
      local ok, message = pcall(function() return (web.after(value)) end)
      assert.is_false(ok)
      assert.matches("time_spec.lua:%d+: web.after wants a number of seconds", message)
    end
    assert.equal("never", web.after(math.huge).kind)
    assert.is_false((alt.poll(web.after(math.huge))))
  end)

  it("T72 that has lost is not armed any more", function()
    local c, before = chan.new(), job.stats().timers
    local taker = job.spawn(function() choose { c, web.after(3600) }:sync() end)
    job.yield()
    assert.equal(before + 1, job.stats().timers)
    c:give(1)
    assert.equal(before, job.stats().timers)
    taker:join()
  end)

  it("T72 that has lost does not keep the program", function()
    local path = process.file("lost_spec.lua", [[
      it("loses", function()
        local c, web = require("luaweb.chan").new(), require "luaweb"
        c:send(1)
        local choose = require("luaweb.alt").choose
        assert.equal(1, choose { c, web.after(3600) }:sync())
        require("luaweb.job").spawn(function() c:give(2) end)
        assert.equal(2, choose { c, web.after(3600) }:sync())
      end)]])
    local start = now()
    local run = process.run("test", path)
    assert.matches("1 passed, 0 failed", run.output)
    assert.is_true(now() - start < 30)
  end)

  it("T73 that has lost leaves nothing behind", function()
    commit_watch.off()
    local c = chan.new()
    local e = choose { c, web.after(500) }
    local taker = job.spawn(function() for _ = 1, 300000 do e:sync() end end)
    local function give(n) for _ = 1, n do c:give(1) end end
    local function heap()
      collectgarbage()
      collectgarbage()
      return collectgarbage "count"
    end
    job.yield()
    give(1000)
    local early, nodes = heap(), commit_watch.counts().nodes
    give(299000)
    taker:join()
    local late = heap()
    commit_watch.on()
    assert.is_true(late <= early * 1.2, ("%d KiB, then %d KiB"):format(early, late))
    assert.is_true(commit_watch.counts().nodes <= nodes)
  end)

  it("never ends early", function()
    for _, seconds in ipairs { 0.001, 0.0015, 0.02 } do
      local start = now()
      choose { alt.never, web.after(seconds) }:sync()
      assert.is_true(now() - start >= seconds - 0.001)
    end
  end)
end)
