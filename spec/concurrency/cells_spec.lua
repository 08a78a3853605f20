-- SPDX-License-Identifier: MIT
-- IVars, MVars and promises (lua/luaweb/ivar.lua, mvar.lua, promise.lua).
local alt = require "luaweb.alt"
local concurrent = require "spec.support.concurrent"
local ivar = require "luaweb.ivar"
local mvar = require "luaweb.mvar"
local promise = require "luaweb.promise"
local web = require "luaweb"

local settle, spawn = concurrent.settle, concurrent.spawn
local E = setmetatable({}, { __tostring = function() return "E" end })

describe("an ivar", function()
  it("T74 is filled once", function()
    local iv = ivar.new()
    iv:fill(1)
    assert.error_matches(function() iv:fill(2) end, "it is full")
    assert.error_matches(function() iv:fail(2) end, "it is full")
    assert.is_false(iv:try_fill(3) or iv:try_fail(3))
    assert.same({ 1, 1, 1 }, { iv:read(), iv:get(), iv:sync() })
  end)

  it("T55 that fails raises the same in all who read", function()
    local iv, errors = ivar.new(), {}
    local function read()
      local _, err = pcall(iv.read, iv)
      errors[#errors + 1] = err
    end
    spawn(read, read, function() iv:fail(E) end)
    assert.is_true(errors[1] == E and errors[2] == E)
  end)

  it("T56 that has failed is ready, and raises", function()
    local failed = ivar.failed(E)
    local ok, err = pcall(alt.sync, alt.choose { failed, alt.always(1) })
    assert.is_true(not ok and err == E)
    assert.equal(1, alt.choose { alt.always(1), failed }:sync())
  end)

  it("may hold nil, and tells when it is empty", function()
    assert.is_true(ivar.new(nil):is_full())
    assert.is_nil(ivar.new(nil):read())
    assert.is_false(ivar.new():is_full())
    assert.error_matches(function() ivar.new():get() end, "it is empty")
  end)
end)

describe("an mvar", function()
  it("T75 is filled when empty, emptied by take and not by read", function()
    local mv = mvar.new(1)
    assert.error_matches(function() mv:fill(2) end, "it is full")
    assert.same({ 1, 1, 1 }, { mv:read(), mv:read_alt():sync(), mv:take() })
    assert.is_false((alt.poll(mv)) or (alt.poll(mv:read_alt())))
    mv:fill(2)
    assert.equal(2, mv:sync())
  end)

  it("gives to readers and one taker that wait, in order", function()
    local mv, L = mvar.new(), concurrent.log()
    local function reader() L("read " .. mv:read()) end
    local function taker() L("took " .. mv:take()) end
    spawn(reader, taker, reader, taker)
    mv:fill(1)
    settle()
    assert.same({ "read 1", "took 1" }, { unpack(L) })
    mv:fill(2)
    settle()
    assert.same({ "read 2", "took 2" }, { L[3], L[4] })
  end)

  it("T76 has its old value again when an update raises", function()
    local mv = mvar.new(1)
    local ok, err = pcall(mv.update, mv, function() error(E, 0) end)
    assert.is_true(not ok and err == E)
    assert.equal(1, mv:read())
    mv:update(function(v) return v + 1 end)
    assert.equal("was 2", mv:modify(function(v) return v * 10, "was " .. v end))
    assert.equal(20, mv:take())
  end)

  it("has its old value again when the job that updates is cancelled", function()
    local mv = mvar.new(1)
    local p = spawn(function() mv:update(function() web.sleep(60) end) end)
    p:cancel()
    settle()
    assert.equal(1, mv:take())
  end)
end)

describe("a promise", function()
  it("T83 runs its function once for all who read, and not for nobody", function()
    local runs, errors = 0, {}
    local p = promise.lazy(function()
      runs = runs + 1
      web.sleep(0)
      error(E, 0)
    end)
    settle()
    assert.equal(0, runs)
    local jobs = { spawn(function() p:read() end, function() p:sync() end,
      function() p:read() end) }
    for i, j in ipairs(jobs) do errors[i] = select(2, pcall(j.join, j)) end
    assert.same({ E, E, E }, errors)
    assert.equal(1, runs)
  end)

  it("T84 is not stopped by who stops waiting", function()
    local p = promise.lazy(function()
      web.sleep(0.05)
      return "value"
    end)
    assert.equal("late", (alt.race { { "p", p }, { "late", web.after(0.01) } }))
    assert.is_false(p:is_fulfilled())
    assert.equal("value", p:read())
    assert.equal("value", p:get())
  end)

  it("may be made of a value, an error, or a function that starts now", function()
    assert.equal(1, promise.of(1):read())
    assert.is_false((pcall(alt.sync, promise.failed(E))))
    local ran = false
    local p = promise.spawn(function()
      ran = true
      return 2
    end)
    settle()
    assert.same({ true, 2 }, { ran, p:read() })
  end)
end)
