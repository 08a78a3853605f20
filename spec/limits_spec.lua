-- SPDX-License-Identifier: MIT
-- The limits of the command line in octets and counts, as clients meet them: what is at
-- a limit is served, and what is one past it gets the answer that the limit has.
local process = require "spec.support.process"
local web = require "luaweb"

local APP = "spec/apps/cases.lua"

after_each(process.clean)

local get = process.get

local function post(content)
  return process.post("/echo", content)
end

local function post_chunks(octets)
  return process.post_chunks("/echo", octets)
end

-- "Host: localhost" is a line of 17 octets, and the blank line has 2.
for _, limit in ipairs {
  { flag = "--max-target", value = "16", status = 414,
    at = get("/reflect/" .. ("a"):rep(7)), past = get("/reflect/" .. ("a"):rep(8)) },
  { flag = "--max-target", value = "1k", status = 414,
    at = get("/?" .. ("a"):rep(1022)), past = get("/?" .. ("a"):rep(1023)) },
  { flag = "--max-header-size", value = "64", status = 431,
    at = get("/", "X: " .. ("a"):rep(40) .. "\r\n"),
    past = get("/", "X: " .. ("a"):rep(41) .. "\r\n") },
  { flag = "--max-headers", value = "3", status = 431,
    at = get("/", ("X: a\r\n"):rep(2)), past = get("/", ("X: a\r\n"):rep(3)) },
  { flag = "--max-body", value = "10", status = 413,
    at = post(("a"):rep(10)), past = post(("a"):rep(11)) },
  { flag = "--max-body", value = "10", status = 413,
    at = post_chunks "5\r\naaaaa\r\n5\r\naaaaa\r\n0\r\n\r\n",
    past = post_chunks "5\r\naaaaa\r\n6\r\naaaaaa\r\n0\r\n\r\n" },
  { flag = "--max-body", value = "0", status = 413, at = post "", past = post "a" },
  { flag = "--max-body", value = "1.5k", status = 413,
    at = post(("a"):rep(1536)), past = post(("a"):rep(1537)) },
  { flag = "--max-chunk-extensions", value = "8", status = 400,
    at = post_chunks "1;ab=cdef\r\na\r\n0\r\n\r\n",
    past = post_chunks "1;ab=cdefg\r\na\r\n0\r\n\r\n" },
  { flag = "--max-chunk-extensions", value = "8", status = 400,
    at = post_chunks "1;a=b\r\na\r\n1;a=b\r\na\r\n0\r\n\r\n",
    past = post_chunks "1;a=b\r\na\r\n1;a=b\r\na\r\n0;\r\n\r\n" },
  { flag = "--max-trailers", value = "16", status = 431,
    at = post_chunks "0\r\nX: aaaaaaaaa\r\n\r\n",
    past = post_chunks "0\r\nX: aaaaaaaaaa\r\n\r\n" },
} do
  describe(("%s %s"):format(limit.flag, limit.value), function()
    it(("serves what is at the limit (%q)"):format(limit.at:sub(1, 9)), function()
      local child = process.serve(APP, limit.flag, limit.value)
      local conn = child:connect()
      assert.equal(200, child:ask(limit.at, conn).status)
      assert.equal(200, child:ask(get "/", conn).status)
      conn:close()
    end)

    it(("answers %d one past it, and closes (%q)"):format(limit.status,
      limit.past:sub(1, 9)), function()
      local child = process.serve(APP, limit.flag, limit.value)
      local conn = child:connect()
      local answer = child:ask(limit.past, conn)
      assert.equal(limit.status, answer.status)
      assert.equal("close", answer:header "connection")
      local octets, ending = process.rest(conn)
      assert.equal("", octets)
      assert.equal("closed", ending)
      conn:close()
      assert.equal(200, child:ask(get "/").status)
    end)
  end)
end

describe("a value of octets", function()
  it("may be given with = too", function()
    local child = process.serve(APP, "--max-body=10")
    assert.equal(413, child:ask(post(("a"):rep(11))).status)
  end)

  it("is the last one given", function()
    local child = process.serve(APP, "--max-body", "1m", "--max-body", "10")
    assert.equal(413, child:ask(post(("a"):rep(11))).status)
  end)

  it("may be in units of k, m and g", function()
    local head = "POST /status/204 HTTP/1.1\r\nHost: localhost\r\n"
      .. "Content-Length: %d\r\n\r\n"
    for i, unit in ipairs { "k", "m", "g" } do
      local child, octets = process.serve(APP, "--max-body", "1" .. unit), 1024 ^ i
      assert.equal(204, child:ask(head:format(octets)).status)
      assert.equal(413, child:ask(head:format(octets + 1)).status)
      process.clean()
    end
  end)
end)

describe("--max-requests", function()
  it("announces the close on the last request of a connection", function()
    local child = process.serve(APP, "--max-requests", "3")
    local conn = child:connect()
    for _ = 1, 2 do
      assert.is_nil(child:ask(get "/", conn):header "connection")
    end
    local last = child:ask(get "/", conn)
    assert.equal("root", last.body)
    assert.equal("close", last:header "connection")
    assert.equal("closed", select(2, process.rest(conn)))
    conn:close()
    assert.equal("root", child:ask(get "/").body)
  end)

  it("counts pipelined requests too", function()
    local child = process.serve(APP, "--max-requests", "3")
    local conn = child:connect(get("/"):rep(5))
    local octets, ending = process.rest(conn)
    assert.equal("closed", ending)
    assert.equal(3, select(2, octets:gsub("HTTP/1%.1 200 ", "")))
    conn:close()
  end)
end)

describe("--max-connections", function()
  it("serves as many, and answers 503 to one more, which may come again", function()
    local child = process.serve(APP, "--max-connections", "3")
    local conns = {}
    for i = 1, 3 do
      conns[i] = child:connect()
      assert.equal("root", child:ask(get "/", conns[i]).body)
    end
    local more = child:connect(get "/")
    local answer = process.answers(more)
    assert.equal(503, answer.status)
    assert.equal("close", answer:header "connection")
    assert.matches("^%d+$", answer:header "retry-after")
    assert.equal("closed", select(2, process.rest(more)))
    more:close()
    assert.equal("root", child:ask(get "/", conns[1]).body)
    conns[1]:close()
    for _ = 1, 100 do
      more = child:connect(get "/")
      answer = process.answers(more)
      more:close()
      if answer.status == 200 then break end
      web.sleep(0.02)
    end
    assert.equal(200, answer.status)
  end)
end)
