-- SPDX-License-Identifier: MIT
-- Content that is written while it is sent (web.streaming, and large content): framing,
-- waiting, and how the client learns that it is not whole.  RFC 9112 §6, §7.1.
local error_log = require "spec.support.error_log"
local http_reader = require "luaweb.client.http_reader"
local job = require "luaweb.job"
local test = require "luaweb.test"
local web = require "luaweb"

-- Each test gives its handler.
local handler
local client = test.app(web.app {
  web.any("/", function(req) return handler(req) end),
  web.get("/after", function() return "in step" end),
})

local GET = "GET / HTTP/1.1\r\nHost: h\r\n\r\n"
local AFTER = "GET /after HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n"

--- Everything that comes until the end, and how that was.
local function read_all(conn)
  local parts = {}
  while true do
    local octets, ending = conn:receive(5)
    if not octets then
      conn:close()
      return table.concat(parts), ending
    end
    parts[#parts + 1] = octets
  end
end

local function streams(fn, ...)
  local fields = { ... }
  handler = function()
    local response = web.streaming(fn)
    for i = 1, #fields, 2 do response:header(fields[i], fields[i + 1]) end
    return response
  end
end

--- What this request is answered with, and what is logged meanwhile.
local function answer_to(octets, over)
  local received, ending
  local log = error_log.of(function()
    received, ending = read_all((over or client):raw(octets))
    web.sleep(0.01)
  end)
  return received, log, ending
end

describe("a stream", function()
  it("is sent in a chunk for each write, in order", function()
    streams(function(out)
      out:write "one"
      out:write ""
      out:write(2)
      web.sleep(0)
      out:write(("x"):rep(16))
    end)
    local octets = answer_to(GET .. AFTER)
    assert.matches("\r\nTransfer%-Encoding: chunked\r\n", octets)
    assert.is_nil(octets:match("^.-\r\n\r\n"):find "Content%-Length")
    assert.matches("\r\n\r\n3\r\none\r\n1\r\n2\r\n10\r\nxxxxxxxxxxxxxxxx\r\n0\r\n\r\n"
      .. "HTTP/1.1 200 OK\r\n.*in step$", octets)
  end)

  it("may write nothing", function()
    streams(function() end)
    assert.matches("\r\n\r\n0\r\n\r\nHTTP/1.1 200 OK\r\n", (answer_to(GET .. AFTER)))
  end)

  it("is on its way while it is written", function()
    local go_on = false
    streams(function(out)
      out:write "early"
      while not go_on do web.sleep(0.01) end
      out:write "late"
    end)
    local conn, octets = client:raw(GET), ""
    while not octets:find("early", 1, true) do octets = octets .. conn:receive(5) end
    assert.is_nil(octets:find("late", 1, true))
    go_on = true
    while not octets:find("late\r\n0\r\n\r\n", 1, true) do
      octets = octets .. conn:receive(5)
    end
    conn:close()
  end)

  it("has a Content-Length where the app says it", function()
    streams(function(out)
      out:write "12"
      out:write "345"
    end, "Content-Length", 999, "content-length", 5)
    local octets = answer_to(GET .. AFTER)
    assert.matches("\r\nContent%-Length: 5\r\n", octets)
    assert.is_nil(octets:find "999")
    assert.is_nil(octets:find "chunked")
    assert.matches("\r\n\r\n12345HTTP/1.1 200 OK\r\n", octets)
  end)

  it("to HTTP/1.0 ends with the connection", function()
    streams(function(out) out:write "old" end)
    local octets, _, ending = answer_to(
      "GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n")
    assert.matches("^HTTP/1.1 200 OK\r\n.*\r\nConnection: close\r\n\r\nold$", octets)
    assert.is_nil(octets:find "Transfer%-Encoding")
    assert.equal("closed", ending)
  end)

  it("to HTTP/1.0 may keep the connection when its length is known", function()
    streams(function(out) out:write "old" end, "Content-Length", 3)
    assert.matches("\r\nConnection: keep%-alive\r\n\r\noldHTTP/1.1 200 OK\r\n",
      (answer_to("GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n" .. AFTER)))
  end)

  it("may be one of several to a pipelining client, each with one head", function()
    local count = 0
    handler = function()
      count = count + 1
      local letter = ("abc"):sub(count, count)
      return web.streaming(function(out)
        for _ = 1, 16 do out:write(letter:rep(65536)) end
      end)
    end
    local conn = client:raw(GET:rep(3) .. AFTER)
    local messages, rest = http_reader.read(read_all(conn), {}, true)
    assert.same({ 4, "" }, { #messages, rest })
    for i, letter in ipairs { "a", "b", "c" } do
      assert.is_true(messages[i].body == letter:rep(2 ^ 20), letter)
    end
    assert.equal("in step", messages[4].body)
  end)

  it("ends with its trailers", function()
    streams(function(out)
      out:trailer("X-First", "1")
      out:write "x"
      out:trailer("X-Second", "2")
      out:trailer("Content-Length", "7")
      out:trailer("Transfer-Encoding", "gzip")
    end)
    assert.matches("\r\n1\r\nx\r\n0\r\nX%-First: 1\r\nX%-Second: 2\r\n\r\nHTTP/1.1 200",
      (answer_to(GET .. AFTER)))
  end)

  it("of known length has no trailers", function()
    streams(function(out)
      out:write "x"
      out:trailer("X-Late", "1")
    end, "Content-Length", 1)
    assert.matches("\r\n\r\nxHTTP/1.1 200", (answer_to(GET .. AFTER)))
  end)
end)

describe("a stream that fails", function()
  local tcp = client:over_socket()

  --- What was written came, and nothing more; without framing, only a reset tells.
  local function is_cut(message, written)
    for _, version in ipairs { "1.1", "1.0" } do
      local octets, log, ending = answer_to(GET:gsub("1.1", version) .. AFTER, tcp)
      assert.matches("^HTTP/1.1 200 OK\r\n", octets)
      assert.is_nil(octets:find "in step")
      assert.is_nil(octets:find("0\r\n\r\n", 1, true))
      assert.is_truthy(octets:find(written, 1, true))
      local is_framed = octets:find "\nTransfer%-Enc" or octets:find "\nContent%-Len"
      assert.equal(is_framed and "closed" or "reset", ending)
      assert.is_truthy(log:find(message, 1, true), log)
    end
    assert.equal("in step", client:get("/after").body)
  end

  it("is cut, and what it raised is logged with its traceback", function()
    streams(function(out)
      out:write "some"
      error "broken"
    end)
    is_cut("broken\n\tstack traceback:", "some")
  end)

  it("after a wait is cut as well", function()
    streams(function(out)
      out:write "some"
      web.sleep(0.01)
      error "broken"
    end)
    is_cut("broken", "some")
  end)

  it("before its first write is cut as well: the head is sent", function()
    streams(function() error "broken" end)
    is_cut("broken", "")
  end)

  it("with an answer is cut as well", function()
    streams(function(out)
      out:write "some"
      error(404)
    end)
    is_cut("raised an answer in the middle of its answer", "some")
    streams(function() error(web.streaming(function() end)) end)
    is_cut("raised an answer in the middle of its answer", "")
  end)

  it("by writing more than Content-Length said is cut", function()
    streams(function(out)
      out:write "some"
      out:write "more"
    end, "Content-Length", 6)
    is_cut("more content than Content-Length said", "some")
  end)

  it("by writing less than Content-Length said is cut", function()
    streams(function(out) out:write "some" end, "Content-Length", 6)
    is_cut("the content has 4 octets, less than Content-Length said (6)", "some")
  end)

  it("by a wrong argument is cut, and the log says which", function()
    streams(function(out) out:write {} end)
    is_cut("streaming_spec.lua:", "")
    is_cut("out:write wants a string", "")
    streams(function(out) out:trailer("X-T", nil) end)
    is_cut("out:trailer wants two strings", "")
    streams(function(out) out:trailer("X T", "x") end)
    is_cut('the response header "X T" is not a header name', "")
    streams(function(out) out:trailer("X-T", "x\r\nX-Evil: 1") end)
    is_cut('the response header "X-T" has a value with a control octet', "")
  end)

  it("by yielding itself is cut", function()
    streams(function(out)
      out:write "some"
      coroutine.yield()
    end)
    is_cut("coroutine.yield can't be called here", "some")
  end)
end)

describe("a client that does not read", function()
  for title, make in pairs {
    ["a stream"] = function(progress)
      return web.streaming(function(out)
        for i = 1, 64 do
          out:write(("x"):rep(65536))
          progress(i)
        end
      end)
    end,
    ["large text"] = function(progress)
      progress(64)
      return ("x"):rep(64 * 65536)
    end,
  } do
    it("makes the writer of " .. title .. " wait; reading, it gets all", function()
      local written = 0
      handler = function() return make(function(i) written = i end) end
      local conn = client:raw(GET .. AFTER)
      web.sleep(0.1)
      assert.is_true(title ~= "a stream" or written < 32)
      local messages = http_reader.read(read_all(conn), {}, true)
      assert.is_true(messages[1].body == ("x"):rep(64 * 65536))
      assert.equal("in step", messages[2].body)
      assert.equal(64, written)
    end)
  end

  it("and leaves ends the stream; nothing is logged", function()
    local raised
    streams(function(out)
      local ok
      ok, raised = pcall(function()
        while true do out:write(("x"):rep(65536)) end
      end)
      if not ok then error(raised, 0) end
    end)
    local log = error_log.of(function()
      local conn = client:raw(GET)
      web.sleep(0.02)
      conn:close()
      web.sleep(0.05)
    end)
    assert.same({ "the client is gone", "" }, { tostring(raised), log })
    assert.equal("in step", client:get("/after").body)
  end)
end)

it("out:write is told where it can't wait, even when it need not", function()
  local messages = {}
  streams(function(out)
    job.spawn(function() out:write "job " end):join()
    messages[1] = select(2, pcall(coroutine.wrap(function() out:write "x" end)))
    messages[2] = select(2, pcall(string.gsub, "x", "x", function() out:write "x" end))
    out:write "end"
  end)
  assert.equal("job end", client:get("/").body)
  for i = 1, 2 do
    assert.matches("streaming_spec.lua:%d+: out:write can't wait here", messages[i])
  end
end)
