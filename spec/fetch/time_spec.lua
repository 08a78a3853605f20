-- SPDX-License-Identifier: MIT
-- How long web.fetch waits, what it says when that was too long, and that a fetch which
-- nobody wants any more leaves nothing behind.
local alt = require "luaweb.alt"
local clocks = require "luaweb.fetch.clock"
local eventually = require "spec.support.eventually"
local exchanges = require "luaweb.fetch.exchange"
local faulty = require "spec.support.faulty_server"
local options_of = require "luaweb.fetch.options"
local pool = require "luaweb.fetch.pool"
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

local function late(url, options, pattern)
  local res, message, kind = web.fetch(url, options)
  assert.is_nil(res)
  assert.equal("timeout", kind, message)
  assert.matches(pattern, message)
end

describe("a fetch that lasts too long", function()
  it("while it connects says so", function()
    local server = faulty.deaf()
    late(server.url, { connect_timeout = 0.05 }, "within 0.05 s")
    late(server.url, { timeout = 0.05 }, "not done within 0.05 s: it was connecting")
    assert.equal(0, (pool.count()))
  end)

  it("while it waits for the answer says so, and closes the connection", function()
    local server = silent ""
    late(server.url, { timeout = 0.25 },
      "not done within 0.25 s: it was waiting for the answer")
    is_left(server)
  end)

  it("while it reads the content says so", function()
    local server = silent(OK .. "Content-Length: 5\r\n\r\nab")
    late(server.url, { timeout = 0.25 },
      "not done within 0.25 s: it was reading the content")
    is_left(server)
  end)

  it("between two octets says so", function()
    local server = silent(OK .. "Content-Length: 5\r\n\r\nab")
    late(server.url, { idle_timeout = 0.25 },
      "no octet for 0.25 s: it was reading the content")
    is_left(server)
  end)

  it("octet by octet ends, too", function()
    local server = faulty.start(function(conn)
      conn:receive_request()
      conn:send(OK .. "X: ")
      repeat web.sleep(0.01) until not conn:send "x"
    end)
    late(server.url, { timeout = 0.1, idle_timeout = 5 }, "not done within 0.1 s")
  end)

  it("but not without octets, does not", function()
    local server = faulty.start(function(conn)
      conn:receive_request()
      conn:send(OK .. "Content-Length: 20\r\n\r\n")
      for _ = 1, 20 do
        web.sleep(0.01)
        conn:send "x"
      end
    end)
    local res = assert(web.fetch(server.url, { idle_timeout = 5 }))
    assert.equal(("x"):rep(20), res.body)
  end)

  it("over several redirects is the same fetch", function()
    local server = faulty.answering(function()
      web.sleep(0.03)
      return "HTTP/1.1 302 X\r\nLocation: /\r\nContent-Length: 0\r\n\r\n"
    end)
    late(server.url, { timeout = 0.1, redirects = 100 }, "not done within 0.1 s")
  end)

  it("while it sends says so: nobody takes the octets", function()
    local server = faulty.start(function(conn)
      conn:receive_head()
      web.sleep(0.5)
    end)
    local options = { body = ("x"):rep(2 ^ 24), idle_timeout = 0.1 }
    late(server.url, options, "no octet for 0.1 s: it was waiting for the answer")
    assert.equal(0, (pool.count()))
  end)
end)

describe("octets that come", function()
  it("are signs of life", function()
    local moves, answer = 0, faulty.ok "ab"
    local link = { is_reused = false, keep = function() end, close = function() end,
      socket = {
        send_now = function(_, octets) return #octets end,
        receive = function()
          local octet = answer:sub(1, 1)
          answer = answer:sub(2)
          return octet
        end,
      } }
    local clock = clocks.new(10, 10)
    clock.move = function() moves = moves + 1 end
    local call = assert(options_of.read("spec", "http://h/"))
    local exchange, size = exchanges.start(link, call, clock), #answer
    assert.equal(200, exchange:head().status)
    while exchange:read() do end
    assert.equal(size + 1, moves) -- and one that was sent
  end)
end)

