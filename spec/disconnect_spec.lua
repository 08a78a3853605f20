-- SPDX-License-Identifier: MIT
-- A client that goes while its request is served: when it counts as gone, and what
-- becomes of the handler's work (on_disconnect, half_close_grace, req.closed).
local alt = require "luaweb.alt"
local concurrent = require "spec.support.concurrent"
local error_log = require "spec.support.error_log"
local job = require "luaweb.job"
local now = require("system").monotime
local scope = require "luaweb.scope"
local test = require "luaweb.test"
local web = require "luaweb"

local HEAD = "GET / HTTP/1.1\r\nHost: h\r\n\r\n"
local POST = "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 10\r\n\r\n"

-- Something that is done elsewhere, and never.
local function stub(L)
  return alt.foreign(function() L "started" return "token" end,
    function(token) L("given up: " .. token) end)
end

-- A client of one resource with these keys.
local function serve(keys)
  local app = web.app { web.resource("/", web.machine(keys)),
    web.get("/quick", function() return "quick" end) }
  return test.app(app):over_socket()
end

-- Sends, and waits until the handler has begun.
local function send(client, octets, L)
  local conn = client:raw(octets)
  while not L[1] do web.sleep(0.001) end
  return conn
end

-- Closes a connection so that its server gets a reset: an answer lies unread in it.
local function reset(client, L, octets)
  local conn = client:raw("GET /quick HTTP/1.1\r\nHost: h\r\n\r\n" .. (octets or HEAD))
  while not L[1] do web.sleep(0.001) end
  web.sleep(0.02)
  conn:close()
end

local function wait_for(L, count)
  for _ = 1, 500 do
    if #L >= count then break end
    web.sleep(0.01)
  end
  return { unpack(L) }
end

