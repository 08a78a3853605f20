-- SPDX-License-Identifier: MIT
-- --proxy-protocol on the wire: a connection from a trusted proxy begins with a header
-- that says whose it is, and nobody else gets in.
local eventually = require "spec.support.eventually"
local header = require "spec.support.proxy_header"
local log_file = require "spec.support.log_file"
local process = require "spec.support.process"
local web = require "luaweb"

local LINE = "PROXY TCP4 192.0.2.1 198.51.100.1 4444 443\r\n"
local GET = process.get "/"
local PROXIES = { "--proxy-protocol", "--trusted-proxy", "127.0.0.1" }

local APP = [[
local web = require "luaweb"
return web.app {
  web.get("/", function(req) return req.peer .. " " .. req.scheme end),
  web.post("/", function(req) return req.peer .. " " .. req:text() end),
  web.get("/slow", function(req) web.sleep(0.05) return "slow " .. req.peer end),
  web.resource("/constant", web.machine { handle_ok = "the same" }),
}
]]

after_each(process.clean)

-- Serves with PROXIES and these flags, by one worker.
local function serve(...)
  local flags = { "--workers", "1", ... }
  for i, flag in ipairs(PROXIES) do table.insert(flags, i, flag) end
  return process.serve(process.file("app.lua", APP), unpack(flags))
end

-- The content that the first request behind these octets gets.
local function body_of(child, octets)
  local answer = child:ask(octets .. GET)
  assert.equal(200, answer.status)
  return answer.body
end

-- What comes back, and how it ends, for octets that are refused.
local function refused(child, octets)
  local conn = child:connect()
  conn:send(octets) -- it may be closed already
  local received, ending = process.rest(conn)
  conn:close()
  assert.equal("", received)
  assert.not_equal("timeout", ending)
end

local function has_said(child, text)
  eventually("the log says " .. text, function()
    return child:errors():find(text, 1, true)
  end)
end

