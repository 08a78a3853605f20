-- SPDX-License-Identifier: MIT
-- How `luaweb dev` answers for a function of the app that has failed: the message, the
-- source, the request, its walk; as a page, a problem or text.
local dev = require "spec.support.dev"
local json = require "luaweb.json"
local process = require "spec.support.process"

after_each(process.clean)

local APP = [[
local web = require "luaweb"

local function title(todo)
  return todo.title -- fails
end

return web.app {
  web.get("/todo/{id}", function(req)
    local text = title(nil)
    return text
  end),
  web.resource("/asks", web.machine {
    allowed = function() error "<b>no</b> & never" end,
    handle_ok = "x",
  }),
  web.get("/table", function() error { code = 7 } end),
  web.get("/wrong", function() return print end),
  web.get("/late", function() web.sleep(0.01) error "after a while" end),
  web.get("/octets", function() error "a\255b" end),
  web.get("/answer", function() error(404) end),
  web.post("/post", function(req) error(req:text()) end),
}
]]

local HTML = "Accept: text/html,application/xhtml+xml;q=0.9,*/*;q=0.8\r\n"

local function ask(target, lines)
  local child = dev.serve { ["app.lua"] = APP }
  return dev.get(child, target, lines), child
end

local function page(target, lines)
  local answer, child = ask(target, HTML .. (lines or ""))
  assert.equal(500, answer.status)
  assert.equal("text/html; charset=utf-8", answer:header "content-type")
  assert.equal("no-store", answer:header "cache-control")
  return answer.body, child
end

local function has(text, wanted)
  if not text:find(wanted, 1, true) then
    error(("%q is not in:\n%s"):format(wanted, text), 2)
  end
end

describe("The page of a failure", function()
  it("has the message, and the places of the traceback with their source", function()
    local body = page "/todo/7"
    has(body, "app.lua:4: attempt to index local &#39;todo&#39; (a nil value)</h1>")
    has(body, '<span class="hit"><i>4</i>  return todo.title -- fails</span>')
    has(body, "<i>3</i>local function title(todo)</span>")
    has(body, '<span class="hit"><i>9</i>    local text = title(nil)</span>')
    has(body, "app.lua:8: the handler")
    assert.matches('<p class="kicker">500 Internal Server Error, request [%w-]+</p>',
      body)
  end)

  it("has the request and its parameters", function()
    local body = page("/todo/7?x=%3Cb%3E", "X-Thing: <i>\r\n")
    has(body, "<code>GET /todo/7?x=%3Cb%3E</code>")
    has(body, "<td>X-Thing</td><td>&lt;i&gt;</td>")
    has(body, "<td>id</td><td>7</td>")
  end)

  it("hides credentials", function()
    local body = page("/todo/7", "Authorization: Basic c2VjcmV0\r\n"
      .. "Cookie: session=c2VjcmV0\r\n")
    has(body, "<td>Authorization</td><td>Basic (not shown)</td>")
    has(body, "<td>Cookie</td><td>(not shown)</td>")
    assert.is_nil(body:find "c2VjcmV0")
  end)

  it("has the walk: rows, answers, reasons, and where it stands", function()
    local body = page "/todo/7"
    has(body, "<td>method_allowed</td>")
    has(body, "one of its methods: GET, HEAD, OPTIONS")
    has(body, "app.lua:8 failed: ")
    has(body, "<p>stands at <code>has_reply</code></p>")
  end)

  it("names the decision that was asked, and escapes what was raised", function()
    local body = page "/asks"
    has(body, "&lt;b&gt;no&lt;/b&gt; &amp; never")
    assert.is_nil(body:find("<b>no", 1, true))
    has(body, "app.lua:13: asked by allowed")
    has(body, "<p>stands at <code>allowed</code></p>")
  end)

  it("is there for what is no text, no answer, or raised after a while", function()
    local child = dev.serve { ["app.lua"] = APP }
    has(dev.get(child, "/table", HTML).body, "(error object is a table value")
    has(dev.get(child, "/wrong", HTML).body,
      "a handler returned a function, which is no answer")
    has(dev.get(child, "/late", HTML).body, "app.lua:18: after a while</h1>")
  end)

  it("is there for what a request has sent", function()
    local child = dev.serve { ["app.lua"] = APP }
    local answer = child:ask(process.post("/post", "<script>", HTML))
    assert.equal(500, answer.status)
    has(answer.body, "&lt;script&gt;")
  end)

  it("loads nothing from elsewhere but the script that refreshes it", function()
    local body = page "/todo/7"
    assert.is_nil(body:find("//", 1, true))
    local _, sources = body:gsub("src=", "")
    assert.equal(1, sources)
    has(body, '<script src="/.luaweb/dev.js"')
  end)

  it("is none where an answer was raised", function()
    assert.equal(404, ask("/answer", HTML).status)
  end)

  it("has no octets of its own for HEAD, but the same length", function()
    local child = dev.serve { ["app.lua"] = APP }
    local lines = "Connection: close\r\nAccept: text/html\r\n"
    local got = dev.get(child, "/table", lines)
    local conn = child:connect((process.get("/table", lines):gsub("^GET", "HEAD")))
    local head, body = process.rest(conn):match "^(.-\r\n\r\n)(.*)$"
    assert.equal("", body)
    assert.equal(500, tonumber(head:match "^HTTP/1.1 (%d+)"))
    local length = tonumber(head:match "Content%-Length: (%d+)")
    assert.is_true(math.abs(length - tonumber(got:header "content-length")) < 200)
    conn:close()
  end)
end)

