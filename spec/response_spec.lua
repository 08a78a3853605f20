-- SPDX-License-Identifier: MIT
-- What a handler may return and raise, and what the client gets of it
-- (lua/luaweb/response.lua, host.lua): RFC 9110 §8.6, §15; RFC 9112 §6.
local error_log = require "spec.support.error_log"
local test = require "luaweb.test"
local web = require "luaweb"
local without_id = require "spec.support.without_id"

local TEXT = "text/plain; charset=utf-8"

-- Each test gives its handler.
local handler
local client = test.app(web.app {
  web.any("/", function(req) return handler(req) end),
  web.get("/after", function() return "in step" end),
})

--- The answer to a request whose handler gives this value.
local function answer(value, method)
  handler = function() return value end
  return client:request(method or "GET", "/")
end

--- The answer when the handler does this, and what it leaves in the error log.
local function answer_of(fn)
  handler = fn
  local res
  local log = error_log.of(function() res = client:get("/?q=asked") end)
  return res, log
end

--- The same, where it must be a 500 that tells the client nothing.
local function log_of(fn)
  local res, log = answer_of(fn)
  assert.equal(500, res.status)
  assert.equal("500 Internal Server Error\n", without_id(res.body))
  assert.equal(TEXT, res.headers["content-type"])
  assert.matches("%] GET /%?q=asked: ", log)
  assert.equal("in step", client:get("/after").body)
  return log
end

