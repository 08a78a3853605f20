-- SPDX-License-Identifier: MIT
-- A client's reader (lua/luaweb/client/reader.lua) and our own server understand one
-- another: in memory, and through a socket.
local reader = require "luaweb.client.reader"
local test = require "luaweb.test"
local web = require "luaweb"

local LARGE = ("0123456789abcdef"):rep(60000)

local app = web.app {
  web.get("/text", function() return "hello" end),
  web.get("/large", function() return LARGE end),
  web.get("/none", function() end),
  web.get("/parts", function()
    return web.streaming(function(out)
      for i = 1, 3 do
        out:write(("part %d;"):format(i))
        web.sleep(0)
      end
      out:trailer("Count", "3")
    end)
  end),
}

local function request(method, path, fields)
  return ("%s %s HTTP/1.1\r\nHost: h\r\n%s\r\n"):format(method, path, fields or "")
end

local function read(its_reader, method)
  its_reader:begin(method)
  local head = assert(its_reader:head(10))
  local parts = {}
  while true do
    local piece, message = its_reader:read(10)
    assert(not message, message)
    if not piece then return head, table.concat(parts) end
    parts[#parts + 1] = piece
  end
end

for where, client in pairs {
  ["in memory"] = test.app(app),
  ["through a socket"] = test.app(app):over_socket(),
} do
  describe("a reader, " .. where, function()
    it("reads one response after the other from one connection", function()
      local conn = client:raw ""
      local its_reader = reader.new(conn)
      for _ = 1, 2 do
        assert(conn:send(request("GET", "/text")))
        local head, body = read(its_reader, "GET")
        assert.same({ 200, 5, "hello" }, { head.status, head.length, body })
        assert.is_true(its_reader:done())
        assert(conn:send(request("HEAD", "/text")))
        head, body = read(its_reader, "HEAD")
        assert.same({ 200, 5, "" }, { head.status, head.length, body })
        assert.is_true(its_reader:done())
        assert(conn:send(request("GET", "/none")))
        assert.equal(204, read(its_reader, "GET").status)
        assert.is_true(its_reader:done())
        assert(conn:send(request("GET", "/large")))
        assert.is_true(LARGE == select(2, read(its_reader, "GET")))
        assert.is_true(its_reader:done())
        assert(conn:send(request("GET", "/missing")))
        assert.equal(404, read(its_reader, "GET").status)
        assert.is_true(its_reader:done())
      end
      conn:close()
    end)

    it("reads parts, and their trailers", function()
      local conn = client:raw(request("GET", "/parts"))
      local its_reader = reader.new(conn)
      local head, body = read(its_reader, "GET")
      assert.is_nil(head.length)
      assert.equal("part 1;part 2;part 3;", body)
      assert.same({ { "count", "3" } }, its_reader.trailers)
      assert.is_true(its_reader:done())
      conn:close()
    end)

    it("knows that the server closes", function()
      local conn = client:raw(request("GET", "/text", "Connection: close\r\n"))
      local its_reader = reader.new(conn)
      local head = read(its_reader, "GET")
      assert.is_false(head.keep_alive)
      assert.is_false(its_reader:done())
      conn:close()
    end)

    it("says that nothing came when the server has closed before", function()
      local conn = client:raw(request("GET", "/text", "Connection: close\r\n"))
      local its_reader = reader.new(conn)
      read(its_reader, "GET")
      its_reader:begin "GET"
      assert.equal("silent", (select(3, its_reader:head(10))))
      conn:close()
    end)

    it("waits no longer than it is told to", function()
      local conn = client:raw "GET /text HTTP/1.1\r\n"
      local its_reader = reader.new(conn)
      its_reader:begin "GET"
      assert.equal("timeout", (select(3, its_reader:head(0.01))))
      assert(conn:send "Host: h\r\n\r\n")
      assert.equal(200, its_reader:head(10).status)
      conn:close()
    end)
  end)
end
