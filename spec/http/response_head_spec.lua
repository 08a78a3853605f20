-- SPDX-License-Identifier: MIT
-- Heads of responses (core/http/response.h): RFC 9112 §4, §5, §9.3.
local heads = require "spec.support.response_heads"

local scan, with, refusal, shown = heads.scan, heads.with, heads.refusal, heads.shown

describe("a status line", function()
  it("has version, status and reason", function()
    local head = with "A: b\r\n"
    assert.same({ 200, 1, "OK" }, { head.status, head.minor, head.reason })
    head = with("", "HTTP/1.0 404 Not  here\t\195\188\255")
    assert.same({ 404, 0, "Not  here\t\195\188\255" },
      { head.status, head.minor, head.reason })
  end)

  it("may have no reason, with and without the space in front of it", function()
    assert.equal("", with("", "HTTP/1.1 200 ").reason)
    assert.equal("", with("", "HTTP/1.1 200").reason)
    assert.equal(200, with("", "HTTP/1.1 200").status)
  end)

  it("has a status from 100 to 599", function()
    assert.equal(100, with("", "HTTP/1.1 100").status)
    assert.equal(599, with("", "HTTP/1.1 599 X").status)
  end)

  for _, line in ipairs {
    "http/1.1 200 OK", "HTTP/1.2 200 OK", "HTTP/2 200", "HTTP/2.0 200 OK",
    "HTTP/0.9 200 OK", "HTTP/1 200 OK", "HTTP/1.1  200 OK", "HTTP/1.1\t200 OK",
    "HTTP/1.1200 OK", "HTTP/1.1 099 OK", "HTTP/1.1 600 OK", "HTTP/1.1 999 OK",
    "HTTP/1.1 20 OK", "HTTP/1.1 2000 OK", "HTTP/1.1 2x0 OK", "HTTP/1.1 +20 OK",
    "HTTP/1.1 200\tOK", "HTTP/1.1 200;OK", "HTTP/1.1 OK", " HTTP/1.1 200 OK",
    "\r\nHTTP/1.1 200 OK", "ICY 200 OK", "SSH-2.0-OpenSSH_9.2", "<html>", "",
    "HTTP/1.1 200 O\0K", "HTTP/1.1 200 O\127K", "HTTP/1.1 200 O\27K",
    "HTTP/1.1 200 O\rK", "HTTP/1.1 200 OK\r",
  } do
    it("is refused as " .. shown(line) .. ", however it arrives", function()
      local text = line .. "\r\nContent-Length: 0\r\n\r\n"
      local status, why, came = scan(text, 1)
      assert.equal(400, status)
      for step = 2, #text do
        local other_status, other_why, other_came = scan(text, step)
        assert.same({ status, why }, { other_status, other_why })
        assert.is_true(other_came >= came)
      end
    end)
  end

  it("is refused at its first wrong octet", function()
    local _, why, came = scan("SSH-2.0-OpenSSH_9.2", 1)
    assert.same({ "it does not begin with HTTP/1", 1 }, { why, came })
    assert.equal(6, (select(3, scan("HTTP/2 200", 1))))
  end)

  it("ends in CRLF", function()
    local status, why = scan("HTTP/1.1 200 OK\nA: b\r\n\r\n", 1)
    assert.same({ 400, "the status line ends in LF without CR" }, { status, why })
    assert.equal(400, (scan("HTTP/1.1 200\n\r\n", 1)))
  end)
end)

describe("the head of a response", function()
  local text = "HTTP/1.1 200 OK\r\nServer: a\r\nX:\r\n\r\n"

  it("ends in the first blank line, however it arrives", function()
    for step = 1, #text do
      local status, state, came = scan(text .. "\1\2", step)
      assert.same({ 0, #text, 4 }, { status, tonumber(state[0].at), state[0].lines })
      assert.is_true(came >= #text)
    end
    for size = 1, #text - 1 do assert.equal(1, (scan(text:sub(1, size), 1))) end
  end)

  it("gives its fields in order, duplicates kept", function()
    assert.same({ { "Set-Cookie", "a=1" }, { "X", "" }, { "set-cookie", "b=2" } },
      with("Set-Cookie: a=1\r\nX: \r\nset-cookie:\tb=2 \r\n").fields)
  end)

  it("may have octets over 127 in values", function()
    assert.same({ { "X", "\252\195\188" } }, with("X: \252\195\188\r\n").fields)
  end)

  for title, lines in pairs {
    ["a folded line"] = "A: b\r\n c\r\n",
    ["a folded first line"] = " A: b\r\n",
    ["white space in front of a colon"] = "Content-Length : 3\r\n",
    ["a line without a colon"] = "Nothing\r\n",
    ["a field without a name"] = ": a\r\n",
    ["a bare LF"] = "A: b\nContent-Length: 3\r\n",
    ["a bare CR"] = "A: b\rContent-Length: 3\r\n",
    ["a NUL"] = "A: b\0c\r\n",
    ["octets over 127 in a name"] = "\195\188: b\r\n",
  } do
    it("is refused with " .. title, function() refusal(lines) end)
  end

  it("is refused above its limits, however it arrives", function()
    for step = 1, #text do
      assert.equal(0, (scan(text, step, #text, 2)))
      assert.equal(431, (scan(text, step, #text - 1, 2)))
      assert.equal(431, (scan(text, step, #text, 1)))
      assert.equal(431, (scan(text, step, 16, 2)))
      assert.equal(431, (scan("HTTP/1.1 200 " .. ("x"):rep(100), step, 50)))
      assert.equal(431, (scan("HTTP/1.1 200\r\nA: " .. ("x"):rep(100), step, 50)))
    end
  end)
end)

describe("the connection of a response", function()
  local function stays(lines, line)
    return with("Content-Length: 0\r\n" .. lines, line).keep_alive
  end

  it("stays in HTTP/1.1 unless it is told to close", function()
    assert.is_true(stays "")
    assert.is_true(stays "Connection: x\r\n")
    for _, value in ipairs { "close", "Close", "x, CLOSE", "keep-alive, close",
      "x\r\nConnection: close" } do
      assert.is_false(stays("Connection: " .. value .. "\r\n"), value)
    end
    assert.is_true(stays "X: close\r\nConnection: closed\r\n")
  end)

  it("closes in HTTP/1.0 unless it is told to stay", function()
    local line = "HTTP/1.0 200 OK"
    assert.is_false(stays("", line))
    assert.is_true(stays("Connection: Keep-Alive\r\n", line))
    assert.is_false(stays("Connection: keep-alive, close\r\n", line))
  end)
end)
