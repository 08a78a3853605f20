-- SPDX-License-Identifier: MIT
-- out:writable(): the alternative that out:write would not wait.
local alt = require "luaweb.alt"
local concurrent = require "spec.support.concurrent"
local error_log = require "spec.support.error_log"
local test = require "luaweb.test"
local web = require "luaweb"

local PIECE = ("x"):rep(2 ^ 20)

-- A client of a stream; what the function logs goes to L.
local function serve(fn)
  local client = test.app(web.app { web.get("/", function()
    return web.streaming(fn)
  end) })
  return client:raw "GET / HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n"
end

local function wait_for(L, count)
  for _ = 1, 500 do
    if #L >= count then break end
    web.sleep(0.01)
  end
  return { unpack(L) }
end

-- Which of the two is first: there is room, or a short time is over.
local function first(out)
  return (alt.choose { out:writable():wrap_value "room",
    web.after(0.05):wrap_value "late" }:sync())
end

local function fill(out)
  while first(out) == "room" do out:write(PIECE:sub(1, 65536)) end
end

describe("out:writable", function()
  it("is ready at once while the client keeps up", function()
    local L = concurrent.log()
    local conn = serve(function(out)
      for _ = 1, 3 do
        L(first(out))
        out:write "piece"
      end
    end)
    assert.same({ "room", "room", "room" }, wait_for(L, 3))
    conn:close()
  end)

  it("waits for a client that doesn't read, and is ready once that reads", function()
    local L = concurrent.log()
    local conn = serve(function(out)
      fill(out)
      L(first(out))
      out:writable():sync()
      L "room again"
    end)
    assert.same({ "late" }, wait_for(L, 1))
    while #L < 2 and conn:receive(5) do web.sleep(0) end
    assert.same({ "late", "room again" }, wait_for(L, 2))
    conn:close()
  end)

  it("takes nothing back: what lost can be waited for again", function()
    local L = concurrent.log()
    local conn = serve(function(out)
      fill(out)
      local writable = out:writable()
      for _ = 1, 3 do
        L((alt.choose { writable:wrap_value "room", web.after(0.01):wrap_value "late" }
          :sync()))
      end
    end)
    assert.same({ "late", "late", "late" }, wait_for(L, 3))
    conn:close()
  end)

  it("raises when nobody is there to write to", function()
    local L = concurrent.log()
    local log = error_log.of(function()
      local conn = serve(function(out)
        local ok, err = pcall(fill, out)
        L(tostring(ok) .. ", " .. tostring(err))
      end)
      conn:close()
      assert.matches("^false, .*the client is gone", wait_for(L, 1)[1])
    end)
    assert.equal("", log)
  end)

  it("is an error once the request has ended", function()
    local kept
    local conn = serve(function(out)
      kept = out
      out:write "x"
    end)
    while conn:receive(5) do web.sleep(0) end
    assert.error_matches(function() kept:writable() end, "this request has ended")
    conn:close()
  end)
end)
