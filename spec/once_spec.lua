-- SPDX-License-Identifier: MIT
-- Duties: what one process of all does (core/share/once.c).
local fork = require "spec.support.fork"
local pure = require "spec.support.pure"
require "spec.support.share"

local lib = pure.load "share/once"

local function duty(name) return lib.lw_once_duty(name, #name) end

describe("a duty", function()
  it("is the same for all who give its name", function()
    local one = duty "the same"
    assert.equal(one, duty "the same")
    assert.is_true(duty "another" ~= one)
    assert.equal(one, fork.run(function() return duty "the same" end))
  end)

  it("is told from others by the end of its name, where that is long", function()
    local begin = ("x"):rep(200)
    local one = duty(begin .. "1")
    assert.is_true(duty(begin .. "2") ~= one)
    assert.equal(one, duty(begin .. "1"))
  end)

  it("is had by one process at a time, once", function()
    local one = duty "had"
    assert.is_true(lib.lw_once_take(one))
    assert.is_false(lib.lw_once_take(one))
    local function take() return lib.lw_once_take(one) and 1 or 0 end
    assert.equal(0, fork.run(take))
    lib.lw_once_give(one)
    assert.equal(1, fork.run(take))
  end)

  it("is free again when its process was killed", function()
    local one = duty "left behind"
    local pid = fork.start(function()
      lib.lw_once_take(one)
      lib.lw_once_note(one, 42)
      fork.stay()
    end)
    while lib.lw_once_last(one) == 0 do fork.sleep_ms(1) end
    assert.is_false(lib.lw_once_take(one))
    fork.kill(pid)
    fork.wait(pid)
    assert.is_true(lib.lw_once_take(one))
    assert.equal(42, tonumber(lib.lw_once_last(one)))
    lib.lw_once_give(one)
  end)

  it("that nobody has gets another name when all have one", function()
    local kept = duty "kept"
    assert.is_true(lib.lw_once_take(kept))
    for i = 1, 300 do
      local one = duty("filled " .. i)
      assert.is_true(one >= 0 and one ~= kept)
    end
    assert.equal(kept, duty "kept")
    lib.lw_once_give(kept)
  end)
end)
