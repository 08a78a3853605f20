-- SPDX-License-Identifier: MIT
-- What went wrong in other servers, tried on this one: each promise here was broken
-- somewhere, in public.  What of it the conformance cases and spec/wire have is there.
local process = require "spec.support.process"
local web = require "luaweb"

local get, post, post_chunks = process.get, process.post, process.post_chunks

local APP = "spec/apps/reports.lua"

local child

local function serve(...)
  child = process.serve(APP, ...)
end

-- Every server must come to a good end, whatever it was put through.
after_each(function()
  if child then child:stop() end
  child = nil
end)
after_each(process.clean)

local function pause(conn, seconds)
  assert.equal("timeout", select(2, conn:receive(seconds)))
end

local function is_closed(conn)
  local octets, ending = process.rest(conn)
  assert.equal("", octets)
  assert.equal("closed", ending)
  conn:close()
end

describe("framing", function()
  before_each(function() serve() end)

  it("refuses a length beside a coding that is not chunked", function()
    local conn = child:connect("POST /echo HTTP/1.1\r\nHost: localhost\r\n"
      .. "Transfer-Encoding: x\r\nContent-Length: 5\r\n\r\nhello" .. get "/")
    assert.equal(400, process.answers(conn).status)
    is_closed(conn)
  end)

  it("refuses a length beside chunked, and answers nothing that follows", function()
    local conn = child:connect("POST /echo HTTP/1.1\r\nHost: localhost\r\n"
      .. "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n"
      .. "c\r\nhello, world\r\n0\r\n\r\n" .. get "/")
    assert.equal(400, process.answers(conn).status)
    is_closed(conn)
  end)

  for _, length in ipairs { "x", "18446744073709551600", "9223372036854775807" } do
    it("lives on after Content-Length: " .. length, function()
      local conn = child:connect("POST /echo HTTP/1.1\r\nHost: localhost\r\n"
        .. "Content-Length: " .. length .. "\r\n\r\nsome text")
      local status = process.answers(conn).status
      assert(status == 400 or status == 413, status)
      is_closed(conn)
      assert.equal("root", child:ask(get "/").body)
    end)
  end

  it("joins chunks that come one write each", function()
    local conn = child:connect(post_chunks "/echo")
    for _, chunk in ipairs { "4\r\nWiki\r\n", "5\r\npedia\r\n", "1\r\n.\r\n" } do
      pause(conn, 0.02)
      conn:send(chunk)
    end
    assert.equal("Wikipedia.", child:ask("0\r\n\r\n", conn).body)
    conn:close()
  end)
end)

