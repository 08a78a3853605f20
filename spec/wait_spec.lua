-- SPDX-License-Identifier: MIT
-- Waiting: handlers that sleep, where waiting can't work and says so, coroutines of the
-- app's own, and recursion without end (lua/luaweb/sched.lua, host.lua).
local error_log = require "spec.support.error_log"
local job = require "luaweb.job"
local now = require("system").monotime
local test = require "luaweb.test"
local web = require "luaweb"
local without_id = require "spec.support.without_id"

-- Each test gives its handler.
local handler
local client = test.app(web.app {
  web.any("/", function(req) return handler(req) end),
  web.resource("/stay", web.machine {
    on_disconnect = "ignore",
    handle_ok = function(req) return handler(req) end,
  }),
  web.get("/quick", function() return "quick" end),
  web.get("/sleep/{ms}", function(req)
    web.sleep(req.params.ms / 1000)
    return "slept " .. req.params.ms
  end),
})

local function read_all(conn)
  local parts = {}
  while true do
    local octets = conn:receive(5)
    if not octets then break end
    parts[#parts + 1] = octets
  end
  conn:close()
  return table.concat(parts)
end

--- The 500 of a handler, which nobody else notices, and its log.
local function failure_of(fn)
  handler = fn
  local res
  local log = error_log.of(function() res = client:get("/", { timeout = 5 }) end)
  assert.same({ 500, "500 Internal Server Error\n" },
    { res.status, without_id(res.body) })
  assert.equal("quick", client:get("/quick").body)
  return log
end

describe("web.sleep", function()
  it("waits at least so long", function()
    for _, seconds in ipairs { 0, 0.001, 0.02, 0.0301 } do
      local start = now()
      web.sleep(seconds)
      assert.is_true(now() - start >= seconds - 0.001)
    end
  end)

  it("lets others be served meanwhile", function()
    local conn = client:raw "GET /sleep/1000 HTTP/1.1\r\nHost: h\r\n\r\n"
    for _ = 1, 10 do assert.equal("quick", client:get("/quick").body) end
    assert.same({ nil, "timeout" }, { conn:receive(0) })
    assert.matches("slept 1000$", conn:receive(5))
    conn:close()
  end)

  it("keeps pipelined answers in order", function()
    local conn = client:raw("GET /sleep/40 HTTP/1.1\r\nHost: h\r\n\r\n"
      .. "GET /quick HTTP/1.1\r\nHost: h\r\n\r\n"
      .. "GET /sleep/1 HTTP/1.1\r\nHost: h\r\n\r\n"
      .. "GET /quick HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n")
    local order = {}
    for body in read_all(conn):gmatch "\r\n\r\n(%l+[ %d]*)" do
      order[#order + 1] = body
    end
    assert.same({ "slept 40", "quick", "slept 1", "quick" }, order)
  end)

  it("never ends before its time, however many end at once", function()
    local done, short = 0, 0
    for _ = 1, 6000 do
      job.spawn(function()
        web.sleep(0.05)
        local start = now()
        web.sleep(0.2)
        if now() - start < 0.199 then short = short + 1 end
        done = done + 1
      end)
    end
    local deadline = now() + 10
    while done < 6000 and now() < deadline do web.sleep(0.02) end
    assert.same({ 6000, 0 }, { done, short })
  end)

  for title, value in pairs {
    ["-1"] = -1, ["-1/0"] = -1 / 0, ["0/0"] = 0 / 0, ["text"] = "x",
    ["a numeral"] = "1", ["a table"] = {}, ["true"] = true,
  } do
    it("refuses " .. title .. " at the place of the call", function()
      local ok, message = pcall(function() web.sleep(value) end)
      assert.is_false(ok)
      assert.matches("wait_spec.lua:%d+: web.sleep wants a number of seconds", message)
    end)
  end

  it("refuses nothing at all", function()
    assert.error_matches(function() web.sleep() end, "web.sleep wants a number")
    assert.error_matches(function() web.sleep(nil) end, "web.sleep wants a number")
  end)
end)

describe("ten thousand handlers", function()
  it("may sleep at once, whether their clients are still there or not", function()
    local most, asleep, done, kept = 0, 0, 0, {}
    handler = function()
      asleep = asleep + 1
      most = math.max(most, asleep)
      while most < 10000 do web.sleep(0.1) end
      asleep, done = asleep - 1, done + 1
      return "awake"
    end
    local leaving = {}
    for i = 1, 10000 do
      local conn = client:raw("GET /stay HTTP/1.1\r\nHost: h\r\n"
        .. "Connection: close\r\n\r\n")
      table.insert(i % 10 == 0 and kept or leaving, conn)
      if i % 500 == 0 then
        while most < i do web.sleep(0.001) end
        while leaving[1] do table.remove(leaving):close() end
      end
    end
    for _, conn in ipairs(kept) do assert.matches("awake$", read_all(conn)) end
    local deadline = now() + 10
    while done < 10000 and now() < deadline do web.sleep(0.01) end
    assert.same({ 10000, 10000, 0 }, { most, done, asleep })
    assert.equal("quick", client:get("/quick").body)
  end)
end)

describe("waiting where it can't work", function()
  local waits = {
    ["web.sleep"]  = function() web.sleep(0) end,
    ["job:join"]   = function(_, ended) ended:join() end,
    ["req:bytes"]  = function(req) req:bytes() end,
    ["req:text"]   = function(req) req:text() end,
    ["req:json"]   = function(req) req:json() end,
    ["req:form"]   = function(req) req:form() end,
    ["req:chunks"] = function(req) req:chunks() end,
  }
  local C_CALLBACK = "called inside a callback of a C function"
  local places = {
    ["a comparator of table.sort"] = { C_CALLBACK, function(wait)
      table.sort({ 2, 1 }, function(a, b)
        wait()
        return a < b
      end)
    end },
    ["a callback of string.gsub"] = { C_CALLBACK, function(wait)
      local text = ("x"):gsub("x", function() wait() end)
      return text
    end },
    ["a coroutine of the app's own"] = {
      "called in a coroutine that luaweb did not start",
      function(wait) coroutine.wrap(wait)() end,
    },
  }

  for what, wait in pairs(waits) do
    for place, case in pairs(places) do
      it(("is an error at once: %s in %s"):format(what, place), function()
        local message
        handler = function(req)
          local ended = job.spawn(function() end)
          ended:join()
          local ok
          ok, message = pcall(case[2], function() wait(req, ended) end)
          return ok and 200 or 204
        end
        local form = { ["Content-Type"] = "application/x-www-form-urlencoded" }
        local res = client:post("/", { body = "[]", headers = form })
        assert.equal(204, res.status)
        assert.matches(("wait_spec.lua:%%d+: %s can't wait here: it was %s"):format(
          what, case[1]), message)
      end)
    end
  end

  it("is a 500 that names the call in the log", function()
    local log = failure_of(function()
      table.sort({ 2, 1 }, function() web.sleep(1) end)
    end)
    assert.matches("wait_spec.lua:%d+: web.sleep can't wait here", log)
  end)
end)

describe("coroutine.yield", function()
  it("works in coroutines of the app's own", function()
    handler = function()
      local sum = 0
      for n in coroutine.wrap(function() for i = 1, 9 do coroutine.yield(i) end end) do
        sum = sum + n
      end
      return tostring(sum)
    end
    assert.equal("45", client:get("/").body)
  end)

  for title, values in pairs {
    ["nothing"] = {}, ["a value"] = { 1 }, ["what a scheduler may use"] = { "idle" },
    ["the same"] = { "parked" },
  } do
    it("in a handler is a 500 and not a wait without end: " .. title, function()
      local log = failure_of(function() coroutine.yield(unpack(values)) end)
      assert.matches("coroutine.yield can't be called here", log)
      assert.matches("wait_spec.lua:%d+: in function", log)
    end)
  end

  it("in a handler that has waited is the same", function()
    assert.matches("coroutine.yield can't be called here", failure_of(function()
      web.sleep(0.01)
      coroutine.yield()
    end))
  end)
end)

describe("a recursion without end", function()
  local function deeper(n) return deeper(n + 1) + 1 end
  local function through_pcall() return pcall(through_pcall) and 1 end
  local function with_error() return with_error() + error "no" end

  for title, fn in pairs {
    ["in Lua"] = deeper,
    ["after a wait"] = function()
      web.sleep(0)
      return deeper(1)
    end,
    ["in the text of an error"] = function()
      error(setmetatable({}, { __tostring = deeper }))
    end,
  } do
    it(title .. " is a 500, and the worker goes on", function()
      assert.matches("error %[", failure_of(function() return tostring(fn(1)) end))
    end)
  end

  it("that the app catches harms nothing", function()
    handler = function()
      pcall(through_pcall)
      return tostring(pcall(with_error))
    end
    assert.equal("false", client:get("/").body)
    assert.equal("quick", client:get("/quick").body)
  end)
end)
