-- SPDX-License-Identifier: MIT
-- What is counted is counted over all workers, and outlives each of them.
local eventually = require "spec.support.eventually"
local json = require "luaweb.json"
local process = require "spec.support.process"
local scrape = require "spec.support.scrape"
local tree = require "spec.support.tree"

local APP = "spec/apps/counted.lua"
local REQUESTS = "luaweb_requests_total"
local HELLO = { template = "/hello{/name}", method = "GET", status = "200" }

after_each(process.clean)

local function serve(count, ...)
  local child = process.serve(APP, "--metrics", "127.0.0.1:0", "--workers",
    tostring(count), ...)
  eventually("all workers are ready", function()
    return json.decode(scrape.get(child, "/health").body).workers.ready == count
  end)
  return child
end

-- Each on a connection of its own, so that all workers get some.
local function greet(child, times)
  for _ = 1, times do
    assert.equal(200, child:ask(process.get "/hello").status)
  end
end

describe("metrics", function()
  it("are summed over all workers", function()
    local child = serve(2)
    greet(child, 64)
    local seen = scrape.wait(child, REQUESTS, HELLO, 64)
    assert.equal(64, seen:sum("luaweb_connections_accepted_total"))
    for worker = 1, 2 do
      local labels = { worker = tostring(worker) }
      assert.is_true(seen:get("luaweb_connections_accepted_total", labels) > 0,
        "worker " .. worker .. " has accepted nothing")
      assert.equal(1, seen:get("luaweb_worker_generation", labels))
      assert.is_true(seen:get("process_resident_memory_bytes", labels) > 1e6)
      assert.is_true(seen:get("process_open_fds", labels) > 3)
    end
    assert.is_true(seen:get("process_threads", { worker = "master" }) >= 1)
    child:stop()
  end)

  it("go on where they were after a kill -9, and count that", function()
    local child = serve(2)
    greet(child, 20)
    scrape.wait(child, REQUESTS, HELLO, 20)
    local conn = child:connect(process.get "/wait")
    local function waiting()
      return (scrape.read(child):sum "luaweb_requests_running")
    end
    eventually("it waits", function() return waiting() == 1 end)
    for _, pid in ipairs(child:workers()) do child:signal_worker("KILL", pid) end
    eventually("both are replaced", function()
      local seen = scrape.read(child)
      local _, alive = seen:sum "luaweb_worker_generation"
      return seen:sum "luaweb_worker_restarts_total" == 2 and alive == 2
    end)
    assert.equal(0, waiting())
    greet(child, 20)
    scrape.wait(child, REQUESTS, HELLO, 40)
    conn:close()
  end)

  it("go on over a reload, and count it", function()
    local child = serve(2)
    greet(child, 10)
    child:signal "HUP"
    scrape.wait(child, "luaweb_reloads_total", { result = "ok" }, 1)
    greet(child, 10)
    local seen = scrape.wait(child, REQUESTS, HELLO, 20)
    assert.equal(2, seen:get("luaweb_worker_generation", { worker = "2" }))
    assert.equal(0, seen:get("luaweb_reloads_total", { result = "failed" }))
    child:stop()
  end)

  it("count a reload that failed", function()
    local path = process.file("app.lua", [[
      local web = require "luaweb"
      return web.app { web.get("/", function() return "first" end) }
    ]])
    local child = process.serve(path, "--metrics", "127.0.0.1:0")
    process.file("app.lua", "return nothing.good\n")
    child:signal "HUP"
    scrape.wait(child, "luaweb_reloads_total", { result = "failed" }, 1)
  end)

  it("go on over a binary upgrade, at the same address", function()
    local child = serve(1)
    greet(child, 5)
    scrape.wait(child, REQUESTS, HELLO, 5)
    child:signal "USR2"
    local pid
    eventually("another master serves, and the old one is gone", function()
      pid = tonumber(child:errors():match "upgrade: pid (%d+) serves, this one ends")
      return pid and not tree.is_alive(child.pid)
    end)
    greet(child, 5)
    local seen = scrape.wait(child, REQUESTS, HELLO, 10)
    assert.same({ 2, 1 }, { seen:sum "luaweb_worker_generation" })
    tree.signal(pid, "TERM")
    child:wait()
  end)

  it("show that a loop stands still, while it does", function()
    local child = serve(1, "--stall-timeout", "1")
    local conn = child:connect(process.get "/stands")
    eventually("its turn lasts", function()
      local seen = scrape.read(child)
      local turn = seen:get("luaweb_worker_turn_seconds", { worker = "1" })
      return turn and turn > 0.2
        and seen:get("luaweb_requests_running", { worker = "1" }) == 1
    end)
    scrape.wait(child, "luaweb_stalls_total", nil, 1)
    scrape.wait(child, "luaweb_worker_restarts_total", { worker = "1" }, 1)
    conn:close()
  end)
end)