describe("The other forms of a failure", function()
  it("are text for who prefers nothing", function()
    local answer = ask "/todo/7"
    assert.equal("text/plain; charset=utf-8", answer:header "content-type")
    has(answer.body, "500 Internal Server Error\n\n")
    has(answer.body, "app.lua:4: attempt to index local 'todo' (a nil value)\n")
    has(answer.body, "stack traceback:\n")
    has(answer.body, "\n>    4 |   return todo.title -- fails\n     5 | end\n")
  end)

  for _, accept in ipairs { "application/json", "application/problem+json",
    "text/html;q=0.5, application/json" } do
    it("are a problem for who prefers " .. accept, function()
      local answer = ask("/todo/7", "Accept: " .. accept .. "\r\n")
      assert.equal("application/problem+json", answer:header "content-type")
      local problem = assert(json.decode(answer.body))
      assert.equal(500, problem.status)
      assert.equal("Internal Server Error", problem.title)
      assert.matches("app%.lua:4: attempt to index", problem.detail)
      assert.matches("app%.lua:4$", problem.place)
      has(problem.source, ">    4 |   return todo.title")
      assert.matches("app%.lua:9: ", problem.traceback)
    end)
  end

  it("are a problem whatever octets were raised, and stand in the source", function()
    local app = APP:gsub("return todo.title", "return todo.title --[["
      .. ("\195\169"):rep(150) .. "]]")
    local child = dev.serve { ["app.lua"] = app }
    local answer = dev.get(child, "/todo/7", "Accept: application/json\r\n")
    has(assert(json.decode(answer.body)).source, "return todo.title")
    has(answer.body, "\195\169\195\169")
    answer = dev.get(child, "/octets", "Accept: application/json\r\n")
    has(assert(json.decode(answer.body)).detail, "a\239\191\189b")
  end)

  it("tell nothing to a page of another origin, or under another name", function()
    local child = dev.serve { ["app.lua"] = APP }
    for _, lines in ipairs { "Origin: http://evil.example\r\n", "Origin: null\r\n" } do
      local answer = dev.get(child, "/todo/7", HTML .. lines)
      assert.equal(500, answer.status)
      assert.is_nil(answer.body:find "todo")
    end
    local answer = child:ask("GET /todo/7 HTTP/1.1\r\nHost: evil.example:8080\r\n"
      .. "Accept: text/html\r\n\r\n")
    assert.equal(500, answer.status)
    assert.is_nil(answer.body:find "todo")
    has(dev.get(child, "/todo/7", "Origin: http://localhost:3000\r\n").body, "todo")
  end)

  it("tell nothing to a page under another name that writes fields of proxies",
  function()
    local child = dev.serve({ ["app.lua"] = APP }, "--trusted-proxy", "127.0.0.1")
    local answer = child:ask("GET /todo/7 HTTP/1.1\r\nHost: evil.example:8080\r\n"
      .. "X-Forwarded-Host: localhost\r\n\r\n")
    assert.equal(500, answer.status)
    assert.is_nil(answer.body:find "todo")
  end)

  it("tell it to everybody with --allow-remote", function()
    local child = dev.serve({ ["app.lua"] = APP }, "--allow-remote")
    has(dev.get(child, "/todo/7", "Origin: http://evil.example\r\n").body, "todo")
  end)
end)
