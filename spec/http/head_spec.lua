-- SPDX-License-Identifier: MIT
-- Heads of requests (core/http/head.h): RFC 9112 §2.2, §3, §6, §9.3; RFC 9110 §7.2.
local pure = require "spec.support.pure"
local heads = require "spec.support.heads"

local C = pure.load "http/head"

local scan, one_by_one, read = heads.scan, heads.one_by_one, heads.read
local request, with, status_with = heads.request, heads.with, heads.status_with

--- Text for a title: quoted, with escapes for what does not print.
local function shown(text)
  return (("%q"):format(text):gsub("[^\32-\126]", function(octet)
    return ("\\%d"):format(octet:byte())
  end))
end

describe("empty lines in front of a request line", function()
  it("are counted as octets to skip", function()
    assert.equal(0, tonumber(C.lw_head_skip("GET", 3)))
    assert.equal(2, tonumber(C.lw_head_skip("\r\nGET", 5)))
    assert.equal(6, tonumber(C.lw_head_skip("\r\n\r\n\r\nGET", 9)))
    assert.equal(0, tonumber(C.lw_head_skip("", 0)))
  end)

  it("are waited for, and are nothing else than CRLF", function()
    assert.equal(0, tonumber(C.lw_head_skip("\r", 1)))
    assert.equal(1, (scan("\r", { 1 })))
    assert.equal(0, tonumber(C.lw_head_skip("\nGET", 4)))
    assert.equal(400, (scan("\nGET", { 4 })))
    assert.equal(400, (scan("\r\r\n", { 1, 2 })))
  end)
end)