local function values_of(res, name)
  local list = {}
  for _, line in ipairs(res.lines) do
    if line[1]:lower() == name then list[#list + 1] = line[2] end
  end
  return list
end

local stream = function(out) out:write "streamed" end

describe("a handler that returns", function()
  for title, case in pairs {
    ["a string"]        = { "text", 200, TEXT, "text" },
    ["an empty string"] = { "", 200, nil, "" },
    ["octets"]          = { "\0\255\r\n", 200, TEXT, "\0\255\r\n" },
    ["a table"]         = { { a = 1 }, 200, "application/json", '{"a":1}' },
    ["an empty table"]  = { {}, 200, "application/json", "{}" },
    ["a marked array"]  = { web.array {}, 200, "application/json", "[]" },
    ["true"]            = { true, 204, nil, "" },
    ["false"]           = { false, 500, TEXT, "500 Internal Server Error\n" },
    ["200"]             = { 200, 200, nil, "" },
    ["404"]             = { 404, 404, TEXT, "404 Not Found\n" },
    ["499"]             = { 499, 499, TEXT, "499\n" },
    ["text"]            = { web.text "t", 200, TEXT, "t" },
    ["HTML"]            = { web.html "<p>", 200, "text/html; charset=utf-8", "<p>" },
    ["JSON"]            = { web.json(web.null), 200, "application/json", "null" },
    ["octets of a type"] = { web.bytes("image/png", "\137"), 200, "image/png", "\137" },
    ["a status"]        = { web.status(503), 503, TEXT, "503 Service Unavailable\n" },
    ["a status with text"] = { web.status(418):text "tea", 418, TEXT, "tea" },
    ["a status with JSON"] = { web.status(409):json { 1 }, 409, "application/json",
      "[1]" },
    ["another type"]    = { web.text("a,b"):type "text/csv", 200, "text/csv", "a,b" },
    ["a redirect"]      = { web.redirect "/x", 303, TEXT, "303 See Other\n" },
    ["what was made"]   = { web.created("/x", "made"), 201, TEXT, "made" },
    ["what was made, as JSON"] = { web.created("/x", { 1 }), 201, "application/json",
      "[1]" },
    ["work that was taken"] = { web.accepted "/x", 202, nil, "" },
    ["a stream"]        = { web.streaming(stream), 200, TEXT, "streamed" },
    ["a typed stream"]  = { web.streaming(stream):type "text/csv":status(201), 201,
      "text/csv", "streamed" },
  } do
    it(title .. " answers with it", function()
      local res = answer(case[1])
      assert.same({ case[2], case[3], case[4] },
        { res.status, res.headers["content-type"], without_id(res.body) })
    end)
  end

  it("nil answers 204", function()
    assert.equal(204, answer(nil).status)
  end)

  it("what has a Location names it", function()
    assert.equal("/x", answer(web.redirect "/x").headers.location)
    assert.equal(307, answer(web.redirect("/x"):status(307)).status)
    assert.equal("/y", answer(web.created "/y").headers.location)
    assert.equal("/z", answer(web.accepted "/z").headers.location)
    assert.is_nil(answer(web.accepted()).headers.location)
  end)

  it("a response may return it again and again", function()
    local same = web.text("same"):header("X-Count", 1)
    for _ = 1, 3 do
      local res = answer(same)
      assert.same({ "same", { "1" } }, { res.body, values_of(res, "x-count") })
    end
  end)

  for title, value in pairs {
    ["a function"] = print, ["a coroutine"] = coroutine.create(print),
    ["userdata"] = io.stdout, ["cdata"] = 1ULL,
    ["99"] = 99, ["600"] = 600, ["199"] = 199, ["-200"] = -200, ["200.5"] = 200.5,
    ["0/0"] = 0 / 0, ["1/0"] = 1 / 0, ["2^53"] = 2 ^ 53,
  } do
    it(title .. " answers 500 and says so in the log", function()
      assert.matches("a handler returned ", log_of(function() return value end))
    end)
  end

  it("a table that is no JSON answers 500 and names the fault in the log", function()
    assert.matches("value%.list%[2%]%.at", log_of(function()
      return { list = { 1, { at = print } } }
    end))
    assert.matches("GET", log_of(function()
      local loop = {}
      loop.loop = loop
      return loop
    end))
    assert.matches("value%.x", log_of(function() return web.json { x = 0 / 0 } end))
    assert.matches("UTF%-8", log_of(function() return { "\255" } end))
  end)
end)

describe("an answer without content", function()
  local large = ("x"):rep(100000)
  local kinds = {
    ["a string"]              = function() return "text" end,
    ["a table"]               = function() return { 1 } end,
    ["text"]                  = function() return web.text "text" end,
    ["a large text"]          = function() return web.text(large) end,
    ["a stream"]              = function() return web.streaming(stream) end,
    ["a stream of known length"] = function()
      return web.streaming(stream):header("Content-Length", 8)
    end,
    ["a status"]              = function() return web.status(200) end,
  }

  --- The head of an answer that must have no content: the next one follows it at once.
  local function head_of(method, make, status)
    handler = function()
      local value = make()
      if not status then return value end
      return (value.status and value or web.json(value)):status(status)
    end
    local conn = client:raw(method .. " / HTTP/1.1\r\nHost: h\r\n\r\n"
      .. "GET /after HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n")
    local octets = ""
    while true do
      local more = conn:receive(5)
      if not more then break end
      octets = octets .. more
    end
    conn:close()
    local head, rest = octets:match "^(.-\r\n)\r\n(.*)$"
    assert.matches("^HTTP/1.1 200 OK\r\n.*\r\n\r\nin step$", rest)
    return head
  end

  for title, make in pairs(kinds) do
    it("to HEAD has the head of GET: " .. title, function()
      local head = head_of("HEAD", make)
      assert.matches("^HTTP/1.1 200 OK\r\n", head)
      local res = client:get "/"
      assert.equal(res.headers["content-length"], head:match "Content%-Length: (%d+)")
      assert.equal(res.headers["transfer-encoding"],
        head:match "Transfer%-Encoding: (%w+)")
    end)

    for _, status in ipairs { 204, 304 } do
      it(("with %d has no framing either: %s"):format(status, title), function()
        local head = head_of("GET", make, status)
        assert.matches("^HTTP/1.1 " .. status, head)
        assert.is_nil(head:find "Transfer%-Encoding")
        assert.is_nil(head:find "Content%-Length")
      end)
    end

    it("with 205 says that its length is 0: " .. title, function()
      local head = head_of("GET", make, 205)
      assert.matches("Content%-Length: 0\r\n", head)
      assert.is_nil(head:find "Transfer%-Encoding")
    end)
  end

  it("does not call the function of a stream", function()
    local called = false
    answer(web.streaming(function() called = true end), "HEAD")
    answer(web.streaming(function() called = true end):status(304))
    assert.is_false(called)
  end)
end)

describe("a handler that raises", function()
  it("a message answers 500; message, traceback and id are in the log", function()
    local id
    local log = log_of(function(req)
      id = req.id
      local function helper() error "secret" end
      helper()
    end)
    assert.matches(" error %[" .. id:gsub("%-", "%%-") .. "%] GET /%?q=asked: "
      .. "spec/response_spec.lua:%d+: secret\n", log)
    assert.matches("\tstack traceback:\n", log)
    assert.matches("response_spec.lua:%d+: in function 'helper'\n", log)
    assert.is_nil(log:find "host.lua")
  end)

  it("a fault of Lua answers 500 and names it", function()
    assert.matches("response_spec.lua:%d+: attempt to index", log_of(function(req)
      return req.colour.depth
    end))
  end)

  local failing = setmetatable({}, { __tostring = function() error "again" end })
  local odd = setmetatable({}, { __tostring = function() return 5 end })
  local named = setmetatable({}, { __tostring = function() return "its name" end })
  local dead = setmetatable({}, { __metatable = false, __tostring = error })
  for title, case in pairs {
    ["nil"]              = { nil, "error object is a nil value" },
    ["false"]            = { false, "error object is a boolean value: false" },
    ["a table"]          = { { code = 1 }, "error object is a table value: table: 0x" },
    ["an object"]        = { named, "error object is a table value: its name" },
    ["an object that can't be told"] = { failing, "its __tostring failed" },
    ["an object that tells no text"] = { odd, "error object is a table value: 5" },
    ["an object without face"] = { dead, "its __tostring failed" },
    ["a number that is no status"] = { 42, ": 42\n" },
    ["a status below 200"] = { 101, ": 101\n" },
    ["a text that ends like a status"] = { "upstream: 404", ": upstream: 404\n" },
    ["a function"]       = { print, "error object is a function value" },
  } do
    it(title .. " answers 500 and has a traceback in the log", function()
      local log = log_of(function() error(case[1]) end)
      assert.is_truthy(log:find(case[2], 1, true), log)
      assert.matches("response_spec.lua:%d+: in function", log)
    end)
  end
end)

describe("a handler that raises an answer", function()
  for title, case in pairs {
    ["a status"]   = { 404, 404, "404 Not Found\n" },
    ["a response"] = { web.text("no"):status(403), 403, "no" },
    ["a success"]  = { web.json { 1 }, 200, "[1]" },
    ["a stream"]   = { web.streaming(stream), 200, "streamed" },
  } do
    it(title .. " ends with it, and nothing is in the log", function()
      local res, log = answer_of(function() error(case[1]) end)
      assert.same({ case[2], case[3], "" }, { res.status, res.body, log })
      res, log = answer_of(function() error(case[1], 0) end)
      assert.same({ case[2], case[3], "" }, { res.status, res.body, log })
    end)
  end

  it("may have done so from anywhere below, and through a pcall", function()
    local function deep(n) if n == 0 then error(451) else deep(n - 1) end end
    local res, log = answer_of(function()
      local ok, raised = pcall(deep, 50)
      assert.is_false(ok)
      error(raised, 0)
    end)
    assert.same({ 451, "" }, { res.status, log })
  end)

  it("that can't be sent answers 500 and says why in the log", function()
    assert.matches('header "bad name" is not a header name', log_of(function()
      error(web.text("x"):header("bad name", "x"))
    end))
    assert.matches("secret", log_of(function()
      error(web.status(404):json { secret = print })
    end))
  end)
end)
