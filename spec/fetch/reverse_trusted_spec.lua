-- SPDX-License-Identifier: MIT
-- luaweb in front of luaweb: what web.proxy says of its clients is what a server that
-- trusts it believes.
local process = require "spec.support.process"
local socket = require "luaweb.client.socket"

local BEHIND = [[
local web = require "luaweb"
return web.app {
  web.get("/", function(req)
    return req.peer .. " " .. req.scheme .. " " .. req.host
  end),
}
]]

local FRONT = [[
local web = require "luaweb"
return web.app { web.any("{/path*}", web.proxy "http://127.0.0.1:%d") }
]]

after_each(process.clean)

-- A server that trusts 127.0.0.1, and one in front of it with these flags.
local function serve_both(...)
  local behind = process.serve(process.file("behind.lua", BEHIND), "--workers", "1",
    "--trusted-proxy", "127.0.0.1")
  local front = process.start(process.file("front.lua", FRONT:format(behind.port)),
    "--workers", "1", ...)
  return behind, front
end

-- Clients come from ::1, which is not the address of a proxy.
local function serve(...)
  local behind, front = serve_both("--listen", "[::1]:0", ...)
  front.port = tonumber(front:expect "http://%[::1%]:(%d+)$")
  return behind, front
end

local function answer_of(front, octets)
  local conn = assert(socket.connect("::1", front.port))
  local answer = front:ask(octets, conn)
  conn:close()
  return answer
end

local function asked(front, lines)
  return answer_of(front, process.get("/", lines)).body
end

local FORGED = {
  "Forwarded: for=6.6.6.6;proto=https;host=evil.example\r\n",
  "Forwarded: for=\"6.6.6.6\r\n",
  "Forwarded: what is this?\r\n",
  "Forwarded: for=6.6.6.6\r\nForwarded: for=\"\\\r\n",
  "X-Forwarded-For: 6.6.6.6\r\nX-Forwarded-Proto: https\r\nX-Forwarded-Host: evil\r\n",
  "X_Forwarded_For: 6.6.6.6\r\nForwarded: for=6.6.6.6\r\n",
  "Connection: Forwarded, X-Forwarded-For\r\nX-Forwarded-For: 6.6.6.6\r\n",
}

describe("Behind web.proxy", function()
  it("a request has the host that its client asked for", function()
    local behind, front = serve()
    assert.equal("::1 http localhost", asked(front, ""))
    behind:stop()
    assert.equal("", behind:errors())
  end)

  it("nothing is believed that the client says", function()
    local behind, front = serve()
    for _, lines in ipairs(FORGED) do
      assert.equal("::1 http localhost", asked(front, lines), lines)
    end
    behind:stop()
    assert.equal("", behind:errors())
  end)

  it("what is believed in front is believed behind", function()
    local _, front = serve("--trusted-proxy", "::1")
    assert.equal("192.0.2.1 https a.example",
      asked(front, "Forwarded: for=192.0.2.1;proto=https;host=a.example\r\n"))
    assert.equal("2001:db8::1 https localhost", asked(front,
      "X-Forwarded-For: 6.6.6.6, 2001:db8::1\r\nX-Forwarded-Proto: https\r\n"))
    assert.equal("_hidden http localhost", asked(front, "Forwarded: for=_hidden\r\n"))
    assert.equal("unknown http localhost", asked(front, "Forwarded: for=unknown\r\n"))
  end)

  it("a client of a unix socket is not known", function()
    local path = process.path "front.sock"
    local behind, front = serve_both("--listen", "unix:" .. path)
    front:expect "on unix:"
    local conn = assert(socket.connect("unix:" .. path))
    assert.equal("unknown http localhost", front:ask(process.get "/", conn).body)
    conn:close()
    behind:stop()
    assert.equal("", behind:errors())
  end)

  it("a client may name no host", function()
    local behind, front = serve()
    local answer = answer_of(front, "GET / HTTP/1.0\r\n\r\n")
    assert.equal(200, answer.status)
    assert.matches("^::1 http 127%.0%.0%.1:%d+$", answer.body)
    behind:stop()
    assert.equal("", behind:errors())
  end)
end)
