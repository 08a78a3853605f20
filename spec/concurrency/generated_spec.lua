-- SPDX-License-Identifier: MIT
-- Laws of the commit protocol, over alternatives and schedules drawn at random.  The
-- seed is in the title of each case; LUAWEB_SEED sets it.
local alt = require "luaweb.alt"
local bounded = require "luaweb.bounded"
local chan = require "luaweb.chan"
local commit_watch = require "luaweb.commit_watch"
local concurrent = require "spec.support.concurrent"
local job = require "luaweb.job"
local scope = require "luaweb.scope"
local web = require "luaweb"

local CASES, CHANNELS = 150, 3
local SEED = tonumber(os.getenv "LUAWEB_SEED") or os.time() % 1000000
local random = math.random

-- Alternatives as descriptions, so that the same one can be built twice ---------------

local names = 0

local function name()
  names = names + 1
  return "n" .. names
end

local draw

local leaves = {
  function() return { "always", random(9) } end,
  function() return { "never" } end,
  function() return { "take", random(CHANNELS) } end,
  function() return { "take", random(CHANNELS) } end,
  function() return { "give", random(CHANNELS), random(100, 199) } end,
}

local trees = {
  function(depth) return { "wrap", name(), draw(depth) } end,
  function(depth) return { "guard", draw(depth) } end,
  function(depth) return { "nack", name(), draw(depth) } end,
  function(depth) return { "choose", draw(depth), draw(depth) } end,
  function(depth) return { "choose", draw(depth), draw(depth), draw(depth) } end,
}

