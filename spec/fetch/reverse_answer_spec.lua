-- SPDX-License-Identifier: MIT
-- web.proxy: the answer that comes back, piece by piece, or why there is none.
local error_log = require "spec.support.error_log"
local eventually = require "spec.support.eventually"
local faulty = require "spec.support.faulty_server"
local pool = require "luaweb.fetch.pool"
local process = require "spec.support.process"
local test = require "luaweb.test"
local web = require "luaweb"

after_each(function()
  pool.close_idle()
  faulty.clean()
end)

local function client_of(server, options)
  return test.app(web.app {
    web.any("/api{/path*}", web.proxy(server.url, options)),
  }):over_socket()
end

local function answer(octets, method)
  return client_of(faulty.answering(octets)):request(method or "GET", "/api/x")
end

-- Lines of the answer but those of luaweb's own connection.
local function lines_of(res)
  local list = {}
  for _, line in ipairs(res.lines) do
    if line[1] ~= "connection" and line[1] ~= "date" then
      list[#list + 1] = line[1] .. ": " .. line[2]
    end
  end
  table.sort(list)
  return list
end

describe("a proxied answer", function()
  it("comes back with its status, fields and content", function()
    local res = answer("HTTP/1.1 418 Teapot\r\nContent-Length: 5\r\nSet-Cookie: a\r\n"
      .. "Content-Type: a/b\r\nSet-Cookie: b\r\nServer: other\r\nVia: 1.0 fred\r\n"
      .. "Connection: X-Mine\r\nX-Mine: 1\r\nKeep-Alive: timeout=5\r\n"
      .. "Proxy-Authenticate: x\r\n\r\nhello")
    assert.equal(418, res.status)
    assert.equal("hello", res.body)
    assert.same({ "content-length: 5", "content-type: a/b", "server: other",
      "set-cookie: a", "set-cookie: b", "via: 1.0 fred, 1.1 luaweb" }, lines_of(res))
  end)

  it("keeps the other server's Date", function()
    local date = "Sun, 06 Nov 1994 08:49:37 GMT"
    assert.equal(date, answer(faulty.ok("", "Date: " .. date .. "\r\n")).headers.date)
  end)

  it("keeps its coding, whoever might decode it", function()
    local res = answer(faulty.ok("\31\139...", "Content-Encoding: gzip\r\n"))
    assert.equal("gzip", res.headers["content-encoding"])
    assert.equal("\31\139...", res.body)
  end)

  it("of no type is of none that runs", function()
    assert.equal("application/octet-stream",
      answer(faulty.ok "<html>").headers["content-type"])
  end)

  it("may be a part, an error or a redirect: that is the client's business", function()
    local res = answer("HTTP/1.1 206 X\r\nContent-Range: bytes 0-1/9\r\n"
      .. "Content-Length: 2\r\n\r\nab")
    assert.equal(206, res.status)
    assert.equal("bytes 0-1/9", res.headers["content-range"])
    res = answer "HTTP/1.1 302 X\r\nLocation: /y\r\nContent-Length: 0\r\n\r\n"
    assert.equal(302, res.status)
    assert.equal("/y", res.headers.location)
    for _, status in ipairs { 400, 401, 404, 405, 407, 500, 503 } do
      res = answer(("HTTP/1.1 %d X\r\nContent-Length: 2\r\n\r\nab"):format(status))
      assert.equal(status, res.status)
      assert.equal("ab", res.body)
    end
    assert.same({ 9, 9 }, { pool.count() }) -- each server's is kept
  end)

  it("of a range that does not fit is the other server's, too", function()
    local res = answer("HTTP/1.1 416 X\r\nContent-Range: bytes */9\r\n"
      .. "Content-Length: 2\r\n\r\nab")
    assert.same({ 416, "bytes */9", "ab" },
      { res.status, res.headers["content-range"], res.body })
    res = answer "HTTP/1.1 416 X\r\nContent-Length: 2\r\n\r\nab"
    assert.same({ 416, nil, "ab" },
      { res.status, res.headers["content-range"], res.body })
  end)

  it("that nothing is modified answers reads alone", function()
    local log = error_log.of(function()
      assert.equal(502, answer("HTTP/1.1 304 X\r\n\r\n", "POST").status)
    end)
    assert.matches("it answered 304 to POST", log)
  end)

  it("lacks nothing because of what its Connection lists", function()
    local res = answer(faulty.ok("<html>", "Content-Type: a/b\r\n"
      .. "Connection: content-type, content-length\r\n"))
    assert.equal("application/octet-stream", res.headers["content-type"])
    assert.equal("<html>", res.body)
    local log = error_log.of(function()
      assert.equal(502, answer("HTTP/1.1 302 X\r\nLocation: /y\r\n"
        .. "Connection: location\r\nContent-Length: 0\r\n\r\n").status)
    end)
    assert.matches("302 without a Location", log)
  end)

  it("to HEAD, and of 204, 205 and 304, has no content, and keeps the connection",
    function()
      local res = answer("HTTP/1.1 200 X\r\nContent-Length: 77\r\n\r\n", "HEAD")
      assert.equal("77", res.headers["content-length"])
      assert.equal("", res.body)
      assert.same({ 1, 1 }, { pool.count() })
      for status, lines in pairs { [204] = "", [205] = "Content-Length: 0\r\n",
        [304] = "ETag: \"x\"\r\n" } do
        res = answer(("HTTP/1.1 %d X\r\n%s\r\n"):format(status, lines))
        assert.equal(status, res.status)
        assert.equal("", res.body)
      end
      assert.same({ 4, 4 }, { pool.count() })
    end)

  it("has the fields behind its chunks", function()
    local client = client_of(faulty.answering("HTTP/1.1 200 OK\r\n"
      .. "Transfer-Encoding: chunked\r\n\r\n"
      .. "3\r\nabc\r\n0\r\nX-Sum: 3\r\nTE: x\r\n\r\n"))
    local conn = client:raw(process.get("/api/x", "Connection: close\r\n"))
    local all = process.rest(conn)
    conn:close()
    assert.matches("\r\n3\r\nabc\r\n0\r\nx%-sum: 3\r\n\r\n$", all)
  end)

  it("comes piece by piece, as the other server sends it", function()
    local gate = false
    local server = faulty.start(function(conn)
      conn:receive_request()
      conn:send "HTTP/1.1 200 OK\r\n\r\nfirst"
      eventually("the gate opens", function() return gate end)
      conn:send "second"
    end)
    local conn = client_of(server):raw "GET /api HTTP/1.0\r\n\r\n"
    local all = ""
    repeat all = all .. assert(conn:receive(5)) until all:find "first$"
    gate = true
    assert.equal("second", (process.rest(conn)))
    conn:close()
  end)

  it("waits while the client is slow", function()
    local server
    server = faulty.start(function(conn)
      conn:receive_request()
      conn:send "HTTP/1.1 200 OK\r\n\r\n"
      server.sent = 0
      while conn:send(("x"):rep(65536)) do server.sent = server.sent + 65536 end
    end)
    local conn = client_of(server):raw "GET /api HTTP/1.1\r\nHost: h\r\n\r\n"
    local before
    repeat -- until all buffers on the way are full
      before = server.sent
      web.sleep(0.05)
    until server.sent == before and before
    assert(before < 24 * 2 ^ 20, before .. " octets were sent")
    conn:close()
    eventually("the other server is left", function() return pool.count() == 0 end)
  end)
end)

describe("a client that leaves", function()
  it("takes the request to the other server with it", function()
    local server = faulty.start(function(conn)
      conn:receive_request()
      conn:send "HTTP/1.1 200 OK\r\n\r\n"
      for _ = 1, 1000 do
        if not conn:send(("x"):rep(1000)) then break end
        web.sleep(0.005)
      end
      conn.is_gone = conn:is_left()
    end)
    local conn = client_of(server):raw "GET /api HTTP/1.1\r\nHost: h\r\n\r\n"
    assert(conn:receive(5))
    conn:close()
    eventually("the other server is left", function()
      return server.conns[1].is_gone
    end)
    assert.equal(0, (pool.count()))
  end)

  it("in the middle of its content does, too", function()
    local server = faulty.start(function(conn)
      conn:receive_head()
      conn.is_gone = conn:is_left()
    end)
    local conn = client_of(server):raw("PUT /api HTTP/1.1\r\nHost: h\r\n"
      .. "Content-Length: 10\r\n\r\nabc")
    eventually("the other server is asked", function() return server.conns[1] end)
    web.sleep(0.03)
    conn:close()
    eventually("the other server is left", function()
      return server.conns[1].is_gone
    end)
    assert.equal(0, (pool.count()))
  end)
end)

describe("another server that gives no answer", function()
  local function status_of(server, options)
    local res
    local log = error_log.of(function()
      res = client_of(server, options):get "/api/x"
    end)
    assert.matches("GET /api/x: web.proxy: ", log)
    return res.status, log
  end

  local function closing(octets)
    return faulty.start(function(conn)
      conn:receive_request()
      conn:send(octets)
    end)
  end

  it("or a bad one is a 502, and the log says what happened", function()
    local port = faulty.closed_port()
    local status, log = status_of { url = "http://127.0.0.1:" .. port }
    assert.equal(502, status)
    assert.matches("connection refused", log)
    assert.equal(502, (status_of(closing "")))
    assert.equal(502, (status_of(closing "nonsense\r\n\r\n")))
    assert.equal(502, (status_of(closing "HTTP/1.1 301 X\r\n\r\nx")))
  end)

  it("in time is a 504", function()
    local server = faulty.start(function(conn) conn:is_left() end)
    local status, log = status_of(server, { timeout = 0.25 })
    assert.equal(504, status)
    assert.matches("waiting for the answer", log)
    assert.equal(504, (status_of(faulty.deaf(), { connect_timeout = 0.05 })))
  end)

  it("to its end has the client see that it is cut", function()
    for _, octets in ipairs { "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc",
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n" } do
      local client, all = client_of(closing(octets)), nil
      local log = error_log.of(function()
        local conn = client:raw "GET /api/x HTTP/1.1\r\nHost: h\r\n\r\n"
        all = process.rest(conn)
        conn:close()
      end)
      assert.matches("abc", all)
      assert.not_matches("\r\n0\r\n", all)
      assert.matches("ended early", log)
    end
  end)
end)

describe("a proxied request", function()
  it("that runs in a circle is a 508", function()
    local client
    client = test.app(web.app {
      web.any("/a{/path*}", function(req)
        return web.proxy(("http://127.0.0.1:%d/a"):format(client.port)).handler(req)
      end),
    }):over_socket()
    assert.equal(508, client:get("/a/x").status)
  end)

  it("with content above body_limit is a 413", function()
    local server = faulty.answering(faulty.ok "fine")
    local client = test.app(web.app {
      web.resource("/api{/path*}", web.machine { web.proxy(server.url),
        body_limit = 4 }),
    }):over_socket()
    local chunked = { headers = { ["Transfer-Encoding"] = "chunked" },
      body = "5\r\nhello\r\n0\r\n\r\n" }
    assert.equal(413, client:post("/api", { body = "hello" }).status)
    assert.equal(413, client:post("/api", chunked).status)
    assert.equal(200, client:post("/api", { body = "hell" }).status)
  end)

  it("may be OPTIONS where the machine says so", function()
    local server = faulty.answering(faulty.ok "fine")
    local there = web.proxy(server.url)
    local client = test.app(web.app {
      web.resource("/api{/path*}", web.machine { there,
        handle_options = there.handler }),
    })
    assert.equal("fine", client:options("/api/x").body)
  end)
end)
