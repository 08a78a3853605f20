-- SPDX-License-Identifier: MIT
-- Pages that refresh themselves under `luaweb dev`: which answers get the tag of the
-- script, and what the event stream tells.
local dev = require "spec.support.dev"
local json = require "luaweb.json"
local process = require "spec.support.process"

after_each(process.clean)

local APP = [[
local web = require "luaweb"
local page = function() return web.html "<p>page</p>" end
local function with(name, value)
  return function() return page():header(name, value) end
end
return web.app {
  includes = { web.auth { web.basic { realm = "x", verify = function() end } } },
  web.resource("/page", web.machine { authorized = true, handle_ok = page }),
  web.resource("/constant", web.machine { authorized = true,
    handle_ok = web.html "<p>page</p>" }),
  web.resource("/upper", web.machine { authorized = true, handle_ok = function()
    return web.bytes("Text/HTML;charset=utf-8", "<p>page</p>") end }),
  web.resource("/own-type", web.machine { authorized = true, handle_ok = function()
    return web.text("<p>page</p>"):header("Content-Type", "text/html") end }),
  web.resource("/text", web.machine { authorized = true, handle_ok = "<p>page</p>" }),
  web.resource("/coded", web.machine { authorized = true,
    handle_ok = with("Content-Encoding", "gzip") }),
  web.resource("/saved", web.machine { authorized = true,
    handle_ok = with("Content-Disposition", "attachment") }),
  web.resource("/policy", web.machine { authorized = true,
    handle_ok = with("Content-Security-Policy", "default-src 'none'; img-src *") }),
  web.resource("/kind-policy", web.machine { authorized = true,
    handle_ok = with("Content-Security-Policy", "default-src 'self'") }),
  web.resource("/ranges", web.machine { authorized = true, accept_ranges = true,
    handle_ok = page }),
  web.resource("/tagged", web.machine { authorized = true, entity_tag = '"a"',
    handle_ok = page }),
  web.resource("/large", web.machine { authorized = true, handle_ok = function()
    return web.html(("x"):rep(200000)) end }),
  web.resource("/stream", web.machine { authorized = true, handle_ok = function()
    return web.streaming(function(out)
      out:write "<p>one</p>"
      web.sleep(0.01)
      out:write "<p>two</p>"
    end):type "text/html"
  end }),
  web.resource("/known", web.machine { authorized = true, handle_ok = function()
    return web.streaming(function(out) out:write "<p>one</p>" end)
      :type("text/html"):header("Content-Length", "10")
  end }),
}
]]

local TAG = '<script src="/%.luaweb/dev%.js" data%-generation="%x+%-1"></script>\n$'

local child

before_each(function() child = dev.serve { ["app.lua"] = APP } end)

