-- SPDX-License-Identifier: MIT
-- What went wrong in other HTTP clients, and was told of in public, tried on web.fetch:
-- answers of somebody else, connections that stay open, servers that write oddly.
local alt = require "luaweb.alt"
local faulty = require "spec.support.faulty_server"
local job = require "luaweb.job"
local lfs = require "lfs"
local pool = require "luaweb.fetch.pool"
local scope = require "luaweb.scope"
local test = require "luaweb.test"
local web = require "luaweb"

after_each(function()
  pool.close_idle()
  faulty.clean()
end)

local function descriptors()
  local count = 0
  for _ in lfs.dir "/proc/self/fd" do count = count + 1 end
  return count
end

local function eventually(what, holds)
  for _ = 1, 500 do
    if holds() then return end
    web.sleep(0.01)
  end
  error("never: " .. what, 2)
end

describe("an answer", function()
  -- Answers with the target of the request, at times late.
  local function echo()
    local count = 0
    return faulty.answering(function(head)
      count = count + 1
      if count % 3 == 0 then web.sleep(0.004 * (count % 7)) end
      return faulty.ok(head:match "^%u+ (%S+)")
    end)
  end

  -- Whoever does not get an answer must not leave it to the next on the connection.
  local function ask_impatiently(server, ask)
    local answered = 0
    local function work(w)
      for i = 1, 25 do
        local target = ("/%d/%d"):format(w, i)
        local body = ask(server.url .. target, (w + i) % 3 == 0)
        assert(body == nil or body == target, body)
        if body then answered = answered + 1 end
      end
    end
    job.map_all({ 1, 2, 3, 4, 5, 6 }, work)
    assert.is_true(answered > 50, answered)
  end

  it("is never that of a request which was given up for its time", function()
    ask_impatiently(echo(), function(url, is_hasty)
      local res, message, kind = web.fetch(url, { timeout = is_hasty and 0.005 or 10 })
      assert(res or kind == "timeout", message)
      return res and res.body
    end)
  end)

  it("is never that of a request which has lost a race", function()
    ask_impatiently(echo(), function(url, is_hasty)
      local name, res = alt.race { { "answer", web.fetch_alt(url) },
        { "late", web.after(is_hasty and 0.005 or 10) } }
      return name == "answer" and assert(res).body or nil
    end)
  end)

  it("is never that of a request whose job was cancelled", function()
    ask_impatiently(echo(), function(url, is_hasty)
      local asking = job.spawn(function() return assert(web.fetch(url)).body end)
      if is_hasty then
        web.sleep(0.002)
        asking:cancel "hasty"
      end
      local ok, body = pcall(asking.join, asking)
      assert(ok or alt.is_cancelled(body), body)
      return ok and body or nil
    end)
  end)

  it("is never the rest of a stream that was not read to its end", function()
    local long = ("x"):rep(100000)
    local server = faulty.answering(function(head)
      return faulty.ok(head:find "/long" and long or "short")
    end)
    for _ = 1, 10 do
      scope.run(function()
        local res = assert(web.fetch(server.url .. "/long", { stream = true }))
        assert.equal(200, res.status)
      end)
      assert.equal("short", assert(web.fetch(server.url .. "/short")).body)
    end
  end)
end)

