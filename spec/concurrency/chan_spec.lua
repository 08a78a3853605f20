-- SPDX-License-Identifier: MIT
-- Channels (lua/luaweb/chan.lua): who meets whom, and in which order.
local alt = require "luaweb.alt"
local chan = require "luaweb.chan"
local concurrent = require "spec.support.concurrent"
local job = require "luaweb.job"

local settle, spawn = concurrent.settle, concurrent.spawn

describe("a channel", function()
  local c, L

  before_each(function()
    c, L = chan.new(), concurrent.log()
  end)

  local function take() L(c:take()) end

  it("T01 lets the taker go on, and then the giver that waited", function()
    spawn(function()
      c:give(1)
      L "A"
    end, take)
    assert.same({ 1, "A" }, { unpack(L) })
  end)

  it("T02 lets the giver go on, and then the taker that waited", function()
    spawn(take, function()
      c:give(1)
      L "A"
    end)
    assert.same({ "A", 1 }, { unpack(L) })
  end)

  it("T03 serves takers in the order in which they came", function()
    local function taker(name) return function() L(name .. c:take()) end end
    spawn(taker "first ", taker "second ", taker "third ", function()
      for _, value in ipairs { "a", "b", "c" } do c:give(value) end
    end)
    assert.same({ "first a", "second b", "third c" }, { unpack(L) })
  end)

  it("T04 serves givers in the order in which they came", function()
    local function giver(value) return function() c:give(value) end end
    spawn(giver "x", giver "y", giver "z", take, take, take)
    assert.same({ "x", "y", "z" }, { unpack(L) })
  end)

  it("T05 carries nil and false, and wakes each taker once", function()
    local function taker()
      local count = select("#", c:take())
      L(count)
    end
    local got = {}
    spawn(function() got.of_nil, got.first = c:take(), true end,
      function() got.of_false, got.second = c:take(), true end,
      function()
        c:give(nil)
        c:give(false)
      end)
    assert.same({ first = true, of_false = false, second = true }, got)
    spawn(taker, function() c:give(nil) end)
    assert.same({ 1 }, { unpack(L) })
  end)

  it("T06 is no meeting of a job with itself", function()
    local alone = spawn(function()
      L(alt.choose { c:give_alt(1):wrap_value "gave", c }:sync())
    end)
    assert.equal("parked", alone:status())
    spawn(take)
    assert.same({ "gave", 1 }, { L[1] == "gave" and L[1] or L[2],
      L[1] == 1 and L[1] or L[2] })
    assert.equal("ok", alone:status())
  end)

  it("T07 lets two jobs that offer both meet once", function()
    local function offer(me)
      return function()
        L(alt.choose { c:give_alt(me):wrap_value "gave", c }:sync())
      end
    end
    spawn(offer "p", offer "q")
    table.sort(L)
    assert.equal("gave", L[1])
    assert.is_true(L[2] == "p" or L[2] == "q")
    assert.equal(2, #L)
    assert.is_false(c:try_give(1))
    assert.is_false((c:try_take()))
  end)

  it("T08 tries to give without leaving anything behind", function()
    assert.is_false(c:try_give(1))
    assert.is_false((c:try_take()))
    spawn(take)
    assert.is_true(c:try_give(1))
    settle()
    assert.same({ 1 }, { unpack(L) })
  end)

  it("T09 keeps what is sent, in order, without waiting", function()
    for i = 1, 1000 do c:send(i) end
    for i = 1, 1000 do assert.equal(i, c:take()) end
    assert.is_false((c:try_take()))
  end)

  it("T10 has one queue for what is sent and what is given", function()
    c:send(1)
    spawn(function() c:give(2) end)
    c:send(3)
    assert.same({ 1, 2, 3 }, { c:take(), c:take(), c:take() })
  end)

  it("T93 gives nothing to a newcomer while somebody waits", function()
    spawn(take)
    local newcomer = "none"
    c:send(1)
    job.spawn(function() newcomer = c:try_take() end)
    settle()
    assert.same({ 1 }, { unpack(L) })
    assert.is_false(newcomer)
  end)
end)

describe("a question to a server", function()
  -- A counter that takes back what nobody waits for any more.
  local function counter(requests)
    local total = 0
    job.server(function()
      while true do
        local message = requests:take()
        alt.choose {
          message.reply:give_alt(total + message.n):wrap(function()
            total = total + message.n
          end),
          message.nack,
        }:sync()
      end
    end)
  end

  local function ask(requests, n)
    return chan.request(requests, function(reply, nack)
      return { n = n, reply = reply, nack = nack }
    end)
  end

  it("T44 can be taken back, and then has no effect", function()
    local requests = chan.new()
    counter(requests)
    assert.equal("no", alt.choose { ask(requests, 5), alt.always "no" }:sync())
    assert.equal(3, ask(requests, 3):sync())
    assert.equal(4, ask(requests, 1):sync())
  end)

  it("T48 does not hang the server when the client has left", function()
    local reply, nack = chan.new(), nil
    alt.choose { alt.with_nack(function(made)
      nack = made
      return reply
    end), alt.always(1) }:sync()
    assert.is_true(nack:ready())
    assert.equal("left", alt.choose { reply:give_alt(1),
      nack:wrap_value "left" }:sync())
  end)

  it("by chan.call is bound once it is taken, by chan.ask at once", function()
    local requests = chan.new()
    local call = chan.call(requests, function(reply) return reply end)
    assert.is_false((alt.poll(call)))
    assert.is_false((requests:try_take()))
    job.server(function() while true do requests:take():fill "answer" end end)
    assert.equal("answer", call:sync())
    assert.equal("answer", chan.ask(requests, function(reply) return reply end):sync())
  end)
end)
