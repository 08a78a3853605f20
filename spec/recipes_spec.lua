-- SPDX-License-Identifier: MIT
-- What README.md shows for waiting, streams and tests does what is said of it there.
local alt = require "luaweb.alt"
local broadcast = require "luaweb.broadcast"
local bus = require "luaweb.bus"
local job = require "luaweb.job"
local process = require "spec.support.process"
local promise = require "luaweb.promise"
local scope = require "luaweb.scope"
local semaphore = require "luaweb.semaphore"
local test = require "luaweb.test"
local web = require "luaweb"

after_each(process.clean)

describe("a semaphore with a deadline", function()
  it("answers 503 to who waits too long, and its places come back", function()
    local slow, most, now = semaphore.new(2), 0, 0
    local client = test.app(web.app {
      web.get("/report", function()
        local name, place = alt.race { { "mine", slow:acquire_alt() },
          { "late", web.after(0.05) } }
        if name == "late" then return web.status(503):header("Retry-After", 5) end
        return scope.with(place, function()
          now = now + 1
          most = math.max(most, now)
          web.sleep(0.3)
          now = now - 1
          return "done"
        end)
      end),
    })
    local function ask() return client:get("/report").status end
    local statuses = job.all { ask, ask, ask }
    table.sort(statuses)
    assert.same({ 200, 200, 503 }, { unpack(statuses) })
    assert.equal(2, most)
    assert.equal(200, ask())
  end)
end)

describe("a lazy promise", function()
  it("is computed once, when somebody wants it, for all who do", function()
    local count = 0
    local config = promise.lazy(function()
      count = count + 1
      web.sleep(0.02)
      return "config"
    end)
    local client = test.app(web.app {
      web.get("/", function() return config:read() end),
    })
    local function ask() return client:get("/").body end
    assert.equal(0, count)
    assert.same({ "config", "config" }, { unpack(job.all { ask, ask }) })
    assert.equal(1, count)
  end)
end)

describe("a scope within a request", function()
  it("gives up what came too late", function()
    local ended
    local client = test.app(web.app {
      web.get("/page", function()
        return scope.run(function(inner)
          local ads = inner:spawn(function() web.sleep(30) end)
          inner:finally(function() ended = ads:status() end)
          local name = alt.race { { "ads", ads }, { "late", web.after(0.02) } }
          return "page without " .. (name == "late" and "ads" or "")
        end)
      end),
    })
    assert.equal("page without ads", client:get("/page").body)
    assert.equal("cancelled", ended)
  end)
end)

describe("a broadcast", function()
  it("has the policies that are named", function()
    for _, policy in ipairs { "drop_oldest", "latest", "disconnect", "block" } do
      local news = broadcast.new { policy = policy, cap = 2 }
      local one = news:subscribe()
      news:publish(1)
      assert.equal(1, one:take())
    end
  end)
end)

describe("a stream of a bus", function()
  it("ends as a whole when the worker stops, long before --drain-timeout", function()
    local child = process.serve(process.file("app.lua", [[
      local alt = require "luaweb.alt"
      local bus = require "luaweb.bus"
      local web = require "luaweb"
      web.every(0.01, function() bus.publish("room:5", "x") end)
      return web.app { web.get("/events", function()
        return web.streaming(function(out)
          local news = bus.subscribe("room:5", { cap = 256 })
          print "begun"
          while true do
            local what, text = alt.race { { "stop", web.stopping }, { "news", news } }
            if what == "stop" then return end
            out:write(text)
          end
        end)
      end) }
    ]]), "--drain-timeout", "600")
    child:expect "/events"
    local conn = child:connect(process.get "/events")
    child:expect "^begun$"
    child:signal "TERM"
    assert.matches("\r\n0\r\n\r\n$", process.rest(conn, 10))
    conn:close()
    assert.equal(0, child:wait())
  end)

  it("takes texts as an alternative", function()
    local news = bus.subscribe "recipes"
    bus.publish("recipes", "hello")
    assert.same({ "news", "hello" }, { alt.race { { "news", news } } })
    news:close()
  end)
end)

describe("a client of a spec", function()
  it("knows its url over a socket, and sends chunks as they are", function()
    local app = web.app { web.post("/notes", function(req)
      return web.created("/notes/1", req:text())
    end) }
    local client = test.app(app)
    assert.is_nil(client.url)
    client = client:over_socket()
    assert.equal("hello", web.fetch(client.url .. "/notes", { body = "hello" }).body)
    local conn = client:raw("POST /notes HTTP/1.1\r\nHost: x\r\n"
      .. "Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n")
    web.sleep(0.05)
    conn:send "0\r\n\r\n"
    assert.matches("^HTTP/1.1 201 ", (conn:receive()))
    conn:close()
  end)
end)
