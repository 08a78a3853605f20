-- SPDX-License-Identifier: MIT
-- Reading content whose codings are taken off on the way (lua/luaweb/client/reader.lua,
-- core/http/reader.c): RFC 9110 §8.4.
local encode = require "spec.support.encode"
local play = require "spec.support.responses"
local reader = require "luaweb.client.reader"

local reader_of, response = play.reader_of, play.response

local MIB = 1024 * 1024

local function head(coding, framing)
  return "HTTP/1.1 200 OK\r\nContent-Encoding: " .. coding .. "\r\n" .. framing
    .. "\r\n\r\n"
end

-- The same content with each framing.
local function framings(coding, octets)
  local chunks = octets:gsub("..?.?.?.?", function(part)
    return ("%x\r\n%s\r\n"):format(#part, part)
  end)
  return {
    length = head(coding, "Content-Length: " .. #octets) .. octets,
    chunked = head(coding, "Transfer-Encoding: chunked") .. chunks .. "0\r\n\r\n",
    close = head(coding, "Connection: close") .. octets,
  }
end

local TEXT = ("It was the best of times, it was the worst of times. "):rep(400)

describe("decoded content", function()
  for _, coding in ipairs { "gzip", "deflate", "br", "zstd", "gzip, br", "identity" } do
    it("is the same in " .. coding .. ", however it is framed and arrives", function()
      for _, octets in pairs(framings(coding, encode.all(coding, TEXT))) do
        for _, step in ipairs { 1, 100, #octets } do
          assert.equal(TEXT, response(octets, step, "GET", true).body)
        end
      end
    end)

    it("may be empty in " .. coding .. ", and then without its coding", function()
      for _, octets in pairs(framings(coding, "")) do
        assert.equal("", response(octets, 1, "GET", true).body)
      end
      for _, octets in pairs(framings(coding, encode.all(coding, ""))) do
        assert.equal("", response(octets, 1, "GET", true).body)
      end
    end)
  end

  it("comes as it is without the asking", function()
    local octets = encode.gzip(TEXT)
    assert.equal(octets, response(framings("gzip", octets).length, 100).body)
  end)

  it("is that of all Content-Encoding lines together", function()
    local octets = head("gzip", "Content-Encoding: br")
    assert.equal(TEXT,
      response(octets .. encode.all("gzip,br", TEXT), 100, "GET", true).body)
  end)

  it("comes as it is where nothing says how to decode it", function()
    assert.equal("hello", response("HTTP/1.1 200 OK\r\n\r\nhello", 1, "GET", true).body)
  end)

  it("is none where there is no content", function()
    for _, octets in ipairs { "HTTP/1.1 304 X\r\nContent-Encoding: gzip\r\n\r\n",
      "HTTP/1.1 204 X\r\nContent-Encoding: gzip\r\n\r\n" } do
      assert.equal("", response(octets, 1, "GET", true).body)
    end
    assert.equal("",
      response(head("gzip", "Content-Length: 50"), 1, "HEAD", true).body)
  end)

  it("leaves the connection clean", function()
    for how, octets in pairs(framings("gzip", encode.gzip(TEXT))) do
      local its_reader = reader_of(octets, { ends = how ~= "close" and "timeout" })
      its_reader:head()
      assert.is_true(its_reader:decode())
      while its_reader:read() do end
      assert.equal(how ~= "close", its_reader:done())
    end
  end)

  it("need not be read to its end when all of it has come", function()
    local octets = framings("gzip", encode.gzip(("\0"):rep(100000))).length
    local its_reader = reader_of(octets, { ends = "timeout" })
    its_reader:head()
    its_reader:decode()
    assert.equal(16384, #its_reader:read())
    assert.is_true(its_reader:done())
  end)

  it("comes as soon as it can", function()
    local octets = encode.gzip(TEXT)
    local its_reader = reader_of(head("gzip", "Content-Length: " .. #octets)
      .. octets:sub(1, -9), { ends = "timeout" })
    its_reader:head()
    its_reader:decode()
    local got = ""
    for piece in function() return its_reader:read(0) end do got = got .. piece end
    assert.equal(TEXT, got)
    assert.equal("timeout", (select(3, its_reader:read(0))))
    assert.is_false(its_reader:done())
  end)
end)

describe("content that can't be decoded", function()
  local function failure(octets, limit, ratio)
    local its_reader = reader_of(octets, { step = 500, ends = "closed" })
    assert(its_reader:head())
    assert(its_reader:decode(limit, ratio))
    local size = 0
    while true do
      local piece, message, kind = its_reader:read()
      if not piece then
        assert.is_false(its_reader:done())
        return message, kind, size
      end
      size = size + #piece
    end
  end

  it("says so when its coding is not known, and comes as it is", function()
    local its_reader = reader_of(head("gzip, foo", "Content-Length: 5") .. "hello")
    its_reader:head()
    assert.same({ "the Content-Encoding of the response can't be taken off: "
      .. "\"gzip, foo\"" }, { select(2, its_reader:decode()) })
    assert.equal("hello", its_reader:read())
  end)

  it("is cut where its framing is, whatever its coding says", function()
    local octets = encode.gzip(TEXT)
    local message, kind = failure(head("gzip", "Content-Length: 1000") .. octets)
    assert.equal("cut", kind)
    assert.matches("of 1000 octets of content are missing", message)
    assert.equal("cut", (select(2, failure(head("gzip", "Transfer-Encoding: chunked")
      .. ("%x\r\n"):format(#octets) .. octets .. "\r\n"))))
  end)

  it("is an error when it ends inside its coding, or goes on behind it", function()
    local octets = encode.gzip(TEXT)
    for _, all in pairs(framings("gzip", octets:sub(1, -2))) do
      assert.same({ "the content can't be decoded: it ends inside its gzip stream",
        "coding", #TEXT }, { failure(all) })
    end
    for _, all in pairs(framings("gzip", octets .. "x")) do
      local message, kind = failure(all)
      assert.same({ "the content can't be decoded: something follows its gzip stream",
        "coding" }, { message, kind })
    end
    assert.same({ "the content can't be decoded: its gzip or deflate stream is damaged",
      "coding", 0 }, { failure(head("gzip", "X: y") .. "<html>hello</html>") })
  end)

  it("is refused above the limit", function()
    local octets = head("gzip", "X: y") .. encode.gzip(TEXT)
    assert.same({ nil, nil, #TEXT }, { failure(octets, #TEXT) })
    local message, kind, size = failure(octets, #TEXT - 1)
    assert.same({ "the content can't be decoded: there is more of it than the limit",
      "limit" }, { message, kind })
    assert.is_true(size < #TEXT)
    assert.equal("limit", (select(2, failure(octets, 0))))
  end)

  it("is refused when little is blown up to much", function()
    local zeros = ("\0"):rep(4 * MIB)
    for coding, octets in pairs {
      gzip = encode.gzip(zeros), br = encode.br(zeros), zstd = encode.zstd(zeros),
    } do
      local all = head(coding, "X: y") .. octets
      local message, kind, size = failure(all, nil, 800)
      assert.same({ "the content can't be decoded: there is far more of it than was "
        .. "received", "limit" }, { message, kind })
      assert.is_true(size < 1.1 * MIB)
      assert.same({ nil, nil, 4 * MIB }, { failure(all, nil, 0) })
    end
  end)

  it("is refused when much of it gives nothing", function()
    local empty, skipped = encode.gzip "", encode.zstd_skipped ""
    for codings, octets in pairs {
      gzip = empty:rep(5 * MIB / #empty), zstd = skipped:rep(5 * MIB / #skipped),
      ["zstd, gzip"] = encode.gzip(skipped:rep(5 * MIB / #skipped)),
    } do
      assert.same({ "the content can't be decoded: too much of it in a row decodes to "
        .. "nothing", "limit", 0 }, { failure(head(codings, "X: y") .. octets) })
    end
    local some = encode.gzip "a" .. empty:rep(3 * MIB / #empty)
    assert.same({ nil, nil, 3 }, { failure(head("gzip", "X: y") .. some:rep(3)) })
  end)

  it("is 8 MiB and 1000 times what was received, unless said otherwise", function()
    assert.same({ 8 * MIB, 1000 }, { reader.MAX_DECODED, reader.MAX_RATIO })
    local zeros = ("\0"):rep(8 * MIB)
    assert.equal("limit", (select(2, failure(head("br", "X: y") .. encode.br(zeros)))))
    local mixed = {}
    for i = 1, 9000 do mixed[i] = i .. ("\0"):rep(1000) end
    mixed = table.concat(mixed)
    assert.is_nil((failure(head("gzip", "X: y") .. encode.gzip(mixed:sub(1, 8 * MIB)))))
    assert.equal("limit", (select(2,
      failure(head("gzip", "X: y") .. encode.gzip(mixed:sub(1, 8 * MIB + 1))))))
  end)

  it("is asked for once, in front of all content", function()
    local words = "reader:decode: that is to be asked once, in front of all content"
    for _, first in ipairs { "read", "decode" } do
      local its_reader = reader_of(head("gzip", "X: y") .. encode.gzip "hello")
      its_reader:head()
      its_reader[first](its_reader)
      local ok, err = pcall(its_reader.decode, its_reader)
      assert.is_false(ok)
      assert.equal(words, err:match "reader:.*")
    end
  end)
end)
