-- SPDX-License-Identifier: MIT
-- Through proxies: http requests that are passed on, tunnels for https.
local faulty = require "spec.support.faulty_server"
local ffi = require "ffi"
local job = require "luaweb.job"
local pool = require "luaweb.fetch.pool"
local process = require "spec.support.process"
local socket = require "luaweb.client.socket"
local tls_server = require "spec.support.tls_server"
local web = require "luaweb"

ffi.cdef [[
int spec_setenv(const char *name, const char *value, int overwrite) __asm__("setenv");
int spec_unsetenv(const char *name) __asm__("unsetenv");
]]

local function set(name, value)
  if value then ffi.C.spec_setenv(name, value, 1) else ffi.C.spec_unsetenv(name) end
end

local VARIABLES = { "http_proxy", "https_proxy", "HTTPS_PROXY", "all_proxy",
  "ALL_PROXY", "no_proxy", "NO_PROXY" }
local saved = {}

before_each(function()
  for _, name in ipairs(VARIABLES) do
    saved[name] = os.getenv(name)
    set(name, nil)
  end
end)

after_each(function()
  for _, name in ipairs(VARIABLES) do set(name, saved[name]) end
  pool.close_idle()
  faulty.clean()
  process.clean()
end)

describe("http through a proxy", function()
  it("asks for the whole URL, and keeps the connection", function()
    local proxy = faulty.answering(faulty.ok "from the proxy")
    for _ = 1, 2 do
      local res = assert(web.fetch("http://user:pass@example.test/a?b#c",
        { proxy = proxy.url }))
      assert.equal("from the proxy", res.body)
      assert.equal("http://example.test/a?b#c", res.url)
    end
    assert.equal(1, #proxy.conns)
    assert.matches("^GET http://example.test/a%?b HTTP/1.1\r\nHost: example.test\r\n",
      proxy.requests[1].head)
    assert.matches("\r\nAuthorization: Basic dXNlcjpwYXNz\r\n", proxy.requests[1].head)
  end)

  it("tells the proxy who asks, when its URL says so", function()
    local proxy = faulty.answering(faulty.ok "")
    assert(web.fetch("http://example.test/", {
      proxy = ("http://me:s%%3Ap@127.0.0.1:%d"):format(proxy.port) }))
    assert.matches("\r\nProxy%-Authorization: Basic bWU6czpw\r\n",
      proxy.requests[1].head)
  end)

  it("goes where the environment says", function()
    local proxy = faulty.answering(faulty.ok "")
    set("http_proxy", proxy.url)
    assert(web.fetch "http://example.test/")
    assert.equal(1, #proxy.requests)
    set("no_proxy", "example.test")
    local _, _, kind = web.fetch "http://example.test/"
    assert.equal("name", kind)
    set("no_proxy", nil)
    _, _, kind = web.fetch("http://example.test/", { proxy = false })
    assert.equal("name", kind)
    assert.equal(1, #proxy.requests)
  end)

  it("does not go where the environment names nonsense", function()
    set("http_proxy", "socks5://127.0.0.1:1")
    local _, message, kind = web.fetch "http://example.test/"
    assert.matches("http_proxy: .*socks5 is neither http nor https", message)
    assert.equal("connect", kind)
  end)
end)

-- Carries octets from one end to another, until the first has no more.
local function carry(from, to)
  while true do
    local octets = from:receive()
    if not octets or octets == "" then break end
    to:send(octets)
  end
  to:finish()
end

-- A proxy that makes tunnels to 127.0.0.1.
local function tunneling()
  local proxy
  proxy = faulty.start(function(conn)
    local head = conn:receive_head()
    table.insert(proxy.requests, head)
    local there = assert(socket.connect("127.0.0.1", tonumber(head:match ":(%d+) ")))
    conn:send "HTTP/1.1 200 Connection established\r\n\r\n"
    local back = job.spawn(carry, there, conn)
    carry(conn, there)
    back:join()
    there:close()
  end)
  return proxy
end

-- A server over TLS that answers every request.
local function secure_server()
  return tls_server.start(function(conn)
    local all = ""
    while true do
      local octets = conn:receive()
      if octets == "" then return end
      all = all .. octets
      if all:find "\r\n\r\n$" then
        conn:send(faulty.ok(all:match "^[^\r]*"))
        all = ""
      end
    end
  end)
end

describe("https through a proxy", function()
  it("is a tunnel, in which the server proves who it is", function()
    local server, proxy = secure_server(), tunneling()
    local url = ("https://localhost:%d/x"):format(server.port)
    local options = { proxy = proxy.url, ca_file = server.certificate:file() }
    for _ = 1, 2 do
      assert.equal("GET /x HTTP/1.1", assert(web.fetch(url, options)).body)
    end
    assert.equal(1, #proxy.requests)
    local _, message, kind = web.fetch(url, { proxy = proxy.url })
    assert.equal("tls", kind)
    assert.matches("no TLS with localhost:%d+: self%-signed certificate", message)
  end)

  it("asks for host and port, with the proxy's credentials and no others", function()
    local server, proxy = secure_server(), tunneling()
    local url = ("https://user:pass@localhost:%d/x"):format(server.port)
    assert(web.fetch(url, { ca_file = server.certificate:file(),
      headers = { Cookie = "x" },
      proxy = ("http://me:too@127.0.0.1:%d"):format(proxy.port) }))
    local authority = "localhost:" .. server.port
    assert.equal(("CONNECT %s HTTP/1.1\r\nHost: %s\r\nUser-Agent: luaweb\r\n"
      .. "Proxy-Authorization: Basic bWU6dG9v\r\n\r\n"):format(authority, authority),
      proxy.requests[1])
  end)

  local function refused(answer, wanted_kind, pattern)
    local proxy = faulty.start(function(conn)
      conn:receive_head()
      conn:send(answer)
      if wanted_kind == "reset" then conn:finish() end
      conn.is_gone = conn:is_left()
    end)
    local res, message, kind = web.fetch("https://example.test/", { proxy = proxy.url,
      connect_timeout = wanted_kind == "timeout" and 0.4 or 10 })
    assert.is_nil(res)
    assert.equal(wanted_kind, kind, message)
    assert.matches("the proxy 127.0.0.1:" .. proxy.port .. ": .*" .. pattern, message)
    assert.equal(0, (pool.count()))
    for _ = 1, 100 do
      if proxy.conns[1].is_gone then break end
      web.sleep(0.01)
    end
    assert.is_true(proxy.conns[1].is_gone)
  end

  it("fails when the proxy makes no tunnel", function()
    refused("HTTP/1.1 407 X\r\nContent-Length: 0\r\n\r\n", "connect", "answered 407")
    refused("HTTP/1.1 502 X\r\n\r\nsorry", "connect", "answered 502")
    refused("", "reset", "ended")
    refused("220 ftp.example ready\r\n", "protocol", ".")
    refused("HTTP/1.1 200 OK\r\nX: " .. ("x"):rep(20000), "too_large", ".")
    refused("HTTP/1.1 200 OK\r\n", "timeout", ".")
    refused("HTTP/1.1 200 OK\r\n\r\n\22\3\1", "protocol",
      "sent octets before the tunnel was used")
  end)

  it("does not go through a proxy that is asked over https", function()
    local _, message, kind = web.fetch("https://example.test/",
      { proxy = "https://127.0.0.1:1" })
    assert.matches("no tunnel can be made through https://127.0.0.1:1/", message)
    assert.equal("connect", kind)
  end)
end)

describe("https", function()
  local function fetch(host, options, path)
    local server = secure_server()
    options.ca_file = options.verify == nil and server.certificate:file() or nil
    local url = ("https://%s:%d%s"):format(host, server.port, path or "/")
    return web.fetch(url, options)
  end

  it("asks a server that proves who it is", function()
    assert.equal("GET /x HTTP/1.1", assert(fetch("localhost", {}, "/x")).body)
    assert.equal("GET / HTTP/1.1", assert(fetch("127.0.0.1", {})).body)
  end)

  it("fails when the certificate is not the host's, or of nobody known", function()
    local res, message, kind = fetch("[::ffff:127.0.0.1]", {})
    assert.is_nil(res)
    assert.equal("tls", kind, message)
    local server = secure_server()
    res, message, kind = web.fetch(("https://localhost:%d/"):format(server.port))
    assert.is_nil(res)
    assert.equal("tls", kind)
    assert.matches("self%-signed certificate", message)
    assert.equal(0, (pool.count()))
  end)

  it("asks anybody with verify = false", function()
    assert.is_true(assert(fetch("localhost", { verify = false })).ok)
  end)

  it("fails with who does not speak it", function()
    local server = faulty.start(function(conn)
      conn:receive()
      conn:send "HTTP/1.1 400 Bad Request\r\n\r\n"
    end)
    local _, message, kind = web.fetch(("https://127.0.0.1:%d/"):format(server.port))
    assert.equal("tls", kind)
    assert.matches("does not speak TLS", message)
  end)
end)
