-- SPDX-License-Identifier: MIT
-- --trusted-proxy on the wire: req.peer, req.scheme and req.host are those of the
-- client behind trusted proxies, and never what anybody else says they are.
local log_file = require "spec.support.log_file"
local process = require "spec.support.process"
local socket = require "luaweb.client.socket"
local web = require "luaweb"

local APP = [[
local web = require "luaweb"
local function who(req) return req.peer .. " " .. req.scheme .. " " .. req.host end
return web.app {
  web.get("/", who),
  web.get("/slow", function(req)
    web.sleep(0.05)
    return who(req) .. " " .. req.headers["user-agent"]
  end),
  web.get("/fields", function(req)
    return (req.headers["forwarded"] or "-") .. "|"
      .. (req.headers["x-forwarded-for"] or "-")
  end),
  web.post("/late", function(req)
    local before = who(req)
    req:text()
    return before .. ", " .. who(req)
  end),
  web.resource("/ours", web.machine { hosts = { "a.example" }, handle_ok = "ours" }),
  web.resource("/limited", web.machine {
    web.rate_limit { rate = 1 / 3600, burst = 1 }, handle_ok = "ok",
  }),
}
]]

after_each(process.clean)

local function serve(...)
  return process.serve(process.file("app.lua", APP), "--workers", "1", ...)
end

local function serve_proxied(...)
  return serve("--trusted-proxy", "127.0.0.1", "--trusted-proxy", "10.0.0.0/8", ...)
end

-- The content of an answer to / with these header lines.
local function asked(child, lines, conn)
  return child:ask(process.get("/", lines), conn).body
end

local ALL = "X-Forwarded-For: 192.0.2.1\r\nX-Forwarded-Proto: https\r\n"
  .. "X-Forwarded-Host: a.example\r\n"