function draw(depth)
  if depth == 0 or random(3) == 1 then return leaves[random(#leaves)]() end
  return trees[random(#trees)](depth - 1)
end

local function text_of(value)
  if type(value) ~= "table" then return tostring(value) end
  return value[1] .. "(" .. text_of(value[2]) .. ")"
end

local build

local builders = {
  always = function(_, d) return alt.always(d[2]) end,
  never = function() return alt.never end,
  take = function(world, d) return world[d[2]] end,
  give = function(world, d) return world.give_alt(world[d[2]], d[3]) end,
  wrap = function(world, d)
    return build(world, d[3]):wrap(function(value)
      world.log(d[2] .. "=" .. text_of(value))
      return { d[2], value }
    end)
  end,
  guard = function(world, d)
    return alt.guard(function() return build(world, d[2]) end)
  end,
  nack = function(world, d)
    return build(world, d[3]):on_abort(function() world.log(d[2] .. " fired") end)
  end,
  choose = function(world, d)
    local members = {}
    for i = 2, #d do members[i - 1] = build(world, d[i]) end
    return alt.choose(members)
  end,
}

function build(world, description)
  return builders[description[1]](world, description)
end

local channels = { new = chan.new, give = "give", give_alt = chan.new().give_alt }
local rendezvous = { new = function() return bounded.new(0) end, give = "put",
  give_alt = bounded.new(0).put_alt }

-- What others do on the channels meanwhile: { "give" or "take", channel, value }.
local function draw_script()
  local script = {}
  for i = 1, random(0, 4) do
    script[i] = { random(2) == 1 and "give" or "take", random(CHANNELS), i }
  end
  return script, random(0, #script)
end

local function act(world, s, step)
  s:spawn(function()
    local c = world[step[2]]
    if step[1] == "give" then
      c[world.kind.give](c, step[3])
      world.log("given " .. step[3])
    else
      world.log("taken " .. text_of(c:take()))
    end
  end)
end

-- Syncs an alternative among others, some of whom come before it; gives all that could
-- be noticed.
local function observe(description, script, before, kind)
  local world = { log = concurrent.log(), kind = kind, give_alt = kind.give_alt }
  for i = 1, CHANNELS do world[i] = kind.new() end
  scope.run(function(s)
    for i = 1, before do act(world, s, script[i]) end
    concurrent.settle()
    local owner = s:spawn(function()
      world.log("got " .. text_of(build(world, description):sync()))
    end)
    concurrent.settle()
    for i = before + 1, #script do
      act(world, s, script[i])
      concurrent.settle()
    end
    world.log(owner:status())
  end)
  concurrent.settle()
  return table.concat(world.log, ", ")
end

local function same(left, right, kinds)
  local script, before = draw_script()
  assert.equal(observe(left, script, before, channels),
    observe(right, script, before, kinds or channels))
end

-- P10: what there is while nothing happens.
local function at_rest()
  local now = job.stats()
  return { jobs = now.jobs, ready = now.ready, parked = now.parked, nodes = now.nodes,
    timers = now.timers, coroutines = now.coroutines }
end

-- The law holds for many draws; the counts of the watcher are what they were,
-- and nothing is left.
local function law(title, check)
  it(("%s (LUAWEB_SEED=%d)"):format(title, SEED), function()
    math.randomseed(SEED)
    concurrent.settle()
    local start, rest = commit_watch.counts(), at_rest()
    for _ = 1, CASES do check() end
    concurrent.settle()
    local now = commit_watch.counts()
    for count, value in pairs(now) do now[count] = value - start[count] end
    assert.equal(now.made, now.fired + now.covered)
    assert.same({ 0, 0, 0 }, { now.nodes, now.jobs, now.stale })
    assert.equal(now.opened, now.closed)
    assert.same(rest, at_rest())
  end)
end

describe("generated: a choice", function()
  law("P1 is associative, and never is its unit", function()
    local x, y, z = draw(2), draw(2), draw(2)
    same({ "choose", x, { "choose", y, z } }, { "choose", { "choose", x, y }, z })
    same({ "choose", { "never" }, x }, x)
    same({ "choose", x, { "never" } }, x)
  end)

  law("P2 may be wrapped whole or member by member", function()
    local x, y = draw(2), draw(2)
    same({ "wrap", "f", { "choose", x, y } },
      { "choose", { "wrap", "f", x }, { "wrap", "f", y } })
  end)

  law("P3 is its first member where that is ready", function()
    local x = { "wrap", "r", { "always", 1 } }
    same({ "choose", x, draw(3) }, x)
    x = { "nack", "k", { "choose", draw(1), { "always", 2 } } }
    same({ "choose", x, draw(3) }, x)
  end)

  law("P4, P5 is the same in a guard, or with a nack that nobody uses", function()
    local x = draw(3)
    same({ "guard", x }, x)
    builders.ignored = function(world, d)
      return alt.with_nack(function() return build(world, d[2]) end)
    end
    same({ "ignored", x }, x)
  end)

  law("P6 is the same over queues of size 0", function()
    local x = draw(3)
    same(x, x, rendezvous)
  end)
end)

describe("generated: a schedule", function()
  -- Gives and takes at random, in choices, with time limits; tells what it did.
  local function trade(world, s, me, given, taken)
    s:spawn(function()
      for i = 1, 6 do
        local message = me .. ":" .. i
        local c, d = world[random(CHANNELS)], world[random(CHANNELS)]
        local what, value = alt.race {
          { "gave", c:give_alt(message) }, { "took", d },
          { "late", random(2) == 1 and web.after(0.001) or alt.idle },
        }
        if what == "gave" then given[#given + 1] = message end
        if what == "took" then taken[#taken + 1] = value end
        if random(3) == 1 then job.yield() end
      end
    end)
  end

  law("P7, P8, P10 loses and doubles no message, and leaves nothing", function()
    if random(5) > 1 then return end
    local world, given, taken = {}, {}, {}
    for i = 1, CHANNELS do world[i] = chan.new() end
    scope.run(function(s)
      for me = 1, random(2, 8) do trade(world, s, me, given, taken) end
      web.sleep(0.01 * random(0, 1))
    end)
    table.sort(given)
    table.sort(taken)
    assert.same(given, taken)
  end)

  law("P9 keeps the order in each channel, in whichever order jobs start", function()
    local starts, got = {}, {}
    scope.run(function(s)
      for i = 1, CHANNELS do
        local c = chan.new()
        got[i] = {}
        starts[#starts + 1] = function() for k = 1, 5 do c:give(k) end end
        starts[#starts + 1] = function()
          for _ = 1, 5 do table.insert(got[i], c:take()) end
        end
      end
      while starts[1] do s:spawn(table.remove(starts, random(#starts))) end
      concurrent.settle()
    end)
    for i = 1, CHANNELS do assert.same({ 1, 2, 3, 4, 5 }, got[i]) end
  end)
end)
