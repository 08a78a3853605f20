-- SPDX-License-Identifier: MIT
-- Programs about choices, timers and nacks.
local alt = require "luaweb.alt"
local chan = require "luaweb.chan"
local job = require "luaweb.job"
local queue = require "luaweb.queue"
local waiting = require "luaweb.waiting"
local web = require "luaweb"

local FAR = 3600 -- seconds

local programs = {}

local function channels_of(count)
  local list = {}
  for i = 1, count do list[i] = chan.new() end
  return list
end

-- One job gives to the last channel of a choice, another syncs it: by turns one of them
-- finds the other waiting.
local function sync_often(choice, last, n)
  local sum, done = 0, chan.new()
  job.spawn(function()
    for _ = 1, n do sum = sum + choice:sync() end
    done:give(true)
  end)
  for i = 1, n do last:give(i) end
  done:take()
  assert(sum == n * (n + 1) / 2, "wrong sum")
  return n
end

local function waiting_choice(count)
  return function(n)
    local list = channels_of(count)
    return sync_often(alt.choose(list), list[count], n)
  end
end

local function ready_choice(count)
  return function(n)
    local list, sum = channels_of(count), 0
    local choice, last = alt.choose(list), list[count]
    for i = 1, n do
      last:send(i)
      sum = sum + choice:sync()
    end
    assert(sum == n * (n + 1) / 2, "wrong sum")
    return n
  end
end

for _, count in ipairs { 2, 8, 64 } do
  programs[("B6-%d-wait"):format(count)] = waiting_choice(count)
  programs[("B6-%d-ready"):format(count)] = ready_choice(count)
end

local function arm_others(count)
  local others = {}
  for i = 1, count do
    others[i] = queue.new_node(false, 0, false, false)
    waiting.start_timer(others[i], FAR + i % 1000)
  end
  return others
end

-- A timer that always loses, while others are armed.
local function lost_timer(others)
  return function(n)
    local c, armed = chan.new(), arm_others(others)
    sync_often(alt.choose { c, web.after(FAR) }, c, n)
    assert(#armed == others)
    return n
  end
end
programs["B7-0"] = lost_timer(0)
programs["B7-100k"] = lost_timer(100000)

-- The timer alone, without the choice around it.
programs["B7-alone"] = function(n)
  local node = queue.new_node(false, 0, false, false)
  for _ = 1, n do
    waiting.start_timer(node, FAR)
    queue.unlink(node)
  end
  return n
end

local function never() return alt.never end
local function one() return alt.always(1) end

local function sync_sum(choice, n)
  local sum = 0
  for _ = 1, n do sum = sum + choice:sync() end
  assert(sum == n, "wrong sum")
  return n
end

-- The nack fires, since what stands beside it wins.
programs["B8-fired"] = function(n)
  return sync_sum(alt.choose { alt.with_nack(never), alt.always(1) }, n)
end

-- What has the nack wins.
programs["B8-won"] = function(n)
  return sync_sum(alt.choose { alt.with_nack(one), alt.never }, n)
end

-- The same without a nack, to be taken off.
programs["B8-none"] = function(n)
  return sync_sum(alt.choose { alt.guard(never), alt.always(1) }, n)
end

return programs
