-- SPDX-License-Identifier: MIT
-- What streams leave behind (lua/luaweb/stream.lua, stream_shape.lua): nothing of what
-- was read, and no job once nobody reads.
local commit_watch = require "luaweb.commit_watch"
local concurrent = require "spec.support.concurrent"
local stream = require "luaweb.stream"
local web = require "luaweb"

local ELEMENTS, ALLOWED = 8000, 512 -- KiB; kept, they would be 8 times as much

local function numbers(n)
  return stream.unfold(1, function(i)
    if i <= n then return i + 1, i end
  end)
end

local function heap()
  collectgarbage()
  collectgarbage()
  return collectgarbage "count"
end

describe("a long stream is not kept while it is read", function()
  local most, before

  before_each(function() most, before = 0, heap() end)

  local function look(value)
    if value % 4000 == 0 then most = math.max(most, heap()) end
    return false
  end

  local function long() return numbers(ELEMENTS) end -- who has it in a local keeps it
  local function same(value) return value end

  local readers = {
    each   = function() long():each(look) end,
    fold   = function() long():fold(0, function(_, value) return look(value) end) end,
    find   = function() long():find(look) end,
    drain  = function() long():drain(look):join() end,
    filter = function() long():filter(look):each(look) end,
    skip_while = function()
      long():skip_while(function(value) return not look(value) end):each(look)
    end,
    flat_map = function()
      long():flat_map(function(value) return look(value) or stream.empty() end)
        :each(look)
    end,
    map_pipelined = function() long():map_pipelined(3, same):each(look) end,
    buffer_latest = function()
      long():filter(function(value) return look(value) or true end):latest():each(same)
    end,
  }

  for name, read in pairs(readers) do
    it("by " .. name, function()
      read()
      assert.is_true(most > 0)
      assert.is_true(most < before + ALLOWED, ("%d KiB, then %d"):format(before, most))
    end)
  end
end)

describe("a stream that nobody reads to its end leaves no job behind", function()
  local function jobs_left(start)
    local left
    for _ = 1, 500 do
      collectgarbage()
      left = commit_watch.counts().jobs - start
      if left == 0 then break end
      web.sleep(0.002)
    end
    return left
  end

  it("by map_pipelined, which begins no more than it may", function()
    local start, begun = commit_watch.counts().jobs, 0
    local s = numbers(100):map_pipelined(3, function(value)
      begun = begun + 1
      return value
    end)
    assert.same({ n = 2, 1, 2 }, s:take(2):collect())
    concurrent.settle()
    assert.equal(5, begun)
    assert.equal(0, jobs_left(start))
    assert.equal(100, s:collect().n)
  end)

  it("by latest, where there is always more to come", function()
    local start = commit_watch.counts().jobs
    for _ = 1, 20 do stream.every(0.001):latest():take(1):collect() end
    assert.equal(0, jobs_left(start))
  end)

  it("unless somebody may still ask", function()
    local source = stream.source()
    local s = source:tap():buffer_latest(2)
    source:push(0)
    local rest = s:next().rest
    s = nil
    for i = 1, 3 do
      source:push(i)
      concurrent.settle()
      collectgarbage()
    end
    source:close()
    assert.is_nil(s)
    assert.same({ n = 2, 2, 3 }, rest:collect())
  end)
end)

describe("how many", function()
  it("is a whole number, 1 or more", function()
    for _, name in ipairs { "map_pipelined", "buffer_latest" } do
      for _, n in ipairs { 0, -1, 1.5, 0 / 0, "2" } do
        local s = numbers(1)
        local ok, message = pcall(function() return (s[name](s, n)) end)
        assert.is_false(ok)
        assert.matches("stream_memory_spec.lua:%d+: stream:" .. name
          .. " wants a whole number, 1 or more", message)
      end
    end
  end)
end)
