-- SPDX-License-Identifier: MIT
-- What the workers of one server do together: the bus, and what is done once of all.
local eventually = require "spec.support.eventually"
local json = require "luaweb.json"
local process = require "spec.support.process"
local web = require "luaweb"

local APP = "spec/apps/together.lua"

after_each(process.clean)

local function ask(child, octets)
  local conn = child:connect(octets)
  local answer = process.answers(conn)
  conn:close()
  assert.equal(200, answer.status, answer.body)
  return json.decode(answer.body)
end

local function who(child) return ask(child, process.get "/who") end

-- What each worker says of itself, by pid.
local function look(child, count)
  local seen, found = {}, 0
  eventually("each worker answers", function()
    local one = who(child)
    if not seen[one.pid] then found = found + 1 end
    seen[one.pid] = one
    return found == count
  end)
  return seen
end

local function serve(count)
  local child = process.start(APP, "--listen", "127.0.0.1:0", "--workers",
    tostring(count))
  child.port = tonumber(child:expect "http://127%.0%.0%.1:(%d+)$")
  eventually("all workers run", function()
    return #child:workers() == count
  end)
  return child
end

local function publish(child, text, times)
  return ask(child, process.post("/news" .. (times and "?times=" .. times or ""), text))
end

-- Waits until every worker has heard so much.
local function expect_heard(child, count, workers)
  eventually("each worker has heard it", function()
    for _, one in pairs(look(child, workers)) do
      if one.heard ~= count then return false end
    end
    return true
  end)
end

describe("the bus", function()
  it("reaches all workers, once each, in order", function()
    local child = serve(2)
    look(child, 2)
    publish(child, "a")
    expect_heard(child, 1, 2)
    publish(child, "t", 1000)
    expect_heard(child, 1001, 2)
    for _, one in pairs(look(child, 2)) do assert.equal("t1000", one.last) end
    child:stop()
  end)

  it("reaches a worker that took the place of another", function()
    local child = serve(2)
    look(child, 2)
    local old = child:workers()
    child:signal_worker("KILL", old[2])
    eventually("there are two workers again", function()
      local now = child:workers()
      return #now == 2 and now[2] ~= old[2]
    end)
    eventually("another one answers", function() return who(child).pid ~= old[1] end)
    publish(child, "b")
    expect_heard(child, 1, 2)
    child:signal "TERM"
    child:wait()
  end)

  it("reaches a new generation", function()
    local child = serve(2)
    local before = who(child).generation
    child:signal "HUP"
    eventually("the new generation serves", function()
      return who(child).generation ~= before
    end)
    for _ = 1, 3 do publish(child, "c") end
    eventually("it has heard all", function() return who(child).heard == 3 end)
    child:stop()
  end)
end)

describe("web.every with once", function()
  -- How many calls a worker has had, by pid.
  local function calls(child)
    local list = {}
    for pid, one in pairs(look(child, 2)) do list[pid] = one.calls end
    return list
  end

  local function caller(child)
    local found
    eventually("one is called", function()
      found = nil
      for pid, count in pairs(calls(child)) do
        if count > 0 then found = pid end
      end
      return found
    end)
    return found
  end

  it("is called in one worker only, and in another one when that dies", function()
    local child = serve(2)
    local first = caller(child)
    web.sleep(0.2)
    for pid, count in pairs(calls(child)) do
      if pid ~= first then assert.equal(0, count) end
    end
    child:signal_worker("KILL", first)
    eventually("another one is called", function()
      for pid, count in pairs(calls(child)) do
        if pid ~= first and count > 0 then return true end
      end
    end)
    child:signal "TERM"
    child:wait()
  end)

  it("goes on in the next generation", function()
    local child = serve(1)
    eventually("it is called", function() return who(child).calls > 0 end)
    local before = who(child).generation
    child:signal "HUP"
    eventually("the new one is called", function()
      local now = who(child)
      return now.generation ~= before and now.calls > 0
    end)
    child:stop()
  end)
end)
