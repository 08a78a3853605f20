-- SPDX-License-Identifier: MIT
-- What a client reads from a connection (lua/luaweb/client/reader.lua, core/http/
-- reader.c): responses whole and in pieces, and what no server should send.  RFC 9112.
local play = require "spec.support.responses"

local reader_of, response = play.reader_of, play.response

local CHUNKED = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"

local function with_length(length)
  return "HTTP/1.1 200 OK\r\nContent-Length: " .. length .. "\r\n\r\n"
end

local function refused(octets, kind, method)
  local words
  for _, step in ipairs { 1, 2, 3, 16, #octets } do
    local got, message, its_kind = response(octets, step, method)
    assert.is_nil(got, octets)
    assert.equal(kind, its_kind)
    words = words or message
    assert.equal(words, message)
  end
  return words
end

describe("a response", function()
  local ALL = {
    ["with a length"] = with_length(5) .. "hello",
    ["without content"] = with_length(0),
    ["in chunks"] = CHUNKED .. "5;a=b\r\nhello\r\n1\r\n!\r\n0\r\n\r\n",
    ["in chunks, with trailers"] = CHUNKED .. "1\r\na\r\n0\r\nA: b\r\nA: c\r\n\r\n",
    ["that ends with its connection"] = "HTTP/1.0 200\r\n\r\nhello\0\r\n\r\n",
    ["behind interim ones"] = "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Hints\r\n"
      .. "Link: </a>\r\n\r\n" .. with_length(2) .. "ok",
    ["with status 204"] = "HTTP/1.1 204 No Content\r\nX: y\r\n\r\n",
  }

  for title, octets in pairs(ALL) do
    it(title .. " is the same however it arrives", function()
      local whole = assert(response(octets, #octets))
      for step = 1, #octets - 1 do assert.same(whole, response(octets, step)) end
    end)
  end

  it("has status, reason, version and headers", function()
    local octets = "HTTP/1.0 404 Not Found\r\nX-A: 1\r\nServer:\tb \r\n\r\n"
    local head = reader_of(octets):head()
    assert.same({ 404, "Not Found", "1.0", { { "x-a", "1" }, { "server", "b" } } },
      { head.status, head.reason, head.version, head.headers })
    assert.is_nil(head.length)
    assert.same({ true, false }, { head.has_content, head.keep_alive })
  end)

  it("has its content in pieces, then its trailers", function()
    local whole = response(CHUNKED .. "3\r\nabc\r\n2\r\nde\r\n0\r\nT: u\r\n\r\n", 1000)
    assert.same({ "abcde", { { "t", "u" } } }, { whole.body, whole.trailers })
    local reader = reader_of(CHUNKED .. "3\r\nabc\r\n2\r\nde\r\n0\r\nT: u\r\n\r\n")
    reader:head()
    assert.same({ "abc", "de" }, { reader:read(), reader:read() })
    assert.same({}, reader.trailers)
    assert.is_nil(reader:read())
    assert.is_nil(reader:read())
    assert.same({ { "t", "u" } }, reader.trailers)
  end)

  it("to HEAD has no content, whatever it says", function()
    local reader = reader_of(with_length(5), nil, "HEAD")
    local head = reader:head()
    assert.same({ 5, false }, { head.length, head.has_content })
    assert.is_nil(reader:read())
    assert.is_true(reader:done())
  end)

  it("may be larger than what is received at once, and than the buffer", function()
    local content = ("0123456789abcdef"):rep(40000)
    assert.is_true(content == response(with_length(#content) .. content, 1e9).body)
    assert.is_true(content == response(with_length(#content) .. content, 65536).body)
    local many = ("1\r\nx\r\n"):rep(100000)
    assert.equal(100000, #response(CHUNKED .. many .. "0\r\n\r\n", 1e9).body)
  end)
end)

describe("interim responses", function()
  local HINT = "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n"

  it("are counted, and given to those who ask", function()
    local reader = reader_of("HTTP/1.1 100 Continue\r\n\r\n" .. HINT .. with_length(0))
    local head = reader:next_head()
    assert.same({ 100, 1 }, { head.status, head.interims })
    head = reader:next_head()
    assert.same({ 103, 2, { { "link", "</a>" } } },
      { head.status, head.interims, head.headers })
    head = reader:next_head()
    assert.same({ 200, 2 }, { head.status, head.interims })
  end)

  it("are 32 at most", function()
    assert.equal(32, response(HINT:rep(32) .. with_length(0), 100).interims)
    assert.equal("the response is refused: there are too many interim responses",
      refused(HINT:rep(33) .. with_length(0), "limit"))
    refused(HINT:rep(10000), "limit")
  end)

  it("are no response", function()
    assert.matches("inside the head .* 0 octets are here, behind 2 interim responses",
      refused(HINT:rep(2), "cut"))
  end)

  it("switch protocols only where that is asked for", function()
    local octets = "HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\n\r\n\1\2"
    assert.equal("the response is refused: it switches to a protocol that nobody asked "
      .. "for", refused(octets, "malformed"))
    local reader = reader_of(octets, nil, "GET", { switches = true })
    local head = reader:head()
    assert.same({ 101, true }, { head.status, head.is_switched })
    assert.is_false(head.has_content)
    assert.equal("\1\2", reader:rest())
    assert.equal("", reader:rest())
  end)

  it("are not what a tunnel begins with", function()
    local reader = reader_of("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n\22\3\1", nil,
      "CONNECT")
    assert.is_true(reader:head().is_switched)
    assert.equal("\22\3\1", reader:rest())
    assert.equal("no", response("HTTP/1.1 407 X\r\nContent-Length: 2\r\n\r\nno", 1,
      "CONNECT").body)
  end)
end)

describe("a connection that ends early", function()
  it("says how much content is missing", function()
    assert.equal("the connection ended early: 6 of 10 octets of content are missing",
      refused(with_length(10) .. "hell", "cut"))
    assert.equal("the connection ended early: 10 of 10 octets of content are missing",
      refused(with_length(10), "cut"))
  end)

  it("cuts chunks wherever it ends", function()
    local octets = "5\r\nhello\r\n0\r\nA: b\r\n\r\n"
    for size = 0, #octets - 1 do
      assert.matches("^the connection ended early, behind %d octets of content: its",
        refused(CHUNKED .. octets:sub(1, size), "cut"))
    end
  end)

  it("cuts a head wherever it ends", function()
    local octets = with_length(0)
    for size = 1, #octets - 1 do
      assert.equal(("the connection ended inside the head of the response, of which %d "
        .. "octets are here, behind 0 interim responses"):format(size),
        refused(octets:sub(1, size), "cut"))
    end
  end)

  it("is told apart when it has said nothing", function()
    assert.equal("the connection ended before the response began",
      refused("", "silent"))
    local reader = reader_of("", { ends = "reset" })
    local _, message, kind = reader:head()
    assert.same({ "the connection was lost before the response began", "silent" },
      { message, kind })
  end)

  it("completes no content by a reset", function()
    local reader = reader_of("HTTP/1.1 200 OK\r\n\r\nhello", { ends = "reset" })
    reader:head()
    assert.equal("hello", reader:read())
    local piece, message, kind = reader:read()
    assert.same({ nil, "the connection was lost early, behind 5 octets of content: "
      .. "its end is missing", "cut" }, { piece, message, kind })
    assert.is_false(reader:done())
  end)

  it("fails each time that it is asked again", function()
    local reader = reader_of(with_length(10) .. "hell")
    reader:head()
    reader:read()
    for _ = 1, 2 do assert.equal("cut", (select(3, reader:read()))) end
    reader:begin "GET"
    assert.equal("cut", (select(3, reader:head())))
  end)
end)

describe("a connection", function()
  local function is_clean(octets, step, ends)
    local reader = reader_of(octets, { step = step, ends = ends or "timeout" })
    assert(reader:head())
    while reader:read() do end
    return reader:done()
  end

  it("may be used again behind a response that was read to its end", function()
    for _, step in ipairs { 1, 1000 } do
      assert.is_true(is_clean(with_length(2) .. "ok", step))
      assert.is_true(is_clean(CHUNKED .. "2\r\nok\r\n0\r\n\r\n", step))
    end
  end)

  it("is not to be used again with an octet behind the response", function()
    assert.is_false(is_clean(with_length(2) .. "ok!", 1000))
    assert.is_false(is_clean(CHUNKED .. "2\r\nok\r\n0\r\n\r\n\r\n", 1000))
    assert.is_false(is_clean(with_length(0) .. "HTTP/1.1 200 OK\r\n", 1000))
    assert.is_false(is_clean(with_length(100000) .. ("x"):rep(100001), 1e9))
  end)

  it("is not to be used again when the server closes it", function()
    assert.is_false(is_clean "HTTP/1.1 204 X\r\nConnection: close\r\n\r\n")
    assert.is_false(is_clean "HTTP/1.0 204 X\r\n\r\n")
    assert.is_false(is_clean("HTTP/1.1 200 OK\r\n\r\nhello", 1, "closed"))
  end)

  it("is not to be used again in the middle of a response", function()
    local reader = reader_of(with_length(5) .. "hello")
    assert.is_false(reader:done())
    reader = reader_of(with_length(5) .. "hello")
    reader:head()
    assert.is_false(reader:done())
    assert.is_nil((reader:head()))
  end)

  it("gives one response after the other, each as if it were the first", function()
    local chunks = "HTTP/1.1 100 Continue\r\n\r\n" .. CHUNKED
      .. "1\r\na\r\n2\r\nbc\r\n0\r\nA: b\r\n\r\n"
    local reader = reader_of(chunks:rep(3) .. with_length(1) .. "d" .. with_length(9)
      .. "ef")
    for _ = 1, 3 do
      assert.equal(1, reader:head().interims)
      assert.same({ "a", "bc" }, { reader:read(), reader:read() })
      assert.is_nil(reader:read())
      assert.same({ { "a", "b" } }, reader.trailers)
      reader:begin "GET"
    end
    reader:head()
    assert.equal("d", reader:read())
    assert.is_nil(reader:read())
    assert.same({}, reader.trailers)
    reader:begin "GET"
    reader:head()
    reader:read()
    assert.equal("the connection ended early: 7 of 9 octets of content are missing",
      (select(2, reader:read())))
  end)
end)
