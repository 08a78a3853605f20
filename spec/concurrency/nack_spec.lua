-- SPDX-License-Identifier: MIT
-- Nacks (lua/luaweb/nack.lua): an alternative that was not chosen learns it, once,
-- before anything else runs.
local alt = require "luaweb.alt"
local bounded = require "luaweb.bounded"
local chan = require "luaweb.chan"
local concurrent = require "spec.support.concurrent"
local job = require "luaweb.job"
local lock = require "luaweb.lock"
local web = require "luaweb"

local settle, spawn = concurrent.settle, concurrent.spawn
local nacked, told = concurrent.nacked, concurrent.told
local always, choose, never = alt.always, alt.choose, alt.never

describe("a nack", function()
  local L, x, y, z

  before_each(function()
    L, x, y, z = concurrent.log(), chan.new(), chan.new(), chan.new()
  end)

  local function logged(...)
    settle()
    assert.same({ ... }, { unpack(L) })
  end

  it("T34 does not fire when its alternative wins", function()
    assert.equal(1, choose { told(L, "a", always(1)), always(2) }:sync())
    logged("a:inst", "a:commit")
  end)

  it("T35 fires when something right of it wins", function()
    assert.equal(2, choose { told(L, "a", never), always(2) }:sync())
    logged("a:inst", "a:abort")
  end)

  it("T36 does not come into being right of what is ready", function()
    assert.equal(1, choose { always(1), told(L, "b", always(2)) }:sync())
    logged()
  end)

  it("T37 fires before the winner goes on", function()
    spawn(function() choose { told(L, "a", x), told(L, "b", y) }:sync() end)
    y:give(1)
    logged("a:inst", "b:inst", "a:abort", "b:commit")
  end)

  local function nested()
    return choose { nacked(L, "N0", choose { nacked(L, "N1", x), nacked(L, "N2", y) }),
      nacked(L, "N3", z) }
  end

  it("T38 does not fire around the winner", function()
    spawn(function() nested():sync() end)
    x:give(1)
    logged("N2", "N3")
  end)

  it("T39 fires in the order of creation", function()
    spawn(function() nested():sync() end)
    z:give(1)
    logged("N0", "N1", "N2")
  end)

  it("T40 fires when somebody else takes what the choice gives", function()
    local c = chan.new()
    spawn(function() choose { c:give_alt(1), told(L, "q", never) }:sync() end)
    assert.equal(1, c:take())
    logged("q:inst", "q:abort")
  end)

  it("T41 stays ready for all who ask later", function()
    local nack
    choose { alt.with_nack(function(made)
      nack = made
      return never
    end), always(1) }:sync()
    for i = 1, 3 do
      spawn(function()
        nack:sync()
        L(i)
      end)
    end
    logged(1, 2, 3)
    assert.is_true(nack:ready() and (alt.poll(nack)))
  end)

  it("T42 never fires of what is waited for alone", function()
    told(L, "a", always(1)):sync()
    logged("a:inst", "a:commit")
  end)

  it("T43 fires when a poll finds nothing", function()
    assert.is_false((alt.poll(choose { told(L, "a", never) })))
    logged("a:inst", "a:abort")
  end)

  it("T45 lets a lock that was asked for twice be held once", function()
    local lk = lock.new()
    local token = choose { lk:acquire_alt(), lk:acquire_alt() }:sync()
    local other = spawn(function() lk:acquire_alt():sync():release() end)
    assert.equal("parked", other:status())
    token:release()
    other:join()
    assert.is_false(lk:is_held())
  end)

  it("T46 of a put that timed out leaves nothing in the queue", function()
    local b = bounded.new(1)
    b:put(1)
    assert.equal("late", (alt.race { { "put", b:put_alt(9) },
      { "late", web.after(0.02) } }))
    assert.equal(1, b:take())
    assert.is_false((b:try_take()))
  end)

  it("T47 runs what is on_abort: lost, won, cancelled", function()
    local function logging() L "x" end
    choose { never:on_abort(logging), always(1) }:sync()
    logged("x")
    choose { always(1):on_abort(logging), always(2) }:sync()
    logged("x")
    local owner = spawn(function() choose { never:on_abort(logging) }:sync() end)
    owner:cancel()
    logged("x", "x")
  end)

  it("of another choice that is waited for fires nacks in turn", function()
    local nack
    spawn(function()
      choose { alt.with_nack(function(made)
        nack = made
        return x
      end), y }:sync()
    end)
    spawn(function() choose { nacked(L, "second", z), nack }:sync() end)
    y:give(1)
    logged("second")
  end)

  it("that its own choice waits for is harmless", function()
    local c, got = chan.new(), nil
    spawn(function()
      local nack
      got = choose {
        alt.with_nack(function(made)
          nack = made
          return never
        end),
        alt.guard(function() return nack:wrap_value "nack" end),
        c,
      }:sync()
    end)
    c:give "c"
    settle()
    assert.equal("c", got)
  end)
end)

describe("a job as an alternative", function()
  it("by run_alt is cancelled when something else is chosen", function()
    local L = concurrent.log()
    local work = job.run_alt(function()
      web.sleep(0.05)
      L "done"
    end):on_abort(function() L "aborted" end)
    assert.equal("late", (alt.race { { "ok", work }, { "late", web.after(0.01) } }))
    web.sleep(0.08)
    assert.same({ "aborted" }, { unpack(L) })
    local seven = job.run_alt(function() return 7 end)
    assert.equal(7, choose { seven, web.after(1) }:sync())
  end)

  it("T67 that is only waited for runs on", function()
    local c = chan.new()
    local j = job.spawn(function() return c:take() end)
    choose { j, web.after(0.01) }:sync()
    assert.equal("parked", j:status())
    assert.is_true(j:cancel())
    settle()
    assert.equal("cancelled", j:status())
  end)
end)