describe("the time of a stream", function()
  it("is that until its head, and then between octets", function()
    local server = faulty.start(function(conn)
      conn:receive_request()
      conn:send(OK .. "\r\n")
      for _ = 1, 10 do
        web.sleep(0.07)
        conn:send "x"
      end
    end)
    local res = assert(web.fetch(server.url, { stream = true, timeout = 0.5 }))
    local all = {}
    for piece in res:chunks() do all[#all + 1] = piece end
    assert.equal("xxxxxxxxxx", table.concat(all))
  end)

  it("does not run while nobody reads", function()
    local server = faulty.start(function(conn)
      conn:receive_request()
      conn:send(OK .. "Content-Length: 6\r\n\r\nabc")
      web.sleep(0.5)
      conn:send "def"
    end)
    local res = assert(web.fetch(server.url, { stream = true, idle_timeout = 0.3 }))
    assert.equal("abc", res:read())
    web.sleep(0.4)
    assert.equal("def", res:read())
    assert.is_nil((res:read()))
  end)

  it("between octets may be over", function()
    local server = silent(OK .. "Content-Length: 9\r\n\r\nabc")
    local res = assert(web.fetch(server.url, { stream = true, idle_timeout = 0.25 }))
    assert.equal("abc", res:read())
    local _, message, kind = res:read()
    assert.matches("no octet for 0.25 s: it was reading the content", message)
    assert.equal("timeout", kind)
    is_left(server)
  end)
end)

describe("a fetch that loses a race", function()
  it("is cancelled: its connection is closed", function()
    local server = silent ""
    local name = alt.race {
      { "answer", web.fetch_alt(server.url) },
      { "late", web.after(0.25) },
    }
    assert.equal("late", name)
    is_left(server)
  end)

  it("is cancelled while it reads the content, and while it sends", function()
    local server = silent(OK .. "Content-Length: 9\r\n\r\nabc")
    alt.race { { "a", web.fetch_alt(server.url) }, { "b", web.after(0.25) } }
    is_left(server)
    server = silent ""
    local function forever() return ("x"):rep(1000) end
    alt.race { { "a", web.fetch_alt(server.url, { body = forever }) },
      { "b", web.after(0.25) } }
    assert.equal(0, (pool.count()))
  end)

  it("is cancelled while it waits in line", function()
    local server = silent ""
    local first = web.fetch_alt(server.url, { max_connections = 1 })
    local second = web.fetch_alt(server.url, { max_connections = 1 })
    alt.race { { 1, first }, { 2, second }, { 3, web.after(0.25) } }
    is_left(server)
  end)

  it("is never begun when something else is ready", function()
    local server = silent ""
    alt.race { { 1, alt.always(1) }, { 2, web.fetch_alt(server.url) } }
    web.sleep(0.02)
    assert.equal(0, #server.conns)
  end)
end)

describe("a fetch that wins a race", function()
  it("gives its response", function()
    local server = faulty.answering(faulty.ok "fine")
    local name, res = alt.race {
      { "answer", web.fetch_alt(server.url) },
      { "late", web.after(10) },
    }
    assert.equal("answer", name)
    assert.is_true(res.ok)
    assert.equal("fine", res.body)
  end)

  it("may stream what comes after the race", function()
    local server = faulty.start(function(conn)
      conn:receive_request()
      conn:send(OK .. "Content-Length: 6\r\n\r\nabc")
      web.sleep(0.05)
      conn:send "def"
    end)
    local res = web.fetch_alt(server.url, { stream = true }):sync()
    local all = ""
    for piece in res:chunks() do all = all .. piece end
    assert.equal("abcdef", all)
  end)

  it("gives a failure as a value, for a race needs one", function()
    local res = web.fetch_alt("http://127.0.0.1:" .. faulty.closed_port()):sync()
    assert.is_false(res.ok)
    assert.equal("connect", res.kind)
    assert.matches("connection refused", res.message)
    assert.equal(res.message, tostring(res))
    assert.equal("url", web.fetch_alt("x"):sync().kind)
  end)

  it("raises the programmer's mistakes when it is made", function()
    assert.error_matches(function() web.fetch_alt(nil) end,
      "web.fetch_alt wants a URL first, not a nil")
    assert.error_matches(function() web.fetch_alt("http://h/", { x = 1 }) end,
      "web.fetch_alt: there is no option x")
  end)
end)
