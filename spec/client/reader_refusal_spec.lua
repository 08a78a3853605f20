-- SPDX-License-Identifier: MIT
-- What a client does not take from a server (lua/luaweb/client/reader.lua): what could
-- be read in two ways, what is too large, and what is asked at the wrong time.
local abi = require "luaweb.abi"
local encode = require "spec.support.encode"
local play = require "spec.support.responses"
local reader = require "luaweb.client.reader"

local reader_of, response = play.reader_of, play.response

local OK = "HTTP/1.1 200 OK\r\n"
local CHUNKED = OK .. "Transfer-Encoding: chunked\r\n\r\n"

local function refused(octets, kind)
  local words
  for _, step in ipairs { 1, 2, 3, 16, #octets } do
    local got, message, its_kind = response(octets, step)
    assert.is_nil(got, octets)
    assert.same({ kind, words or message }, { its_kind, message })
    words = message
  end
  return words
end

describe("a response that two readers could take in two ways", function()
  for title, octets in pairs {
    ["two lengths"] = OK .. "Content-Length: 5\r\nContent-Length: 0\r\n\r\nhello",
    ["two lengths in one line"] = OK .. "Content-Length: 0, 5\r\n\r\nhello",
    ["a length beside chunks"] = OK
      .. "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    ["chunks beside a length"] = OK
      .. "Transfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\n",
    ["chunks in HTTP/1.0"] =
      "HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    ["chunks in a coding"] = OK .. "Transfer-Encoding: chunked, gzip\r\n\r\n0\r\n\r\n",
    ["a coding in chunks"] = OK .. "Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n",
    ["a length that is none"] = OK .. "Content-Length: 0x5\r\n\r\nhello",
    ["a space in front of a colon"] = OK .. "Content-Length : 5\r\n\r\nhello",
    ["a folded line"] = OK .. "X: a\r\n Content-Length: 5\r\n\r\nhello",
    ["a bare LF"] = OK .. "X: a\nContent-Length: 5\r\n\r\nhello",
    ["a bare CR"] = OK .. "X: a\rContent-Length: 5\r\n\r\nhello",
    ["a NUL"] = OK .. "X: a\0\r\nContent-Length: 5\r\n\r\nhello",
    ["an empty line in front"] = "\r\n" .. OK .. "Content-Length: 5\r\n\r\nhello",
    ["an interim one with content"] =
      "HTTP/1.1 100 Continue\r\nContent-Length: 38\r\n\r\n" .. OK .. "\r\n",
    ["a chunk longer than its size"] = CHUNKED .. "5\r\nhelloX\r\n0\r\n\r\n",
    ["a chunk size that is none"] = CHUNKED .. "0x5\r\nhello\r\n0\r\n\r\n",
    ["a bare LF behind a chunk size"] = CHUNKED .. "5\nhello\r\n0\r\n\r\n",
    ["a trailer that is none"] = CHUNKED .. "0\r\nX : a\r\n\r\n",
    ["another protocol"] = "SSH-2.0-OpenSSH_9.2\r\n",
    ["HTTP/0.9"] = "<html>hello</html>",
  } do
    it("is refused: " .. title, function()
      assert.matches("^the response is refused: .+%w$", refused(octets, "malformed"))
    end)
  end
end)

describe("the limits of a reader", function()
  local function kind_of(octets, limits)
    local its_reader = reader_of(octets, limits)
    local head, message, kind = its_reader:head()
    return head and "fine" or kind, message
  end

  it("are of the head", function()
    local octets = OK .. "A: b\r\nC: d\r\n\r\n"
    for step = 1, #octets do
      assert.equal("fine", (kind_of(octets, { step = step, max_head = #octets })))
      assert.equal("limit", (kind_of(octets, { step = step, max_head = #octets - 1 })))
      assert.equal("fine", (kind_of(octets, { step = step, max_headers = 2 })))
      assert.equal("limit", (kind_of(octets, { step = step, max_headers = 1 })))
    end
    assert.same({ "limit", "the response is refused: there are too many field lines" },
      { kind_of(octets, { max_headers = 1 }) })
  end)

  it("are 64 KiB and 256 headers, unless said otherwise", function()
    assert.same({ 65536, 256 }, { reader.MAX_HEAD, reader.MAX_HEADERS })
    local start = OK .. "A: "
    local function filled(size)
      return start .. ("x"):rep(size - #start - 4) .. "\r\n\r\n"
    end
    assert.equal("fine", (kind_of(filled(65536))))
    assert.equal("limit", (kind_of(filled(65537))))
    assert.equal("limit", (kind_of(filled(10000000))))
    assert.equal("fine", (kind_of(OK .. ("A: b\r\n"):rep(256) .. "\r\n")))
    assert.equal("limit", (kind_of(OK .. ("A: b\r\n"):rep(257) .. "\r\n")))
  end)

  it("are of chunk extensions and trailers", function()
    local function chunks(extension, trailer)
      return CHUNKED .. "1;a=" .. ("e"):rep(extension) .. "\r\nx\r\n0\r\n"
        .. trailer .. "\r\n"
    end
    assert.equal("x", response(chunks(4000, ""), 1000).body)
    assert.equal("malformed", (select(3, response(chunks(5000, ""), 1000))))
    local long = "T: " .. ("t"):rep(8192 - 7) .. "\r\n"
    assert.equal("x", response(chunks(1, long), 1000).body)
    assert.equal("limit", (select(3, response(chunks(1, "t" .. long), 1000))))
    assert.equal(256, #response(chunks(1, ("T:\r\n"):rep(256)), 1000).trailers)
    assert.equal("limit",
      (select(3, response(chunks(1, ("T:\r\n"):rep(257)), 1000))))
  end)

  it("are of what is held and not read, whatever is fed", function()
    local its_reader = reader_of("", { max_head = 1000 })
    local octets, held = ("x"):rep(50000), 0
    for _ = 1, 100 do
      held = held + abi.C.luaweb_reader_feed(abi.host, its_reader.c, octets, #octets)
    end
    assert.equal(1000 + 8192 + 65536, held)
  end)

  it("leave no room behind the end, nor in front of what is being decoded", function()
    local function feed(its_reader, octets)
      return abi.C.luaweb_reader_feed(abi.host, its_reader.c, octets, #octets)
    end
    local its_reader = reader_of("", {})
    assert.equal(1, feed(its_reader, "H"))
    abi.C.luaweb_reader_end(abi.host, its_reader.c, false)
    assert.equal(0, feed(its_reader, "T"))
    local zeros = encode.gzip(("\0"):rep(100000))
    its_reader = reader_of(OK .. "Content-Encoding: gzip\r\n\r\n" .. zeros)
    its_reader:head()
    its_reader:decode()
    assert.equal(16384, #its_reader:read())
    assert.equal(0, feed(its_reader, "x"))
  end)
end)

describe("a reader that has to wait", function()
  it("says so in time, and goes on later", function()
    local pieces = { false, "HTTP/1.1 200 OK\r\nContent-", false, "Length: 5\r\n\r\nhe",
      false, "llo" }
    local socket = { receive = function(_, timeout)
      assert.equal(0, timeout)
      local piece = table.remove(pieces, 1)
      if piece then return piece end
      return nil, "timeout"
    end }
    local its_reader = reader.new(socket)
    its_reader:begin "GET"
    for _ = 1, 2 do
      assert.same({ "the response did not come in time", "timeout" },
        { select(2, its_reader:head(0)) })
    end
    assert.equal(5, its_reader:head(0).length)
    assert.equal("he", its_reader:read(0))
    assert.same({ "the content did not come in time", "timeout" },
      { select(2, its_reader:read(0)) })
    assert.equal("llo", its_reader:read(0))
    assert.is_nil(its_reader:read(0))
    assert.is_true(its_reader:done())
  end)
end)

describe("a reader that is asked at the wrong time", function()
  local function message(fn)
    local ok, err = pcall(fn)
    assert.is_false(ok)
    return err
  end

  it("says what it is the time for", function()
    local its_reader = reader_of(OK .. "Content-Length: 1\r\n\r\nx")
    local said = message(function() its_reader:read() end)
    assert.matches("refusal_spec.*reader:read: now is the time for \"head\"", said)
    assert.matches("decode", message(function() its_reader:decode() end))
    assert.matches("begin", message(function() its_reader:begin "GET" end))
    its_reader:head()
    assert.matches("reader:head: now is the time for \"read\"",
      message(function() its_reader:head() end))
    assert.matches("reader:rest", message(function() its_reader:rest() end))
    its_reader:read()
    its_reader:read()
    assert.equal("", its_reader:rest())
    assert.is_true(its_reader:done())
    assert.matches("\"idle\"", message(function() its_reader:head() end))
  end)
end)
