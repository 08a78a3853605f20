-- SPDX-License-Identifier: MIT
-- Requests to one origin at once: so many connections, and a line for what is above.
local eventually = require "spec.support.eventually"
local faulty = require "spec.support.faulty_server"
local job = require "luaweb.job"
local pool = require "luaweb.fetch.pool"
local web = require "luaweb"

after_each(function()
  pool.close_idle()
  faulty.clean()
end)

local function count()
  local open, idle = pool.count()
  return ("%d open, %d idle"):format(open, idle)
end

-- So many fetches at once.
local function fetch_all(n, url, options)
  local jobs = {}
  for i = 1, n do jobs[i] = function() return assert(web.fetch(url, options)) end end
  return job.all(jobs)
end

describe("many requests to one origin", function()
  -- A server that answers when it may.
  local function waiting()
    local gate = { is_open = false }
    gate.server = faulty.answering(function()
      gate.waiting = (gate.waiting or 0) + 1
      eventually("the gate opens", function() return gate.is_open end)
      return faulty.ok "fine"
    end)
    return gate
  end

  it("are at most max_connections; others wait in line, first come first", function()
    local gate, done = waiting(), {}
    for i = 1, 6 do
      job.spawn(function()
        assert(web.fetch(gate.server.url, { max_connections = 2 }))
        done[#done + 1] = i
      end)
    end
    eventually("two are asked", function() return gate.waiting == 2 end)
    web.sleep(0.03)
    assert.equal("2 open, 0 idle", count())
    gate.is_open = true
    eventually("all are done", function() return #done == 6 end)
    assert.equal(2, #gate.server.conns)
    assert.same({ 3, 4 }, { done[3], done[4] })
  end)

  it("wait no longer than they may", function()
    local gate = waiting()
    local first = job.spawn(function() return (web.fetch(gate.server.url)) end)
    eventually("one is asked", function() return gate.waiting == 1 end)
    local res, message, kind = web.fetch(gate.server.url, { max_connections = 1,
      timeout = 0.05 })
    assert.is_nil(res)
    assert.equal("busy", kind)
    assert.matches("no connection became free within 0.05 s: 1 to this origin are in "
      .. "use (max_connections)", message, 1, true)
    message, kind = select(2, web.fetch(gate.server.url, { max_connections = 1,
      connect_timeout = 0.05 }))
    assert.equal("busy", kind)
    assert.matches("no connection became free within 0.05 s", message, 1, true)
    gate.is_open = true
    assert.equal("fine", first:join().body)
    assert.equal("1 open, 1 idle", count())
  end)

  it("leave the line when they are cancelled, and others come before", function()
    local gate, outcomes = waiting(), {}
    local jobs = {}
    for i = 1, 3 do
      jobs[i] = job.spawn(function()
        outcomes[i] = assert(web.fetch(gate.server.url, { max_connections = 1 })).body
      end)
    end
    eventually("one is asked", function() return gate.waiting == 1 end)
    jobs[2]:cancel "enough"
    gate.is_open = true
    jobs[3]:join()
    assert.same({ "fine", nil, "fine" }, outcomes)
    assert.equal("1 open, 1 idle", count())
  end)

  it("that leave the line just when it is their turn pass it on", function()
    local key = "luaweb.test"
    local link = assert(pool.take { key = key, most = 1, fresh = false,
      open = function() return { close = function() end } end })
    local reads = 0
    local limit = { busy = function() return "late", "busy" end }
    function limit.seek_left()
      reads = reads + 1
      if reads == 1 then return math.huge end
      link:close() -- it has waited, and is about to give up
      return 0
    end
    local mine, message = pool.take { key = key, most = 1, fresh = false,
      limit = limit }
    assert.is_nil(mine)
    assert.matches("^late: ", message)
    assert.same({ 0, 0 }, { pool.count() })
  end)

  it("get their turn when a connection is lost", function()
    local server = faulty.start(function(conn)
      conn:receive_request()
      web.sleep(0.01)
      conn:send(faulty.ok("fine", "Connection: close\r\n"))
    end)
    fetch_all(5, server.url, { max_connections = 1 })
    assert.equal(5, #server.conns)
    assert.equal("0 open, 0 idle", count())
  end)

  it("get their turn when a connection can't be opened", function()
    local url, kinds = "http://127.0.0.1:" .. faulty.closed_port(), {}
    local jobs = {}
    for i = 1, 4 do
      jobs[i] = function()
        kinds[i] = select(3, web.fetch(url, { max_connections = 1 }))
      end
    end
    job.all(jobs)
    assert.same({ "connect", "connect", "connect", "connect" }, kinds)
    assert.equal("0 open, 0 idle", count())
  end)

  it("leave at most 8 connections idle", function()
    assert.equal(8, pool.MOST_IDLE)
    local gate = waiting()
    local all = job.spawn(fetch_all, 12, gate.server.url)
    eventually("all are asked", function() return gate.waiting == 12 end)
    gate.is_open = true
    all:join()
    assert.equal("8 open, 8 idle", count())
  end)

  it("leave at most 64 connections idle, to all origins together", function()
    assert.equal(64, pool.MOST_IDLE_OF_ALL)
    for _ = 1, 9 do
      local gate = waiting()
      local all = job.spawn(fetch_all, 8, gate.server.url)
      eventually("all are asked", function() return gate.waiting == 8 end)
      gate.is_open = true
      all:join()
    end
    assert.equal("64 open, 64 idle", count())
  end)
end)
