-- SPDX-License-Identifier: MIT
-- How a fetch leaves its connection: reset where the answer was given up, so that a
-- server that works on it notices at once; closed in order where it was read.
local alt = require "luaweb.alt"
local faulty = require "spec.support.faulty_server"
local job = require "luaweb.job"
local pool = require "luaweb.fetch.pool"
local web = require "luaweb"

after_each(function()
  pool.close_idle()
  faulty.clean()
end)

local OK = "HTTP/1.1 200 OK\r\n"

-- A server that reads a request, sends octets, and notes how the client leaves: false
-- is a reset, "" an end.
local function server_of(octets)
  local server
  server = faulty.start(function(conn)
    conn:receive_request()
    server.is_asked = true
    conn:send(octets)
    server.ending = conn:receive()
  end)
  return server
end

local function eventually(what, holds)
  for _ = 1, 500 do
    if holds() then return end
    web.sleep(0.01)
  end
  error("never: " .. what, 2)
end

local function ending_of(server)
  eventually("the client leaves", function() return server.ending ~= nil end)
  return server.ending
end

local function asked(server)
  eventually("it is asked", function() return server.is_asked end)
end

describe("a fetch that is given up resets its connection", function()
  it("when its job is cancelled", function()
    local server = server_of ""
    local running = job.spawn(web.fetch, server.url)
    asked(server)
    running:cancel "enough"
    assert.is_false(ending_of(server))
  end)

  it("when it has lost a race", function()
    local server = server_of ""
    alt.race { { "fetch", web.fetch_alt(server.url) }, { "late", web.after(0.1) } }
    assert.is_false(ending_of(server))
  end)

  it("when it took too long", function()
    local server = server_of ""
    assert.is_nil((web.fetch(server.url, { timeout = 0.1 })))
    assert.is_false(ending_of(server))
  end)

  it("when a stream is closed before its end", function()
    local server = server_of(OK .. "Content-Length: 9\r\n\r\nabc")
    local res = assert(web.fetch(server.url, { stream = true }))
    assert.equal("abc", res:read())
    res:close()
    assert.is_false(ending_of(server))
  end)
end)

describe("a fetch whose answer was read", function()
  it("closes its connection in order", function()
    local server = server_of(OK .. "Content-Length: 3\r\nConnection: close\r\n\r\nabc")
    assert.equal("abc", web.fetch(server.url).body)
    assert.equal("", ending_of(server))
  end)

  it("closes a connection that it kept in order", function()
    local server = server_of(OK .. "Content-Length: 3\r\n\r\nabc")
    assert.equal("abc", web.fetch(server.url).body)
    pool.close_idle()
    assert.equal("", ending_of(server))
  end)
end)