describe("a handler whose client is gone", function()
  it("T98 gives up what it waits for, and its finalizers run", function()
    local L = concurrent.log()
    local client = serve { handle_ok = function()
      scope.finally(function(status, err) L(status .. ", " .. tostring(err)) end)
      return stub(L):sync()
    end }
    local log = error_log.of(function()
      reset(client, L)
      assert.same({ "started", "given up: token", "cancelled, cancelled: the client is "
        .. "gone" }, wait_for(L, 3))
    end)
    assert.equal("", log)
    assert.equal("quick", client:get("/quick").body)
  end)

  local function sleeps(L)
    return function()
      L "begun"
      local ok, err = pcall(web.sleep, 30)
      L(ok and "slept" or tostring(err))
    end
  end

  it("is cancelled at once by an end of the stream where the grace is 0", function()
    local L = concurrent.log()
    local client = serve { half_close_grace = 0, handle_ok = sleeps(L) }
    send(client, HEAD, L):close()
    assert.same({ "begun", "cancelled: the client is gone" }, wait_for(L, 2))
  end)

  it("is cancelled by an end of the stream once the grace is over", function()
    local L = concurrent.log()
    local client = serve { half_close_grace = 0.1, handle_ok = sleeps(L) }
    local conn = send(client, HEAD, L)
    conn:finish()
    web.sleep(0.03)
    assert.equal(1, #L)
    assert.same({ "begun", "cancelled: the client is gone" }, wait_for(L, 2))
    assert.same({ n = 2, nil, "closed" }, { n = 2, conn:receive(5) })
    conn:close()
  end)

  it("answers within the grace a client that has ended its stream", function()
    local client = serve { handle_ok = function()
      web.sleep(0.1)
      return "answer"
    end }
    local conn = client:raw(HEAD)
    conn:finish()
    assert.matches("answer$", conn:receive(5))
    conn:close()
  end)

  it("is cancelled while pipelined octets fill what is read ahead", function()
    local L = concurrent.log()
    local client = serve { half_close_grace = 0, handle_ok = sleeps(L) }
    local conn = send(client, HEAD:rep(3000), L)
    web.sleep(0.05)
    conn:close()
    assert.equal("cancelled: the client is gone", wait_for(L, 2)[2])
  end)

  for name, ending in pairs { ["a reset"] = "close", ["an end"] = "finish" } do
    it("is cancelled by " .. name .. " amid a body that it doesn't read", function()
      local L = concurrent.log()
      local client = serve { half_close_grace = 0, do_post = sleeps(L) }
      local conn = send(client, POST .. "abc", L)
      conn[ending](conn)
      assert.same({ "begun", "cancelled: the client is gone" }, wait_for(L, 2))
      conn:close()
    end)
  end

  it("is cancelled while it streams to nobody", function()
    local L = concurrent.log()
    local client = serve { half_close_grace = 0.05, handle_ok = function()
      return web.streaming(function(out)
        scope.finally(function(status) L(status) end)
        L "begun"
        out:write "first"
        web.sleep(30)
      end)
    end }
    send(client, HEAD, L):close()
    assert.same({ "begun", "cancelled" }, wait_for(L, 2))
  end)

  it("sends a large answer to a slow client that has ended its stream", function()
    local size = 20 * 2 ^ 20
    local client = serve { half_close_grace = 0.01, handle_ok = function()
      return ("x"):rep(size)
    end }
    local conn, got = client:raw(HEAD), 0
    conn:finish()
    web.sleep(0.1)
    while true do
      local octets = conn:receive(5)
      if not octets then break end
      got = got + #octets
    end
    assert(got > size, got)
    conn:close()
  end)

  it("goes on where on_disconnect is \"ignore\"", function()
    local L = concurrent.log()
    local client = serve { on_disconnect = "ignore", half_close_grace = 0,
      handle_ok = function(req)
        L "begun"
        L(tostring(alt.choose { req.closed:wrap_value "closed",
          web.after(0.2):wrap_value "slept" }:sync()))
      end }
    reset(client, L)
    assert.same({ "begun", "slept" }, wait_for(L, 2))
  end)
end)

describe("a machine's timeout", function()
  for _, on_disconnect in ipairs { "notify", "ignore" } do
    it("still ends the work for a client that is gone: " .. on_disconnect, function()
      local L = concurrent.log()
      local client = serve { on_disconnect = on_disconnect, timeout = 0.2,
        handle_ok = function()
          L "begun"
          local ok, err = pcall(web.sleep, 30)
          L(ok and "slept" or tostring(err))
        end }
      local log = error_log.of(function()
        reset(client, L)
        assert.same({ "begun", "cancelled: it took too long" }, wait_for(L, 2))
      end)
      assert.matches("GET /: its handler took longer than the machine's timeout", log)
      assert.equal("quick", client:get("/quick").body)
    end)
  end
end)

describe("a timeout and a grace that are over at once", function()
  it("end the request once", function()
    local L = concurrent.log()
    local client = serve { timeout = 0.2, half_close_grace = 0.2, handle_ok = function()
      L "begun"
      local _, err = pcall(web.sleep, 30)
      L(tostring(err))
    end }
    local log = error_log.of(function()
      local conn = client:raw(HEAD)
      conn:finish()
      web.sleep(0.15)
      local over = now() + 0.1
      repeat until now() > over -- both pass before the loop goes on
      assert.same({ "begun", "cancelled: it took too long" }, wait_for(L, 2))
      assert.matches("^HTTP/1.1 503 ", conn:receive(5))
      conn:close()
    end)
    assert.matches("its handler took longer", log)
    assert.equal("quick", client:get("/quick").body)
  end)
end)

describe("req.closed", function()
  local function waits(L)
    return function(req)
      L "begun"
      req.closed:sync()
      L "closed"
      local ok, err = pcall(web.sleep, 0.01)
      L(ok and "slept" or tostring(err))
      return "answer"
    end
  end

  it("is ready before the handler is cancelled", function()
    local L = concurrent.log()
    reset(serve { handle_ok = waits(L) }, L)
    assert.same({ "begun", "closed", "cancelled: the client is gone" }, wait_for(L, 3))
  end)

  it("is all that happens where on_disconnect is \"notify\"", function()
    local L = concurrent.log()
    local client = serve { on_disconnect = "notify", half_close_grace = 0,
      handle_ok = waits(L) }
    local conn = send(client, HEAD, L)
    conn:finish()
    assert.same({ "begun", "closed", "slept" }, wait_for(L, 3))
    assert.matches("answer$", conn:receive(5)) -- it has only ended its stream
    conn:close()
  end)

  it("is ready for jobs, and for who asks only afterwards", function()
    local L = concurrent.log()
    local client = serve { on_disconnect = "notify", handle_ok = function(req)
      L "begun"
      local watcher = job.spawn(function() req.closed:sync() L "seen by a job" end)
      watcher:join()
      L(tostring(req.closed:ready()))
    end }
    reset(client, L)
    assert.same({ "begun", "seen by a job", "true" }, wait_for(L, 3))
  end)

  it("is not ready while the client is there", function()
    local ready
    local client = serve { handle_ok = function(req)
      ready = { req.closed:ready(), (alt.poll(req.closed)) }
      return "x"
    end }
    assert.equal("x", client:get("/").body)
    assert.same({ false, false }, ready)
  end)
end)