describe("The tag of the script", function()
  for _, target in ipairs { "/page", "/constant", "/upper", "/own-type" } do
    it("ends a page: " .. target, function()
      local answer = dev.get(child, target)
      assert.matches("^<p>page</p>" .. TAG, answer.body)
      assert.equal(tostring(#answer.body), answer:header "content-length")
    end)
  end

  it("ends a large one", function()
    local answer = dev.get(child, "/large")
    assert.matches("^x+" .. TAG, answer.body)
    assert.is_true(#answer.body > 200000)
    assert.equal(tostring(#answer.body), answer:header "content-length")
  end)

  it("ends one that streams", function()
    assert.matches("^<p>one</p><p>two</p>" .. TAG, dev.get(child, "/stream").body)
  end)

  it("ends one that streams with a length that is known", function()
    local answer = dev.get(child, "/known")
    assert.matches("^<p>one</p>" .. TAG, answer.body)
    assert.equal(tostring(#answer.body), answer:header "content-length")
  end)

  it("ends one that streams to a client of HTTP/1.0", function()
    local conn = child:connect "GET /stream HTTP/1.0\r\n\r\n"
    assert.matches("<p>one</p><p>two</p>" .. TAG, (process.rest(conn)))
    conn:close()
  end)

  it("ends the page that says that there is none", function()
    local answer = dev.get(child, "/nowhere", "Accept: text/html\r\n"
      .. "Authorization: Basic eA==\r\n")
    assert.is_true(answer.status >= 400)
    assert.matches("</html>\n" .. TAG, answer.body)
  end)

  for _, target in ipairs { "/page", "/constant", "/large", "/stream", "/known" } do
    it("is no content of an answer to HEAD: " .. target, function()
      local got = dev.get(child, target)
      local conn = child:connect(("HEAD %s HTTP/1.1\r\nHost: localhost\r\n"
        .. "Connection: close\r\n\r\n"):format(target))
      local head, body = process.rest(conn):match "^(.-\r\n\r\n)(.*)$"
      conn:close()
      assert.equal("", body)
      assert.equal(got:header "content-length", head:match "Content%-Length: (%d+)")
    end)
  end

  for _, target in ipairs { "/text", "/coded", "/saved" } do
    it("is not in what is no page, coded, or to be saved: " .. target, function()
      local answer = dev.get(child, target)
      assert.equal("<p>page</p>", answer.body)
      assert.equal("11", answer:header "content-length")
    end)
  end

  it("is not in a part", function()
    local answer = dev.get(child, "/ranges", "Range: bytes=0-2\r\n")
    assert.equal(206, answer.status)
    assert.equal("<p>", answer.body)
  end)

  it("is not in an answer without content", function()
    local conn = child:connect(process.get("/tagged", 'If-None-Match: "a"\r\n'
      .. "Connection: close\r\n"))
    local answer = process.rest(conn)
    conn:close()
    assert.matches("^HTTP/1%.1 304 ", answer)
    assert.matches("\r\n\r\n$", answer)
  end)

  it("is not in what a script of a page asks for", function()
    for _, destination in ipairs { "empty", "script", "style" } do
      local answer = dev.get(child, "/page", ("Sec-Fetch-Dest: %s\r\n")
        :format(destination))
      assert.equal("<p>page</p>", answer.body)
    end
    for _, destination in ipairs { "document", "iframe" } do
      local answer = dev.get(child, "/page", ("Sec-Fetch-Dest: %s\r\n")
        :format(destination))
      assert.matches(TAG, answer.body)
    end
  end)

  it("is in what our script asks for, since that is what the page gets next", function()
    assert.matches(TAG, dev.get(child, "/page", "Sec-Fetch-Dest: empty\r\n"
      .. "Luaweb-Refresh: x-1\r\n").body)
  end)

  it("is said to be of no use where the page's policy forbids the script", function()
    dev.get(child, "/kind-policy")
    assert.is_nil(child:errors():find "refresh")
    dev.get(child, "/policy")
    dev.logs(child, "warn  /policy does not refresh itself: its "
      .. "Content-Security-Policy forbids /.luaweb/dev.js.  While you develop, let it "
      .. "have script-src 'self' and connect-src 'self'")
    dev.get(child, "/policy")
    local _, count = child:errors():gsub("refresh itself", "")
    assert.equal(1, count)
  end)
end)

describe("The script", function()
  it("is a resource of its own, whatever the app asks of who comes", function()
    local answer = dev.get(child, "/.luaweb/dev.js")
    assert.equal(200, answer.status)
    assert.equal("text/javascript; charset=utf-8", answer:header "content-type")
    assert.equal("no-store", answer:header "cache-control")
    assert.matches('new EventSource%("/%.luaweb/events"%)', answer.body)
  end)
end)

-- Receives from an event stream until a text is there.
local function receive(conn, text, so_far)
  while not so_far:find(text, 1, true) do
    so_far = so_far .. assert(conn:receive(10))
  end
  return so_far
end

describe("The event stream", function()
  it("tells which generation serves, and ends when another one does", function()
    local conn = child:connect(process.get "/.luaweb/events")
    local text = receive(conn, "event: success", "")
    assert.matches("\r\nContent%-Type: text/event%-stream\r\n", text)
    assert.matches("retry: 100\nevent: generation\ndata: %x+%-1\n\n", text)
    dev.write("app.lua", dev.says "two")
    receive(conn, "\r\n0\r\n\r\n", text)
    local again = child:connect(process.get "/.luaweb/events")
    assert.matches("data: %x+%-2\n\n", receive(again, "event: success", ""))
    conn:close()
    again:close()
  end)

  it("tells why the next generation does not load, and when that is over", function()
    local conn = child:connect(process.get "/.luaweb/events")
    local text = receive(conn, "event: success", "")
    dev.write("app.lua", "\nlocal x = <\n")
    text = receive(conn, "event: failure", text)
    text = receive(conn, "\n\n", text:match "event: failure.*$")
    local failure = json.decode(text:match "data: ([^\n]*)\n")
    assert.matches("app%.lua:2: unexpected symbol near '<'$", failure.message)
    assert.matches("app%.lua:2$", failure.place)
    assert.equal("     1 |\n>    2 | local x = <", failure.excerpt)
    dev.write("app.lua", APP)
    receive(conn, "\r\n0\r\n\r\n", text)
    conn:close()
  end)

  it("tells nobody from elsewhere", function()
    local answer = dev.get(child, "/.luaweb/events", "Origin: http://evil.example\r\n")
    assert.equal(403, answer.status)
    answer = child:ask "GET /.luaweb/trace HTTP/1.1\r\nHost: evil.example\r\n\r\n"
    assert.equal(403, answer.status)
  end)
end)
