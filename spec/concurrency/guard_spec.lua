-- SPDX-License-Identifier: MIT
-- Guards, and what is wrapped around an alternative (lua/luaweb/walk.lua).
local alt = require "luaweb.alt"
local chan = require "luaweb.chan"
local concurrent = require "spec.support.concurrent"
local job = require "luaweb.job"
local now = require("system").monotime
local web = require "luaweb"

local spawn, told = concurrent.spawn, concurrent.told
local always, choose, guard, never = alt.always, alt.choose, alt.guard, alt.never

local E = setmetatable({}, { __tostring = function() return "E" end })
local function raise() error(E, 0) end

it("a guard may make an alternative again and again, compiled or not", function()
  local c, seen = chan.new(), 0
  for i = 1, 40 do
    jit.flush() -- where the compiler begins decides whether it went wrong
    local made = alt.guard(function()
      seen = seen + 1
      return c:give_alt(i)
    end)
    for _ = 1, i % 4 do alt.poll(c) end
    for _ = 1, 200 do alt.poll(made) end
  end
  assert.equal(8000, seen)
end)

describe("a guard", function()
  local L, c

  before_each(function()
    L, c = concurrent.log(), chan.new()
  end)

  it("T23 runs at each sync, not when it is built", function()
    local count = 0
    local g = guard(function()
      count = count + 1
      return always(count)
    end)
    assert.equal(0, count)
    assert.same({ 1, 2, 3 }, { g:sync(), g:sync(), g:sync() })
  end)

  it("T24 does not run when something left of it is ready", function()
    choose { always(1), guard(function() L "ran" end) }:sync()
    assert.equal(0, #L)
  end)

  it("T25 runs once when the choice waits, from left to right", function()
    local function logging(name, alternative)
      return guard(function()
        L(name)
        return alternative
      end)
    end
    local taker = spawn(function()
      return choose { logging("a", never), logging("b", c), logging("d", never) }:sync()
    end)
    c:give(5)
    assert.equal(5, taker:join())
    assert.same({ "a", "b", "d" }, { unpack(L) })
  end)

  it("T26 may not wait", function()
    local waits = {
      ["chan:take"] = function() c:take() end,
      ["job.start"] = function() job.start(print) end,
      ["web.sleep"] = function() web.sleep(0) end,
    }
    for name, wait in pairs(waits) do
      local ok, message = pcall(alt.sync, guard(wait))
      assert.is_false(ok)
      assert.matches(name .. " can't wait here: it was called inside a guard", message)
    end
    assert.is_false(c:try_give(1))
    web.sleep(0)
  end)

  it("may send, spawn and poll", function()
    local got = choose { guard(function()
      c:send(7)
      job.spawn(function() L "spawned" end)
      assert(not alt.poll(choose { never, chan.new() }))
      return c
    end) }:sync()
    concurrent.settle()
    assert.same({ 7, "spawned" }, { got, L[1] })
  end)

  it("that makes something left of it ready lets that win", function()
    local d = chan.new()
    assert.equal("left", choose { d, guard(function()
      d:send "left"
      return never
    end) }:sync())
  end)

  it("T27 must give an alternative; what was walked is not chosen", function()
    for _, maker in ipairs { guard, alt.with_nack } do
      local log = concurrent.log()
      local ok, message = pcall(alt.sync, choose { told(log, "a", never),
        maker(function() return 42 end) })
      concurrent.settle()
      assert.is_false(ok)
      assert.matches("a guard must give an alternative, not a number", message)
      assert.same({ "a:inst", "a:abort" }, { unpack(log) })
    end
  end)
end)

describe("wrap", function()
  local L, a, b

  before_each(function()
    L, a, b = concurrent.log(), chan.new(), chan.new()
  end)

  local function logging(entry) return function() L(entry) end end

  it("T28 goes from the inside to the outside", function()
    assert.equal(20, always(1):wrap(function(v) return v + 1 end)
      :wrap(function(v) return v * 10 end):sync())
  end)

  it("T29 runs for the winner only", function()
    a:send(1)
    choose { b:wrap(logging "B"), a:wrap(logging "A") }:sync()
    assert.same({ "A" }, { unpack(L) })
  end)

  it("T30 around a choice runs once, whichever wins", function()
    for _, c in ipairs { a, b } do
      local taker = spawn(function()
        return choose { a, b }:wrap(function(v) return v + 1 end):sync()
      end)
      c:give(1)
      assert.equal(2, taker:join())
    end
  end)

  it("T31 runs in the job that waits", function()
    local self
    local taker = spawn(function() a:wrap(function() self = job.self() end):sync() end)
    a:give(1)
    taker:join()
    assert.is_true(self == taker)
  end)

  it("T32 may wait, for which the other side doesn't", function()
    local taker = spawn(function()
      a:wrap(function() web.sleep(1) end):sync()
    end)
    local start = now()
    a:give(1)
    assert.is_true(now() - start < 0.9)
    taker:join()
    assert.is_true(now() - start >= 0.999)
  end)

  it("T33 that raises harms neither the giver nor those that lost", function()
    local taker = spawn(function()
      choose { told(L, "a", a), b:wrap(raise) }:sync()
    end)
    b:give(1)
    local ok, err = pcall(taker.join, taker)
    concurrent.settle()
    assert.is_true(not ok and err == E)
    assert.same({ "a:inst", "a:abort" }, { unpack(L) })
  end)
end)

describe("an error", function()
  local L

  before_each(function() L = concurrent.log() end)

  it("T49 of a guard ends the sync there", function()
    local ok, err = pcall(alt.sync, choose { told(L, "a", never), guard(raise),
      told(L, "b", always(1)) })
    concurrent.settle()
    assert.is_true(not ok and err == E)
    assert.same({ "a:inst", "a:abort" }, { unpack(L) })
  end)

  it("of a with_nack function fires its own nack", function()
    local nack
    pcall(alt.sync, alt.with_nack(function(made)
      nack = made
      raise()
    end))
    assert.is_true(nack:ready())
  end)

  it("T50 of a guard is caught by what is around it", function()
    local caught = guard(raise):catch(function(err) return err end)
    assert.is_true(E == choose { never, caught }:sync())
  end)

  it("T51 is caught by what is outside of it only", function()
    local seen
    local e = always(1):wrap(raise):catch(function(err) seen = err end)
      :wrap(function() error("E2", 0) end)
    assert.same({ false, "E2" }, { pcall(alt.sync, e) })
    assert.is_true(seen == E)
  end)

  it("T52 that is none is not caught", function()
    local c = chan.new()
    assert.equal(1, choose { c:catch(function() L "caught" end), always(1) }:sync())
    assert.equal(0, #L)
  end)

  it("T53 keeps its identity", function()
    local t = {}
    local ok, err = pcall(alt.sync, always(1):wrap(function() error(t, 0) end))
    assert.is_true(not ok and rawequal(err, t))
  end)

  it("T54 or a value runs what is finally, a loss doesn't", function()
    local function logging() L "ran" end
    assert.equal(1, always(1):finally(logging):sync())
    assert.equal(1, #L)
    assert.is_false((pcall(alt.sync, alt.raises(E):finally(logging))))
    assert.equal(2, #L)
    assert.equal(2, choose { never:finally(logging), always(2) }:sync())
    assert.equal(2, #L)
  end)

  it("takes the second function of try, a value the first", function()
    local function double(v) return v * 2 end
    local function tell(err) return "caught " .. tostring(err) end
    assert.equal(8, always(4):try(double, tell):sync())
    assert.equal("caught E", alt.raises(E):try(double, tell):sync())
    assert.is_true(E == always(4):wrap_error(E):catch(function(e) return e end):sync())
  end)
end)
