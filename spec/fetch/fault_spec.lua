-- SPDX-License-Identifier: MIT
-- Servers that do wrong: each is nil, a message that says what, and a kind; and nothing
-- of it is kept for a later request.
local faulty = require "spec.support.faulty_server"
local pool = require "luaweb.fetch.pool"
local web = require "luaweb"

after_each(function()
  pool.close_idle()
  faulty.clean()
end)

local OK = "HTTP/1.1 200 OK\r\n"

-- A server that reads a request, sends octets and closes.
local function closing(octets)
  return faulty.start(function(conn)
    conn:receive_request()
    conn:send(octets)
  end)
end

local function fails(server, wanted_kind, pattern, options)
  local res, message, kind = web.fetch(server.url .. "/x?secret=1", options)
  assert.is_nil(res)
  assert.equal(wanted_kind, kind, message)
  assert.matches(pattern, message)
  assert.matches("^%u+ http://127%.0%.0%.1:%d+/x: ", message)
  assert.same({ 0, 0 }, { pool.count() })
end

describe("a server that closes", function()
  it("before it answers is a reset", function()
    local server = closing ""
    fails(server, "reset", "ended")
    assert.equal(1, #server.conns)
  end)

  it("in its head is a reset", function()
    fails(closing "HTTP/1.1 200 OK\r\nContent-Le", "reset", "ended")
  end)

  it("in its content is a reset", function()
    fails(closing(OK .. "Content-Length: 10\r\n\r\nabc"), "reset", "ended")
  end)

  it("in a chunk, or before the last one, is a reset", function()
    local head = OK .. "Transfer-Encoding: chunked\r\n\r\n"
    fails(closing(head .. "a\r\nabc"), "reset", "ended")
    fails(closing(head .. "3\r\nabc\r\n"), "reset", "ended")
    fails(closing(head .. "3\r\nabc\r\n0\r\n"), "reset", "ended")
  end)

  it("with a reset is one, even where the end would have been the end", function()
    local server = faulty.start(function(conn)
      conn:receive_request()
      conn:send(OK .. "\r\nabc")
      web.sleep(0.02)
      conn:reset()
    end)
    fails(server, "reset", "the connection was lost")
  end)

  it("cuts a stream: read gives the message, and the loop raises it", function()
    local url = closing(OK .. "Content-Length: 10\r\n\r\nabc").url
    local res = assert(web.fetch(url, { stream = true }))
    assert.equal("abc", res:read())
    for _ = 1, 2 do
      local piece, message, kind = res:read()
      assert.is_nil(piece)
      assert.matches("ended", message)
      assert.equal("reset", kind)
    end
    res = assert(web.fetch(url, { stream = true }))
    assert.error_matches(function()
      for _ in res:chunks() do end
    end, url .. "/: .*ended")
  end)
end)

describe("a server that is not there", function()
  it("is a failure to connect", function()
    local port = faulty.closed_port()
    fails({ url = "http://127.0.0.1:" .. port }, "connect", "connection refused")
  end)

  it("has no address", function()
    local res, message, kind = web.fetch "http://no-such-host.invalid/"
    assert.is_nil(res)
    assert.equal("name", kind, message)
    assert.matches("no%-such%-host%.invalid", message)
  end)

  it("has a name that is none", function()
    local _, message, kind = web.fetch "http://127.1/"
    assert.equal("name", kind, message)
  end)
end)

describe("a server that talks nonsense", function()
  it("breaks the protocol", function()
    fails(closing "SSH-2.0-OpenSSH_9.2\r\n\r\n", "protocol", ".")
    fails(closing "HTTP/2.0 200 OK\r\n\r\n", "protocol", ".")
    fails(closing("\0\1\2\3" .. ("x"):rep(100)), "protocol", ".")
    fails(closing(OK .. "no colon\r\n\r\n"), "protocol", ".")
    fails(closing(OK .. "Transfer-Encoding: chunked\r\n\r\nzz\r\n"), "protocol", ".")
    fails(closing "HTTP/1.1 99 X\r\n\r\n", "protocol", ".")
  end)

  it("about its length breaks the protocol, for nobody knows what is meant", function()
    fails(closing(OK .. "Content-Length: 1\r\nContent-Length: 2\r\n\r\nab"), "protocol",
      ".")
    fails(closing(OK .. "Content-Length: -1\r\n\r\n"), "protocol", ".")
    fails(closing(OK .. "Content-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n"),
      "protocol", ".")
    fails(closing(OK .. "Transfer-Encoding: gzip\r\n\r\n"), "protocol", ".")
  end)

  it("and says 101 to who did not ask for it breaks the protocol", function()
    fails(closing "HTTP/1.1 101 X\r\nUpgrade: y\r\nConnection: upgrade\r\n\r\n",
      "protocol", ".")
  end)

  it("in its coding breaks the protocol", function()
    fails(closing(OK .. "Content-Encoding: gzip\r\nContent-Length: 4\r\n\r\nabcd"),
      "protocol", ".")
  end)
end)

describe("a server without an end", function()
  -- Sends octets again and again until the client leaves; `sent` counts them.
  local function endless(head, octets)
    local server
    server = faulty.start(function(conn)
      conn:receive_request()
      conn:send(head)
      server.sent = 0
      while conn:send(octets) do server.sent = server.sent + #octets end
    end)
    return server
  end

  local MIB = 2 ^ 20

  it("of headers, lines or interim responses is cut off early", function()
    fails(endless(OK, "X-Header: again and again\r\n"), "too_large", ".")
    fails(endless(OK .. "X: ", ("x"):rep(1000)), "too_large", ".")
    fails(endless("", "HTTP/1.1 103 Early Hints\r\n\r\n"), "too_large", ".")
  end)

  it("of content is cut off at max_size, and memory stays flat", function()
    local piece = ("x"):rep(65536)
    local server = endless(OK .. "Content-Length: 10737418240\r\n\r\n", piece)
    fails(server, "too_large", "larger than max_size %(8388608 octets%)")
    server = endless(OK .. "\r\n", piece)
    fails(server, "too_large", "larger than max_size %(1048576 octets%)",
      { max_size = MIB })
    web.sleep(0.02) -- most of what was sent lies in the buffers of both sockets
    assert(server.sent < 16 * MIB, server.sent .. " octets were sent")
  end)

  it("of content is not read ahead of a stream that is not read", function()
    local server = endless(OK .. "\r\n", ("x"):rep(65536))
    local res = assert(web.fetch(server.url, { stream = true }))
    assert.is_string(res:read())
    local before
    repeat -- until the buffers of both sockets are full
      before = server.sent
      web.sleep(0.05)
    until server.sent == before
    assert(before < 16 * MIB, before .. " octets were sent")
    res:close()
  end)

  it("in a stream is limited where the app says so", function()
    local server = endless(OK .. "\r\n", ("x"):rep(1000))
    local res = assert(web.fetch(server.url, { stream = true, max_size = 5000 }))
    local size = 0
    local piece, message, kind
    repeat
      piece, message, kind = res:read()
      size = size + #(piece or "")
    until not piece
    assert(size <= 5000)
    assert.matches("larger than max_size %(5000 octets%)", message)
    assert.equal("too_large", kind)
    assert.equal(0, (pool.count()))
  end)

  it("once decoded is told by the same words", function()
    local pipe = assert(io.popen "head -c 50000 /dev/urandom | base64 | gzip -n")
    local coded = pipe:read "*a"
    pipe:close()
    local head = OK .. "Content-Encoding: gzip\r\nContent-Length: %d\r\n\r\n%s"
    local server = closing(head:format(#coded, coded))
    fails(server, "too_large", "larger than max_size %(66000 octets%)",
      { max_size = 66000 })
  end)

  it("once decoded is a bomb", function()
    -- 100 MiB of zeros.
    local pipe = assert(io.popen "head -c 104857600 /dev/zero | gzip -9n")
    local bomb = pipe:read "*a"
    pipe:close()
    local head = OK .. "Content-Encoding: gzip\r\nContent-Length: %d\r\n\r\n%s"
    local server = closing(head:format(#bomb, bomb))
    fails(server, "too_large", ".")
    local res = assert(web.fetch(server.url, { stream = true }))
    local message, kind
    repeat
      local piece
      piece, message, kind = res:read()
    until not piece
    assert.equal("too_large", kind, message)
  end)
end)
