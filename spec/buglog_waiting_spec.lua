-- SPDX-License-Identifier: MIT
-- What went wrong in other servers when handlers waited, and was told of in public,
-- tried on this one: what was meant for a client that has left, timers that died or
-- grew, and what kept a process from ending.
local bounded = require "luaweb.bounded"
local chan = require "luaweb.chan"
local commit_watch = require "luaweb.commit_watch"
local concurrent = require "spec.support.concurrent"
local faulty = require "spec.support.faulty_server"
local ivar = require "luaweb.ivar"
local job = require "luaweb.job"
local lock = require "luaweb.lock"
local mailbox = require "luaweb.mailbox"
local mvar = require "luaweb.mvar"
local now = require("system").monotime
local process = require "spec.support.process"
local scope = require "luaweb.scope"
local test = require "luaweb.test"
local web = require "luaweb"

local GET = process.get "/"

after_each(process.clean)
after_each(faulty.clean)

local function eventually(what, holds)
  for _ = 1, 500 do
    if holds() then return end
    web.sleep(0.01)
  end
  error("never: " .. what, 2)
end

local handler
local keys = { handle_ok = function(req) return handler(req) end, half_close_grace = 0 }
local in_time = { handle_ok = keys.handle_ok, timeout = 0.05 }
local client = test.app(web.app {
  web.resource("/", web.machine(keys)),
  web.resource("/in_time", web.machine(in_time)),
}):over_socket()

-- Has a handler begin to wait, and its client leave.
local function leave(fn)
  local begun, status
  handler = function()
    begun = true
    scope.finally(function(how) status = how end)
    return fn()
  end
  local conn = client:raw(GET)
  eventually("begun", function() return begun end)
  conn:close()
  eventually("ended", function() return status end)
  assert.equal("cancelled", status)
end

local kinds = {
  ["a bounded queue"] = { function() return bounded.new(1) end, "take", "put" },
  ["a channel"] = { chan.new, "take", "send" },
  ["a mailbox"] = { mailbox.new, "take", "send" },
  ["an ivar"] = { ivar.new, "read", "fill" },
  ["an mvar"] = { mvar.new, "take", "fill" },
}

describe("a handler that waits", function()
  for name, kind in pairs(kinds) do
    local new, take, put = unpack(kind)

    it("for " .. name .. " takes nothing once its client has left", function()
      local object = new()
      local function wait() return object[take](object) end
      leave(wait)
      local other = job.spawn(wait)
      concurrent.settle()
      object[put](object, "meant for others")
      assert.equal("meant for others", other:join())
    end)

    it("for " .. name .. " takes nothing once its time is over", function()
      local object = new()
      handler = function() return object[take](object) end
      assert.equal(503, client:get("/in_time").status)
      object[put](object, "meant for others")
      assert.equal("meant for others", object[take](object))
    end)
  end

  it("to put into what is full leaves nothing there", function()
    local b = bounded.new(1)
    b:put(1)
    leave(function() b:put(2) end)
    assert.equal(1, b:take())
    assert.is_false((b:try_take()))
  end)

  it("with a lock, or for one, frees it when its client leaves", function()
    local lk = lock.new()
    leave(function() lk:with(web.sleep, 60) end)
    assert.is_false(lk:is_held())
    local token = lk:acquire_alt():sync()
    leave(function() lk:with(print) end)
    token:release()
    assert.is_false(lk:is_held())
  end)

  it("is not woken by what its predecessor waited for", function()
    local c, slept = chan.new(), nil
    leave(function() return c:take() end)
    handler = function()
      local start = now()
      web.sleep(0.05)
      slept = now() - start
      return 204
    end
    local asking = job.spawn(function() return client:get("/").status end)
    for _ = 1, 20 do
      assert.is_false(c:try_give "late")
      web.sleep(0.001)
    end
    assert.equal(204, asking:join())
    assert.is_true(slept >= 0.049)
  end)

  it("in a finalizer that it needs no more has each run once, on one connection",
    function()
      local runs = 0
      handler = function()
        scope.finally(function() runs = runs + 1 end)
        return "answer"
      end
      local conn = client:raw(GET)
      for _ = 1, 300 do
        assert.equal("answer", process.answers(conn).body)
        conn:send(GET)
      end
      assert.equal("answer", process.answers(conn).body)
      conn:send(process.get("/", "Connection: close\r\n"))
      assert.equal("answer", process.answers(conn).body)
      assert.same({ "", "closed" }, { process.rest(conn) })
      conn:close()
      assert.equal(302, runs)
    end)
end)