describe("a kept connection", function()
  before_each(function() serve() end)

  it("stays in step when a job of the handler reads the body", function()
    local conn = child:connect()
    assert.equal("hello", child:ask(post("/by_job", "hello"), conn).body)
    assert.equal("root", child:ask(get "/", conn).body)
    conn:close()
  end)

  it("ends with a stream of unknown length to HTTP/1.0, never chunked", function()
    local conn = child:connect("GET /stream/3 HTTP/1.0\r\n"
      .. "Connection: keep-alive\r\n\r\n")
    local octets, ending = process.rest(conn)
    assert.equal("closed", ending)
    assert.is_nil(octets:lower():find("transfer-encoding", 1, true))
    assert.matches("\r\n[Cc]onnection: close\r\n", octets)
    assert.equal("xxx", octets:match "\r\n\r\n(.*)$")
    conn:close()
  end)

  it("has no body to wait for in a GET of HTTP/1.0", function()
    local conn = child:connect "GET /echo HTTP/1.0\r\n\r\n"
    local answer = process.answers(conn)
    assert.equal(200, answer.status)
    assert.equal("", answer.body)
    is_closed(conn)
  end)

  it("gives whole answers in order when pipelined handlers wait", function()
    local conn = child:connect(get "/late/1" .. get "/late/2" .. get "/late/3")
    for i, answer in ipairs { process.answers(conn, 3) } do
      assert(answer.body == tostring(i):rep(76000))
    end
    conn:close()
  end)

  it("sends one head for each stream that was pipelined", function()
    local target = get "/stream/1000000"
    local conn = child:connect(target .. target .. target)
    for _, answer in ipairs { process.answers(conn, 3) } do
      assert.equal(200, answer.status)
      assert(answer.body == ("x"):rep(1000000))
    end
    pause(conn, 0.05)
    conn:close()
  end)

  it("loses none of 200 requests that come in pieces of 1000 octets", function()
    local all = get("/", "User-Agent: " .. ("a"):rep(50) .. "\r\n"):rep(200)
    local conn = child:connect()
    for at = 1, #all, 1000 do conn:send(all:sub(at, at + 999)) end
    assert.equal(200, #{ process.answers(conn, 200) })
    pause(conn, 0.05)
    conn:close()
  end)
end)

describe("a timeout", function()
  it("ends the wait for a chunk of which only the size came", function()
    serve("--body-timeout", "0.3")
    local conn = child:connect(post_chunks("/echo", "5\r\n"))
    assert.equal(408, process.answers(conn).status)
    is_closed(conn)
  end)

  it("that is switched off does not switch off 100 Continue", function()
    serve("--body-timeout", "0", "--header-timeout", "0", "--idle-timeout", "0")
    local conn = child:connect((post("/echo", "hello", "Expect: 100-continue\r\n")
      :gsub("hello$", "")))
    assert.equal("HTTP/1.1 100 Continue\r\n\r\n", conn:receive(5))
    assert.equal("hello", child:ask("hello", conn).body)
    conn:close()
  end)

  it("for heads starts with each head, not with the connection", function()
    serve("--header-timeout", "1", "--idle-timeout", "20")
    local conn = child:connect()
    assert.equal("root", child:ask(get "/", conn).body)
    pause(conn, 1.2)
    local request = get "/"
    conn:send(request:sub(1, 20))
    pause(conn, 0.1)
    assert.equal("root", child:ask(request:sub(21), conn).body)
    conn:close()
  end)

  it("for heads is not started by an empty line between requests", function()
    serve("--header-timeout", "0.3", "--idle-timeout", "20")
    local conn = child:connect()
    assert.equal("root", child:ask(get "/" .. "\r\n", conn).body)
    pause(conn, 0.5)
    assert.equal("root", child:ask(get "/", conn).body)
    conn:close()
  end)

  it("for rest counts from the last answer, whatever empty lines come", function()
    serve("--idle-timeout", "1.8")
    local conn = child:connect()
    assert.equal("root", child:ask(get "/", conn).body)
    pause(conn, 1.2)
    conn:send "\r\n"
    local octets, ending = conn:receive(1.2)
    assert.is_nil(octets)
    assert.equal("closed", ending)
    conn:close()
  end)

  it("for rest does not run while an answer is sent", function()
    serve("--idle-timeout", "0.3")
    local conn, size = child:connect(get "/stream/67108864"), 0
    for _ = 1, 10 do
      for _ = 1, 10 do size = size + #assert(conn:receive(5)) end
      web.sleep(0.15)
    end
    size = size + #process.rest(conn, 0.2)
    assert(size > 67108864, size .. " octets came")
    conn:close()
  end)
end)

describe("a handler", function()
  before_each(function() serve() end)

  it("may copy a stream of the same server, while others are served", function()
    local path = process.path "copy"
    local conn = child:connect(get(("/copy/%d?to=%s"):format(child.port, path)))
    assert.equal("root", child:ask(get "/").body)
    assert.equal("1048576", process.answers(conn).body)
    conn:close()
    local file = assert(io.open(path))
    assert(file:read "*a" == ("x"):rep(1048576))
    file:close()
  end)

  it("may answer a client that has gone, to no effect", function()
    for i = 1, 20 do
      local conn = child:connect(post("/late/1", "hello"))
      if i % 2 == 0 then conn:finish() end
      conn:close()
    end
    child:expect "^20 late handlers have ended$"
    assert.equal("root", child:ask(get "/").body)
  end)

  it("that waits has a connection that TCP itself watches", function()
    local conn = child:connect(get "/long")
    child:expect "^waiting$"
    local running
    for line in io.lines "/proc/net/tcp" do
      local port, state, timer = line:match "^%s*%d+: %x+:(%x+) %S+ (%x+) %S+ (%x+):"
      if port and tonumber(port, 16) == child.port and state == "01" then
        running = timer
      end
    end
    conn:close()
    assert.equal("02", running) -- the timer of TCP keep-alive
  end)

  it("may set Content-Length, which is sent once", function()
    local answer = child:ask(get "/length")
    local lengths = {}
    for _, pair in ipairs(answer.headers) do
      if pair[1] == "content-length" then lengths[#lengths + 1] = pair[2] end
    end
    assert.same({ "5" }, lengths)
    assert.equal("hello", answer.body)
  end)

  for _, target in ipairs { "/raised", "/stream/5", "/nothing" } do
    it("gives one answer however that is given: " .. target, function()
      local conn = child:connect(get(target) .. get "/")
      local first, second = process.answers(conn, 2)
      assert(first.status < 300, first.line)
      assert.equal("root", second.body)
      pause(conn, 0.05)
      conn:close()
    end)
  end

  it("that writes at once has its octets sent once", function()
    local conn = child:connect(get("/words", "Connection: close\r\n"))
    local octets = process.rest(conn)
    local _, count = octets:gsub("first words", "")
    assert.equal(1, count)
    conn:close()
  end)
end)

describe("what a client encodes", function()
  before_each(function() serve() end)

  for query, values in pairs {
    ["a=se%l%e%ct%20*"] = "se%l%e%ct *|", ["a=%3B123&b=%2B1"] = ";123|+1",
  } do
    it("is decoded in the query: " .. query, function()
      assert.equal(values, child:ask(get("/values?" .. query)).body)
    end)

    it("is decoded in a form: " .. query, function()
      assert.equal(values, child:ask(post("/values", query,
        "Content-Type: application/x-www-form-urlencoded\r\n")).body)
    end)
  end

  it("is decoded in a form of 300 kB", function()
    local pairs_sent = {}
    for i = 1, 9000 do
      pairs_sent[i] = ("name%d=%%41%s"):format(i, ("b"):rep(24))
    end
    local form = table.concat(pairs_sent, "&")
    assert(#form > 300000)
    assert.equal("9000 pairs, A" .. ("b"):rep(24), child:ask(post("/form", form,
      "Content-Type: application/x-www-form-urlencoded\r\n")).body)
  end)
end)
