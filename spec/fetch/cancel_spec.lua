-- SPDX-License-Identifier: MIT
-- A job that is cancelled while it fetches leaves nothing open.
local alt = require "luaweb.alt"
local eventually = require "spec.support.eventually"
local faulty = require "spec.support.faulty_server"
local job = require "luaweb.job"
local pool = require "luaweb.fetch.pool"
local scope = require "luaweb.scope"
local test = require "luaweb.test"
local web = require "luaweb"

after_each(function()
  pool.close_idle()
  faulty.clean()
end)

local OK = "HTTP/1.1 200 OK\r\n"

-- A server that reads a request, sends octets, and then waits for the client to leave.
local function silent(octets)
  return faulty.start(function(conn)
    conn:receive_request()
    conn:send(octets)
    conn.is_gone = conn:is_left()
  end)
end

local function is_left(server)
  eventually("the connection is closed", function()
    return server.conns[1] and server.conns[1].is_gone
  end)
  assert.equal(0, (pool.count()))
end

-- Cancels a job once the server was asked: what it raised.
local function cancel(server, fn)
  local running = job.spawn(fn)
  eventually("it is asked", function() return server.conns[1] end)
  web.sleep(0.03)
  running:cancel "enough"
  eventually("it ends", function() return running:status() == "cancelled" end)
end

describe("a client that leaves", function()
  -- Asks an app whose handler asks a server that does not answer, and leaves.
  local function leave(handler_of)
    local server = silent ""
    local client = test.app(web.app {
      web.resource("/{path}", web.machine { do_any = handler_of(server.url),
        half_close_grace = 0 }),
    }):over_socket()
    local conn = client:raw "GET /x HTTP/1.1\r\nHost: h\r\n\r\n"
    eventually("it is asked", function() return server.conns[1] end)
    web.sleep(0.03)
    conn:close()
    is_left(server)
  end

  it("takes the request of its handler with it", function()
    leave(function(url)
      return function() return (web.fetch(url)) and "" end
    end)
  end)

  it("takes the request of a proxy with it", function()
    leave(function(url) return web.proxy(url).handler end)
  end)
end)

describe("a job that is cancelled", function()
  it("while it waits for an answer closes the connection", function()
    local server = silent ""
    cancel(server, function() web.fetch(server.url) end)
    is_left(server)
  end)

  it("while it reads content closes the connection", function()
    local server = silent(OK .. "Content-Length: 9\r\n\r\nabc")
    cancel(server, function() web.fetch(server.url) end)
    is_left(server)
  end)

  it("while it reads a stream closes the connection", function()
    local server = silent(OK .. "Content-Length: 9\r\n\r\nabc")
    cancel(server, function()
      local res = assert(web.fetch(server.url, { stream = true }))
      for _ in res:chunks() do end
    end)
    is_left(server)
  end)

  it("while it sends closes the connection", function()
    local server = faulty.start(function(conn)
      conn:receive_head()
      conn.is_gone = conn:is_left()
    end)
    cancel(server, function()
      web.fetch(server.url, { body = function()
        web.sleep(0.005)
        return ("x"):rep(1000)
      end })
    end)
    is_left(server)
  end)

  it("while it connects leaves nothing open", function()
    local server = faulty.deaf()
    local running = job.spawn(web.fetch, server.url)
    web.sleep(0.03)
    running:cancel "enough"
    eventually("it ends", function() return running:status() == "cancelled" end)
    assert.equal(0, (pool.count()))
  end)

  it("while it connects, as it has lost a race, leaves nothing open", function()
    local server = faulty.deaf()
    alt.race { { 1, web.fetch_alt(server.url) }, { 2, web.after(0.03) } }
    eventually("nothing is open", function() return pool.count() == 0 end)
  end)

  it("with its scope closes the connection", function()
    local server = silent ""
    scope.run(function(own)
      own:spawn(web.fetch, server.url)
      eventually("it is asked", function() return server.conns[1] end)
    end)
    is_left(server)
  end)

  it("can't begin another one", function()
    local server, second = faulty.answering(faulty.ok "fine"), nil
    local running = job.spawn(function()
      pcall(web.sleep, 10)
      second = { pcall(web.fetch, server.url) }
    end)
    web.sleep(0.01)
    running:cancel "enough"
    pcall(running.join, running)
    assert.is_false(second[1])
    assert.is_true(alt.is_cancelled(second[2]))
    assert.equal(0, #server.conns)
  end)
end)