describe("a connection to another server", function()
  it("is closed in the midst of a long request, when it is not kept", function()
    local server = faulty.answering(faulty.ok("fine", "Connection: close\r\n"))
    local grown
    local client = test.app(web.app { web.get("/", function()
      assert(web.fetch(server.url))
      local before = descriptors()
      for _ = 1, 50 do
        assert(web.fetch(server.url))
        server.conns[#server.conns]:close()
      end
      grown = descriptors() - before
      return 204
    end) })
    assert.equal(204, client:get("/").status)
    assert.is_true(grown <= 1, grown)
    assert.equal(0, (pool.count()))
  end)

  it("is given back by failures of every kind", function()
    local before = descriptors()
    local bad = faulty.answering "SSH-2.0-OpenSSH_9.2\r\n"
    local gone = faulty.start(function(conn)
      conn:receive_request()
      conn:reset()
    end)
    local closed = "http://127.0.0.1:" .. faulty.closed_port()
    for _ = 1, 20 do
      for kind, url in pairs { protocol = bad.url, reset = gone.url, connect = closed,
        url = "http:///" } do
        local res, _, failure = web.fetch(url)
        assert.is_nil(res)
        assert.equal(kind, failure)
      end
    end
    bad:close()
    gone:close()
    assert.equal(0, (pool.count()))
    eventually("all closed", function() return descriptors() <= before end)
  end)

  it("that was opened in a job that has ended serves the next", function()
    local server = faulty.answering(faulty.ok "fine")
    for _ = 1, 3 do
      job.spawn(function() assert(web.fetch(server.url)) end):join()
      collectgarbage()
      collectgarbage()
    end
    assert.equal(1, #server.conns)
  end)

  it("is closed when a stream is dropped unread", function()
    local server = faulty.start(function(conn)
      conn:receive_request()
      conn:send("HTTP/1.1 200 OK\r\nContent-Length: 200000\r\n\r\nbegin")
      conn.is_gone = conn:is_left()
    end)
    local client = test.app(web.app { web.get("/", function()
      assert(web.fetch(server.url, { stream = true }))
      return "not read"
    end) })
    assert.equal("not read", client:get("/").body)
    eventually("closed", function() return server.conns[1].is_gone end)
    assert.equal(0, (pool.count()))
  end)
end)

describe("web.fetch may be called", function()
  local server

  before_each(function() server = faulty.answering(faulty.ok "fine") end)

  it("in a finalizer, in the background, and at every beat", function()
    local got, beat = {}, nil
    local function fetch(name) got[name] = assert(web.fetch(server.url)).body end
    local client = test.app(web.app { web.get("/", function()
      scope.finally(function()
        fetch "finalizer"
        local res = assert(web.fetch(server.url, { stream = true }))
        got.stream = res:read()
        res:close()
      end)
      job.background(fetch, "background")
      beat = web.every(0.001, function()
        beat:stop()
        fetch "beat"
      end)
      return 204
    end) })
    assert.equal(204, client:get("/").status)
    eventually("all", function() return got.background and got.beat end)
    assert.same({ finalizer = "fine", stream = "fine",
      background = "fine", beat = "fine" }, got)
  end)

  it("in a pcall, which catches what is the caller's mistake", function()
    local ok, message = pcall(web.fetch, server.url, { no_such = 1 })
    assert.is_false(ok)
    assert.matches("no_such", message)
    ok = pcall(function() assert(web.fetch(server.url)) end)
    assert.is_true(ok)
  end)
end)

describe("a server that writes oddly", function()
  local function ask(answer, options)
    local is_second = false
    local server = faulty.answering(function(head)
      if is_second then return faulty.ok(head:match "^%u+ (%S+)") end
      is_second = true
      return answer
    end)
    return web.fetch(server.url .. "/dir/x?q=1", options)
  end

  for title, line in pairs {
    ["no reason"] = "HTTP/1.1 200", ["an empty reason"] = "HTTP/1.1 200 ",
    ["a reason in UTF-8"] = "HTTP/1.1 200 Schön",
  } do
    it("is understood with " .. title, function()
      assert.equal("hi", assert(ask(line .. "\r\nContent-Length: 2\r\n\r\nhi")).body)
    end)
  end

  for title, line in pairs {
    ["an empty value"] = "X:", ["Latin-1"] = "X: \233",
    ["the same length twice"] = "Content-Length: 2",
    ["a coding that is none"] = "Content-Encoding: identity",
  } do
    it("is understood with a header of " .. title, function()
      assert.equal("hi", assert(ask("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n" .. line
        .. "\r\n\r\nhi")).body)
    end)
  end

  for title, case in pairs {
    ["nothing"] = { "", "/dir/x?q=1" }, ["a space"] = { "/a b", "/a%20b" },
    ["UTF-8"] = { "/caf\195\169?x=\195\169", "/caf%C3%A9?x=%C3%A9" },
    ["a query alone"] = { "?p=2", "/dir/x?p=2" },
    ["a fragment alone"] = { "#top", "/dir/x?q=1" },
    ["another folder"] = { "../y", "/y" },
  } do
    it("is followed to a Location with " .. title, function()
      assert.equal(case[2], assert(ask("HTTP/1.1 302 Found\r\nLocation: " .. case[1]
        .. "\r\nContent-Length: 0\r\n\r\n")).body)
    end)
  end

  it("is understood when it tells HEAD of a coding", function()
    local res = assert(ask("HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n"
      .. "Content-Length: 20\r\n\r\n", { method = "HEAD" }))
    assert.equal("", res.body)
  end)

  for title, answer in pairs {
    ["ICY"] = "ICY 200 OK\r\n\r\n", ["HTTP/2"] = "HTTP/2 200 OK\r\n\r\n",
    ["HTTP/0.9"] = "<html>hi</html>\r\n\r\n",
  } do
    it("is no server of HTTP/1 with " .. title, function()
      local res, message, kind = ask(answer)
      assert.is_nil(res)
      assert.equal("protocol", kind)
      assert.matches("it does not begin with HTTP/1", message)
    end)
  end
end)
