-- SPDX-License-Identifier: MIT
-- What web.fetch gives: the answer of any status, whole or as a stream.
local abi = require "luaweb.abi"
local faulty = require "spec.support.faulty_server"
local pool = require "luaweb.fetch.pool"
local process = require "spec.support.process"
local test = require "luaweb.test"
local web = require "luaweb"

after_each(function()
  pool.close_idle()
  faulty.clean()
  process.clean()
end)

local function answering(octets)
  return faulty.answering(octets).url
end

local function fetch(octets, options)
  return web.fetch(answering(octets), options)
end

local CHUNKED = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
  .. "3\r\nabc\r\n4\r\ndefg\r\n0\r\nX-Sum: 7\r\n\r\n"

describe("a response", function()
  it("of any status is a result", function()
    for _, status in ipairs { 200, 299, 404, 500, 599 } do
      local res = assert(fetch(("HTTP/1.1 %d X\r\nContent-Length: 1\r\n\r\nx")
        :format(status)))
      assert.equal(status, res.status)
      assert.equal(status < 300, res.ok)
      assert.equal("x", res.body)
    end
  end)

  it("has headers by name in any case, several values, and all in order", function()
    local res = assert(fetch(faulty.ok("", "X-A: 1\r\nx-b: 2\r\nx-a:  3 \r\n")))
    assert.equal("1, 3", res.headers["X-a"])
    assert.same({ "1", "3" }, res.headers:all "x-A")
    assert.same({}, res.headers:all "missing")
    assert.is_nil(res.headers.missing)
    local seen = {}
    for name, value in res.headers:each() do seen[#seen + 1] = name .. "=" .. value end
    assert.same({ "content-length=0", "x-a=1", "x-b=2", "x-a=3" }, seen)
  end)

  it("has the URL that answered, without password", function()
    local server = faulty.answering(faulty.ok "")
    local res = assert(web.fetch(("http://u:p@127.0.0.1:%d/x?y#z"):format(server.port)))
    assert.equal(server.url .. "/x?y#z", res.url)
  end)

  it("has its content and what stands behind it", function()
    local res = assert(fetch(CHUNKED))
    assert.equal("abcdefg", res.body)
    assert.equal("7", res.trailers["x-sum"])
    assert.equal("1.1", res.version)
  end)

  it("may end with the connection", function()
    local server = faulty.start(function(conn)
      conn:receive_request()
      conn:send "HTTP/1.0 200 OK\r\n\r\nto the end"
    end)
    local res = assert(web.fetch(server.url))
    assert.equal("to the end", res.body)
    assert.equal("1.0", res.version)
  end)

  it("of HEAD, 204 and 304 has no content, whatever the length says", function()
    local server = faulty.answering(function(head)
      local status = head:match "^%a+ /(%d+)" or 200
      return ("HTTP/1.1 %s X\r\nContent-Length: 5\r\n\r\n"):format(status)
    end)
    assert.equal("", assert(web.fetch(server.url, { method = "HEAD" })).body)
    assert.equal("", assert(web.fetch(server.url .. "/304")).body)
    assert.equal(1, #server.conns)
  end)

  it("comes after interim ones, which are passed over", function()
    local res = assert(fetch("HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n"
      .. "HTTP/1.1 100 Continue\r\n\r\n" .. faulty.ok "final"))
    assert.equal("final", res.body)
    assert.is_nil(res.headers.link)
  end)
end)

describe("res:json", function()
  it("reads JSON, and says why it can't", function()
    assert.same({ a = { 1 } }, assert(fetch(faulty.ok '{"a":[1]}')):json())
    local value, message = assert(fetch(faulty.ok "{")):json()
    assert.is_nil(value)
    assert.is_string(message)
  end)
end)

describe("res:text", function()
  local function text(content, content_type)
    local line = content_type and "Content-Type: " .. content_type .. "\r\n"
    return assert(fetch(faulty.ok(content, line))):text()
  end

  it("is UTF-8, converted from Latin-1 where the server says so", function()
    assert.equal("é", text "é")
    assert.equal("é", text("é", "text/plain; charset=UTF-8"))
    assert.equal("é", text("\233", "text/plain; charset=iso-8859-1"))
  end)

  it("says what it can't read", function()
    local _, message = text("a\233", "text/plain")
    assert.equal("the content is not UTF-8 at octet 2", message)
    _, message = text("x", "text/plain; charset=koi8-r")
    assert.equal('the charset "koi8-r" is neither UTF-8 nor Latin-1', message)
  end)
end)

-- "hello hello hello hello\n", by gzip.
local GZIP = ("1f8b0800000000000203cb48cdc9c957c84027b9000088590b18000000"):gsub("%x%x",
  function(digits) return string.char(tonumber(digits, 16)) end)

describe("compressed content", function()
  it("is decoded, and the headers are those of what the app sees", function()
    local res = assert(fetch(faulty.ok(GZIP, "Content-Encoding: gzip\r\n")))
    assert.equal("hello hello hello hello\n", res.body)
    assert.equal("gzip", res.decoded)
    assert.is_nil(res.headers["content-encoding"])
    assert.is_nil(res.headers["content-length"])
  end)

  it("stays as it is with decode = false, or when its coding is not known", function()
    local res = assert(fetch(faulty.ok(GZIP, "Content-Encoding: gzip\r\n"),
      { decode = false }))
    assert.equal(GZIP, res.body)
    assert.equal("gzip", res.headers["content-encoding"])
    assert.is_nil(res.decoded)
    res = assert(fetch(faulty.ok("xyz", "Content-Encoding: mine\r\n")))
    assert.equal("xyz", res.body)
    assert.equal("mine", res.headers["content-encoding"])
  end)
end)

describe("web.fetch", function()
  it("asks through a unix socket, whatever host the URL names", function()
    local client = test.app(web.app {
      web.get("/", function(req) return "for " .. req.host end),
    })
    local path = process.path "socket"
    assert.equal(0, abi.C.luaweb_listen(abi.host, client.capp, "unix:" .. path, 0))
    local res = assert(web.fetch("http://no-such-host.invalid/", { unix = path }))
    assert.equal("for no-such-host.invalid", res.body)
    local _, message, kind = web.fetch("http://h/", { unix = path .. "-missing" })
    assert.equal("connect", kind, message)
    assert.matches("missing", message)
  end)

  it("works while an app loads, in handlers, and in hooks", function()
    local server = faulty.answering(faulty.ok "fine")
    local at_load = assert(web.fetch(server.url)).body
    local at_start
    local client = test.app(web.app {
      on_start = function() at_start = assert(web.fetch(server.url)).body end,
      web.get("/", function() return assert(web.fetch(server.url)).body end),
    })
    assert.equal("fine", at_load)
    assert.equal("fine", at_start)
    assert.equal("fine", client:get("/").body)
  end)
end)