describe("a stream of many small writes", function()
  it("leaves no memory behind when its client goes in the midst of it", function()
    local child = process.serve(process.file("app.lua", [[
local web = require "luaweb"
return web.app {
  web.get("/", function()
    return web.streaming(function(out) while true do out:write "x" end end)
  end),
  web.get("/held", function()
    collectgarbage()
    return tostring(math.floor(collectgarbage "count"))
  end),
}
]]))
    local function drop_all(n)
      for i = 1, n do
        local conn = child:connect(GET)
        if i % 2 == 0 then assert(conn:receive(5)) end
        conn:close()
      end
      return tonumber(child:ask(process.get "/held").body)
    end
    local before = drop_all(50)
    local grown = drop_all(200) - before
    assert(grown < 1024, grown .. " KiB more after 200 streams")
    child:stop() -- a sanitizer tells of what C has lost
  end)
end)

describe("what was made in a job that has ended", function()
  it("works on in others: sockets, timers, channels", function()
    local server = faulty.answering(faulty.ok "fine")
    local made = job.spawn(function()
      local socket = require "luaweb.client.socket"
      local beats = 0
      return { conn = assert(socket.connect("127.0.0.1", server.port)), c = chan.new(),
        handle = web.every(0.001, function() beats = beats + 1 end),
        after = web.after(0.001), beats = function() return beats end }
    end):join()
    for _ = 1, 3 do collectgarbage() end
    made.conn:send(GET)
    assert.equal("fine", process.answers(made.conn).body)
    made.conn:close()
    made.after:sync()
    eventually("three beats", function() return made.beats() >= 3 end)
    made.handle:stop()
    job.spawn(function() made.c:give(1) end)
    assert.equal(1, made.c:take())
  end)
end)

describe("what looks like no call, but waits", function()
  local slow = setmetatable({}, { __tostring = function()
    web.sleep(0.001)
    return "slow"
  end })

  it("may be a __tostring, though not of a format", function()
    assert.equal("slow", tostring(slow))
    local ok, message = pcall(string.format, "%s", slow)
    assert.is_false(ok)
    assert.matches("web.sleep can't wait here: it was called inside a callback of a C "
      .. "function", message)
  end)

  it("may be a module, also one whose first loader is cancelled", function()
    local path = package.path
    process.file("slow_module.lua", "require('luaweb').sleep(0.02) return { v = 1 }")
    package.path = process.path "?.lua" .. ";" .. path
    local function load() return require("slow_module").v end
    local first, second = job.spawn(load), job.spawn(load)
    concurrent.settle()
    first:cancel()
    local ok, v = pcall(second.join, second)
    package.path, package.loaded.slow_module = path, nil
    assert.same({ true, 1, "cancelled" }, { ok, v, first:status() })
  end)
end)

describe("web.every", function()
  it("leaves nothing behind at each beat", function()
    local beats, at_start, at_end = 0, nil, nil
    local function heap()
      collectgarbage()
      collectgarbage()
      return collectgarbage "count"
    end
    local nodes = commit_watch.counts().nodes
    local handle = web.every(0.001, function()
      beats = beats + 1
      if beats == 50 then at_start = heap() end
      if beats == 400 then at_end = heap() end
    end)
    eventually("400 beats", function() return at_end end)
    handle:stop()
    assert.is_true(at_end - at_start < 64, at_end - at_start)
    assert.is_true(commit_watch.counts().nodes <= nodes)
  end)

  local APP = [[
local job = require "luaweb.job"
local web = require "luaweb"
web.every(0.01, function() print "beat" end)
web.every(3600, print)
job.server(function() while true do web.sleep(3600) end end)
return web.app {
  on_stop = function(app) print("stopped, " .. assert(web.fetch(%q)).body) end,
  web.get("/", function() return assert(web.fetch(%q)).body end),
}
]]

  local other

  before_each(function() other = process.serve "spec/apps/reports.lua" end)

  local function serve(...)
    local url = ("http://127.0.0.1:%d/"):format(other.port)
    return process.serve(process.file("app.lua", APP:format(url, url)), ...)
  end

  it("goes on while no client can connect any more", function()
    local child = serve("--max-connections", "2")
    local conns = { child:connect(GET), child:connect() }
    assert.equal("root", process.answers(conns[1]).body)
    local refused = child:connect(GET)
    assert.equal(503, process.answers(refused).status)
    for _ = 1, 3 do child:expect "^beat$" end
    for _, conn in ipairs { refused, unpack(conns) } do conn:close() end
    child:stop()
    other:stop()
  end)

  it("and kept connections, and jobs that sleep, don't hold up a stop", function()
    local child = serve()
    assert.equal("root", child:ask(GET).body)
    local start = now()
    child:signal "TERM"
    local code, output = child:wait()
    assert.equal(0, code)
    assert.matches("stopped, root\n$", output)
    assert.is_true(now() - start < 20) -- the drain timeout is 30
    other:stop()
  end)
end)
