-- SPDX-License-Identifier: MIT
-- The bus: who gets what is published, what the slow ones lose, and how subscriptions
-- end.
local alt = require "luaweb.alt"
local bus = require "luaweb.bus"
local concurrent = require "spec.support.concurrent"
local job = require "luaweb.job"
local scope = require "luaweb.scope"
local timer = require "luaweb.timer"

local settle, spawn = concurrent.settle, concurrent.spawn

local function raised_by(fn, ...)
  local ok, raised = pcall(fn, ...)
  assert.is_false(ok)
  return raised
end

describe("what is published", function()
  it("goes to all who have subscribed to this topic, in order", function()
    local one, two = bus.subscribe "a", bus.subscribe "a"
    local other = bus.subscribe "A"
    assert.equal(2, bus.publish("a", "first"))
    assert.equal(2, bus.publish("a", ""))
    for _, subscription in ipairs { one, two } do
      assert.equal("first", subscription:take())
      assert.equal("", subscription:take())
      subscription:close()
    end
    assert.equal("nothing", alt.choose({ other, alt.always "nothing" }):sync())
    other:close()
  end)

  it("reaches nobody where nobody has subscribed, now or later", function()
    assert.equal(0, bus.publish("b", "early"))
    local late = bus.subscribe "b"
    bus.publish("b", "later")
    assert.equal("later", late:take())
    late:close()
    assert.equal(0, bus.publish("b", "too late"))
  end)

  it("wakes who waits, those that wait for one subscription in turn", function()
    local subscription, log = bus.subscribe "c", concurrent.log()
    for i = 1, 2 do
      spawn(function() log(i .. ":" .. subscription:take()) end)
    end
    bus.publish("c", "x")
    bus.publish("c", "y")
    bus.publish("c", "z")
    assert.equal(0, #log) -- who publishes goes on first
    settle()
    assert.same({ "1:x", "2:y" }, { unpack(log) })
    assert.equal("z", subscription:take())
    subscription:close()
  end)

  it("is published also where nothing can wait", function()
    local subscription = bus.subscribe "d"
    table.sort({ 2, 1 }, function(a, b)
      bus.publish("d", "sorted")
      return a < b
    end)
    assert.equal("sorted", subscription:take())
    subscription:close()
  end)

  it("is a text of at most 1 MiB under a topic of 1 to 255 octets", function()
    for _, topic in ipairs { "", ("x"):rep(256), 5, {}, false } do
      assert.matches("bus_spec.lua:%d+: bus.publish wants a topic, a string of 1 to",
        raised_by(function() bus.publish(topic, "x") end))
      assert.matches("bus_spec.lua:%d+: bus.subscribe wants a topic, a string of 1 to",
        raised_by(function() bus.subscribe(topic) end))
    end
    for _, text in ipairs { 5, {}, true } do
      assert.matches("wants a string to publish, not a " .. type(text),
        raised_by(bus.publish, "e", text))
    end
    local topic, text = ("\0"):rep(255), ("x"):rep(1048576)
    local subscription = bus.subscribe(topic)
    bus.publish(topic, text)
    assert.is_true(subscription:take() == text)
    assert.matches("takes at most 1048576 octets", raised_by(bus.publish, topic,
      text .. "x"))
    subscription:close()
  end)
end)

describe("a subscription", function()
  it("loses the oldest beyond what it stores, and counts them", function()
    local slow, fast = bus.subscribe("f", { cap = 3 }), bus.subscribe("f", { cap = 1 })
    for i = 1, 5 do
      assert.equal(2, bus.publish("f", "n" .. i))
      assert.equal("n" .. i, fast:take())
    end
    assert.equal(2, slow:lost())
    assert.equal(0, fast:lost())
    for i = 3, 5 do assert.equal("n" .. i, slow:take()) end
    bus.publish("f", "next")
    assert.equal("next", slow:take())
    assert.equal(2, slow:lost())
    slow:close()
    fast:close()
  end)

  it("stores 256 where nothing else is said", function()
    local subscription = bus.subscribe "g"
    for i = 1, 257 do bus.publish("g", tostring(i)) end
    assert.equal(1, subscription:lost())
    assert.equal("2", subscription:take())
    subscription:close()
  end)

  it("stores a whole number of texts, 1 to 65536", function()
    for _, cap in ipairs { 0, -1, 1.5, 0 / 0, 65537, "5", {} } do
      assert.matches("bus_spec.lua:%d+: bus.subscribe: cap must be a whole number",
        raised_by(function() bus.subscribe("h", { cap = cap }) end))
    end
  end)

  it("is an alternative; what is not chosen takes nothing", function()
    local subscription = bus.subscribe "i"
    local function choose()
      return alt.choose({ subscription:take_alt():wrap(function(text)
        return "got " .. text
      end), timer.after(0.01):wrap(function() return "late" end) }):sync()
    end
    assert.equal("late", choose())
    local chooser = spawn(choose)
    bus.publish("i", "one")
    bus.publish("i", "two")
    assert.equal("got one", chooser:join())
    assert.equal("got two", choose())
    subscription:close()
  end)

  it("leaves no waiter behind in a job that was cancelled", function()
    local subscription = bus.subscribe "j"
    local waiting = spawn(function() subscription:take() end)
    waiting:cancel "not needed"
    settle()
    bus.publish("j", "kept")
    assert.equal("kept", subscription:take())
    subscription:close()
  end)

  it("iterates until it is closed", function()
    local subscription, log = bus.subscribe "k", concurrent.log()
    local reader = spawn(function()
      for text in subscription:each() do log(text) end
      log "end"
    end)
    bus.publish("k", "one")
    bus.publish("k", "two")
    settle()
    subscription:close()
    reader:join()
    assert.same({ "one", "two", "end" }, { unpack(log) })
  end)

  it("lets the cancellation of who iterates through", function()
    local subscription = bus.subscribe "l"
    local reader = spawn(function()
      for _ in subscription:each() do error "nothing was published" end
    end)
    reader:cancel "enough"
    assert.matches("cancelled: enough", tostring(raised_by(reader.join, reader)))
    subscription:close()
  end)
end)

describe("a closed subscription", function()
  it("is reached by nothing, drops what it stored, and raises bus.closed", function()
    local subscription = bus.subscribe "m"
    bus.publish("m", "stored")
    subscription:close()
    subscription:close()
    assert.equal(0, bus.publish("m", "x"))
    assert.equal(bus.closed, raised_by(subscription.take, subscription))
    assert.equal("it is closed", tostring(bus.closed))
    assert.equal(bus.closed, raised_by(function()
      alt.choose({ subscription }):sync()
    end))
  end)

  it("raises it where somebody waits", function()
    local subscription = bus.subscribe "n"
    local waiting = spawn(function() subscription:take() end)
    subscription:close()
    assert.equal(bus.closed, raised_by(waiting.join, waiting))
  end)

  it("may be any of many, in any order", function()
    local list = {}
    for i = 1, 500 do list[i] = bus.subscribe "o" end
    for i = 500, 1, -2 do list[i]:close() end
    assert.equal(250, bus.publish("o", "odd"))
    for i = 1, 500, 4 do list[i]:close() end
    for i = 1, 100 do list[500 + i] = bus.subscribe "o" end
    assert.equal(225, bus.publish("o", "left"))
    for i = 3, 499, 4 do
      assert.equal("odd", list[i]:take())
      assert.equal("left", list[i]:take())
    end
    for i = 1, 600 do list[i]:close() end
    assert.equal(0, bus.publish("o", "nobody"))
  end)

  it("is what ends with the scope of the job that made it", function()
    local subscriptions = {}
    local function subscribe() table.insert(subscriptions, (bus.subscribe "p")) end
    scope.run(function()
      subscribe()
      job.spawn(subscribe):join()
      job.all { subscribe, subscribe }
      assert.equal(4, bus.publish("p", "x"))
    end)
    assert.equal(0, bus.publish("p", "y"))
    for _, one in ipairs(subscriptions) do
      assert.equal(bus.closed, raised_by(one.take, one))
    end
  end)
end)

describe("a subscription that nobody has any more", function()
  local function collect()
    for _ = 1, 3 do collectgarbage() end
  end

  it("goes with the garbage", function()
    local kept = bus.subscribe "q"
    for _ = 1, 1000 do bus.subscribe "q" end
    collect()
    assert.equal(1, bus.publish("q", "x"))
    kept:close()
  end)

  it("stays while somebody waits for it", function()
    local got
    spawn(function() got = bus.subscribe("r"):take() end)
    collect()
    assert.equal(1, bus.publish("r", "still here"))
    settle()
    assert.equal("still here", got)
    collect()
    assert.equal(0, bus.publish("r", "x"))
  end)

  it("leaves nothing, whatever the topic, and whatever its waiters chose", function()
    local made, left = setmetatable({}, { __mode = "k" }), 0
    for i = 1, 5000 do
      local subscription = bus.subscribe("topic " .. i)
      made[subscription] = true
      alt.choose({ timer.after(0), subscription }):sync()
      if i % 2 == 0 then
        local waiting = job.start(function() subscription:take() end)
        waiting:cancel "enough"
        pcall(waiting.join, waiting)
      end
      if i % 100 == 0 then collect() end
    end
    for _ in pairs(made) do left = left + 1 end
    assert.is_true(left < 300)
    assert.is_true(bus.topics() < 300)
  end)

  it("counts for its topic until it is closed", function()
    local before = bus.topics()
    local one, two = bus.subscribe "s", bus.subscribe "s"
    assert.equal(before + 1, bus.topics())
    one:close()
    assert.equal(before + 1, bus.topics())
    two:close()
    assert.equal(before, bus.topics())
  end)
end)
