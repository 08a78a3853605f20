-- SPDX-License-Identifier: MIT
-- Who waits for what has gone is told, and what has gone holds nothing: sockets, jobs,
-- contents, and the handlers of clients that have left.
local job = require "luaweb.job"
local process = require "spec.support.process"
local test = require "luaweb.test"
local web = require "luaweb"

local ROOT = process.get "/"

after_each(process.clean)

describe("a socket that another job closes", function()
  local client = test.app(web.app { web.get("/", function() return "root" end) })

  local function receives_reset(conn, timeout)
    local received
    job.spawn(function() received = { n = 2, conn:receive(timeout) } end)
    web.sleep(0.01)
    assert.is_nil(received)
    conn:close()
    web.sleep(0.05)
    assert.same({ n = 2, nil, "reset" }, received)
  end

  local ways = { ["in memory"] = client, ["on TCP"] = client:over_socket() }
  for name, over in pairs(ways) do
    it("gives nil and \"reset\" to who receives from it, " .. name, function()
      receives_reset(over:connect())
    end)

    it("gives nil and \"reset\" before a timeout has passed, " .. name, function()
      receives_reset(over:connect(), 5)
    end)
  end
end)

describe("jobs that join each other", function()
  -- So many jobs, each of which joins the next, the last the first: what each got.
  local function join_in_cycle(count)
    local jobs, got = {}, {}
    for i = 1, count do
      jobs[i] = job.spawn(function()
        web.sleep(0.005 * i)
        got[i] = { pcall(jobs[i % count + 1].join, jobs[i % count + 1]) }
        error(got[i][2], 0)
      end)
    end
    job.spawn(function() pcall(jobs[1].join, jobs[1]) end)
    web.sleep(0.005 * count + 0.05)
    return got
  end

  for _, count in ipairs { 2, 3 } do
    it(("are all told, %d of them"):format(count), function()
      local got = join_in_cycle(count)
      for i = 1, count do
        assert.is_table(got[i], "job " .. i .. " waits for ever")
        assert.is_false(got[i][1])
        assert.matches("job:join: a job can't wait for its own end", got[i][2])
      end
    end)
  end

  it("may do so in a chain that ends", function()
    local first = job.spawn(function() web.sleep(0.01) return "end" end)
    local second = job.spawn(function() return first:join() end)
    local third = job.spawn(function() return second:join() .. first:join() end)
    assert.equal("endend", third:join())
  end)
end)

describe("req:chunks made before another job's req:bytes", function()
  local result
  local client = test.app(web.app {
    web.post("/", function(req)
      local chunks = req:chunks()
      local reader = job.spawn(function() return #req:bytes() end)
      web.sleep(0.01)
      local ok, message = pcall(chunks)
      result = { ok, message }
      return tostring(reader:join())
    end),
  })

  local function is_refused()
    assert.is_false(result[1])
    assert.matches("req:chunks: another job has read the content", result[2])
  end

  it("raises after that has read, and takes nothing away", function()
    assert.equal("10", client:post("/", { body = "0123456789" }).body)
    is_refused()
  end)

  it("raises while that reads, and takes nothing away", function()
    local octets = process.post("/", "0123456789", "Connection: close\r\n")
    local conn = client:raw(octets:sub(1, -8))
    web.sleep(0.04)
    conn:send(octets:sub(-7))
    assert.equal("10", process.answers(conn).body)
    conn:close()
    is_refused()
  end)
end)

describe("handlers whose clients have left", function()
  local APP = [[
local web = require "luaweb"
return web.app {
  web.get("/", function() return "root" end),
  web.resource("/wait", web.machine {
    on_disconnect = "ignore",
    handle_ok = function() print "begun" web.sleep(1) print "ended" end,
  }),
}
]]
  local MOST = 4

  -- A client that leaves with a reset: an answer has come to it that it never reads.
  local function send_and_reset(child)
    local conn = child:connect(ROOT .. process.get "/wait")
    child:expect "^begun$"
    web.sleep(0.02)
    conn:close()
  end

  it("count as connections do: above --max-connections new ones get 503", function()
    local child = process.serve(process.file("app.lua", APP), "--max-connections",
      tostring(MOST))
    child:expect "/wait"
    for _ = 1, MOST - 1 do send_and_reset(child) end
    assert.equal(200, child:ask(ROOT).status)
    send_and_reset(child)
    web.sleep(0.05)
    local answer = child:ask(ROOT)
    assert.equal(503, answer.status)
    assert.matches("^%d+$", answer:header "retry-after")
    for _ = 1, MOST do child:expect "^ended$" end
    web.sleep(0.02)
    assert.equal(200, child:ask(ROOT).status)
    child:stop()
  end)
end)

describe("a finalizer that raises", function()
  it("while --lua-memory collects ends nothing", function()
    local child = process.serve(process.file("app.lua", [[
local web = require "luaweb"
local function bomb()
  getmetatable(newproxy(true)).__gc = function() error "finalizer fails" end
end
return web.app {
  web.get("/", function() return "root" end),
  web.get("/hoard", function()
    _G.hoard = {}
    for i = 1, 20 do _G.hoard[i] = ("x"):rep(2 ^ 20) .. i end
    bomb()
    return "hoarded"
  end),
}
]]), "--lua-memory", "10m")
    assert.equal("hoarded", child:ask(process.get "/hoard").body)
    for _ = 1, 5 do
      local status = child:ask(ROOT).status
      assert(status == 200 or status == 503, "status " .. status)
      web.sleep(0.02)
    end
    child:signal "TERM"
    assert.equal(0, (child:wait()))
  end)
end)

describe("a handler that the app itself resumes", function()
  local APP = [[
local web = require "luaweb"
local job = require "luaweb.job"
local parked
local function park()
  parked = coroutine.running()
  print "begun"
  web.sleep(0.2)
  return "went on"
end
return web.app {
  web.get("/", function() return "root" end),
  web.get("/park", park),
  web.get("/park-job", function()
    job.spawn(park)
    web.sleep(0.01)
    return "spawned"
  end),
  web.get("/resume", function()
    pcall(coroutine.resume, parked)
    return "resumed"
  end),
}
]]

  for _, target in ipairs { "/park", "/park-job" } do
    it("is not gone on with again, and nothing is logged: " .. target, function()
      local child = process.serve(process.file("app.lua", APP))
      local conn = child:connect(process.get(target))
      child:expect "^begun$"
      web.sleep(0.03)
      assert.equal("resumed", child:ask(process.get "/resume").body)
      assert.equal(200, process.answers(conn).status)
      conn:close()
      web.sleep(0.25)
      assert.equal("root", child:ask(ROOT).body)
      assert.equal("", child:errors())
      child:stop()
    end)
  end
end)
