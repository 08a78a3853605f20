-- SPDX-License-Identifier: MIT
-- web.proxy where the other server fails: what the app may answer instead (on_error),
-- and what the log says.
local error_log = require "spec.support.error_log"
local faulty = require "spec.support.faulty_server"
local job = require "luaweb.job"
local pool = require "luaweb.fetch.pool"
local process = require "spec.support.process"
local test = require "luaweb.test"
local web = require "luaweb"

after_each(function()
  pool.close_idle()
  faulty.clean()
  process.clean()
end)

local function client_of(url, options)
  return test.app(web.app { web.any("/api{/path*}", web.proxy(url, options)) })
    :over_socket()
end

local function nobody() return "http://127.0.0.1:" .. faulty.closed_port() end

local function ask(client)
  local res
  local log = error_log.of(function() res = client:get "/api/x" end)
  return res, log
end

describe("on_error of web.proxy", function()
  it("gets the request, the kind and the message, and gives the answer", function()
    local heard
    local res, log = ask(client_of(nobody(), { on_error = function(req, kind, message)
      heard = { req.path, kind, message }
      return web.html("<h1>Soon</h1>"):header("Retry-After", 5)
    end }))
    assert.equal(502, res.status)
    assert.equal("<h1>Soon</h1>", res.body)
    assert.equal("5", res.headers["retry-after"])
    assert.equal("/api/x", heard[1])
    assert.equal("connect", heard[2])
    assert.matches("connection refused", heard[3])
    assert.matches("web.proxy: GET .*connection refused", log)
  end)

  it("may say the status, or give a text, a table, or a number", function()
    local given
    local client = client_of(nobody(), { on_error = function() return given end })
    for _, case in ipairs {
      { web.text("x"):status(503), 503, "x" },
      { "plain", 502, "plain" },
      { { error = "down" }, 502, '{"error":"down"}' },
      { 418, 418 },
      { nil, 502 },
    } do
      given = case[1]
      local res = ask(client)
      assert.equal(case[2], res.status)
      if case[3] then assert.equal(case[3], res.body) end
    end
  end)

  it("is called for an answer that is none, and for one that is late", function()
    local kinds = {}
    local options = { timeout = 0.2, on_error = function(_, kind)
      kinds[#kinds + 1] = kind
    end }
    assert.equal(502, ask(client_of(faulty.answering("HTTP/1.1 301 X\r\n\r\n").url,
      options)).status)
    assert.equal(504, ask(client_of(faulty.deaf().url, options)).status)
    assert.same({ "protocol", "timeout" }, kinds)
  end)

  it("is a function", function()
    assert.error_matches(function() web.proxy("http://h/", { on_error = 503 }) end,
      "web.proxy: on_error wants a function")
  end)
end)

describe("web.proxy", function()
  it("answers 503 where no connection to the other server becomes free", function()
    local is_open = false
    local server = faulty.answering(function()
      while not is_open do web.sleep(0.01) end
      return faulty.ok "fine"
    end)
    local client = client_of(server.url, { max_connections = 1, connect_timeout = 0.1 })
    local first = job.spawn(client.get, client, "/api/x")
    while not server.conns[1] do web.sleep(0.01) end
    local res, log = ask(client)
    is_open = true
    assert.equal(503, res.status)
    assert.matches("no connection became free within 0.1 s", log)
    assert.equal("fine", first:join().body)
  end)

  it("tells in one line of the log that the other server has gone midway", function()
    local server = faulty.start(function(conn)
      conn:receive_request()
      conn:send "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc"
    end)
    local log = error_log.of(function()
      local conn = client_of(server.url):raw(
        "GET /api/x?k=1 HTTP/1.1\r\nHost: h\r\n\r\n")
      assert.matches("abc$", process.rest(conn))
      conn:close()
    end)
    assert.matches("^[^\n]* error %[[%x-]+%] GET /api/x: web.proxy: "
      .. "http://127.0.0.1:%d+/x: [^\n]*ended early[^\n]*\n$", log)
  end)

  it("refuses a ca_file that can't be read where it is declared", function()
    local path = process.path "nothing.pem"
    assert.error_matches(function() web.proxy("https://h/", { ca_file = path }) end,
      "web.proxy: ca_file: " .. path .. ": No such file or directory", 1, true)
  end)
end)
