-- SPDX-License-Identifier: MIT
-- What web.fetch sends, octet for octet, and what it refuses to send.
local faulty = require "spec.support.faulty_server"
local json = require "luaweb.json"
local pool = require "luaweb.fetch.pool"
local web = require "luaweb"

after_each(function()
  pool.close_idle()
  faulty.clean()
end)

-- The head and the content of what is sent for these options.
local function sent(target, options)
  local server = faulty.answering(faulty.ok "fine")
  assert(web.fetch(server.url .. target, options))
  local request = server.requests[1]
  return request.head:gsub("127%.0%.0%.1:" .. server.port, "here"), request.content
end

local function lines(...)
  return table.concat({ ... }, "\r\n") .. "\r\n\r\n"
end

local USUAL = "User-Agent: luaweb\r\nAccept: */*\r\nAccept-Encoding: gzip, br, zstd"

describe("a request", function()
  it("has Host first, and says who asks and what can be decoded", function()
    assert.equal(lines("GET /x?y=1 HTTP/1.1", "Host: here", USUAL), (sent "/x?y=1#z"))
  end)

  it("has the app's headers in an order that is always the same", function()
    assert.equal(lines("GET / HTTP/1.1", "Host: here", "Accept: text/html", "X-A: 1",
      "X-A: 2", "x-b: c", "User-Agent: luaweb", "Accept-Encoding: gzip, br, zstd"),
      (sent("", { headers = { ["x-b"] = " c ", ["X-A"] = { 1, "2" },
        Accept = "text/html" } })))
    assert.equal(lines("GET / HTTP/1.1", "Host: here", "b: 1", "a: 2", "b: 3", USUAL),
      (sent("", { headers = { { "b", "1" }, { "a", "2" }, { "b", "3" } } })))
  end)

  it("may have another Host", function()
    assert.matches("^GET / HTTP/1.1\r\nHost: other.example\r\nUser",
      (sent("", { headers = { Host = "other.example" } })))
  end)

  it("gets the query added to that of the URL", function()
    assert.matches("^GET /%?a=1&b=x%%20y&c=1&c=2 ",
      (sent("?a=1", { query = { b = "x y", c = { 1, 2 } } })))
    assert.matches("^GET /%?b=1 ", (sent("", { query = { b = 1 } })))
    assert.matches("^GET / ", (sent("", { query = {} })))
  end)

  it("has credentials from the URL, unless the app gives its own", function()
    local server = faulty.answering(faulty.ok "")
    local url = ("http://Aladdin:open%%20sesame@127.0.0.1:%d/"):format(server.port)
    assert(web.fetch(url))
    assert(web.fetch(url, { headers = { authorization = "Bearer x" } }))
    assert.matches("\r\nAuthorization: Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==\r\n",
      server.requests[1].head)
    assert.not_matches("Aladdin", server.requests[1].head)
    assert.not_matches("Basic", server.requests[2].head)
  end)

  it("does not ask for compressed parts, nor for codings that stay on", function()
    assert.matches("\r\nAccept%-Encoding: identity\r\n",
      (sent("", { headers = { Range = "bytes=0-1" } })))
    assert.not_matches("Accept%-Encoding", (sent("", { decode = false })))
  end)

  it("writes common methods in upper case, and others as they are", function()
    assert.matches("^DELETE / ", (sent("", { method = "delete" })))
    assert.matches("^m%-search / ", (sent("", { method = "m-search" })))
  end)
end)

describe("the content of a request", function()
  it("is what body has, with its length; the method is POST then", function()
    local head, content = sent("", { body = "hello" })
    assert.equal(lines("POST / HTTP/1.1", "Host: here", USUAL, "Content-Length: 5"),
      head)
    assert.equal("hello", content)
  end)

  it("may be JSON", function()
    local head, content = sent("", { method = "PUT", json = { a = { 1, web.null } } })
    assert.matches("^PUT .*\r\nContent%-Type: application/json\r\n", head)
    assert.same({ a = { 1, web.null } }, json.decode(content))
    assert.equal("false", select(2, sent("", { json = false })))
  end)

  it("may be a form", function()
    local head, content = sent("", { form = { name = "a b", x = "1&2" } })
    assert.matches("\r\nContent%-Type: application/x%-www%-form%-urlencoded\r\n", head)
    assert.equal("name=a+b&x=1%262", content)
  end)

  it("has the media type that the app says", function()
    local head = sent("", { json = {}, headers = { ["content-type"] = "a/b" } })
    assert.matches("\r\ncontent%-type: a/b\r\n", head)
    assert.not_matches("application/json", head)
  end)

  it("that is empty is told as such, where the method has content", function()
    assert.matches("Content%-Length: 0\r\n", (sent("", { method = "POST" })))
    assert.matches("Content%-Length: 0\r\n", (sent("", { body = "" })))
    assert.not_matches("Content%-Length", (sent("", { method = "DELETE" })))
  end)
end)

