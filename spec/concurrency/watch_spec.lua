-- SPDX-License-Identifier: MIT
-- The watcher of the commit protocol (lua/luaweb/commit_watch.lua): that it notices.
local chan = require "luaweb.chan"
local commit = require "luaweb.commit"
local commit_watch = require "luaweb.commit_watch"
local concurrent = require "spec.support.concurrent"
local job = require "luaweb.job"
local queue = require "luaweb.queue"
local sched = require "luaweb.sched"

local function raises(text, fn, ...)
  local ok, err = pcall(fn, ...)
  assert.is_false(ok)
  assert.matches(text, err, 1, true)
end

describe("the watcher", function()
  it("I8 raises where a job would be twice among those that can go on", function()
    local ran = 0
    local j = job.spawn(function() ran = ran + 1 end)
    raises("a job is once among those that can go on", sched.ready, j)
    raises("a job is once among those that can go on", sched.ready_first, j)
    j:join()
    assert.equal(1, ran)
  end)

  it("I8 lets a job go on as often as it waits", function()
    local j = job.spawn(function() for _ = 1, 100 do job.yield() end end)
    assert.has_no.errors(function() j:join() end)
  end)

  it("I9 counts a wake for a sync that has closed, and raises", function()
    local c = chan.new()
    local j = concurrent.spawn(function()
      c:take()
      c:take()
    end)
    local before = commit_watch.counts().stale
    c:send(1) -- j can go on, but has not yet
    raises("a wake finds its sync open", commit.commit, j, true, 2)
    assert.equal(before + 1, commit_watch.counts().stale)
    c:send(2)
    j:join()
  end)

  it("I9 counts a wake for a node that was given up, and raises", function()
    local node = queue.new_node({ task = false }, 1, false, false)
    queue.free_node(node)
    local before = commit_watch.counts().stale
    raises("a wake finds its node in use", commit.commit, node, true, 1)
    assert.equal(before + 1, commit_watch.counts().stale)
  end)
end)
