-- SPDX-License-Identifier: MIT
-- Streams (lua/luaweb/stream.lua, stream_shape.lua, stream_join.lua).
local alt = require "luaweb.alt"
local concurrent = require "spec.support.concurrent"
local job = require "luaweb.job"
local stream = require "luaweb.stream"
local web = require "luaweb"

local E = setmetatable({}, { __tostring = function() return "E" end })

local function numbers(n)
  return stream.unfold(1, function(i)
    if i <= n then return i + 1, i end
  end)
end

local function gives(expected, s)
  expected.n = expected.n or #expected
  assert.same(expected, s:collect())
end

describe("a stream", function()
  it("T94 is computed once for all who read it", function()
    local calls = 0
    local s = stream.unfold(1, function(i)
      if i > 10 then return end
      calls = calls + 1
      return i + 1, i
    end)
    local slow, fast = {}, {}
    job.both(function()
      s:each(function(value)
        web.sleep(0.001)
        slow[#slow + 1] = value
      end)
    end, function() s:each(function(value) fast[#fast + 1] = value end) end)
    assert.same({ 1, 2, 3, 4, 5, 6, 7, 8, 9, 10 }, fast)
    assert.same(fast, slow)
    assert.equal(10, calls)
  end)

  it("computes no more than is asked for", function()
    local calls = 0
    local function count(x)
      calls = calls + 1
      return x + 1
    end
    gives({ 1, 2, 3 }, stream.iterate(1, count):take(3))
    assert.equal(2, calls)
    gives({ 3, 4 }, stream.repeatedly(function() return count(calls) end):take(2))
    assert.equal(4, calls)
  end)

  it("may be made of values, lists, functions and errors", function()
    gives({ n = 3, 1, nil, false }, stream.of(1, nil, false))
    gives({ 1, 2 }, stream.from { 1, 2 })
    local i = 0
    gives({ 1, 2 }, stream.from(function()
      i = i + 1
      return i < 3 and i or nil
    end))
    gives({ 7, 8 }, stream.cons(7, stream.once(function() return 8 end)))
    gives({}, stream.empty())
    local ok, err = pcall(stream.fail(E).collect, stream.fail(E))
    assert.is_true(not ok and err == E)
  end)

  it("of a source has what is pushed after the tap", function()
    local source = stream.source()
    source:push(1)
    local s = source:tap()
    source:push(2)
    source:push(3)
    source:close()
    gives({ 2, 3 }, s)
    assert.error_matches(function() source:push(4) end, "it is full")
  end)

  it("of time has an element after it", function()
    gives({ true }, stream.after(0.001))
    gives({ 1, 2, 3 }, stream.every(0.001):take(3))
  end)

  it("is mapped, filtered and cut like a list", function()
    local s = numbers(6)
    gives({ 2, 4, 6, 8, 10, 12 }, s:map(function(v) return v * 2 end))
    gives({ 2, 4, 6 }, s:filter(function(v) return v % 2 == 0 end))
    gives({ "2", "4", "6" }, s:filter_map(function(v)
      return v % 2 == 0 and tostring(v) or nil
    end))
    gives({ 1, 2 }, s:take_while(function(v) return v < 3 end))
    gives({ 3, 4, 5, 6 }, s:skip_while(function(v) return v < 3 end))
    gives({ { n = 4, 1, 2, 3, 4 }, { n = 2, 5, 6 } }, s:chunks(4))
    for n = 0, 7 do gives({ 1, 2, 3, 4, 5, 6 }, s:take(n):concat(s:skip(n))) end
    assert.equal(21, s:fold(0, function(a, b) return a + b end))
    assert.same({ 4 }, { s:find(function(v) return v > 3 end) })
    assert.is_nil(s:find(function(v) return v > 6 end))
  end)

  it("goes on after an error that is caught, and tells its end", function()
    local closed = 0
    local function close() closed = closed + 1 end
    gives({ 1, 9 }, stream.of(1):concat(stream.fail(E)):on_close(close)
      :catch(function(err) return stream.of(err == E and 9) end))
    gives({ 1 }, stream.of(1):on_close(close))
    assert.equal(2, closed)
  end)

  it("T95 is mapped by no more than it may at a time, in order", function()
    local running, most = 0, 0
    local s = numbers(20):map_pipelined(3, function(v)
      running = running + 1
      most = math.max(most, running)
      web.sleep(math.random(3) / 1000)
      running = running - 1
      return v
    end)
    assert.same(numbers(20):collect(), s:collect())
    assert.equal(3, most)
  end)

  it("T96 keeps the latest for a reader that is slow", function()
    local got, s = {}, numbers(1000):latest()
    local cell = s:next()
    got[1] = cell.value
    web.sleep(0.05)
    cell = cell.rest:next()
    got[2] = cell.value
    assert.is_true(got[1] <= got[2])
    assert.equal(1000, got[2])
    assert.is_false(cell.rest:next())
  end)

  it("is merged with others as elements come", function()
    local a, b = stream.source(), stream.source()
    local merged = stream.merge { a:tap(), b:tap() }
    local reader = job.spawn(function() return merged:collect() end)
    for _, step in ipairs { { a, 1 }, { b, 2 }, { b, 3 }, { a, 4 } } do
      step[1]:push(step[2])
      concurrent.settle()
    end
    a:close()
    b:close()
    assert.same({ n = 4, 1, 2, 3, 4 }, reader:join())
    gives({ 1, 2 }, stream.first_of { stream.after(5), stream.of(1, 2) })
  end)

  it("of streams is flat, or has those of the newest", function()
    gives({ 1, 1, 2, 1, 2, 3 }, numbers(3):flat_map(numbers))
    local outer, inner = stream.source(), { stream.source(), stream.source() }
    local s = outer:tap():switch_map(function(i) return inner[i]:tap() end)
    local reader = s:drain()
    outer:push(1)
    concurrent.settle()
    inner[1]:push "a"
    concurrent.settle()
    outer:push(2)
    concurrent.settle()
    inner[1]:push "lost"
    inner[2]:push "b"
    inner[2]:close()
    outer:close()
    reader:join()
    gives({ "a", "b" }, s)
  end)

  it("gives its values as an alternative", function()
    local values = numbers(2):values_alt()
    assert.same({ 1, 2 }, { values:sync(), values:sync() })
    assert.is_false((pcall(alt.sync, values)))
  end)
end)
