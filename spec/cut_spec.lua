-- SPDX-License-Identifier: MIT
-- Answers that are cut: what came before them on the connection arrives, and their line
-- in the access log tells of them and of no other request.
local error_log = require "spec.support.error_log"
local http_reader = require "luaweb.client.http_reader"
local log_file = require "spec.support.log_file"
local process = require "spec.support.process"
local test = require "luaweb.test"
local web = require "luaweb"

local APP = [[
local web = require "luaweb"
local large = ("x"):rep(60000)
return web.app {
  web.get("/", function() return "root" end),
  web.get("/large", function() return large end),
  web.any("/cut/{name}", function()
    return web.streaming(function(out) out:write "a" error "cut" end)
  end),
}
]]

after_each(process.clean)

describe("the access log", function()
  local path

  local function serve()
    path = process.path "access.log"
    return process.serve(process.file("app.lua", APP), "--access-log", "json:" .. path)
  end

  -- Sends a request whose answer is cut, and sees that it is, and how.
  local function is_cut(child, octets, how)
    local conn = child:connect(octets)
    local received, ending = process.rest(conn)
    conn:close()
    assert.is_nil(received:find("0\r\n\r\n", 1, true))
    assert.equal(how or "closed", ending)
  end

  local function has_facts(entry, method, target)
    assert.same({ method, target, "127.0.0.1" },
      { entry.method, entry.target, entry.peer })
  end

  it("names the request whose stream raised before its first wait", function()
    local child = serve()
    is_cut(child, process.get("/cut/one?a=1", "User-Agent: me\r\nReferer: there\r\n"))
    local entry = log_file.entries(1, path)[1]
    has_facts(entry, "GET", "/cut/one?a=1")
    assert.same({ "me", "there" }, { entry.user_agent, entry.referer })
  end)

  it("names it when its head was above 16 KiB", function()
    local child = serve()
    local padding = "X: " .. ("p"):rep(30000) .. "\r\n"
    for i = 1, 3 do
      is_cut(child, ("PUT /cut/%d HTTP/1.1\r\nHost: localhost\r\n%s\r\n")
        :format(i, padding))
    end
    for i, entry in ipairs(log_file.entries(3, path)) do
      has_facts(entry, "PUT", "/cut/" .. i)
    end
  end)

  it("names it when only a reset can tell that the answer is not whole", function()
    local child = serve()
    for _, padding in ipairs { "", "X: " .. ("p"):rep(30000) .. "\r\n" } do
      local head = "GET /cut/old%d HTTP/1.0\r\nUser-Agent: me\r\n%s\r\n"
      is_cut(child, head:format(#padding, padding), "reset")
    end
    local entries = log_file.entries(2, path)
    has_facts(entries[1], "GET", "/cut/old0")
    has_facts(entries[2], "GET", "/cut/old30005")
    assert.equal("me", entries[2].user_agent)
  end)

  it("names it when the next request has come in the same octets", function()
    local child = serve()
    is_cut(child, process.get "/cut/first" .. process.get "/")
    has_facts(log_file.entries(1, path)[1], "GET", "/cut/first")
  end)
end)

describe("a stream that fails", function()
  it("takes none of the whole answers before it along", function()
    local child = process.serve(process.file("app.lua", APP))
    local conn = child:connect(process.get "/large":rep(8) .. process.get "/cut/x")
    web.sleep(0.3) -- all is answered, and waits in the system for the client
    local received = process.rest(conn)
    conn:close()
    local messages = http_reader.read(received, {}, false)
    assert.equal(8, #messages)
    for i = 1, 8 do assert.equal(60000, #messages[i].body) end
  end)
end)

describe("a raised answer that streams", function()
  local raised
  local client = test.app(web.app {
    web.get("/", function() error(raised, 0) end),
  })

  -- What a client receives, and what is logged.
  local function play(stream)
    raised = web.streaming(stream)
    local received
    local log = error_log.of(function()
      local conn = client:raw(process.get("/", "Connection: close\r\n"))
      received = process.rest(conn)
      conn:close()
      web.sleep(0.01)
    end)
    return received, log
  end

  local function is_cut(received, log)
    assert.matches("^HTTP/1%.1 200 ", received)
    assert.is_nil(received:find("inner", 1, true))
    assert.is_nil(received:find("0\r\n\r\n", 1, true))
    local _, entries = ("\n" .. log):gsub("\n%d%d%d%d%-", "")
    assert.equal(1, entries)
    assert.matches(" GET /: ", log)
    assert.is_nil(log:find("table: 0x", 1, true))
  end

  it("is cut and told once when it raises another answer at its start", function()
    is_cut(play(function() error(web.text "inner", 0) end))
  end)

  it("is cut and told once when it raises another answer after a wait", function()
    is_cut(play(function(out)
      out:write "a"
      web.sleep(0.01)
      error(web.text "inner", 0)
    end))
  end)
end)
