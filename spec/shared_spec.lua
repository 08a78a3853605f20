-- SPDX-License-Identifier: MIT
-- web.shared in an app: values, times, messages.  Over processes: shared_table_spec,
-- shared_death_spec, shared_workers_spec.
local web = require "luaweb"

local serial = 0

local function new(size)
  serial = serial + 1
  return web.shared("spec" .. serial, { size = size or "256k" })
end

describe("web.shared", function()
  it("gives what was set, as what it was", function()
    local t = new()
    for _, v in ipairs { "", "text", "a\0b", 0, -1.5, 2 ^ 53, true, false } do
      assert.is_true(t:set("k", v))
      assert.equal(v, t:get "k")
    end
    assert.is_nil((t:get "other"))
    assert.same({ true, false }, { t:delete "k", t:delete "k" })
    assert.is_nil((t:get "k"))
  end)

  it("adds, counts, compares", function()
    local t = new()
    assert.same({ true, false }, { t:add("a", "x"), t:add("a", "y") })
    assert.same({ 1, 3, 2.5 }, { t:incr "n", t:incr("n", 2), t:incr("n", -0.5) })
    assert.equal(101, t:incr("m", 1, 100))
    assert.same({ nil, "the key has a value that is no number" }, { t:incr "a" })
    assert.same({ false, true }, { t:compare_and_set("a", "z", 1),
      t:compare_and_set("a", "x", 1) })
    assert.is_true(t:compare_and_set("a", 1, nil))
    assert.is_true(t:compare_and_set("a", nil, "again"))
    assert.equal("again", t:get "a")
  end)

  it("forgets what has expired", function()
    local t = new()
    t:set("k", 1, 0.03)
    t:set("stays", 1, 100)
    t:incr("n", 5, 0, 0.03)
    t:incr("n", 5, 0, 100)
    web.sleep(0.05)
    assert.is_nil((t:get "k"))
    assert.is_nil((t:get "n"))
    assert.equal(1, t:get "stays")
    assert.is_true(t:add("k", 2))
  end)

  it("lists keys, at most as many as asked for", function()
    local t = new "8m"
    for i = 1, 5000 do t:set(("%s:%d"):format(i % 2 == 0 and "even" or "odd", i), i) end
    local list, is_all = t:keys "even:"
    assert.same({ 1000, false }, { #list, is_all })
    list, is_all = t:keys("even:", 1e6)
    assert.same({ 2500, true }, { #list, is_all })
    for _, key in ipairs(list) do assert.matches("^even:%d+$", key) end
    assert.equal(5000, #t:keys(nil, 1e4))
    assert.equal(5000, t:count())
  end)

  it("makes room when it is full, and counts that", function()
    local t = new "64k"
    for i = 1, 2000 do assert.is_true(t:set("k" .. i, ("v"):rep(i % 200))) end
    local stats = t:stats()
    assert.equal(2000, stats.count + stats.evictions)
    assert.is_true(stats.used > 0.9 * stats.capacity)
    assert.equal(65536, stats.size)
    assert.same({ 2000, 0, 0, 0, 0 }, { stats.writes, stats.expired, stats.repairs,
      stats.resets, stats.busy })
  end)

  it("counts hits and misses", function()
    local t = new()
    t:set("k", 1)
    for _, key in ipairs { "k", "k", "l" } do t:get(key) end
    assert.same({ 2, 1 }, { t:stats().hits, t:stats().misses })
  end)

  it("refuses a value that is too large, with the most that it may be", function()
    local t = new "64k"
    local most = t:stats().max_value
    local done, message = t:set("k", ("x"):rep(2 * most))
    assert.is_nil(done)
    assert.equal(("too large: %d octets; the table \"%s\" takes values of %d at most")
      :format(2 * most, t.name, most), message)
    assert.is_true(t:set("k", ("x"):rep(most)))
    assert.equal(most, #t:get "k")
  end)
end)

describe("web.shared tells the app's mistakes:", function()
  local t = new()

  local function fails(pattern, fn)
    assert.error_matches(fn, "^" .. pattern) -- which takes the place off
    assert.matches("^spec/shared_spec.lua:%d+: ", select(2, pcall(fn)))
  end

  it("keys that are none", function()
    fails("shared:get wants a string as key, not a number", function() t:get(1) end)
    fails("shared:set: a key has 1 to 1024 octets, not 0", function() t:set("", 1) end)
    fails("shared:incr: a key has 1 to 1024 octets, not 1025", function()
      t:incr(("k"):rep(1025))
    end)
    fails("shared:delete wants a string as key, not a nil", function() t:delete() end)
  end)

  it("values that can't be shared", function()
    fails("shared:set: a table can't be shared: strings, numbers and booleans can "
      .. "%(encode it, e.g. with require \"luaweb.json\".encode%)", function()
      t:set("k", {})
    end)
    fails("shared:add: a function can't be shared: strings, numbers and booleans can$",
      function() t:add("k", print) end)
    fails("shared:set wants a value; table:delete%(key%) removes one", function()
      t:set("k", nil)
    end)
    fails("shared:compare_and_set: a table can't be shared", function()
      t:compare_and_set("k", {}, 1)
    end)
  end)

  it("times to live", function()
    for _, seconds in ipairs { 0, -1, 0 / 0, 1 / 0, "1" } do
      fails("shared:set wants a time to live in seconds, more than 0", function()
        t:set("k", 1, seconds)
      end)
    end
  end)

  it("numbers to add, limits", function()
    fails("shared:incr wants a number to add", function() t:incr("k", "1") end)
    fails("shared:incr wants a number to add", function() t:incr("k", 1 / 0) end)
    fails("shared:incr wants a number to start with", function() t:incr("k", 1, {}) end)
    fails("shared:keys wants a string as prefix", function() t:keys(1) end)
    fails("shared:keys wants a limit of 1 or more", function() t:keys("", 0) end)
  end)

  it("names and sizes", function()
    fails("web.shared wants a name of 1 to 63 octets without spaces", function()
      web.shared("", { size = "1m" })
    end)
    fails("web.shared wants a name", function() web.shared("a b", { size = "1m" }) end)
    fails("web.shared: names that begin with \"web.\" are luaweb's own", function()
      web.shared("web.x", { size = "1m" })
    end)
    fails("web.shared \"x\" wants { size = ... }", function() web.shared "x" end)
    fails("web.shared \"x\": ttl: there is no such option", function()
      web.shared("x", { size = "1m", ttl = 1 })
    end)
    for _, size in ipairs { 65535, "63k", "17g", "1t", "", -1, 1e5 + 0.5, false } do
      fails("web.shared \"x\" wants a size from 64k to 16g, e.g. { size = \"10m\" }",
        function() web.shared("x", { size = size }) end)
    end
  end)

  it("the same name with another size, and where it had that", function()
    local one = web.shared("spec-twice", { size = "64k" })
    assert.equal(one, web.shared("spec-twice", { size = 65536 }))
    fails("web.shared \"spec%-twice\" has another size, 65536, at "
      .. "spec/shared_spec.lua:%d+", function()
      web.shared("spec-twice", { size = "1m" })
    end)
  end)
end)
