-- SPDX-License-Identifier: MIT
-- Semaphores: so many at once, first come, first served, and places that come back.
local alt = require "luaweb.alt"
local chan = require "luaweb.chan"
local concurrent = require "spec.support.concurrent"
local job = require "luaweb.job"
local scope = require "luaweb.scope"
local semaphore = require "luaweb.semaphore"
local web = require "luaweb"

local settle = concurrent.settle

-- Jobs that hold a place each until they take from the gate.
local function holders(gate, sem, n, log)
  for i = 1, n do
    job.spawn(function()
      sem:with(function()
        log(i)
        gate:take()
      end)
    end)
  end
  settle()
end

describe("a semaphore", function()
  it("lets so many in at once, and others in the order in which they came", function()
    local sem, gate, L = semaphore.new(2), chan.new(), concurrent.log()
    holders(gate, sem, 5, L)
    assert.same({ 1, 2 }, { unpack(L) })
    assert.equal(3, sem:waiters())
    gate:send(true)
    settle()
    assert.same({ 1, 2, 3 }, { unpack(L) })
    for _ = 1, 4 do gate:send(true) end
    settle()
    assert.same({ 1, 2, 3, 4, 5 }, { unpack(L) })
    assert.equal(0, sem:waiters())
    assert.is_true((sem:acquire_alt():poll()))
  end)

  it("calls the function with arguments, and gives all it returns", function()
    assert.same({ 2, nil, "x" }, { semaphore.new(1):with(function(a, b)
      return a + 1, nil, b
    end, 1, "x") })
  end)

  it("gives the place of one that raises or is cancelled to the next", function()
    local sem, L = semaphore.new(1), concurrent.log()
    local ok, err = pcall(sem.with, sem, error, { "mine" })
    assert.is_false(ok)
    assert.same({ "mine" }, err)
    local first = job.spawn(function() sem:with(web.sleep, 30) end)
    local second = job.spawn(function() sem:with(L, "second") end)
    local third = job.spawn(function() sem:with(L, "third") end)
    settle()
    second:cancel "it waits no more"
    first:cancel "enough"
    third:join()
    assert.same({ "third" }, { unpack(L) })
    assert.is_true((sem:acquire_alt():poll()))
  end)

  it("is an alternative, whose token gives the place back once", function()
    local sem = semaphore.new(1)
    local token = sem:acquire_alt():sync()
    local name = alt.race { { "mine", sem:acquire_alt() }, { "late", web.after(0.01) } }
    assert.equal("late", name)
    assert.equal(0, sem:waiters())
    token:release()
    assert.error_matches(function() token:release() end, "it was released before")
    scope.with(sem:acquire_alt():sync(), function()
      assert.is_false((sem:acquire_alt():poll()))
    end)
    assert.is_true((sem:acquire_alt():poll()))
  end)

  it("lets nobody overtake one who waits", function()
    local sem, gate, L = semaphore.new(1), chan.new(), concurrent.log()
    holders(gate, sem, 2, L)
    gate:send(true)
    assert.is_false((sem:acquire_alt():poll())) -- it is the second's before it runs
    gate:send(true)
    settle()
    assert.same({ 1, 2 }, { unpack(L) })
  end)

  it("wants at least one place", function()
    for _, wrong in ipairs { 0, 1.5, "2", -1 } do
      assert.error_matches(function() semaphore.new(wrong) end,
        "semaphore.new wants a whole number of places, 1 or more")
    end
  end)
end)
