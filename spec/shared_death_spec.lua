-- SPDX-License-Identifier: MIT
-- A writer of a shared table that is killed leaves it whole and holds nobody: a short
-- form of spec/faults/shared_writers.lua; and one that is stopped there.
local fork = require "spec.support.fork"
local death = require "spec.support.shared_death"
local tables = require "spec.support.shared_table"
local ffi = require "ffi"

local C = ffi.C
pcall(ffi.cdef, "int pthread_mutex_lock(void *mutex);")

local FRONT = 4096 -- octets before the first shard, which begins with its lock

local function locked_by(t, then_)
  return fork.start(function()
    C.pthread_mutex_lock(t.memory + FRONT)
    then_()
  end)
end

local function eventually(check)
  for _ = 1, 1000 do
    if check() then return end
    fork.sleep_ms(5)
  end
  error "it did not come to pass"
end

describe("a writer that is killed", function()
  for i, step in pairs { [3] = 199, [4] = 4, [8] = 4 } do
    it("leaves the table whole: " .. death.operations[i].name, function()
      local f = death.at_every_store(death.operations[i], step, 10)
      assert.is_true(f.undone > 0)
    end)
  end

  it("leaves it whole at random moments too", function()
    local f = death.at_random(0.5)
    assert.is_true(f.deaths > 0)
  end)

  it("leaves a shard that makes no sense: it is emptied, and goes on", function()
    local t = tables.renew(65536)
    t:set("k", 1)
    fork.run(function()
      C.pthread_mutex_lock(t.memory + FRONT)
      ffi.cast("uint32_t *", t.memory + FRONT + 40)[0] = 77 -- words noted: too many
    end)
    assert.same({ nil, "absent" }, { t:get "k" })
    assert.same({ 1, 1, 0 }, { t:stats().repairs, t:stats().resets, t:stats().count })
    assert.equal("done", t:set("k", 2))
    assert.is_nil(t:wrong())
  end)
end)

describe("a writer that is stopped in the middle", function()
  it("makes others wait once for 100 ms, then say busy at once", function()
    local t = tables.renew(65536)
    t:set("k", 1)
    local pid = locked_by(t, function() fork.kill(fork.pid(), fork.SIGSTOP) end)
    eventually(function() return select(2, t:get "k") == "busy" end)
    assert.equal("busy", t:set("k", 2))
    assert.equal("busy", (t:delete "k"))
    assert.is_true(t:stats().busy >= 3)
    fork.kill(pid)
    fork.wait(pid)
    assert.equal(1, t:get "k")
    assert.equal("done", t:set("k", 2))
  end)
end)