describe("A connection of a trusted proxy", function()
  for name, case in pairs {
    ["TCP4"]            = { LINE, "192.0.2.1" },
    ["TCP6"]            = { "PROXY TCP6 2001:db8::7 ::1 1 2\r\n", "2001:db8::7" },
    ["UNKNOWN"]         = { "PROXY UNKNOWN\r\n", "127.0.0.1" },
    ["IPv4, binary"]    = { header.version_2(0x21, 0x11, header.V4), "192.0.2.1" },
    ["IPv6, binary"]    = { header.version_2(0x21, 0x21, header.V6), "2001:db8::9" },
    ["unix, binary"]    = { header.version_2(0x21, 0x31, header.UNIX), "unix:" },
    ["no family, binary"] = { header.version_2(0x21, 0, ""), "127.0.0.1" },
    ["LOCAL, binary"]   = { header.version_2(0x20, 0x11, header.V4), "127.0.0.1" },
    ["with TLVs"]       = { header.version_2(0x21, 0x11, header.V4
      .. header.added(1, "h2") .. header.added(0xea, ("x"):rep(2000))), "192.0.2.1" },
  } do
    it("is its client's: " .. name, function()
      assert.equal(case[2] .. " http", body_of(serve(), case[1]))
    end)
  end

  it("may be cut at every octet", function()
    local child = serve()
    local block = header.version_2(0x21, 0x11, header.V4 .. "\4\0\0")
    for _, octets in ipairs { LINE .. GET, block .. GET } do
      for at = 1, #LINE + 3 do
        local conn = child:connect(octets:sub(1, at))
        web.sleep(0.001)
        assert.equal("192.0.2.1 http", child:ask(octets:sub(at + 1), conn).body)
        conn:close()
      end
    end
  end)

  it("may come octet by octet", function()
    local child = serve()
    local conn, octets = child:connect(), LINE .. GET
    for at = 1, #octets - 1 do
      assert(conn:send(octets:sub(at, at)))
      web.sleep(0)
    end
    assert.equal("192.0.2.1 http", child:ask(octets:sub(-1), conn).body)
    conn:close()
  end)

  it("stays the client's for all its requests", function()
    local child = serve()
    local conn = child:connect(LINE)
    for _ = 1, 3 do assert.equal("192.0.2.1 http", child:ask(GET, conn).body) end
    conn:close()
  end)

  it("may have its requests in one piece with the header", function()
    local child = serve()
    local constant = process.get "/constant"
    local conn = child:connect(LINE .. GET .. process.get "/slow"
      .. process.post("/", "content") .. constant .. constant)
    local bodies = {}
    for i, answer in ipairs { process.answers(conn, 5) } do bodies[i] = answer.body end
    assert.same({ "192.0.2.1 http", "slow 192.0.2.1", "192.0.2.1 content", "the same",
      "the same" }, bodies)
    conn:close()
  end)

  it("may end behind its requests", function()
    local child = serve()
    local conn = child:connect(LINE .. GET)
    conn:finish()
    assert.matches("\r\n\r\n192%.0%.2%.1 http$", (process.rest(conn)))
    conn:close()
  end)

  it("is not a request of two headers", function()
    local child = serve()
    assert.equal(400, child:ask(LINE .. LINE .. GET).status)
  end)

  it("is the client's in the access log, refused requests too", function()
    local path = process.path "access.log"
    local child = serve("--access-log", "json:" .. path)
    body_of(child, LINE)
    assert.equal(400, child:ask(LINE .. "what?\r\n\r\n").status)
    local good, bad = unpack(log_file.entries(2, path))
    assert.same({ 200, "192.0.2.1", 400, "192.0.2.1" },
      { good.status, good.peer, bad.status, bad.peer })
  end)

  it("may come by a unix socket", function()
    local path = process.path "proxied.sock"
    local child = process.start(process.file("app.lua", APP), "--listen",
      "unix:" .. path, "--proxy-protocol", "--trusted-proxy", "unix:")
    child:expect "on unix:"
    local conn = assert(require("luaweb.client.socket").connect("unix:" .. path))
    assert.equal("192.0.2.1 http", child:ask(LINE .. GET, conn).body)
    conn:close()
  end)

  it("does not make its client a proxy: what that says of others is not believed",
    function()
      local child = serve()
      local octets = process.get("/", "X-Forwarded-For: 6.6.6.6\r\n"
        .. "X-Forwarded-Proto: https\r\n")
      assert.equal("192.0.2.1 http", child:ask(LINE .. octets).body)
    end)

  it("may come through another proxy, which says more", function()
    local child = serve("--trusted-proxy", "192.0.2.0/24")
    local octets = process.get("/", "Forwarded: for=203.0.113.9;proto=https\r\n")
    assert.equal("203.0.113.9 https", child:ask(LINE .. octets).body)
  end)

  it("may tell of its own requests by Forwarded, when it is its own", function()
    local child = serve()
    local octets = process.get("/", "Forwarded: for=203.0.113.9\r\n")
    assert.equal("203.0.113.9 http", child:ask("PROXY UNKNOWN\r\n" .. octets).body)
  end)
end)

