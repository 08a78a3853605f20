-- SPDX-License-Identifier: MIT
local faulty = require "spec.support.faulty_server"
local ffi = require "ffi"
local pool = require "luaweb.fetch.pool"
local test = require "luaweb.test"
local web = require "luaweb"

ffi.cdef [[
int fanout_setenv(const char *name, const char *value, int overwrite) __asm__("setenv");
int fanout_unsetenv(const char *name) __asm__("unsetenv");
]]

after_each(function()
  pool.close_idle()
  faulty.clean()
end)

-- The app, asking these servers.
local function fanout(...)
  local urls = {}
  for i, server in ipairs { ... } do urls[i] = server.url .. "/offer" end
  ffi.C.fanout_setenv("FANOUT_UPSTREAMS", table.concat(urls, " "), 1)
  local client = test.app "apps/fanout.lua"
  ffi.C.fanout_unsetenv "FANOUT_UPSTREAMS"
  return client
end

local function shop(price)
  return faulty.answering(faulty.ok(('{"price":%d}'):format(price)))
end

-- A server that is asked and does not answer; `is_left`: the client has closed.
local function silent()
  return faulty.start(function(conn)
    conn.asked = conn:receive_head()
    conn.is_gone = conn:is_left()
  end)
end

describe("apps/fanout.lua", function()
  it("answers with the first two, and really leaves the third", function()
    local third = silent()
    local res = fanout(third, shop(1), shop(2)):get "/offers"
    assert.equal(200, res.status)
    local found = res:json()
    table.sort(found.offers, function(a, b) return a.price < b.price end)
    assert.same({ offers = { { price = 1 }, { price = 2 } }, faults = {} }, found)
    local conn = third.conns[1]
    assert.matches("^GET /offer HTTP/1.1\r\n", conn.asked)
    for _ = 1, 500 do
      if conn.is_gone then break end
      web.sleep(0.01)
    end
    assert.is_true(conn.is_gone)
    assert.same({ 2, 2 }, { pool.count() })
  end)

  it("does not mind one that fails", function()
    local broken = faulty.answering "HTTP/1.1 500 X\r\nContent-Length: 0\r\n\r\n"
    local res = fanout(broken, shop(1), shop(2)):get "/offers"
    assert.equal(200, res.status)
    assert.equal(2, #res:json().offers)
  end)

  it("answers 504 when there are no two in time, and says why", function()
    local gone = { url = "http://127.0.0.1:" .. faulty.closed_port() }
    local res = fanout(silent(), gone, shop(1)):get "/offers"
    assert.equal(504, res.status)
    local found = res:json()
    assert.same({ { price = 1 } }, found.offers)
    assert.matches("connection refused", found.faults[1])
    assert.matches("not done within 1 s", found.faults[2])
    assert.same({ 1, 1 }, { pool.count() })
  end)

  it("is three shops itself", function()
    local client = test.app "apps/fanout.lua"
    assert.same({ shop = "corner", price = 12 }, client:get("/shops/corner"):json())
    assert.same({ shop = "market", price = 9 }, client:get("/shops/market"):json())
    assert.equal(404, client:get("/shops/none").status)
  end)
end)