describe("A request through a trusted proxy", function()
  for name, case in pairs {
    ["Forwarded"] = { "Forwarded: for=192.0.2.1;proto=https;host=\"a.b:8443\"\r\n",
      "192.0.2.1 https a.b:8443" },
    ["Forwarded with an IPv6 address"] = { "Forwarded: for=\"[2001:DB8::1]:80\"\r\n",
      "2001:db8::1 http localhost" },
    ["Forwarded that hides it"] = { "Forwarded: for=_who;proto=https\r\n",
      "_who https localhost" },
    ["Forwarded that does not know"] = { "Forwarded: for=unknown\r\n",
      "unknown http localhost" },
    ["Forwarded with backslashes"] = { "Forwarded: for=192.0.2.1;host=\"a\\.b\"\r\n",
      "192.0.2.1 http a.b" },
    ["X-Forwarded-*"] = { ALL, "192.0.2.1 https a.example" },
    ["X-Forwarded-For alone"] = { "x-forwarded-for: 192.0.2.1\r\n",
      "192.0.2.1 http localhost" },
    ["X-Forwarded-Proto alone"] = { "X-Forwarded-Proto: https\r\n",
      "127.0.0.1 https localhost" },
    ["both"] = { ALL .. "Forwarded: for=192.0.2.1;proto=https;host=a.example\r\n",
      "192.0.2.1 https a.example" },
    ["neither"] = { "", "127.0.0.1 http localhost" },
    ["a chain"] = { "X-Forwarded-For: 6.6.6.6, 192.0.2.1, 10.0.0.1, 10.9.9.9\r\n",
      "192.0.2.1 http localhost" },
    ["a chain of Forwarded"] = { "Forwarded: for=6.6.6.6;proto=https;host=evil\r\n"
      .. "Forwarded: for=192.0.2.1;host=a.example, for=10.0.0.1;proto=http;host=b\r\n",
      "192.0.2.1 http a.example" },
  } do
    it("is its client's: " .. name, function()
      assert.equal(case[2], asked(serve_proxied(), case[1]))
    end)
  end

  it("may be cut at every octet", function()
    local child = serve_proxied()
    local octets = process.get("/", ALL)
    local conn = child:connect()
    for at = 1, #octets - 1 do
      assert(conn:send(octets:sub(1, at)))
      web.sleep(0.001)
      assert.equal("192.0.2.1 https a.example",
        child:ask(octets:sub(at + 1), conn).body)
    end
    conn:close()
  end)

  it("is each its own client's on one connection", function()
    local child = serve_proxied()
    local conn = child:connect()
    for i = 1, 3 do
      assert.equal(("192.0.2.%d http localhost"):format(i),
        asked(child, ("X-Forwarded-For: 192.0.2.%d\r\n"):format(i), conn))
    end
    assert.equal("127.0.0.1 http localhost", asked(child, "", conn))
    assert.equal("192.0.2.1 https a.example", asked(child, ALL, conn))
    conn:close()
  end)

  it("is each its own client's where they are pipelined", function()
    local child = serve_proxied()
    local octets, expected, bodies = {}, {}, {}
    for i = 1, 20 do
      octets[i] = process.get("/slow", ("Forwarded: for=192.0.2.%d;host=\"h\\%d\"\r\n"
        .. "User-Agent: %d\r\n"):format(i, i % 10, i))
      expected[i] = ("192.0.2.%d http h%d %d"):format(i, i % 10, i)
    end
    local conn = child:connect(table.concat(octets))
    for i, answer in ipairs { process.answers(conn, 20) } do bodies[i] = answer.body end
    assert.same(expected, bodies)
    conn:close()
  end)

  it("is still its client's when its content comes later", function()
    local child = serve_proxied()
    local octets = process.post("/late", ("x"):rep(50000), ALL)
    local conn = child:connect(octets:sub(1, 300))
    web.sleep(0.1)
    assert.equal("192.0.2.1 https a.example, 192.0.2.1 https a.example",
      child:ask(octets:sub(301), conn).body)
    conn:close()
  end)

  it("is for the host that its client asked for", function()
    local child = serve_proxied()
    local function status(lines)
      return child:ask(process.get("/ours", lines)).status
    end
    assert.equal(421, status "")
    assert.equal(200, status "X-Forwarded-Host: a.example\r\n")
    assert.equal(200, status "Forwarded: for=192.0.2.1;host=\"A.example:80\"\r\n")
    assert.equal(421, status "X-Forwarded-Host: b.example\r\n")
  end)

  it("counts for its client alone, however long a name that has", function()
    local child = serve_proxied()
    local function status(name)
      local line = ("Forwarded: for=_%s\r\n"):format(name)
      return child:ask(process.get("/limited", line)).status
    end
    local long = ("a"):rep(5000)
    assert.same({ 200, 429, 200 }, { status(long), status(long), status(long .. "b") })
  end)

  it("keeps its headers", function()
    local child = serve_proxied()
    assert.equal("for=192.0.2.1|192.0.2.1", child:ask(process.get("/fields",
      "Forwarded: for=192.0.2.1\r\nX-Forwarded-For: 192.0.2.1\r\n")).body)
  end)

  it("is its client's in the access log, also when it has gone", function()
    local path = process.path "access.log"
    local child = serve_proxied("--access-log", "json:" .. path)
    asked(child, ALL)
    local conn = child:connect(process.get("/slow", "User-Agent: x\r\n" .. ALL))
    web.sleep(0.02)
    conn:close(true)
    local first, second = unpack(log_file.entries(2, path))
    assert.same({ "192.0.2.1", "192.0.2.1" }, { first.peer, second.peer })
  end)

  it("may come by a unix socket", function()
    local path = process.path "app.sock"
    local child = process.start(process.file("app.lua", APP), "--listen",
      "unix:" .. path, "--trusted-proxy", "unix:")
    child:expect "on unix:"
    local conn = assert(socket.connect("unix:" .. path))
    assert.equal("192.0.2.1 https a.example", asked(child, ALL, conn))
    assert.equal("unix: http localhost", asked(child, "", conn))
    conn:close()
  end)
end)