describe("What has no header of its proxy", function()
  for name, case in pairs {
    ["a request"] = { GET, "it does not begin with a PROXY header" },
    ["a broken line"] = { "PROXY TCP4 192.0.2.1 198.51.100.1 4444\r\n" .. GET,
      "the PROXY header does not end in two ports" },
    ["a line that never ends"] = { "PROXY UNKNOWN " .. ("x"):rep(500),
      "the line of the PROXY header does not end" },
    ["another version"] = { header.version_2(0x31, 0x11, header.V4) .. GET,
      "the version or command of the PROXY header is not known" },
    ["a family that there is not"] = { header.version_2(0x21, 0x51, header.V4) .. GET,
      "the family of the PROXY header is not known" },
    ["addresses that are cut short"] = { header.version_2(0x21, 0x21, header.V4) .. GET,
      "the addresses of the PROXY header are cut short" },
    ["more than 4096 octets"] = { header.version_2(0x21, 0x11, header.V4, 65535),
      "the PROXY header is too long" },
  } do
    it("is closed without an answer: " .. name, function()
      local child = serve()
      refused(child, case[1])
      has_said(child, "127.0.0.1: " .. case[2] .. ": closed\n")
      assert.equal("192.0.2.1 http", body_of(child, LINE))
    end)
  end

  it("is closed when it ends within the header", function()
    local child = serve()
    local conn = child:connect(LINE:sub(1, 20))
    conn:finish()
    assert.equal("", (process.rest(conn)))
    conn:close()
    has_said(child, "127.0.0.1: the PROXY header ends too early: closed\n")
  end)

  it("is closed without a word when nothing came: who looks whether we live", function()
    local child = serve()
    local conn = child:connect()
    conn:finish()
    assert.equal("", (process.rest(conn)))
    conn:close()
    body_of(child, LINE)
    assert.equal("", child:errors())
  end)

  for name, octets in pairs {
    ["nothing"] = "",
    ["a part of it"] = LINE:sub(1, 20),
    ["a part of a block"] = header.version_2(0x21, 0x11, header.V4):sub(1, 20),
  } do
    it("is closed after --header-timeout: " .. name, function()
      local child = serve("--header-timeout", "0.2")
      refused(child, octets)
      has_said(child, "127.0.0.1: the PROXY header did not come in time: closed\n")
    end)
  end

  it("has its own time: that of the first head begins behind it", function()
    local child = serve("--header-timeout", "1")
    local conn = child:connect()
    web.sleep(0.6)
    conn:send(LINE .. "GET /")
    web.sleep(0.6)
    assert.equal("192.0.2.1 http", child:ask(" HTTP/1.1\r\nHost: a\r\n\r\n", conn).body)
    conn:close()
  end)

  it("is not said of more than once a second", function()
    local child = serve()
    for _ = 1, 20 do refused(child, GET) end
    web.sleep(1.1)
    refused(child, GET)
    has_said(child, "more were not said)\n")
    local lines, left_out = 0, 0
    for line in child:errors():gmatch "[^\n]+" do
      lines = lines + 1
      left_out = left_out + (tonumber(line:match "%((%d+) more were not said%)") or 0)
    end
    assert.equal(21, lines + left_out)
    assert(lines < 20, lines .. " lines")
  end)

  it("holds up no stop", function()
    local child = serve("--drain-timeout", "5", "--header-timeout", "0")
    local conn = child:connect()
    body_of(child, LINE)
    child:signal "TERM"
    assert.equal("closed", (select(2, process.rest(conn, 20)))) -- not cut
    conn:close()
    assert.equal(0, (child:wait()))
  end)
end)

describe("Who is no trusted proxy", function()
  local function serve_others()
    return process.serve(process.file("app.lua", APP), "--proxy-protocol",
      "--trusted-proxy", "127.0.0.2", "--trusted-proxy", "unix:", "--workers", "1")
  end

  it("is closed, with a request and with a header", function()
    local child = serve_others()
    refused(child, GET)
    refused(child, LINE .. GET)
    refused(child, "")
    has_said(child,
      "127.0.0.1: no --trusted-proxy, as --proxy-protocol wants it: closed\n")
  end)

  it("can't pass for another without --proxy-protocol either", function()
    local child = process.serve(process.file("app.lua", APP), "--trusted-proxy",
      "127.0.0.1")
    assert.equal(400, child:ask(LINE .. GET).status)
    assert.equal("127.0.0.1 http", body_of(child, ""))
  end)
end)

describe("--proxy-protocol", function()
  it("wants to know whose headers are believed", function()
    local ended = process.run("apps/hello.lua", "--proxy-protocol")
    assert.equal(2, ended.code)
    assert.equal("luaweb: --proxy-protocol: needs --trusted-proxy, to know whose "
      .. "headers to believe\nTry: luaweb --help\n", ended.errors)
  end)

  it("takes no value", function()
    local ended = process.run("apps/hello.lua", "--proxy-protocol=yes")
    assert.equal(2, ended.code)
    assert.matches("takes no value", ended.errors)
  end)
end)