describe("web.fetch raises", function()
  local function ask(...)
    local res = web.fetch(...) -- not a tail call: it must be seen who called
    return res
  end

  -- The message, without the place; the place must be this file's.
  local function raised(...)
    local ok, message = pcall(ask, ...)
    assert.is_false(ok)
    local text = tostring(message):match "request_spec%.lua:%d+: (.*)$"
    return text or error("no place of the caller: " .. tostring(message))
  end

  local URL = "http://127.0.0.1:1/"

  local function refused(options)
    return raised(URL, options)
  end

  it("what is no URL or no table of options", function()
    assert.equal("web.fetch wants a URL first, not a nil", raised())
    assert.equal("web.fetch wants a URL first, not a table", raised {})
    assert.equal("web.fetch wants a table of options second, not a string",
      raised(URL, "x"))
  end)

  it("an option that it does not have", function()
    assert.equal("web.fetch: there is no option tiemout (did you mean timeout?)",
      refused { tiemout = 1 })
    assert.equal("web.fetch: there is no option 1", refused { "x" })
  end)

  it("an option of the wrong type or value", function()
    assert.equal("web.fetch: timeout wants a number, not a string",
      refused { timeout = "1" })
    assert.equal("web.fetch: timeout: wants seconds, more than 0",
      refused { timeout = 0 })
    assert.equal("web.fetch: idle_timeout: wants seconds, more than 0",
      refused { idle_timeout = 0 / 0 })
    assert.equal("web.fetch: redirects: wants a whole number, 0 or more",
      refused { redirects = 1.5 })
    assert.equal("web.fetch: max_connections: wants a whole number, 1 or more",
      refused { max_connections = 0 })
    assert.equal("web.fetch: max_size: wants a number of octets, 0 or more",
      refused { max_size = -1 })
    assert.matches("^web.fetch: proxy: .*socks5 is neither http nor https",
      refused { proxy = "socks5://h" })
    assert.matches("^web.fetch: proxy wants a string or boolean",
      refused { proxy = true })
    assert.equal('web.fetch: method: "GET X" is not a method',
      refused { method = "GET X" })
    assert.equal("web.fetch: method: CONNECT is for proxies",
      refused { method = "connect" })
  end)

  it("headers that would be several, or none", function()
    local function header(name, value)
      return refused { headers = { [name] = value } }
    end
    local control = "has a value with a line end or another control octet"
    assert.equal("web.fetch: headers: X " .. control, header("X", "a\r\nY: b"))
    assert.equal("web.fetch: headers: X " .. control, header("X", { "a", "b\nc" }))
    assert.equal("web.fetch: headers: X " .. control, header("X", "a\0"))
    assert.equal('web.fetch: headers: "X:" is not a header name', header("X:", "a"))
    assert.equal('web.fetch: headers: "" is not a header name', header("", "a"))
    assert.equal("web.fetch: headers: X has a value that is a boolean, not a string",
      header("X", true))
    assert.equal("web.fetch: headers: [1] is not { name, value }",
      refused { headers = { "X: y" } })
  end)

  it("headers that say how a message is framed", function()
    for _, name in ipairs { "Transfer-Encoding", "te", "Expect", "Upgrade", "Trailer",
      "Keep-Alive" } do
      assert.matches("^web.fetch: headers: " .. name:gsub("%-", "%%-")
        .. " is not the app's", refused { headers = { [name] = "x" } })
    end
    assert.equal("web.fetch: headers: Connection may be close, and nothing else",
      refused { headers = { connection = "upgrade" } })
    assert.equal("web.fetch: headers: Connection may be close, and nothing else",
      refused { headers = { connection = { "close", "x-mine" } } })
    assert.equal("web.fetch: headers: there is one Host",
      refused { headers = { Host = { "a", "b" } } })
    assert.equal("web.fetch: headers: Content-Length is 4, which the content is not",
      refused { body = "hello", headers = { ["content-length"] = 4 } })
    assert.equal("web.fetch: headers: Content-Length is x, which the content is not",
      refused { body = print, headers = { ["content-length"] = "x" } })
  end)

  it("values that have no text", function()
    assert.equal("web.fetch: query: f: a function has no text",
      refused { query = { f = print } })
    assert.equal("web.fetch: form: f: a function has no text",
      refused { form = { f = print } })
    assert.equal("web.fetch: headers: N: nan has no text",
      refused { headers = { N = 0 / 0 } })
  end)

  it("contents that are several, or have no place", function()
    assert.equal("web.fetch: body, json and form: one of them is the content",
      refused { body = "x", json = {} })
    assert.equal("web.fetch: method: TRACE has no content",
      refused { method = "TRACE", body = "x" })
    assert.equal("web.fetch: trailers come behind a body that is a function",
      refused { body = "x", trailers = print })
  end)

  it("nothing for text that is no URL: that is nil, a message and a kind", function()
    local res, message, kind = web.fetch "ftp://example.com/"
    assert.is_nil(res)
    assert.matches("ftp is neither http nor https", message)
    assert.equal("url", kind)
  end)
end)
