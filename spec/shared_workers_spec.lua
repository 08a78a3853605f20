-- SPDX-License-Identifier: MIT
-- State that workers share, seen from outside: counts, rates and todos are one whole
-- whoever answers, and outlive a worker and a reload.
local eventually = require "spec.support.eventually"
local json = require "luaweb.json"
local process = require "spec.support.process"

-- An app with a table of this size.
local function app_of(size)
  return process.file("shared.lua", ([[
    local web = require "luaweb"
    local t = web.shared("spec", { size = "%s" })
    return web.app {
      web.get("/count", function() return tostring(t:incr "count") end),
      web.get("/size", function() return tostring(t.size) end),
      web.resource("/rate", web.machine {
        web.rate_limit { rate = 1 / 3600, burst = 20 },
        handle_ok = function() return "ok" end,
      }),
    }
  ]]):format(size))
end

after_each(process.clean)

local function serve(app, count)
  local child = process.start(app, "--listen", "127.0.0.1:0", "--workers",
    tostring(count))
  child.port = tonumber(child:expect "http://127%.0%.0%.1:(%d+)$")
  eventually("all workers run", function() return #child:workers() == count end)
  return child
end

local function get(child, target)
  return child:ask(process.get(target))
end

-- Kills its first worker, and waits for another.
local function kill_one(child)
  local old = child:workers()
  child:signal_worker("KILL", old[1])
  eventually("there is another worker", function()
    local now = child:workers()
    return #now == #old and now[1] ~= old[1] and now[2] ~= old[1]
  end)
end

describe("the workers of a server", function()
  it("count together, also when one dies", function()
    local child = serve(app_of "1m", 2)
    for i = 1, 40 do
      assert.equal(tostring(i), get(child, "/count").body)
      if i == 20 then kill_one(child) end
    end
    child:signal "TERM"
    child:wait()
  end)

  it("have one rate between them", function()
    local child = serve(app_of "1m", 2)
    for _ = 1, 20 do assert.equal(200, get(child, "/rate").status) end
    for _ = 1, 10 do assert.equal(429, get(child, "/rate").status) end
    child:stop()
  end)

  it("keep what they share over a reload", function()
    local child = serve(app_of "1m", 2)
    for i = 1, 5 do assert.equal(tostring(i), get(child, "/count").body) end
    app_of "1024k"
    child:signal "HUP"
    for i = 6, 60 do assert.equal(tostring(i), get(child, "/count").body) end
    child:stop()
  end)

  it("begin anew when a reload gives a table another size, and log that", function()
    local child = serve(app_of "1m", 2)
    for i = 1, 20 do assert.equal(tostring(i), get(child, "/count").body) end
    app_of "2m"
    child:signal "HUP"
    eventually("the new generation serves", function()
      return get(child, "/size").body == "2097152"
    end)
    assert.is_true(tonumber(get(child, "/count").body) < 20)
    assert.matches('web.shared "spec": its size was 1048576 and is 2097152 now: '
      .. "it begins empty", child:errors())
    child:signal "TERM"
    child:wait()
  end)
end)

describe("apps/todo.lua with two workers", function()
  local function post(child, title)
    local answer = child:ask(process.post("/todos", json.encode { title = title },
      "Content-Type: application/json\r\n"))
    assert.equal(201, answer.status)
    return json.decode(answer.body).id
  end

  it("is one list whoever answers, and outlives a worker", function()
    local child = serve("apps/todo.lua", 2)
    local seen = {}
    for i = 1, 20 do
      local id = post(child, "todo " .. i)
      assert.is_nil(seen[id])
      seen[id] = true
      if i == 10 then kill_one(child) end
    end
    for _ = 1, 10 do
      local list = json.decode(get(child, "/todos").body)
      assert.equal(20, #list)
      for i, todo in ipairs(list) do assert.equal("todo " .. i, todo.title) end
    end
    child:signal "TERM"
    child:wait()
  end)
end)
