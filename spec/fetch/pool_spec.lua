-- SPDX-License-Identifier: MIT
-- Connections are kept for the next request, if nothing can go wrong with that.
local eventually = require "spec.support.eventually"
local faulty = require "spec.support.faulty_server"
local job = require "luaweb.job"
local pool = require "luaweb.fetch.pool"
local web = require "luaweb"

local idle_seconds = pool.IDLE_SECONDS

after_each(function()
  pool.IDLE_SECONDS = idle_seconds
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

describe("a connection", function()
  it("is used again", function()
    local server = faulty.answering(faulty.ok "fine")
    for _ = 1, 3 do assert(web.fetch(server.url)) end
    assert.equal(1, #server.conns)
    assert.equal("1 open, 1 idle", count())
  end)

  it("is not used again when the server, or the app, says close", function()
    local server = faulty.answering(faulty.ok("fine", "Connection: close\r\n"))
    assert(web.fetch(server.url))
    assert.equal("0 open, 0 idle", count())
    server = faulty.answering(faulty.ok "fine")
    assert(web.fetch(server.url, { headers = { Connection = "close" } }))
    assert.matches("\r\nConnection: close\r\n", server.requests[1].head)
    assert.equal("0 open, 0 idle", count())
  end)

  it("of HTTP/1.0 is not used again, unless the server says so", function()
    local server = faulty.answering "HTTP/1.0 200 OK\r\nContent-Length: 0\r\n\r\n"
    assert(web.fetch(server.url))
    assert.equal("0 open, 0 idle", count())
  end)

  it("is not used again when octets came behind the answer: they are no answer",
    function()
      local server = faulty.answering(faulty.ok "one" .. faulty.ok "EVIL")
      for _ = 1, 2 do assert.equal("one", assert(web.fetch(server.url)).body) end
      assert.equal(2, #server.conns)
    end)

  it("is not used again when HEAD was answered with content", function()
    local server = faulty.answering(faulty.ok "EVIL")
    for _ = 1, 2 do
      assert.equal("", assert(web.fetch(server.url, { method = "HEAD" })).body)
    end
    assert.equal(2, #server.conns)
  end)

  it("is not used again when octets come while it is idle", function()
    local server = faulty.answering(function(_, _, conn)
      conn:send(faulty.ok "one")
      web.sleep(0.02)
      conn:send(faulty.ok "EVIL")
    end)
    assert.equal("one", assert(web.fetch(server.url)).body)
    web.sleep(0.06)
    assert.equal("one", assert(web.fetch(server.url)).body)
    assert.equal(2, #server.conns)
  end)

  it("that the server has closed is found out before it is used", function()
    local server = faulty.start(function(conn)
      conn:receive_request()
      conn:send(faulty.ok "fine")
    end)
    for _ = 1, 2 do
      assert(web.fetch(server.url, { method = "POST", body = "x" }))
      web.sleep(0.03)
    end
    assert.equal(2, #server.conns)
  end)

  it("is closed when nobody wants it for a while", function()
    assert.equal(15, pool.IDLE_SECONDS)
    pool.IDLE_SECONDS = 0.05
    local server = faulty.start(function(conn)
      conn:receive_request()
      conn:send(faulty.ok "fine")
      conn.was_left = conn:is_left()
    end)
    assert(web.fetch(server.url))
    assert.equal("1 open, 1 idle", count())
    eventually("closed", function() return count() == "0 open, 0 idle" end)
    eventually("seen", function() return server.conns[1].was_left end)
  end)

  it("is not shared by different options of TLS, proxies, or sockets", function()
    local keys = {}
    for _, call in ipairs {
      { verify = true }, { verify = false }, { verify = true, ca_file = "x" },
      { verify = true, unix = "/x" },
    } do
      call.uri = { scheme = "https", host = "h", port = 443 }
      keys[pool.key_of(call)] = true
      local proxy = { scheme = "http", host = "p", port = 1, path = "/" }
      keys[pool.key_of(call, proxy)] = true
    end
    local n = 0
    for _ in pairs(keys) do n = n + 1 end
    assert.equal(8, n)
  end)
end)

describe("a connection that the server closes as the next request comes", function()
  -- Answers one request of each connection, and closes when the next one has come.
  local function treacherous()
    return faulty.start(function(conn)
      conn:receive_request()
      conn:send(faulty.ok "fine")
      conn.second = conn:receive_request()
    end)
  end

  it("is nobody's fault: an idempotent request is sent again on a new one", function()
    local server = treacherous()
    for _, method in ipairs { "GET", "HEAD", "PUT", "DELETE", "OPTIONS" } do
      assert(web.fetch(server.url, { method = method }))
    end
    assert.equal(5, #server.conns)
    assert.matches("^DELETE", server.conns[3].second)
  end)

  it("fails a POST, which may have been done", function()
    local server = treacherous()
    assert(web.fetch(server.url, { body = "x" }))
    local res, _, kind = web.fetch(server.url, { body = "x" })
    assert.is_nil(res)
    assert.equal("reset", kind)
    assert.equal(1, #server.conns)
  end)

  it("fails a content that was a function, which can't be asked again", function()
    local server = treacherous()
    assert(web.fetch(server.url))
    local _, _, kind = web.fetch(server.url, { method = "PUT",
      body = function() return nil end })
    assert.equal("reset", kind)
    assert.equal(1, #server.conns)
  end)

  it("has the request sent again on a new one, not on another kept one", function()
    local server = treacherous()
    fetch_all(2, server.url)
    assert.equal("2 open, 2 idle", count())
    assert(web.fetch(server.url))
    assert.equal(3, #server.conns)
  end)

  it("fails what has got some of an answer", function()
    local server = faulty.start(function(conn)
      conn:receive_request()
      conn:send(faulty.ok "fine")
      conn:receive_request()
      conn:send "HTTP/1.1 2"
    end)
    assert(web.fetch(server.url))
    local _, _, kind = web.fetch(server.url)
    assert.equal("reset", kind)
    assert.equal(1, #server.conns)
  end)

  it("is asked again once, and no more", function()
    local server = faulty.start(function(conn)
      if conn:receive_request() and conn.number == 1 then
        conn:send(faulty.ok "fine")
        conn:receive_request()
      end
    end)
    assert(web.fetch(server.url))
    local _, _, kind = web.fetch(server.url)
    assert.equal("reset", kind)
    assert.equal(2, #server.conns)
  end)
end)
