-- SPDX-License-Identifier: MIT
-- Choices (lua/luaweb/alt.lua, walk.lua, commit.lua): exactly one takes effect, and the
-- others leave nothing behind.
local alt = require "luaweb.alt"
local chan = require "luaweb.chan"
local concurrent = require "spec.support.concurrent"
local web = require "luaweb"

local settle, spawn = concurrent.settle, concurrent.spawn
local always, choose, never = alt.always, alt.choose, alt.never

describe("a choice", function()
  local a, b, L

  before_each(function()
    a, b, L = chan.new(), chan.new(), concurrent.log()
  end)

  it("T11 takes the leftmost that is ready, always", function()
    for _ = 1, 100 do assert.equal(1, choose { always(1), always(2) }:sync()) end
  end)

  it("T12 passes over what is never ready, and waits for ever when empty", function()
    assert.equal("e", choose { never, always "e" }:sync())
    assert.is_false((alt.poll(choose {})))
    local waits = spawn(function() choose {}:sync() end)
    assert.equal("parked", waits:status())
    waits:cancel()
  end)

  it("T13 goes through choices inside of it in order", function()
    assert.equal("b", choose { choose { never, always "b" }, always "c" }:sync())
  end)

  it("T14, T16 takes one thing and is gone at once from the others", function()
    local stayed
    local p, q = spawn(function() L(choose { a, b }:sync()) end, function()
      a:give(1)
      stayed = b:try_give(9)
      b:give(2)
    end)
    assert.is_false(stayed)
    assert.same({ 1 }, { unpack(L) })
    assert.same({ "ok", "parked" }, { p:status(), q:status() })
    assert.equal(2, b:take())
  end)

  it("T15 takes the first of two that come before it runs again", function()
    local _, q1, q2 = spawn(function() L(choose { a, b }:sync()) end,
      function() a:give(1) end, function() b:give(2) end)
    assert.same({ 1 }, { unpack(L) })
    assert.same({ "ok", "parked" }, { q1:status(), q2:status() })
    assert.equal(2, b:take())
  end)

  it("T17 may have the same channel twice, and takes one value", function()
    local _, _, second = spawn(function()
      L(choose { a:wrap_value "first", a:wrap_value "second" }:sync())
    end, function() a:give(1) end, function() a:give(2) end)
    assert.same({ "first" }, { unpack(L) })
    assert.equal("parked", second:status())
    second:cancel()
  end)

  it("T18 may be waited for by several at once, and again", function()
    local e = a:wrap(function(value) L(value) end)
    spawn(function() e:sync() end, function()
      e:sync()
      e:sync()
    end, function() for i = 1, 3 do a:give(i) end end)
    assert.same({ 1, 2, 3 }, { unpack(L) })
  end)

  it("T19 drawn at random takes each as often as the others", function()
    math.randomseed(tonumber(os.getenv "LUAWEB_SEED") or 7)
    local counts = { 0, 0, 0 }
    local e = alt.choose_random { always(1), always(2), always(3) }
    for _ = 1, 9000 do
      local value = e:sync()
      counts[value] = counts[value] + 1
    end
    for i = 1, 3 do assert.is_true(counts[i] > 2700 and counts[i] < 3300, counts[i]) end
  end)

  it("T20 takes once what is there once", function()
    local o = alt.once(5)
    local e = choose { o, always(6) }
    assert.same({ 5, 6, false }, { e:sync(), e:sync(), (alt.poll(o)) })
  end)

  it("T21 lets two crossed choices meet once", function()
    local p, q = spawn(
      function() choose { a:give_alt(1), b }:sync() end,
      function() choose { b:give_alt(2), a }:sync() end)
    assert.same({ "ok", "ok" }, { p:status(), q:status() })
    for _, c in ipairs { a, b } do
      assert.is_false(c:try_give(1))
      assert.is_false((c:try_take()))
    end
  end)

  it("T22 of 64 takes the one that becomes ready", function()
    local channels, members = {}, {}
    for i = 1, 64 do
      channels[i] = chan.new()
      members[i] = channels[i]:wrap(function(value) return { i, value } end)
    end
    local e = choose(members)
    for i = 1, 64 do
      local got
      spawn(function() got = e:sync() end)
      channels[i]:give("v" .. i)
      for k = 1, 64 do assert.is_false(channels[k]:try_give(0)) end
      settle()
      assert.same({ i, "v" .. i }, got)
    end
  end)

  it("wants alternatives, and names the member that is none", function()
    assert.error_matches(function() choose { a, 42 } end,
      "alt.choose: member 2 is not an alternative, but a number")
    assert.error_matches(function() choose(a) end, "wants a list of alternatives")
    assert.error_matches(function() alt.sync(1) end, "alt.sync wants an alternative")
  end)

  it("refuses members under other keys than 1 to n, instead of leaving them out",
  function()
    assert.error_matches(function() choose { near = a } end,
      "alt.choose: a member under the key near is not in the list")
    assert.error_matches(function() choose { a, near = a } end, "under the key near")
    assert.error_matches(function() alt.choose_random { a, [3] = a } end,
      "alt.choose_random: a member under the key 3")
    assert.equal(7, choose({ alt.always(7), n = 1 }):sync())
  end)
end)

describe("alt.race", function()
  it("gives the name of the winner, and its value", function()
    local c = chan.new()
    c:send(nil)
    local function race()
      return alt.race { { "data", c }, { "late", web.after(0.01) } }
    end
    assert.same({ "data", nil }, { race() })
    assert.same({ "late", nil }, { race() })
    assert.is_false(c:try_give(1))
  end)

  it("raises where nothing could ever win", function()
    assert.error_matches(function() alt.race {} end,
      "alt.race: the list is empty, which would wait for ever")
    assert.error_matches(function() alt.race { near = chan.new() } end,
      "alt.race: a member under the key near is not in the list")
    assert.error_matches(function() alt.race { { "a", alt.never }, late = web.after(1) }
    end, "under the key late")
    assert.error_matches(function() alt.race(alt.never) end, "alt.race wants a list of")
    assert.error_matches(function() alt.race { chan.new() } end,
      "alt.race: member 1 is not { name, alternative }")
    assert.error_matches(function() alt.race { 5 } end,
      "alt.race: member 1 is not { name, alternative }")
  end)
end)

describe("alt.both", function()
  it("waits for both, whichever comes first", function()
    local c, d, got = chan.new(), chan.new(), nil
    local function both() got = { alt.both(c, d) } end
    spawn(both, function() c:give(1) d:give(2) end)
    assert.same({ 1, 2 }, got)
    spawn(both, function() d:give(3) c:give(4) end)
    assert.same({ 4, 3 }, got)
  end)
end)

describe("alt.idle", function()
  it("is ready after the others have had a turn", function()
    local L = concurrent.log()
    spawn(function() L "other" end)
    alt.idle:sync()
    L "idle"
    assert.same({ "other", "idle" }, { unpack(L) })
  end)
end)
