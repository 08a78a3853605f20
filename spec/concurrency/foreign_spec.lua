-- SPDX-License-Identifier: MIT
-- alt.foreign: something that is done elsewhere begins when it is waited for, and is
-- given up when nobody waits any more.
local alt = require "luaweb.alt"
local chan = require "luaweb.chan"
local concurrent = require "spec.support.concurrent"
local job = require "luaweb.job"
local web = require "luaweb"

-- One that notes what happens to it; `finish` gives its two functions away.
local function foreign(L, finish)
  return alt.foreign(function(ok, fail)
    L "started"
    if finish then finish(ok, fail) end
    return "token"
  end, function(token) L("cancelled: " .. token) end)
end

describe("a foreign alternative", function()
  it("begins at each sync, not when it is built", function()
    local L = concurrent.log()
    local one = foreign(L, function(ok) ok "value" end)
    assert.equal(0, #L)
    assert.equal("value", one:sync())
    assert.equal("value", one:sync())
    assert.same({ "started", "started" }, { unpack(L) })
  end)

  it("gives what comes later, and raises an error as it is", function()
    local L, later, err = concurrent.log(), nil, {}
    local one = foreign(L, function(ok) later = ok end)
    job.spawn(function() later(nil) end)
    assert.is_nil(one:sync())
    local failing = foreign(L, function(_, fail) fail(err) end)
    local ok, raised = pcall(failing.sync, failing)
    assert.is_false(ok)
    assert.is_true(rawequal(err, raised))
  end)

  it("is cancelled when it loses a race, within a turn", function()
    local L, c = concurrent.log(), chan.new()
    job.spawn(function() c:give "won" end)
    assert.equal("won", alt.choose { foreign(L), c }:sync())
    web.sleep(0)
    assert.same({ "started", "cancelled: token" }, { unpack(L) })
  end)

  it("never begins to the right of what is ready", function()
    local L = concurrent.log()
    assert.equal(1, alt.choose { alt.always(1), foreign(L) }:sync())
    web.sleep(0)
    assert.equal(0, #L)
  end)

  it("is cancelled when its job is, and may wait for that", function()
    local L = concurrent.log()
    local waiting = job.start(function()
      alt.foreign(function() return 1 end, function()
        web.sleep(0.01)
        L "cancelled"
      end):sync()
    end)
    waiting:cancel "enough"
    web.sleep(0.05)
    assert.same({ "cancelled" }, { unpack(L) })
  end)

  it("is cancelled too when it was done, but something else was chosen", function()
    local L, c, done = concurrent.log(), chan.new(), nil
    local waiting = job.start(function()
      return alt.choose { c, foreign(L, function(ok) done = ok end) }:sync()
    end)
    c:give "first"
    done "second"
    assert.equal("first", waiting:join())
    web.sleep(0)
    assert.same({ "started", "cancelled: token" }, { unpack(L) })
  end)

  it("is nothing to cancel when it could not begin", function()
    local L = concurrent.log()
    local one = alt.foreign(function() error("no", 0) end, function() L "cancelled" end)
    assert.error_matches(function() one:sync() end, "^no$")
    web.sleep(0)
    assert.equal(0, #L)
  end)

  it("wants two functions", function()
    assert.error_matches(function() alt.foreign(1, print) end, "wants a function")
    assert.error_matches(function() alt.foreign(print) end, "wants a function")
  end)
end)
