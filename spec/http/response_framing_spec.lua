-- SPDX-License-Identifier: MIT
-- How the content of a response is framed (core/http/response.h): RFC 9112 §6.
local heads = require "spec.support.response_heads"

local with, refusal, shown = heads.with, heads.refusal, heads.shown

describe("the content of a response", function()
  it("has the length that Content-Length says", function()
    local head = with "Content-Length: 0042\r\n"
    assert.same({ "length", 42, true }, { head.content, head.length, head.keep_alive })
    assert.equal("length", with("content-length:0\r\n").content)
  end)

  it("may have its length said twice", function()
    assert.equal(5, with("Content-Length: 5\r\nContent-Length: 5\r\n").length)
    assert.equal(5, with("Content-Length: 5, 5 ,5\r\n").length)
    assert.equal(5, with("Content-Length: 5\r\ncontent-length: 05, 5\r\n").length)
  end)

  for _, lengths in ipairs {
    { "5", "6" }, { "5, 6" }, { "5", "5, 6" }, { "0", "5" }, { "5", "0" },
  } do
    local title = table.concat(lengths, " and ")
    it("is refused when it has the lengths " .. title, function()
      local lines = {}
      for i, value in ipairs(lengths) do lines[i] = "Content-Length: " .. value end
      assert.equal("Content-Length says two lengths",
        refusal(table.concat(lines, "\r\n") .. "\r\n"))
    end)
  end

  for _, length in ipairs {
    "", ",", "5,", ",5", "5,,5", "+5", "-5", "0x5", "5 5", "5.0", "5e1", "\"5\"", "5;",
    "9223372036854775808", "18446744073709551621", ("9"):rep(100), "\194\178",
  } do
    it("is refused with the length " .. shown(length), function()
      assert.matches("^Content%-Length is ",
        refusal("Content-Length: " .. length .. "\r\n"))
    end)
  end

  it("is chunked where Transfer-Encoding says so", function()
    local head = with "Transfer-Encoding: Chunked\r\n"
    assert.same({ "chunked", true }, { head.content, head.keep_alive })
  end)

  for _, coding in ipairs {
    "gzip", "chunked, gzip", "gzip, chunked", "chunked, chunked", "identity", "",
    "chunked,", ",chunked", "xchunked", "chunked;a=b", "\"chunked\"", "chun\tked",
    "chunked\r\nTransfer-Encoding: chunked", "\r\nTransfer-Encoding: chunked",
    "chunked\r\nTransfer-Encoding: identity", "\11chunked",
  } do
    it("is refused with the transfer coding " .. shown(coding), function()
      refusal("Transfer-Encoding: " .. coding .. "\r\n")
    end)
  end

  it("is refused with both, in either order, and in HTTP/1.0", function()
    local length, coding = "Content-Length: 5\r\n", "Transfer-Encoding: chunked\r\n"
    local why = "Transfer-Encoding stands with Content-Length"
    assert.equal(why, refusal(length .. coding))
    assert.equal(why, refusal(coding .. length))
    assert.equal("Transfer-Encoding stands in HTTP/1.0",
      refusal(coding, "HTTP/1.0 200 OK"))
    refusal(length .. coding, nil, "HEAD")
    refusal(length .. coding, "HTTP/1.1 304 Not Modified")
  end)

  it("goes on until the connection closes where nothing else is said", function()
    local head = with("Connection: keep-alive\r\n")
    assert.same({ "close", false }, { head.content, head.keep_alive })
    assert.equal("close", with("", "HTTP/1.0 200 OK").content)
  end)

  local ANNOUNCED = { "Content-Length: 5\r\n", "Transfer-Encoding: chunked\r\n" }

  it("is never there after HEAD, and with 1xx, 204, 304", function()
    local lines = "Content-Length: 5\r\n"
    local head = with(lines, nil, "HEAD")
    assert.same({ "empty", 5, true, true },
      { head.content, head.length, head.has_length, head.keep_alive })
    assert.equal("empty", with("Transfer-Encoding: chunked\r\n", nil, "HEAD").content)
    assert.equal("empty", with(lines, "HTTP/1.1 304 Not Modified").content)
    assert.equal("empty", with("", "HTTP/1.1 304 Not Modified").content)
    assert.equal("empty", with("", "HTTP/1.1 103 Early Hints").content)
    assert.equal("empty", with("Content-Length: 0\r\n", "HTTP/1.1 100 Go").content)
    assert.equal("length", with(lines, nil, "head").content)
  end)

  it("ends the connection where a 204 announces it", function()
    for _, lines in ipairs(ANNOUNCED) do
      local head = with(lines, "HTTP/1.1 204 No Content")
      assert.same({ "empty", false }, { head.content, head.keep_alive })
    end
    assert.is_true(with("Content-Length: 0\r\n", "HTTP/1.1 204 No Content").keep_alive)
  end)

  it("is refused where an interim response announces it", function()
    for _, lines in ipairs(ANNOUNCED) do
      assert.equal("an interim response announces content",
        refusal(lines, "HTTP/1.1 103 Early Hints"))
    end
  end)

  it("is no matter of a tunnel, whatever its fields say", function()
    local lines = "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n"
    assert.equal("empty", with(lines, nil, "CONNECT").content)
    assert.is_false(with("", nil, "CONNECT").keep_alive)
    refusal(lines, "HTTP/1.1 407 X", "CONNECT")
    local refused = with("Content-Length: 5\r\n", "HTTP/1.1 407 X", "CONNECT")
    assert.equal("length", refused.content)
  end)
end)
