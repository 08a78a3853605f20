-- SPDX-License-Identifier: MIT
-- The tables that processes share (core/share/table.c): what each operation does, time
-- to live, and who goes when a table is full.
local fork = require "spec.support.fork"
local random = require "spec.support.random"
local tables = require "spec.support.shared_table"

local KiB, MiB = 1024, 1024 * 1024
local serial = 0

local function new(size)
  serial = serial + 1
  return tables.open("t" .. serial, size or 256 * KiB)
end

local function whole(t) assert.is_nil(t:wrong()) end

describe("a shared table", function()
  it("keeps strings, numbers and booleans as what they are", function()
    local t = new()
    for _, v in ipairs { "", "x", "a\0b", ("long"):rep(1000), 0, -1.5, 2 ^ 53, 1 / 0,
      true, false } do
      assert.equal("done", t:set("k", v))
      assert.equal(v, t:get "k")
    end
    whole(t)
  end)

  it("has keys of any octets, to 1,024", function()
    local t = new()
    for _, key in ipairs { "\0", "a", ("k"):rep(88), ("k"):rep(89), ("k"):rep(1024) } do
      t:set(key, #key)
      assert.equal(#key, t:get(key))
    end
    assert.equal(5, t:stats().count)
    whole(t)
  end)

  it("keeps values of every size around the borders of blocks", function()
    local t = new()
    for size = 80, 480 do
      local text = ("x"):rep(size - 1) .. "y"
      t:set("key", text)
      assert.equal(text, t:get "key")
      whole(t)
    end
  end)

  it("says what is absent, and deletes", function()
    local t = new()
    assert.same({ nil, "absent" }, { t:get "k" })
    assert.equal("absent", t:delete "k")
    t:set("k", 1)
    assert.equal("done", t:delete "k")
    assert.same({ nil, "absent" }, { t:get "k" })
    assert.equal(0, t:stats().used)
    whole(t)
  end)

  it("adds only where there is nothing", function()
    local t = new()
    assert.equal("done", t:add("k", 1))
    assert.equal("other", t:add("k", 2))
    assert.equal(1, t:get "k")
  end)

  it("counts, from a start, and only numbers", function()
    local t = new()
    assert.equal(11, t:incr("k", 1, 10))
    assert.equal(8, t:incr("k", -3, 10))
    t:set("s", "1")
    assert.same({ nil, "other" }, { t:incr "s" })
    assert.equal("1", t:get "s")
  end)

  it("compares and sets: values, nothing, and to nothing", function()
    local t = new()
    assert.equal("other", t:compare_and_set("k", 1, 2))
    assert.equal("done", t:compare_and_set("k", nil, "a"))
    assert.equal("other", t:compare_and_set("k", nil, "b"))
    assert.equal("other", t:compare_and_set("k", "A", "b"))
    assert.equal("done", t:compare_and_set("k", "a", true))
    assert.equal("other", t:compare_and_set("k", 1, 2))
    assert.equal("other", t:compare_and_set("k", false, 2))
    assert.equal("done", t:compare_and_set("k", true, nil))
    assert.equal("absent", select(2, t:get "k"))
    assert.equal("done", t:compare_and_set("k", nil, nil))
    whole(t)
  end)

  it("lets values expire, and what counts keeps its time", function()
    local t = new()
    t:set("k", "v", 1000)
    t:incr("n", 1, 0, 1000)
    tables.now = tables.now + 999
    assert.equal("v", t:get "k")
    assert.equal(2, t:incr("n", 1, 0, 5000))
    tables.now = tables.now + 1
    assert.equal("absent", select(2, t:get "k"))
    assert.equal(1, t:incr "n")
    assert.equal("done", t:add("k", "w"))
    whole(t)
  end)

  it("gives a value without a time for ever, whatever the one before had", function()
    local t = new()
    t:set("a", 1, 1000)
    t:set("a", 2)
    t:set("b", "x", 1000)
    t:set("b", "y")
    tables.now = tables.now + 5000
    assert.equal(2, t:get "a")
    assert.equal("y", t:get "b")
  end)

  it("refuses a value above a quarter of a part, whole", function()
    local t = new()
    local most = t:stats().max_value
    assert.is_true(most > 48 * KiB and most < 64 * KiB)
    t:set("k", "old")
    assert.equal("too large", t:set("k", ("x"):rep(most + 1025)))
    assert.equal("old", t:get "k")
    assert.equal("done", t:set("k", ("x"):rep(most)))
    assert.equal(most, #t:get "k")
    assert.equal(MiB, new(256 * MiB):stats().max_value)
  end)

  it("is one for a name and size; with another size it begins anew", function()
    local first = tables.open("again", 128 * KiB)
    first:set("k", 1)
    assert.equal(1, tables.open("again", 128 * KiB):get "k")
    local second = tables.open("again", 256 * KiB)
    assert.is_nil(second:get "k")
    assert.equal(1, first:get "k")
    assert.is_nil(tables.open("again", 128 * KiB):get "k")
  end)
end)

describe("a table that gets other sizes", function()
  it("gives the memory of old ones back", function()
    local text = ("x"):rep(50000)
    local function filled(size)
      local t = tables.open("sizes", size)
      for i = 1, size / 80000 do t:set("k" .. i, text) end
      return t
    end
    local first = filled(4 * MiB)
    local second = filled(5 * MiB)
    assert.equal(text, first:get "k50") -- a generation that ends may still use it
    local before = tables.resident_kib()
    local third = filled(64 * KiB)
    assert.equal("absent", select(2, first:get "k50"))
    assert.is_true(before - tables.resident_kib() > 2 * 1024)
    assert.equal("done", first:set("k", 1))
    for _, t in ipairs { first, second, third } do whole(t) end
  end)
end)

describe("keys", function()
  it("are listed by prefix, over all parts", function()
    local t = new(8 * MiB)
    for i = 1, 3000 do t:set((i % 3 == 0 and "a:" or "b:") .. i, i) end
    assert.equal(3000, #t:keys())
    local list, calls = t:keys "a:"
    assert.equal(1000, #list)
    assert.is_true(calls >= 12) -- no more than 256 at a time
    assert.same({}, t:keys "c")
  end)

  it("leave out what has expired, and never miss one that stays", function()
    local t = new(MiB)
    for i = 1, 1000 do t:set("k" .. i, i, i % 2 == 0 and 10 or nil) end
    tables.now = tables.now + 10
    assert.equal(500, #t:keys "k")
  end)
end)

describe("a full table", function()
  it("evicts what was used longest ago", function()
    local t = new(64 * KiB)
    local capacity = t:stats().capacity / 128
    assert.is_true(capacity > 256)
    for i = 1, capacity do
      tables.now = tables.now + 20000
      t:set("k" .. i, i)
    end
    assert.same({ capacity, 0 }, { t:stats().count, t:stats().evictions })
    for i = 1, 50 do
      tables.now = tables.now + 20000
      t:get("k" .. i)
    end
    for i = 1, 100 do
      tables.now = tables.now + 20000
      t:set("new" .. i, i)
    end
    for i = 1, 50 do assert.equal(i, t:get("k" .. i)) end
    assert.same({ capacity, 100 }, { t:stats().count, t:stats().evictions })
    whole(t)
  end)

  it("lets what has expired go first", function()
    local t = new(64 * KiB)
    local capacity = t:stats().capacity / 128
    for i = 1, capacity do
      tables.now = tables.now + 20000
      t:set("k" .. i, i, i % 4 == 0 and 1e9 or nil)
    end
    tables.now = tables.now + 1e9
    for i = 1, 100 do t:set("new" .. i, i) end
    assert.same({ 0, math.floor(capacity / 4) },
      { t:stats().evictions, t:stats().expired })
    whole(t)
  end)

  it("always has room, whatever the sizes of what came before", function()
    local t = new(64 * KiB)
    local rng = random.new(5)
    local most = t:stats().max_value
    for i = 1, 3000 do
      local size = rng:chance(5) and rng:number(most) or rng:number(300)
      local text = ("v"):rep(size)
      assert.equal("done", t:set("k" .. rng:number(500), text))
      if i % 100 == 0 then whole(t) end
    end
    assert.is_true(t:stats().used > t:stats().capacity / 2)
    for _, key in ipairs(t:keys()) do t:delete(key) end
    assert.equal(0, t:stats().used)
    whole(t)
  end)
end)

describe("the rate of a key", function()
  it("allows a burst, then what comes back", function()
    local t = new()
    for left = 2, 0, -1 do
      local result, state = t:take("peer", 10, 3)
      assert.same({ "done", left }, { result, math.floor(state.left + 1e-6) })
    end
    local result, state = t:take("peer", 10, 3)
    assert.equal("other", result)
    assert.is_true(math.abs(state.retry_s - 0.1) < 1e-6)
    assert.is_true(math.abs(state.full_s - 0.3) < 1e-6)
    tables.now = tables.now + 99000
    assert.equal("other", (t:take("peer", 10, 3)))
    tables.now = tables.now + 1000
    assert.equal("done", (t:take("peer", 10, 3)))
    assert.equal("other", (t:take("peer", 10, 3)))
    assert.equal("done", (t:take("another", 10, 3)))
  end)

  it("keeps nobody waiting for what another rate has allowed before", function()
    local t = new()
    for _ = 1, 10 do t:take("peer", 1 / 3600, 10) end
    local result, state = t:take("peer", 10, 3)
    assert.equal("other", result)
    assert.is_true(math.abs(state.retry_s - 0.1) < 1e-6)
    tables.now = tables.now + 100000
    assert.equal("done", (t:take("peer", 10, 3)))
  end)

  it("leaves nothing behind when all is there again", function()
    local t = new()
    t:take("peer", 10, 3)
    tables.now = tables.now + 100001
    assert.same({}, t:keys())
  end)
end)

describe("several processes", function()
  it("count together", function()
    local t = new()
    local pids = {}
    for i = 1, 4 do
      pids[i] = fork.start(function()
        for _ = 1, 20000 do t:incr "n" end
      end)
    end
    for _, pid in ipairs(pids) do assert.equal(0, (fork.wait(pid))) end
    assert.equal(80000, t:get "n")
    whole(t)
  end)
end)
