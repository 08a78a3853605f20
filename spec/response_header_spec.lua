-- SPDX-License-Identifier: MIT
-- The headers of responses: what the app adds, what stays ours, and what is refused so
-- that nothing is injected.  RFC 9110 §5.1, §5.5, §6.6.1, §8.6; RFC 9112 §6, §9.6.
local error_log = require "spec.support.error_log"
local test = require "luaweb.test"
local web = require "luaweb"

-- Each test gives its handler.
local handler
local client = test.app(web.app {
  web.any("/", function(req) return handler(req) end),
  web.get("/after", function() return "in step" end),
})

--- Everything that comes on a connection until it is closed.
local function read_all(conn)
  local parts = {}
  while true do
    local octets, ending = conn:receive(5)
    if not octets then
      conn:close()
      assert.equal("closed", ending)
      return table.concat(parts)
    end
    parts[#parts + 1] = octets
  end
end

--- The answer to a response that this makes.
local function answer(make)
  handler = make
  return client:get "/"
end

local function values_of(res, name)
  local list = {}
  for _, line in ipairs(res.lines) do
    if line[1]:lower() == name then list[#list + 1] = line[2] end
  end
  return list
end

--- The octets of the 500 that this handler ends in, and its log.
local function refused(make)
  handler = make
  local octets
  local log = error_log.of(function()
    octets = read_all(client:raw("GET / HTTP/1.1\r\nHost: h\r\n\r\n"
      .. "GET /after HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n"))
  end)
  assert.matches("^HTTP/1.1 500 Internal Server Error\r\n", octets)
  assert.matches("\r\n\r\nin step$", octets)
  assert.is_nil(octets:lower():find "evil")
  return log, octets
end

describe("headers of the app", function()
  it("are sent in their order, duplicates too", function()
    local res = answer(function()
      return web.text("x"):header("X-B", "1"):header("X-A", "2"):header("x-b", "3")
    end)
    local own = {}
    for _, line in ipairs(res.lines) do
      if line[1]:lower():find "^x%-" then own[#own + 1] = table.concat(line, "=") end
    end
    assert.same({ "x-b=1", "x-a=2", "x-b=3" }, own)
  end)

  it("may be numbers: whole ones without an exponent", function()
    local res = answer(function()
      return web.text("x"):header("X-N", 5):header("X-N", 2 ^ 53):header("X-N", 1e15)
        :header("X-N", -3):header("X-N", 0.5)
    end)
    assert.same({ "5", "9007199254740992", "1000000000000000", "-3", "0.5" },
      values_of(res, "x-n"))
  end)

  it("may hold tabs and octets above 127, and lose white space around them", function()
    local res = answer(function()
      return web.text("x"):header("X-V", " \t a\tb \195\188 \255 \t"):header("X-V", "")
    end)
    assert.same({ "a\tb \195\188 \255", "" }, values_of(res, "x-v"))
  end)

  it("may be cookies, one line each", function()
    local res = answer(function()
      return web.text("x"):cookie("a", "1", { path = "/" }):cookie("b", "2")
    end)
    local lines = values_of(res, "set-cookie")
    assert.equal(2, #lines)
    assert.matches("^a=1; .*Path=/", lines[1])
    assert.matches("^b=2", lines[2])
  end)
end)

describe("headers that are ours", function()
  for title, value in pairs { right = "5", wrong = "999", ["no number"] = "x" } do
    it("Content-Length is one field, when the app sets it twice: " .. title, function()
      local res = answer(function()
        return web.text("12345"):header("Content-Length", value)
          :header("content-length", value)
      end)
      assert.same({ "5" }, values_of(res, "content-length"))
      assert.equal("12345", res.body)
    end)
  end

  it("Date is one field: the app's first, else ours", function()
    local date = "Sun, 06 Nov 1994 08:49:37 GMT"
    assert.same({ date }, values_of(answer(function()
      return web.text("x"):header("Date", date):header("date", "never")
    end), "date"))
    local own = values_of(answer(function() return "x" end), "date")
    assert.matches("^%a+, %d%d %a+ %d%d%d%d %d%d:%d%d:%d%d GMT$", own[1])
    assert.is_nil(own[2])
  end)

  it("Content-Type is one field: the app's first, else that of the content", function()
    assert.same({ "a/b" }, values_of(answer(function()
      return web.json({}):header("Content-Type", "a/b"):header("content-type", "c/d")
    end), "content-type"))
    assert.same({ "application/json" }, values_of(answer(function()
      return {}
    end), "content-type"))
  end)

  for _, line in ipairs {
    { "Transfer-Encoding", "gzip" }, { "Transfer-Encoding", "chunked" },
    { "Connection", "keep-alive" }, { "Connection", "upgrade" }, { "Upgrade", "h2c" },
    { "Keep-Alive", "timeout=5" }, { "Proxy-Connection", "close" },
    { "Trailer", "X-T" }, { "TE", "trailers" },
  } do
    it(("%s: %s is not sent"):format(line[1], line[2]), function()
      for _, make in ipairs {
        function() return web.text("12345"):header(line[1], line[2]) end,
        function() return web.status(204):header(line[1]:upper(), line[2]) end,
      } do
        local res = answer(make)
        local wanted = line[1] == "Connection" and { "close" } or {}
        assert.same(wanted, values_of(res, line[1]:lower())) -- the client asked for it
      end
    end)
  end

  it("Connection: close of the app ends the connection behind the answer", function()
    handler = function() return web.text("last"):header("Connection", " Close ") end
    local octets = read_all(client:raw("GET / HTTP/1.1\r\nHost: h\r\n\r\n"
      .. "GET /after HTTP/1.1\r\nHost: h\r\n\r\n"))
    assert.matches("\r\nConnection: close\r\n\r\nlast$", octets)
  end)
end)

describe("a header that can't be sent", function()
  for title, name in pairs {
    ["an empty name"]       = "",
    ["a space in it"]       = "X Evil",
    ["a colon in it"]       = "X-Evil:",
    ["a line break in it"]  = "X-A: 1\r\nX-Evil",
    ["a NUL in it"]         = "X-Evil\0",
    ["an umlaut in it"]     = "X-Evil\195\188",
    ["a parenthesis in it"] = "X-Evil(",
  } do
    it("because its name has " .. title .. " is a 500", function()
      local log = refused(function()
        return web.text("x"):header("X-Good-Evil", "1"):header(name, "evil")
      end)
      assert.matches("the response header .* is not a header name", log)
    end)
  end

  for title, value in pairs {
    ["CR LF"] = "1\r\nX-Evil: 1", ["CR"] = "1\rX-Evil: 1", ["LF"] = "1\nX-Evil: 1",
    ["NUL"] = "evil\0", ["ESC"] = "\27evil", ["DEL"] = "evil\127",
    ["a line break at its end"] = "evil\r\n",
  } do
    it("because its value has " .. title .. " is a 500", function()
      assert.matches('the response header "X%-A" has a value with a control octet',
        refused(function() return web.text("x"):header("X-A", value) end))
      refused(function() return web.redirect("/" .. value) end)
      refused(function() return web.created("/" .. value) end)
      refused(function() return web.text("x"):header("Content-Type", "a/" .. value) end)
    end)

    it("because a media type has " .. title .. " is a 500", function()
      assert.matches("is not a media type",
        refused(function() return web.bytes("text/evil;a=" .. value, "x") end))
      refused(function() return web.text("x"):type("text/plain;a=" .. value) end)
      refused(function() return web.text("x"):type("text/evil" .. value) end)
    end)

    it("because a cookie has " .. title .. " is a 500", function()
      refused(function() return web.text("x"):cookie("a", value) end)
      refused(function() return web.text("x"):cookie("a" .. value, "x") end)
      refused(function() return web.text("x"):cookie("a", "x", { path = value }) end)
    end)
  end

  for _, media_type in ipairs { "", "text", "text/", "/plain", "text/plain, x/y" } do
    it(("because %q is no media type is a 500"):format(media_type), function()
      assert.matches("is not a media type",
        refused(function() return web.bytes(media_type, "x") end))
    end)
  end

  it("because it is no text is a 500", function()
    for _, make in ipairs {
      function() return web.text("x"):header(nil, "x") end,
      function() return web.text("x"):header("X-A", nil) end,
      function() return web.text("x"):header("X-A", { "evil" }) end,
      function() return web.text("x"):header("X-A", true) end,
      function() return web.text("x"):type(nil) end,
    } do
      assert.matches("response_header_spec.lua:%d+: the handler\n", refused(make))
    end
  end)

  it("because there is no room for it is a 500", function()
    assert.matches('the response header "X%-Large" makes the header section larger',
      refused(function() return web.text("x"):header("X-Large", ("x"):rep(70000)) end))
    refused(function()
      local response = web.text "x"
      for _ = 1, 700 do response:header("X-Many", ("x"):rep(100)) end
      return response
    end)
    local res = answer(function()
      return web.text("x"):header("X-Large", ("x"):rep(60000))
    end)
    assert.equal(60000, #res.headers["x-large"])
  end)
end)

describe("a status that is none", function()
  for _, code in ipairs { 0, 99, 100, 199, 600, 404.5, -1, 1 / 0, 0 / 0, "404", "x" } do
    it(("is a 500: %s"):format(tostring(code)), function()
      local message = "a status is a whole number from 200 to 599"
      assert.matches(message, refused(function() return web.status(code) end))
      assert.matches(message, refused(function() return web.text("x"):status(code) end))
    end)
  end
end)
