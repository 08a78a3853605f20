-- SPDX-License-Identifier: MIT
-- What is easily left out of a promise: that nothing else happened, and that the rest
-- of the outcome holds as well.  The scenarios are those of the other specs here.
local alt = require "luaweb.alt"
local bounded = require "luaweb.bounded"
local broadcast = require "luaweb.broadcast"
local chan = require "luaweb.chan"
local commit_watch = require "luaweb.commit_watch"
local concurrent = require "spec.support.concurrent"
local ivar = require "luaweb.ivar"
local job = require "luaweb.job"
local latch = require "luaweb.latch"
local lock = require "luaweb.lock"
local mailbox = require "luaweb.mailbox"
local mvar = require "luaweb.mvar"
local now = require("system").monotime
local promise = require "luaweb.promise"
local scope = require "luaweb.scope"
local test = require "luaweb.test"
local web = require "luaweb"

local settle, spawn, told = concurrent.settle, concurrent.spawn, concurrent.told
local choose = alt.choose

describe("a choice", function()
  it("T21 that is crossed with another carries one value, one way", function()
    local a, b = chan.new(), chan.new()
    local p, q = spawn(
      function() return choose { a:give_alt(1):wrap_value "gave", b }:sync() end,
      function() return choose { b:give_alt(2):wrap_value "gave", a }:sync() end)
    local got = { p:join(), q:join() }
    assert.is_true((got[1] == "gave" and got[2] == 1)
      or (got[1] == 2 and got[2] == "gave"))
  end)

  it("T18 may be shared by two who wait, of whom each has its own outcome", function()
    local a, calls = chan.new(), 0
    local e = choose { a:wrap(function(value)
      calls = calls + 1
      return value
    end), alt.never }
    local p, q = spawn(function() return e:sync() end, function() return e:sync() end)
    a:give "p"
    a:give "q"
    assert.same({ "p", "q", 2 }, { p:join(), q:join(), calls })
  end)

  it("T30 is wrapped once, whichever member wins", function()
    local a, b, calls = chan.new(), chan.new(), 0
    for i, c in ipairs { a, b } do
      local p = spawn(function()
        choose { a, b }:wrap(function() calls = calls + 1 end):sync()
      end)
      c:give(1)
      p:join()
      assert.equal(i, calls)
    end
  end)

  it("T37 has all its nacks fired before anybody else runs", function()
    local c, L, nack = chan.new(), concurrent.log(), nil
    spawn(function()
      choose { alt.with_nack(function(made)
        nack = made
        return alt.never
      end), c }:sync()
    end)
    c:give(1)
    L(nack:ready())
    assert.same({ true }, { unpack(L) })
  end)

  it("I17 of what is busy and what is quiet leaves nothing at the quiet", function()
    local quiet = { chan.new(), chan.new():give_alt(1), mailbox.new(), bounded.new(1),
      bounded.new(0):put_alt(1), ivar.new(), mvar.new(), mvar.new():read_alt(),
      latch.new(1), broadcast.new():subscribe(), web.after(60), web.stopping,
      job.spawn(chan.new().take, chan.new()) }
    settle()
    for _, member in ipairs(quiet) do
      local busy = chan.new()
      local e = choose { member, busy }
      local taker = spawn(function() for _ = 1, 500 do e:sync() end end)
      local start = commit_watch.counts().nodes
      for _ = 1, 499 do
        busy:give(1)
        job.yield()
        assert.equal(start, commit_watch.counts().nodes)
      end
      busy:give(1)
      taker:join()
    end
    quiet[#quiet]:cancel()
  end)
end)

-- How to take of an object, and how to put: a new one, take, put.
local kinds = {
  bounded = { function() return bounded.new(1) end, "take", "put" },
  broadcast = { function()
    local b = broadcast.new()
    local s = b:subscribe()
    return { take = function() return s:take() end,
      publish = function(_, value) b:publish(value) end }
  end, "take", "publish" },
  chan = { chan.new, "take", "send" },
  ivar = { ivar.new, "read", "fill" },
  mailbox = { mailbox.new, "take", "send" },
  mvar = { mvar.new, "take", "fill" },
}

describe("what comes for somebody who waits", function()
  for name, kind in pairs(kinds) do
    local new, take, put = unpack(kind)

    it("by " .. name .. " goes to the next when that one has left", function()
      local object = new()
      local function taker() return object[take](object) end
      local first, second = spawn(taker, taker)
      first:cancel()
      object[put](object, "value")
      assert.equal("value", second:join())
      assert.equal("cancelled", first:status())
    end)

    it("by " .. name .. " stays with who was just served, cancelled or not", function()
      local object, got, after = new(), nil, nil
      local p = spawn(function()
        got = object[take](object)
        after = pcall(job.yield)
      end)
      object[put](object, "value")
      p:cancel()
      settle()
      assert.same({ "value", false }, { got, after })
    end)
  end

  it("by a lock that is passed on to who is cancelled is free again", function()
    local lk, entered = lock.new(), 0
    local token = lk:acquire_alt():sync()
    local p, q = spawn(function()
      lk:with(function()
        entered = entered + 1
        job.yield()
      end)
    end, function() lk:with(function() entered = entered + 1 end) end)
    token:release()
    p:cancel()
    settle()
    assert.same({ "cancelled", "ok", 2 }, { p:status(), q:status(), entered })
    assert.is_false(lk:is_held())
  end)

  it("by a lock that loses in a choice is left to others", function()
    local lk = lock.new()
    local token = lk:acquire_alt():sync()
    assert.equal("late", (alt.race { { "held", lk:acquire_alt() },
      { "late", web.after(0.001) } }))
    token:release()
    assert.is_false(lk:is_held())
  end)
end)

describe("a scope", function()
  it("T65 runs finalizers once all its jobs have ended", function()
    local L = concurrent.log()
    scope.run(function(s)
      s:finally(function() L "finalizer" end)
      for _ = 1, 3 do
        s:spawn(job.ensure, function() web.sleep(60) end, function()
          web.sleep(0.002)
          L "ended"
        end)
      end
      settle()
    end)
    assert.same({ "ended", "ended", "ended", "finalizer" }, { unpack(L) })
  end)

  it("that has ended takes no finalizer, which would never run", function()
    local kept
    scope.run(function(s)
      kept = s
      s:finally(function() end)
    end)
    local ok, err = pcall(function() kept:finally(print) end)
    assert.is_false(ok)
    assert.matches("outcomes_spec.lua:%d+: scope:finally: this scope has ended", err)
  end)

  it("tells the error of a cleanup, whatever has cancelled its job", function()
    local c = chan.new()
    local p = spawn(function()
      job.ensure(function() c:take() end, function() error("disk full", 0) end)
    end)
    p:cancel "stop"
    local ok, err = pcall(p.join, p)
    assert.same({ false, "disk full", "failed" }, { ok, err, p:status() })
  end)
end)

describe("a promise", function()
  it("T83 gives its value to all who read, and runs for none otherwise", function()
    local runs = 0
    local function run()
      runs = runs + 1
      web.sleep(0)
      return runs
    end
    local p, unread = promise.lazy(run), promise.lazy(run)
    local function read() return p:read() end
    local jobs = { spawn(read, read, read) }
    for i = 1, 3 do assert.equal(1, jobs[i]:join()) end
    assert.equal(1, runs)
    assert.is_false(unread:is_fulfilled())
    assert.error_matches(function() unread:get() end, "it is empty")
  end)
end)

describe("time", function()
  local function busy(seconds)
    local start = now()
    repeat until now() - start > seconds
  end

  it("I15 begins when it is waited for, not when the turn began", function()
    job.yield()
    busy(0.04)
    local start = now()
    choose { alt.never, web.after(0.03) }:sync()
    assert.is_true(now() - start >= 0.029)
    busy(0.04)
    start = now()
    web.sleep(0.03)
    assert.is_true(now() - start >= 0.029)
  end)

  it("T92 and sockets come to jobs that never rest", function()
    local client = test.app(web.app { web.get("/", function() return "echo" end) })
    local over_socket = client:over_socket()
    local ping, pong = chan.new(), chan.new()
    local p, q = spawn(function() while true do ping:give(pong:take()) end end,
      function()
        while true do
          pong:give(1)
          ping:take()
        end
      end)
    assert.equal("echo", over_socket:get("/").body)
    p:cancel()
    q:cancel()
  end)
end)

describe("a nack", function()
  it("T38 of what won stays unfired, also afterwards", function()
    local L, x, y, kept = concurrent.log(), chan.new(), chan.new(), {}
    local function keep(name, inner)
      return alt.with_nack(function(nack)
        kept[name] = nack
        return inner
      end)
    end
    spawn(function()
      choose { keep("N0", choose { keep("N1", x), keep("N2", y) }), keep("N3",
        chan.new()) }:sync()
      L "committed"
    end)
    x:give(1)
    settle()
    assert.same({ N0 = false, N1 = false, N2 = true, N3 = true }, {
      N0 = kept.N0:ready(), N1 = kept.N1:ready(), N2 = kept.N2:ready(),
      N3 = kept.N3:ready() })
    assert.is_false((alt.poll(kept.N0)))
    assert.same({ "committed" }, { unpack(L) })
  end)

  it("T45 of a lock that was asked for twice leaves one holder", function()
    local lk, L = lock.new(), concurrent.log()
    local token = choose { told(L, "a", lk:acquire_alt()),
      told(L, "b", lk:acquire_alt()) }:sync()
    settle()
    assert.same({ "a:inst", "a:commit" }, { unpack(L) })
    token:release()
    assert.is_false(lk:is_held())
  end)
end)
