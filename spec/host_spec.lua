-- SPDX-License-Identifier: MIT
-- What the host promises where C, the loop and Lua meet: turns go on by themselves, a
-- client that left costs nothing and lends its address to nobody, and no recursion ends
-- the worker.
local http_reader = require "luaweb.client.http_reader"
local job = require "luaweb.job"
local test = require "luaweb.test"
local web = require "luaweb"

describe("the host", function()
  it("lets thousands of jobs go on without an event from outside", function()
    local client = test.app(web.app { web.get("/", function()
      local jobs, sum = {}, 0
      for i = 1, 5000 do jobs[i] = job.spawn(function() return i end) end
      for i = 1, 5000 do sum = sum + jobs[i]:join() end
      return tostring(sum)
    end) })
    assert.equal("12502500", client:get("/", { timeout = 2 }).body)
  end)

  it("spends nothing on a client that left while its handler sleeps", function()
    local client = test.app(web.app { web.get("/", function()
      web.sleep(0.6)
      return "x"
    end) })
    local conn = client:raw "GET / HTTP/1.1\r\nHost: h\r\n\r\n"
    web.sleep(0.05)
    conn:close()
    local before = os.clock()
    web.sleep(0.4)
    assert.is_true(os.clock() - before < 0.05, "CPU: " .. os.clock() - before)
    web.sleep(0.3)
  end)

  it("keeps the address of a client that is gone for its request", function()
    local seen, go_on
    local client = test.app(web.app {
      web.resource("/", web.machine {
        on_disconnect = "ignore",
        handle_ok = function(req)
          local before = req.peer
          while not go_on do web.sleep(0.01) end
          seen = { before, req.peer }
        end,
      }),
      web.get("/other", function() return "x" end),
    })
    local tcp = client:over_socket()
    -- A reset, not an end: octets lie unread in the client's socket when it closes.
    local conn = tcp:raw("GET /other HTTP/1.1\r\nHost: h\r\n\r\n"
      .. "GET / HTTP/1.1\r\nHost: h\r\n\r\n")
    web.sleep(0.05)
    conn:close()
    web.sleep(0.05)
    local other = client:connect() -- takes the memory of the connection
    web.sleep(0.05)
    go_on = true
    web.sleep(0.05)
    other:close()
    assert.same({ "127.0.0.1", "127.0.0.1" }, seen)
  end)

  it("sends no 100 (Continue) within an answer that has begun", function()
    local client = test.app(web.app { web.post("/", function(req)
      return web.streaming(function(out)
        for chunk in req:chunks() do out:write(chunk) end
      end)
    end) })
    local conn = client:raw("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\n"
      .. "Expect: 100-continue\r\n\r\n")
    local octets = conn:receive(5)
    web.sleep(0.05)
    conn:send "hello"
    while true do
      local more = conn:receive(5)
      if not more then break end
      octets = octets .. more
    end
    conn:close()
    local messages, _, err = http_reader.read(octets, { "POST" }, true)
    assert.is_nil(err, ("%q"):format(octets))
    assert.equal("hello", messages[1].body)
  end)

  it("answers 500 to a recursion without end through C, and goes on", function()
    local function through_c() return (("x"):gsub("x", through_c)) end
    local client = test.app(web.app { web.get("/", through_c) })
    assert.equal(500, client:get("/").status)
  end)
end)
