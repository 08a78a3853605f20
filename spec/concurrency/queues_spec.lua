-- SPDX-License-Identifier: MIT
-- Mailboxes, bounded queues, locks, latches and broadcasts.
local alt = require "luaweb.alt"
local bounded = require "luaweb.bounded"
local broadcast = require "luaweb.broadcast"
local concurrent = require "spec.support.concurrent"
local latch = require "luaweb.latch"
local lock = require "luaweb.lock"
local mailbox = require "luaweb.mailbox"
local web = require "luaweb"

local settle, spawn = concurrent.settle, concurrent.spawn

describe("a bounded queue", function()
  it("T77 has who puts wait while it is full", function()
    local b, L = bounded.new(2), concurrent.log()
    spawn(function()
      for i = 1, 3 do
        b:put(i)
        L(i)
      end
    end)
    assert.same({ 1, 2 }, { unpack(L) })
    assert.equal(2, b:len())
    assert.equal(1, b:take())
    settle()
    assert.equal(3, #L)
    assert.same({ 2, 3 }, { b:take(), b:take() })
    assert.is_false((b:try_take()))
  end)

  it("T77 refuses a size that is none, and is a channel at 0", function()
    for _, size in ipairs { -1, 0.5, "1", 0 / 0 } do
      assert.error_matches(function() bounded.new(size) end, "wants a whole number")
    end
    local b, got = bounded.new(0), nil
    assert.is_false(b:try_put(1))
    local putter = spawn(function() b:put(2) end)
    assert.equal("parked", putter:status())
    assert.equal(2, b:take())
    spawn(function() got = b:take() end)
    assert.is_true(b:try_put(3))
    settle()
    assert.equal(3, got)
  end)

  it("gives what it holds after it was closed, and then raises", function()
    local b = bounded.new(2)
    b:put(false)
    b:put(nil)
    local put = { true }
    spawn(function() put = { pcall(b.put, b, 1) } end)
    b:close()
    settle()
    assert.same({ false, bounded.closed }, put)
    local values = {}
    for _, value in b:each() do values[#values + 1] = tostring(value) end
    assert.same({ "false", "nil" }, values)
    assert.same({ false, bounded.closed }, { pcall(b.take, b) })
    assert.same({ false, bounded.closed }, { pcall(b.put, b, 1) })
    assert.same({ false, bounded.closed }, { pcall(alt.sync, b) })
  end)
end)

describe("a mailbox", function()
  it("T78 gives one message to each who waits, in order", function()
    local mb, L = mailbox.new(), concurrent.log()
    spawn(function() L("first " .. mb:take()) end,
      function() L("second " .. mb:sync()) end)
    mb:send(1)
    mb:send(2)
    settle()
    assert.same({ "first 1", "second 2" }, { unpack(L) })
    mb:send(3)
    assert.equal(1, mb:len())
    assert.same({ true, 3 }, { mb:try_take() })
    assert.same({ false, 0 }, { (mb:try_take()), mb:len() })
  end)
end)

describe("a lock", function()
  it("T79 is free after a body that raises or is cancelled", function()
    local lk = lock.new()
    assert.is_false((pcall(lk.with, lk, error, "x")))
    assert.is_false(lk:is_held())
    local p = spawn(function() lk:with(web.sleep, 60) end)
    assert.is_true(lk:is_held())
    p:cancel()
    settle()
    assert.is_false(lk:is_held())
    assert.same({ 1, nil, 3 }, { lk:with(function(...) return ... end, 1, nil, 3) })
  end)

  it("T80 goes to the next who waits, not to one who was cancelled", function()
    local lk, L = lock.new(), concurrent.log()
    local token = lk:acquire_alt():sync()
    local function waiter(name)
      return function() lk:with(function() L(name) end) end
    end
    local _, second = spawn(waiter "first", waiter "second", waiter "third")
    second:cancel()
    token:release()
    settle()
    assert.same({ "first", "third" }, { unpack(L) })
    assert.is_false(lk:is_held())
    assert.error_matches(function() token:release() end, "it was released before")
  end)

  it("T81 says that it is not recursive", function()
    local lk = lock.new()
    local ok, message = pcall(lk.with, lk, function() lk:with(print) end)
    assert.is_false(ok)
    assert.matches("queues_spec.lua:%d+: lock:with: .*not recursive", message)
    assert.is_false(lk:is_held())
  end)
end)

describe("a latch", function()
  it("T82 opens at 0, for ever, and not below", function()
    local l = latch.new(2)
    local waiter = spawn(function() l:wait() end)
    l:done()
    settle()
    assert.equal("parked", waiter:status())
    l:done()
    settle()
    assert.equal("ok", waiter:status())
    l:wait()
    l:sync()
    assert.error_matches(function() l:done() end, "it is at 0 already")
    assert.error_matches(function() l:add() end, "it is at 0 already")
  end)

  it("waits for what it has spawned, also where that fails", function()
    local done = 0
    latch.within(function(l)
      for i = 1, 3 do
        l:spawn(function()
          web.sleep(0.005 * i)
          done = done + 1
        end)
      end
    end)
    assert.equal(3, done)
    local l = latch.new(1)
    assert.is_false((pcall(l.hold, l, error)))
    assert.equal(1, l.count)
  end)
end)

describe("a broadcast", function()
  it("T101 reaches all, counts what a slow one misses, and never waits", function()
    local b, sums = broadcast.new { cap = 4 }, {}
    for i = 1, 99 do
      local s = b:subscribe()
      sums[i] = 0
      spawn(function()
        pcall(function() while true do sums[i] = sums[i] + s:take() end end)
      end)
    end
    local slow = b:subscribe()
    local publisher = spawn(function()
      for i = 1, 10 do
        b:publish(i)
        settle()
      end
    end)
    publisher:join()
    for i = 1, 99 do assert.equal(55, sums[i]) end
    assert.equal(6, slow:lag())
    assert.same({ 7, 8, 9, 10 }, { slow:take(), slow:take(), slow:take(), slow:take() })
    assert.same({ false, 6 }, { (alt.poll(slow)), slow:lag() })
    b:close()
    assert.same({ false, broadcast.closed }, { pcall(slow.take, slow) })
  end)

  it("gives the latest, or closes who is too slow", function()
    local latest = broadcast.new { policy = "latest" }
    local s = latest:subscribe()
    for i = 1, 3 do latest:publish(i) end
    assert.same({ 3, 2 }, { s:take(), s:lag() })
    local strict = broadcast.new { policy = "disconnect", cap = 2 }
    s = strict:subscribe()
    for i = 1, 2 do strict:publish(i) end
    assert.equal(1, s:take())
    for i = 3, 5 do strict:publish(i) end
    assert.same({ false, broadcast.too_slow }, { pcall(s.take, s) })
  end)

  it("ends the wait of a subscriber that is closed", function()
    local b, got = broadcast.new(), {}
    local s, other = b:subscribe(), b:subscribe()
    spawn(function() got.closed = { pcall(s.take, s) } end,
      function() got.other = other:take() end)
    s:close()
    b:publish(1)
    settle()
    assert.same({ closed = { false, broadcast.closed }, other = 1 }, got)
  end)

  it("may have who publishes wait for the slowest", function()
    local b = broadcast.new { policy = "block", cap = 2 }
    local fast, slow = b:subscribe(), b:subscribe()
    local publisher = spawn(function() for i = 1, 5 do b:publish(i) end end)
    assert.same({ 1, 2 }, { fast:take(), fast:take() })
    settle()
    assert.equal("parked", publisher:status())
    assert.same({ 1, 2 }, { slow:take(), slow:take() })
    settle()
    assert.equal("parked", publisher:status())
    slow:close()
    assert.same({ 3, 4, 5 }, { fast:take(), fast:take(), fast:take() })
    publisher:join()
  end)
end)