describe("the end of a head", function()
  local text = "GET /a HTTP/1.1\r\nHost: a\r\nX:\r\n\r\n"

  it("is the first blank line, whatever follows", function()
    local status, state, size = scan(text .. "\r\n\1\2", { #text + 4 })
    assert.same({ 0, #text, 4 }, { status, size, state[0].lines })
    assert.equal(0, (scan("A / HTTP/1.0\r\n\r\n", { 16 })))
  end)

  it("is found however the octets arrive", function()
    for cut = 1, #text - 1 do
      local status, state, size = scan(text, { cut, #text })
      assert.same({ 0, #text, 4 }, { status, size, state[0].lines })
    end
    assert.equal(0, (scan(text, one_by_one(text))))
  end)

  it("is waited for", function()
    for size = 1, #text - 1 do assert.equal(1, (scan(text, { size }))) end
  end)

  for title, bad in pairs {
    ["a bare LF in the request line"] = "GET / HTTP/1.1\nHost: a\r\n\r\n",
    ["a bare CR in the request line"] = "GET / HTTP/1.1\rHost: a\r\n\r\n",
    ["a bare LF behind a field"] = "GET / HTTP/1.1\r\nHost: a\n\r\n",
    ["a bare LF as the blank line"] = "GET / HTTP/1.1\r\nHost: a\r\n\n",
    ["white space before the first field"] = "GET / HTTP/1.1\r\n Host: a\r\n\r\n",
    ["a folded line"] = "GET / HTTP/1.1\r\nHost: a\r\n\tb\r\n\r\n",
    ["no version"] = "GET /\r\n\r\n",
    ["another major version"] = "GET / HTTP/2.0\r\nHost: a\r\n\r\n",
  } do
    it("is not looked for behind " .. title .. ", however the octets arrive", function()
      local whole = scan(bad, { #bad })
      assert.is_true(whole >= 400)
      assert.equal(whole, (scan(bad, one_by_one(bad))))
      for cut = 1, #bad do assert.equal(whole, (scan(bad, { cut, #bad }))) end
    end)
  end

  it("must come within the limits", function()
    for _, case in ipairs {
      { 414, target = 1 }, { 431, header_size = #text - 18 }, { 431, fields = 1 },
    } do
      assert.equal(case[1], (scan(text, { #text }, case)))
      assert.equal(case[1], (scan(text, one_by_one(text), case)))
    end
    local exact = { target = 2, header_size = #text - 17, fields = 2 }
    assert.equal(0, (scan(text, { #text }, exact)))
    assert.equal(0, (scan(text, one_by_one(text), exact)))
  end)
end)

describe("what cannot become a head", function()
  for title, case in pairs {
    ["a TLS hello"] = { "\22\3\1\2\0\1\0\1", 400, 1 },
    ["NUL"] = { ("\0"):rep(64), 400, 1 },
    ["octets above ASCII"] = { "\128\129", 400, 1 },
    ["a space first"] = { " / HTTP/1.1\r\n", 400, 1 },
    ["a method with a colon"] = { "GET: / HTTP/1.1\r\n", 400, 4 },
    ["a method above ASCII"] = { "GET\223 / HTTP/1.1\r\n", 400, 4 },
    ["a method alone"] = { "GET\r\n\r\n", 400, 5 },
    ["an SSH banner"] = { "SSH-2.0-OpenSSH_9.6\r\n", 400, 21 },
    ["a method of 65 octets"] = { ("A"):rep(20000), 501, 65 },
    ["two spaces"] = { "GET  / HTTP/1.1\r\n", 400, 5 },
    ["a target too long"] = { "GET /" .. ("a"):rep(20000), 414, 4 + 8193 },
    ["no end of the version"] = { "GET / HTTP/1.1 and more\r\n", 400, 15 },
    ["an HTTP/2 preface"] = { "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 505, 16 },
    ["a PROXY line"] = { "PROXY TCP4 192.0.2.1 192.0.2.2 1 80\r\n", 400, 20 },
    ["a response"] = { "HTTP/1.1 200 OK\r\n", 400, 5 },
  } do
    it(("is refused as soon as it is seen: %s"):format(title), function()
      local text, wanted, first = unpack(case)
      local status, _, _, came = scan(text, one_by_one(text))
      assert.same({ wanted, first }, { status, came })
      assert.equal(wanted, (scan(text, { #text })))
    end)
  end
end)

describe("the request line", function()
  local function line(text)
    return read(text .. "\r\nHost: a\r\n\r\n")
  end

  it("has any token as method and any octets as target", function()
    local head = line "M!-_~9 /a?b HTTP/1.1"
    assert.same({ "M!-_~9", "/a?b", "/a", 1 },
      { head.method, head.target, head.path, head.version })
    assert.equal(("A"):rep(64), line(("A"):rep(64) .. " / HTTP/1.1").method)
  end)

  it("has the version 1.0 or one that is read as 1.1", function()
    assert.equal(0, line("GET / HTTP/1.0").version)
    for minor = 1, 9 do assert.equal(1, line("GET / HTTP/1." .. minor).version) end
  end)

  for _, version in ipairs {
    "http/1.1", "HTTP/1", "HTTP/1.", "HTTP/1.1.1", "HTTP/ 1.1", "HTTP/0x1.1",
    "HTTP/+1.1",
    "HTTP/4294967297.1", "HTP/1.1", "RTSP/1.0", "SIP/2.0", "HTTP/1.1 ", "HTTP/11", "",
    "HTTP/a.1", "HTTP/1.a", "HTTP/1,1",
  } do
    it(("is refused with the version %s"):format(shown(version)), function()
      assert.equal(400, (select(2, line("GET / " .. version))))
    end)
  end

  it("is not supported with another major version", function()
    for _, version in ipairs { "HTTP/0.9", "HTTP/2.0", "HTTP/3.0", "HTTP/9.9" } do
      assert.equal(505, (select(2, line("GET / " .. version))))
    end
  end)

  it("is refused with a target that is none for the method", function()
    for _, start in ipairs {
      "GET *", "GET localhost:80", "CONNECT /", "CONNECT a:0", "GET /#frag", "GET /\1x",
      "GET /\0x", "GET /\tx", "GET /\127", "GET /\195\188",
    } do
      assert.equal(400, (select(2, line(start .. " HTTP/1.1"))), start)
    end
  end)
end)

describe("the host", function()
  it("is the Host field, which may be empty", function()
    assert.equal("b:80", read(request "hOsT:b:80\t\r\n").host)
    assert.equal("", read(request "Host:\r\n").host)
  end)

  it("is the authority of the target when it has one", function()
    assert.equal("a.example",
      read("GET http://a.example/ HTTP/1.1\r\nHost: b.example\r\n\r\n").host)
    assert.equal("c:1", read("CONNECT c:1 HTTP/1.1\r\nHost: b\r\n\r\n").host)
  end)

  it("may be missing in HTTP/1.0 only", function()
    assert.equal("", read(request("", 0)).host)
    assert.equal(400, (select(2, read(request ""))))
    assert.equal(400, (select(2, read "GET http://a/ HTTP/1.1\r\n\r\n")))
  end)

  it("is refused when it is invalid, and when there are two", function()
    for _, value in ipairs { "a b", "a,b c", "[::1", "a:b", "\"a\"", "a\0b" } do
      assert.equal(400, (select(2, read(request("Host: " .. value .. "\r\n")))))
    end
    for version = 0, 1 do
      assert.equal(400, status_with("Host: a\r\n", version))
      assert.equal(400, status_with("HOST: b\r\n", version))
    end
  end)
end)

describe("the fields of a head", function()
  it("come in order, duplicates kept, with the bits of those that are known", function()
    local head = with "X-A: 1\r\nAccept: */*\r\nx-a: \t2 \r\nIf-Match: *\r\n"
    assert.same({ { "Host", "a" }, { "X-A", "1" }, { "Accept", "*/*" }, { "x-a", "2" },
      { "If-Match", "*" } }, head.fields)
    assert.equal(C.LW_HAS_HOST + C.LW_HAS_ACCEPT + C.LW_HAS_IF_MATCH, head.present)
  end)

  it("are refused when the caller has no room for them", function()
    assert.equal(1, #read(request "Host: a\r\n", 1).fields)
    assert.equal(431, (select(2, read(request "Host: a\r\nB: c\r\n", 1))))
  end)

  it("are refused when one is malformed", function()
    for _, line in ipairs { "X : 1", "NoColon", ": 1", "X: a\0", "X: a\r", "X[: 1" } do
      assert.equal(400, status_with(line .. "\r\n"), line)
    end
  end)
end)
