-- SPDX-License-Identifier: MIT
-- Octets over TLS: sockets do with them what they do without, whatever OpenSSL has to
-- read and write of its own between.
local client = require "spec.support.client"
local dial = require "luaweb.client.dial"
local faulty_server = require "spec.support.faulty_server"
local job = require "luaweb.job"
local process = require "spec.support.process"
local tls_server = require "spec.support.tls_server"
local web = require "luaweb"

local SIZE = 3000000
local BIG = client.octets(SIZE)

--- Connects to a server that runs a script.
local function open(script, options, tls)
  local server = tls_server.start(script, options)
  tls = tls or {}
  tls.ca_file = server.certificate:file()
  local function dial_it()
    return assert(dial.open { host = "localhost", port = server.port, tls = tls })
  end
  return dial_it(), dial_it
end

--- Sends while it receives so many octets.
local function exchange(conn, octets, size)
  local sending = job.spawn(function() return conn:send(octets) end)
  local received = client.receive_octets(conn, size)
  assert.is_true(sending:join())
  return received
end

after_each(function()
  faulty_server.clean()
  process.clean()
end)

describe("octets over TLS", function()
  for _, version in ipairs { "TLSv1.2", "TLSv1.3" } do
    local only = { from = version, to = version }

    it("go both ways at once, over " .. version, function()
      local conn = open(function(peer)
        for at = 1, SIZE, 100000 do
          local octets = peer:receive_octets(100000)
          assert(octets == BIG:sub(at, at + 99999))
          peer:send(octets)
        end
        peer:receive()
      end, only)
      assert.is_true(exchange(conn, BIG, SIZE) == BIG)
      conn:close()
    end)

    it("wait for a server that is slow to take them, over " .. version, function()
      local much, taken = BIG:rep(6), nil -- more than the system would hold
      local conn = open(function(peer)
        web.sleep(0.05)
        taken = peer:receive_octets(#much)
        peer:send "done"
      end, only)
      assert.is_true(conn:send(much))
      assert.equal("done", client.receive_octets(conn, 4))
      assert.is_true(taken == much)
      conn:close()
    end)
  end

  it("are not forgotten when OpenSSL has read them already", function()
    local conn = open(function(peer)
      peer:send(BIG:sub(1, 200000))
      peer:receive()
    end)
    web.sleep(0.05)
    assert.is_true(client.receive_octets(conn, 200000) == BIG:sub(1, 200000))
    assert.same({ nil, "timeout" }, { conn:receive(0.02) })
    conn:close()
  end)

  it("go on while the server changes its keys", function()
    local conn = open(function(peer)
      for at = 1, SIZE, 100000 do
        local octets = peer:receive_octets(100000)
        peer:update_keys()
        assert(octets == BIG:sub(at, at + 99999))
        peer:send(octets)
      end
      peer:receive() -- the client's new keys, too: else closing resets
    end, { from = "TLSv1.3" })
    assert.is_true(exchange(conn, BIG, SIZE) == BIG)
    conn:close()
  end)

  it("come in few records at a time, so that many small ones hold nobody up", function()
    local is_sent = false
    local conn = open(function(peer)
      for _ = 1, 1000 do peer:send "x" end
      is_sent = true
      peer:receive()
    end)
    while not is_sent do web.sleep(0.01) end
    local size = 0
    while size < 1000 do
      local octets = assert(conn:receive(10))
      assert(#octets <= 64, #octets .. " records were read in one go")
      size = size + #octets
    end
    conn:close()
  end)

  it("are lost where the server has only new keys to send", function()
    local is_sent = false
    local conn = open(function(peer)
      for _ = 1, 200 do peer:update_keys() end
      peer:send "x"
      is_sent = true
      peer:receive()
    end, { from = "TLSv1.3" })
    while not is_sent do web.sleep(0.01) end
    assert.same({ nil, "reset" }, { conn:receive(10) })
    conn:close()
  end)

  it("are lost where the server wants another handshake", function()
    local conn = open(function(peer)
      peer:renegotiate()
      peer:receive()
    end, { to = "TLSv1.2" })
    assert.same({ nil, "reset" }, { conn:receive(10) })
    conn:close()
  end)

  it("cost nothing while they are waited for", function()
    local conn = open(function(peer) peer:receive() end)
    conn:receive(0.01)
    local before = os.clock()
    assert.same({ nil, "timeout" }, { conn:receive(0.5) })
    assert.is_true(os.clock() - before < 0.25)
    conn:close()
  end)
end)

describe("the end of a connection over TLS", function()
  it("is orderly when the server says so", function()
    local conn = open(function(peer)
      peer:send "last"
      peer:finish()
    end)
    assert.same({ "last", "closed" }, { client.receive_all(conn) })
    assert.same({ nil, "closed" }, { conn:receive(1) })
    conn:close()
  end)

  it("is a loss when the server does not", function()
    local conn = open(function(peer) peer:send "last" end)
    assert.same({ "last", "reset" }, { client.receive_all(conn) })
    assert.same({ nil, "reset" }, { conn:receive(1) })
    assert.same({ nil, "reset" }, { conn:send "x" })
    conn:close()
  end)

  it("is a loss when the server says nothing at all", function()
    local conn = open(function() end)
    assert.same({ nil, "reset" }, { conn:receive(10) })
    conn:close()
  end)

  it("is a loss when the server resets it", function()
    local conn = open(function(peer)
      peer:send "last"
      peer.conn:reset()
    end)
    local _, ending = client.receive_all(conn)
    assert.equal("reset", ending)
    conn:close()
  end)

  it("leaves the server the last word", function()
    local conn = open(function(peer)
      local octets = peer:receive_octets(5)
      peer:send(octets .. " " .. select(2, peer:receive()))
      peer:finish()
    end)
    assert(conn:send "first")
    conn:finish()
    assert.same({ "first closed", "closed" }, { client.receive_all(conn) })
    conn:close()
  end)

  it("comes after all that was sent", function()
    local taken, ending
    local conn = open(function(peer)
      web.sleep(0.02)
      taken = peer:receive_octets(SIZE)
      ending = select(2, peer:receive())
      peer:finish()
    end)
    assert(conn:send(BIG))
    conn:finish()
    assert.equal("closed", select(2, client.receive_all(conn)))
    conn:close()
    assert.is_true(taken == BIG)
    assert.equal("closed", ending)
  end)

  it("is told to the server by closing", function()
    local ending
    local conn = open(function(peer)
      peer:receive()
      ending = select(2, peer:receive())
    end)
    assert(conn:send "last")
    conn:close()
    for _ = 1, 1000 do
      if ending then break end
      web.sleep(0.005)
    end
    assert.equal("closed", ending)
  end)
end)

describe("what TLS agrees on", function()
  local function tell_name(peer)
    peer:send(tostring(peer.name))
    peer:finish()
  end

  it("has the name of the host", function()
    local conn = open(tell_name)
    assert.equal("localhost", (client.receive_all(conn)))
    conn:close()
  end)

  it("has no name where the host is an address", function()
    local server = tls_server.start(tell_name)
    local conn = assert(dial.open { host = "127.0.0.1", port = server.port,
      tls = { ca_file = server.certificate:file() } })
    assert.equal("nil", (client.receive_all(conn)))
    conn:close()
  end)

  it("has a protocol that both speak", function()
    local conn = open(tell_name, { alpn = "http/1.1" }, { alpn = { "h2", "http/1.1" } })
    assert.equal("http/1.1", conn.tls.protocol)
    conn:close()
  end)

  it("has no protocol where the server knows of none", function()
    local conn = open(tell_name, nil, { alpn = { "http/1.1" } })
    assert.is_nil(conn.tls.protocol)
    conn:close()
  end)

  it("is nothing where there is no protocol that both speak", function()
    local server = tls_server.start(tell_name, { alpn = "h2" })
    local conn, message, kind = dial.open { host = "localhost", port = server.port,
      tls = { alpn = { "http/1.1" }, verify = false } }
    assert.is_nil(conn)
    assert.matches("no application protocol: the server speaks none of the protocols "
      .. "that were offered$", message)
    assert.equal("tls", kind)
  end)

  for _, version in ipairs { "TLSv1.2", "TLSv1.3" } do
    it("is resumed by the next connection, over " .. version, function()
      local conn, dial_again = open(tell_name, { from = version, to = version })
      for i = 1, 3 do
        assert.equal(i > 1, conn.tls.resumed)
        assert.equal("closed", select(2, client.receive_all(conn)))
        conn:close()
        conn = dial_again()
      end
      conn:close()
    end)
  end

  it("is not resumed where more is asked for", function()
    local server = tls_server.start(tell_name)
    local at = { host = "localhost", port = server.port, tls = { verify = false } }
    for _ = 1, 2 do
      local conn = assert(dial.open(at))
      client.receive_all(conn)
      conn:close()
    end
    at.tls = { ca_file = server.certificate:file() }
    local conn = assert(dial.open(at))
    assert.is_false(conn.tls.resumed)
    client.receive_all(conn)
    conn:close()
    at.tls.name = "other.example"
    assert.matches("hostname mismatch", (select(2, dial.open(at))))
  end)
end)
