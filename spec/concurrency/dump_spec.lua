-- SPDX-License-Identifier: MIT
-- job.dump and job.stats (lua/luaweb/dump.lua): what is there to see of a worker.
local alt = require "luaweb.alt"
local bounded = require "luaweb.bounded"
local broadcast = require "luaweb.broadcast"
local chan = require "luaweb.chan"
local concurrent = require "spec.support.concurrent"
local ivar = require "luaweb.ivar"
local job = require "luaweb.job"
local latch = require "luaweb.latch"
local lock = require "luaweb.lock"
local mailbox = require "luaweb.mailbox"
local mvar = require "luaweb.mvar"
local scope = require "luaweb.scope"
local web = require "luaweb"

-- The entry of the job whose function is declared at this line of this file.
local function entry_at(line)
  for _, entry in ipairs(job.dump()) do
    if entry.place == "spec/concurrency/dump_spec.lua:" .. line then return entry end
  end
end

local function line_here()
  return debug.getinfo(2, "l").currentline -- luacheck: ignore
end

-- What the dump says of a job that waits in `fn`; then that ends.
local function seen(fn)
  local j = concurrent.spawn(fn)
  local entry = entry_at(debug.getinfo(fn, "S").linedefined)
  j:cancel "seen"
  concurrent.settle()
  return entry
end

local held = lock.new()
local full = bounded.new(1)
full:put(1)
local never_ends = chan.new()

local cases = {
  { "chan:take", function() chan.new():take() end },
  { "chan:give", function() chan.new():give(1) end },
  { "bounded:take", function() bounded.new(1):take() end },
  { "bounded:put", function() full:put(2) end },
  { "mailbox:take", function() mailbox.new():take() end },
  { "lock:with", function() held:with(function() end) end },
  { "ivar:read", function() ivar.new():read() end },
  { "mvar:take or read", function() mvar.new():take() end },
  { "latch:wait", function() latch.new(1):wait() end },
  { "subscriber:take", function() broadcast.new():subscribe():take() end },
  { "web.stopping", function() web.stopping:sync() end },
  { "job:join", function() job.spawn(function() never_ends:take() end):join() end },
  { "what never is ready", function() alt.never:sync() end },
  { "chan:take", function() chan.new():sync() end },
  { "one of: chan:take, ivar:read",
    function() alt.choose { chan.new(), alt.never, ivar.new() }:sync() end },
}

describe("job.dump", function()
  local holder
  setup(function()
    holder = job.spawn(function() held:with(function() never_ends:take() end) end)
  end)
  teardown(function()
    repeat local left = never_ends:try_give(1) until not left
    holder:join()
  end)

  for _, case in ipairs(cases) do
    it("tells that a job waits for " .. case[1], function()
      local entry = seen(case[2])
      assert.equal(case[1], entry.waits_for)
      assert.equal("parked", entry.state)
    end)
  end

  it("tells how long a timer has to go", function()
    local left = seen(function() web.sleep(1000) end).waits_for
    left = tonumber(left:match "^a timer %((%d+%.%d%d%d) s left%)$")
    assert.is_true(left > 900 and left < 1060)
    left = seen(function() alt.choose { web.after(1000), chan.new() }:sync() end)
    assert.matches("^one of: a timer %(.*%), chan:take$", left.waits_for)
  end)

  it("names some leaves of a large choice", function()
    local members = {}
    for i = 1, 25 do members[i] = chan.new() end
    local entry = seen(function() alt.choose(members):sync() end)
    assert.matches("^one of: chan:take,.*, 15 more$", entry.waits_for)
  end)

  it("tells what each waits for where many wait at one object", function()
    local c, jobs = chan.new(), {}
    for i = 1, 50 do jobs[i] = job.spawn(function() c:take() end) end
    local line = line_here() - 1
    concurrent.settle()
    local count = 0
    for _, entry in ipairs(job.dump()) do
      if entry.place:find(":" .. line, 1, true) then
        assert.equal("chan:take", entry.waits_for)
        count = count + 1
      end
    end
    assert.equal(50, count)
    for i = 1, 50 do jobs[i]:cancel "seen" end
  end)

  it("tells who can go on, who runs, and who has not run yet", function()
    local j = job.spawn(function() job.yield() end)
    local line = line_here() - 1
    assert.same({ "ready", "" }, { entry_at(line).state, entry_at(line).traceback })
    local state
    local runner = job.spawn(function() state = entry_at(line + 4).state end)
    job.yield()
    assert.equal("running", state)
    assert.equal("ready", entry_at(line).state)
    assert.matches("dump_spec.lua:" .. line, entry_at(line).traceback)
    j:join()
    runner:join()
    assert.is_nil(entry_at(line))
  end)

  it("tells who was cancelled, and who is in a shield", function()
    local c = chan.new()
    local function wait() job.shield(function() c:take() end) end
    local j = concurrent.spawn(wait)
    local line = line_here() - 2
    assert.same({ false, true }, { entry_at(line).is_cancelled,
      entry_at(line).is_shielded })
    j:cancel "enough"
    assert.is_true(entry_at(line).is_cancelled)
    assert.equal("chan:take", entry_at(line).waits_for)
    c:give(1)
    concurrent.settle()
  end)

  it("tells the scope", function()
    local c, at = chan.new(), line_here()
    local function in_root() c:take() end
    local function in_background() c:take() end
    local function in_server() c:take() end
    local function in_scope() c:take() end
    job.spawn(in_root)
    job.background(in_background)
    job.server(in_server)
    job.spawn(function() scope.run(function(s) s:spawn(in_scope):join() end) end)
    concurrent.settle()
    local scopes = {}
    for i = 1, 4 do scopes[i] = entry_at(at + i).scope end
    assert.same({ "root", "background", "server", "a scope in root" }, scopes)
    for _ = 1, 4 do c:give(1) end
    concurrent.settle()
    for i = 1, 4 do assert.is_nil(entry_at(at + i)) end
  end)

  it("has tracebacks of the app's own frames", function()
    local c = chan.new()
    local function inner() c:take() return 1 end
    local function outer() inner() return 1 end
    local back = seen(outer).traceback
    local at = debug.getinfo(inner, "S").linedefined
    assert.matches("^\t[^\n]*dump_spec%.lua:" .. at .. ": [^\n]*\n"
      .. "\t[^\n]*dump_spec%.lua:" .. at + 1 .. ": [^\n]*$", back)
  end)

  it("lists the first 1,000, and counts all", function()
    local s, c = scope.new(false, scope.current()), chan.new()
    for _ = 1, 1100 do s:spawn(c.take, c) end
    concurrent.settle()
    local dump = job.dump()
    assert.equal(1000, #dump)
    assert.is_true(dump.jobs >= 1100)
    assert.matches(("\nand %d more$"):format(dump.jobs + dump.handlers - 1000),
      tostring(dump))
    s:cancel "seen"
    concurrent.settle()
  end)

  it("is a text to read", function()
    local j = concurrent.spawn(function() chan.new():take() end)
    local line = line_here() - 1
    local text = tostring(job.dump())
    assert.matches("^%d+ jobs, %d+ handlers\n", text)
    assert.is_truthy(text:find(("\njob spec/concurrency/dump_spec.lua:%d [root] parked "
      .. "for chan:take\n\tspec/concurrency/dump_spec.lua:%d: in function"):format(line,
      line), 1, true))
    j:cancel "seen"
    concurrent.settle()
  end)
end)