describe("What a trusted proxy says, but not well", function()
  for name, case in pairs {
    ["a name"] = { "X-Forwarded-For: a.example\r\n", "X-Forwarded-* is malformed" },
    ["a bad scheme beside a good address"] = { "X-Forwarded-For: 192.0.2.1\r\n"
      .. "X-Forwarded-Proto: gopher\r\n", "X-Forwarded-* is malformed" },
    ["a bad host beside good ones"] = { "X-Forwarded-For: 192.0.2.1\r\n"
      .. "X-Forwarded-Proto: https\r\nX-Forwarded-Host: a/b\r\n",
      "X-Forwarded-* is malformed" },
    ["a quote that does not end"] = { "Forwarded: for=\"6.6.6.6, for=192.0.2.1\r\n",
      "Forwarded is malformed" },
    ["an address without its quotes"] = { "Forwarded: for=[::1];proto=https\r\n",
      "Forwarded is malformed" },
  } do
    it("is not taken, nor is the proxy for the client: " .. name, function()
      local child = serve_proxied()
      assert.equal("unknown http localhost", asked(child, case[1]))
      child:stop()
      assert.matches("warn  127%.0%.0%.1: " .. case[2]:gsub("%p", "%%%0")
        .. ": not believed\n$", child:errors())
    end)
  end

  it("is refused when Forwarded and X-Forwarded-For name others", function()
    local child = serve_proxied()
    local conn = child:connect(process.get("/",
      "Forwarded: for=6.6.6.6\r\nX-Forwarded-For: 192.0.2.1\r\n") .. process.get "/")
    local octets = process.rest(conn)
    conn:close()
    assert.matches("^HTTP/1.1 400 Bad Request\r\n", octets)
    assert.matches("\r\n\r\n400 Bad Request: Forwarded and X%-Forwarded%-%* do not say "
      .. "the same\n$", octets)
    child:stop()
    assert.matches("127%.0%.0%.1: Forwarded and X%-Forwarded%-%* do not say the same: "
      .. "refused\n$", child:errors())
  end)
end)

describe("What anybody else says", function()
  for name, flags in pairs {
    ["nobody is trusted"]            = {},
    ["others are trusted"]           = { "--trusted-proxy", "10.0.0.0/8" },
    ["unix sockets are trusted"]     = { "--trusted-proxy", "unix:" },
    ["the address is trusted as another kind"] = { "--trusted-proxy", "::1" },
  } do
    it("is a header and no more where " .. name, function()
      local child = serve(unpack(flags))
      assert.equal("127.0.0.1 http localhost", asked(child, ALL))
      assert.equal("127.0.0.1 http localhost",
        asked(child, "Forwarded: for=6.6.6.6;proto=https;host=evil.example\r\n"))
      assert.equal("127.0.0.1 http localhost",
        asked(child, "Forwarded: for=6.6.6.6\r\nX-Forwarded-For: \"\r\n"))
      assert.equal("6.6.6.6|7.7.7.7", child:ask(process.get("/fields",
        "Forwarded: 6.6.6.6\r\nX-Forwarded-For: 7.7.7.7\r\n")).body)
      assert.equal(421, child:ask(process.get("/ours", ALL)).status)
      child:stop()
      assert.equal("", child:errors())
    end)
  end

  it("is not believed on a unix socket that is not trusted", function()
    local path = process.path "app.sock"
    local child = process.start(process.file("app.lua", APP), "--listen",
      "unix:" .. path, "--trusted-proxy", "127.0.0.1")
    child:expect "on unix:"
    local conn = assert(socket.connect("unix:" .. path))
    assert.equal("unix: http localhost", asked(child, ALL, conn))
    conn:close()
  end)
end)

describe("--trusted-proxy", function()
  for _, text in ipairs { "localhost", "10.0.0.1/8", "10.0.0.0/33", "::1/x", "unix",
      "unix:/run/x.sock", "*", "" } do
    it("does not take " .. ("%q"):format(text), function()
      local ended = process.run("apps/hello.lua", "--trusted-proxy", text)
      assert.equal(2, ended.code)
      assert.equal(("luaweb: --trusted-proxy %s: want an address, a network (no bit "
        .. "set behind its prefix), e.g. 10.0.0.0/8 or fd00::/8, or unix:\n"
        .. "Try: luaweb --help\n"):format(text), ended.errors)
    end)
  end

  it("and --proxy-protocol don't concern commands that ask their own app", function()
    local ended = process.run("check", "apps/hello.lua", "--proxy-protocol",
      "--trusted-proxy", "10.0.0.0/8")
    assert.equal(0, ended.code, ended.errors)
  end)

  it("takes IPv6 networks", function()
    local child = process.start(process.file("app.lua", APP), "--listen", "[::1]:0",
      "--trusted-proxy", "::/64")
    local port = tonumber(child:expect "http://%[::1%]:(%d+)$")
    local conn = assert(socket.connect("::1", port))
    assert.equal("192.0.2.1 https a.example", asked(child, ALL, conn))
    conn:close()
  end)
end)
