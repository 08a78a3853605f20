-- SPDX-License-Identifier: MIT
-- Reading the content of requests: text, octets, JSON, forms, pieces, trailers
-- (lua/luaweb/request/body.lua).  RFC 9110 §6.4, §6.5, §8.3; RFC 9112 §6, §7.1.
local job = require "luaweb.job"
local test = require "luaweb.test"
local web = require "luaweb"

local FORM = "application/x-www-form-urlencoded"

-- Each test gives its handler.
local handler
local client = test.app(web.app {
  web.any("/", function(req) return handler(req) end),
})

local function post(body, content_type)
  local headers = { ["Content-Type"] = content_type }
  return client:post("/", { body = body, headers = headers })
end

--- What `read` gives of a request with this content.
local function read(body, content_type, fn)
  local results
  handler = function(req)
    results = { fn(req) }
    return 204
  end
  local res = post(body, content_type)
  assert.equal(204, res.status, res.body)
  return unpack(results)
end

local function refused(status, body, content_type, fn)
  handler = fn
  local res = post(body, content_type)
  assert.equal(status, res.status, res.body)
  return res.body
end

local function text(req) return req:text() end
local function json(req) return req:json() end
local function form(req) return req:form() end

local function pieces_of(req)
  local pieces = {}
  for piece in req:chunks() do pieces[#pieces + 1] = piece end
  return pieces
end

describe("req:text", function()
  it("gives UTF-8 as it came", function()
    for _, kind in ipairs { "text/plain", "text/plain; charset=utf-8",
      'text/plain;charset="UTF-8"', "text/plain; x=y; Charset=UTF8",
      "text/plain; charset=us-ascii", "application/json", "no media type", "" } do
      assert.equal("gr\195\188n", read("gr\195\188n", kind, text))
    end
    assert.equal("gr\195\188n", read("gr\195\188n", nil, text))
  end)

  it("gives Latin-1 as UTF-8", function()
    local octets, wanted = {}, {}
    for i = 0, 255 do
      octets[i + 1] = string.char(i)
      wanted[i + 1] = i < 128 and octets[i + 1]
        or string.char(192 + math.floor(i / 64), 128 + i % 64)
    end
    for _, name in ipairs { "iso-8859-1", "ISO-8859-1", "latin1", '"Latin1"' } do
      assert.equal(table.concat(wanted),
        read(table.concat(octets), "text/plain; charset=" .. name, text))
    end
  end)

  it("refuses any other charset with 415", function()
    for _, name in ipairs { "utf-16", "koi8-r", "x" } do
      assert.matches("charset must be utf%-8",
        refused(415, "x", "text/plain; charset=" .. name, text))
    end
  end)
end)

describe("req:bytes", function()
  it("gives the octets, whatever the type says", function()
    assert.equal("\0\255\r\n", read("\0\255\r\n", "text/plain; charset=latin1",
      function(req) return req:bytes() end))
    assert.equal("", read(nil, nil, function(req) return req:bytes() end))
  end)

  it("refuses more than its limit with 413", function()
    for limit, status in pairs { [0] = 413, [3] = 413, [4] = 204, [1e9] = 204 } do
      handler = function(req)
        req:bytes(limit)
        return 204
      end
      assert.equal(status, post("1234").status)
      local conn = client:raw("POST / HTTP/1.1\r\nHost: h\r\n"
        .. "Transfer-Encoding: chunked\r\n\r\n1\r\n1\r\n3\r\n234\r\n0\r\n\r\n")
      assert.matches("^HTTP/1.1 " .. status, conn:receive(5))
      conn:close()
    end
  end)

  it("keeps its limit when the content was read before", function()
    refused(413, "1234", nil, function(req)
      req:bytes()
      return req:bytes(3)
    end)
    assert.equal("1234", read("1234", nil, function(req)
      req:text()
      return req:bytes(4)
    end))
  end)

  it("wants a number as its limit", function()
    for _, limit in ipairs { -1, 0 / 0, "5", {}, false } do
      local _, message = read("1234", nil, function(req)
        return pcall(function() req:bytes(limit) end)
      end)
      assert.matches("body_spec.lua:%d+: req:bytes wants a number of octets", message)
    end
  end)
end)

describe("req:json", function()
  it("gives the value", function()
    assert.same({ a = { 1, "x" } }, read('{"a":[1,"x"]}', "application/json", json))
    assert.equal(web.null, read("null", nil, json))
    assert.equal(false, read(" false ", nil, json))
  end)

  it("refuses what is no JSON with 400, and says where", function()
    for body, where in pairs {
      [""] = "line 1, column 1", ['{\n  "a" 1}'] = "line 2, column 7",
      ["[1,]"] = "line 1, column 4", ["nul"] = "line 1, column 1",
      ["1 2"] = "line 1, column 3",
    } do
      local message = refused(400, body, "application/json", json)
      assert.matches("^400 Bad Request: the content is not JSON: " .. where, message)
    end
  end)
end)

describe("req:form", function()
  it("gives the pairs, decoded, duplicates and order kept", function()
    assert.same({ "a b", { "1", "" }, "=", "" }, { read("t=1&q=a+b&t=&x=%3D&y", FORM,
      function(req)
        local pairs_ = req:form()
        return pairs_.q, pairs_:all "t", pairs_.x, pairs_.y
      end) })
    assert.is_nil(read("", FORM, form).q)
    assert.equal("1", read("q=1", FORM .. "; charset=utf-8", form).q)
    assert.equal("1", read("q=1", FORM:upper(), form).q)
  end)

  it("refuses any other type with 415, and none", function()
    for _, kind in ipairs { "text/plain", "multipart/form-data", "no type", "" } do
      local message = refused(415, "q=1", kind, form)
      assert.is_truthy(message:find("a form must be " .. FORM, 1, true))
    end
    refused(415, "q=1", nil, form)
  end)

  it("takes 10000 pairs, and refuses more with 413", function()
    local function count(req)
      local n = 0
      for _ in req:form():each() do n = n + 1 end
      return n
    end
    assert.equal(10000, read(("a=&"):rep(10000), FORM, count))
    assert.matches("10000 pairs", refused(413, ("a=&"):rep(10001), FORM, form))
  end)

  it("takes 300 kB", function()
    local parts = {}
    for i = 1, 3000 do parts[i] = ("name%d=%s"):format(i, ("v%20"):rep(22)) end
    local pairs_ = read(table.concat(parts, "&"), FORM, form)
    assert.equal(("v "):rep(22), pairs_.name3000)
  end)

  it("gives the same when asked again", function()
    assert.is_true(read("a=1", FORM, function(req) return req:form() == req:form() end))
  end)
end)

describe("reading again", function()
  it("gives the same content, in whatever form", function()
    local results = { read("[1]", FORM, function(req)
      return req:bytes(), req:text(), req:json()[1], req:form()["[1]"], req:bytes(),
        pieces_of(req), pieces_of(req)
    end) }
    assert.same({ "[1]", "[1]", 1, "", "[1]", { "[1]" }, { "[1]" } }, results)
  end)

  it("in pieces goes on where it was broken off", function()
    local conn = client:connect()
    local first, second
    handler = function(req)
      first = req:chunks()()
      conn:send "67"
      second = table.concat(pieces_of(req))
      return 204
    end
    conn:send "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 7\r\n\r\n12345"
    assert.matches("^HTTP/1.1 204 ", conn:receive(5))
    assert.same({ "12345", "67" }, { first, second })
    conn:close()
  end)

  it("what was read in pieces is an error: it is not kept", function()
    for _, name in ipairs { "bytes", "text", "json", "form" } do
      local ok, message = read("1", FORM, function(req)
        pieces_of(req)
        return pcall(function() local _ = req[name](req) end)
      end)
      assert.is_false(ok)
      assert.matches("body_spec.lua:%d+: req:" .. name
        .. ": the content was read in pieces", message)
    end
  end)

  it("may be done by several jobs at once", function()
    local results = {}
    handler = function(req)
      local jobs = {}
      for i = 1, 3 do jobs[i] = job.spawn(function() return req:bytes() end) end
      results[4] = req:text()
      for i = 1, 3 do results[i] = jobs[i]:join() end
      return 204
    end
    local conn = client:raw "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 6\r\n\r\n"
    for piece in ("abcdef"):gmatch ".." do
      web.sleep(0.005)
      conn:send(piece)
    end
    assert.matches("^HTTP/1.1 204 ", conn:receive(5))
    assert.same({ "abcdef", "abcdef", "abcdef", "abcdef" }, results)
    conn:close()
  end)
end)

describe("content that comes in pieces", function()
  local heads = {
    ["with a length"] = "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 26\r\n\r\n"
      .. "abcdefghijklmnopqrstuvwxyz",
    ["chunked"] = "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n"
      .. "1;x=y\r\na\r\n00F\r\nbcdefghijklmnop\r\na\r\nqrstuvwxyz\r\n0\r\n\r\n",
    ["chunked with trailers"] = "POST / HTTP/1.1\r\nHost: h\r\n"
      .. "Transfer-Encoding: chunked\r\n\r\n1a\r\nabcdefghijklmnopqrstuvwxyz\r\n0\r\n"
      .. "X-T: 1\r\nX-T: 2\r\n\r\n",
  }

  --- Sends the octets in these pieces; the handler must see the whole content in order.
  local function is_whole(pieces)
    local seen
    handler = function(req)
      seen = table.concat(pieces_of(req))
      return "read"
    end
    local conn = client:connect()
    for _, piece in ipairs(pieces) do
      conn:send(piece)
      web.sleep(0)
    end
    local octets = ""
    while not octets:find "read$" do octets = octets .. assert(conn:receive(5)) end
    assert.equal("abcdefghijklmnopqrstuvwxyz", seen)
    conn:close()
  end

  for title, octets in pairs(heads) do
    it("is the same wherever it is cut in two: " .. title, function()
      for at = 1, #octets - 1 do is_whole { octets:sub(1, at), octets:sub(at + 1) } end
    end)

    it("is the same octet by octet: " .. title, function()
      local pieces = {}
      for at = 1, #octets do pieces[at] = octets:sub(at, at) end
      is_whole(pieces)
    end)
  end

  it("has its trailers when it is read, apart from the headers", function()
    local before, after, list, header, each = nil, nil, nil, nil, {}
    handler = function(req)
      before = req.trailers["x-t"]
      req:bytes()
      after, list = req.trailers["X-T"], req.trailers:all "x-t"
      header = req.headers["x-t"]
      for name, value in req.trailers:each() do
        each[#each + 1] = name .. "=" .. value
      end
      return "read"
    end
    local conn = client:raw(heads["chunked with trailers"])
    assert.matches("read$", conn:receive(5))
    assert.same({ nil, "1, 2", { "1", "2" }, nil, { "x-t=1", "x-t=2" } },
      { before, after, list, header, each })
    conn:close()
  end)
end)
