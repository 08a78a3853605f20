-- SPDX-License-Identifier: MIT
-- What the server process holds, in memory and descriptors, while clients do what they
-- can to fill it.
local lfs = require "lfs"
local process = require "spec.support.process"
local web = require "luaweb"

local APP = "spec/apps/reports.lua"

after_each(process.clean)

describe("memory", function()
  it("does not hold a chunked body beyond the limit", function()
    local child = process.serve(APP, "--max-body", "1m")
    local before = child:status "VmHWM"
    local conn = child:connect(process.post_chunks "/echo")
    local chunk = "10000\r\n" .. ("x"):rep(65536) .. "\r\n"
    for _ = 1, 800 do
      if not conn:send(chunk) then break end
    end
    local octets = process.rest(conn)
    assert.matches("^HTTP/1%.1 413 ", octets)
    conn:close()
    local grown = child:status "VmHWM" - before
    assert(grown < 20480, grown .. " KiB more")
  end)

  it("does not grow with requests on kept connections", function()
    local child = process.serve(APP)
    local conns, request = {}, process.get "/"
    for i = 1, 100 do conns[i] = child:connect() end
    local function ask_all(rounds)
      for _ = 1, rounds do
        for i = 1, #conns do conns[i]:send(request) end
        for i = 1, #conns do process.answers(conns[i]) end
      end
      child:ask(process.get "/collect")
      return child:status "VmRSS"
    end
    local before = ask_all(20)
    local grown = ask_all(100) - before
    assert(grown < 2048, grown .. " KiB more after 10,000 requests")
    for i = 1, #conns do conns[i]:close() end
  end)
end)

describe("descriptors", function()
  local function count(child)
    local number, worker = 0, child:workers()[1]
    for _ in lfs.dir(("/proc/%d/fd"):format(worker)) do number = number + 1 end
    return number
  end

  it("are given back by 1000 clients that leave at any point", function()
    local child = process.serve(APP)
    assert.equal("root", child:ask(process.get "/").body)
    web.sleep(0.2) -- until that one is closed
    local before = count(child)
    local beginnings = {
      "", "GET / HT", process.post("/echo", "hello"):sub(1, -2), process.get "/",
      process.get "/stream/10000000", process.post_chunks("/late/1", "5\r\nhe"),
      process.get "/late/1" .. process.get "/stream/1000000" .. process.get "/",
    }
    for i = 1, 1000 do
      local conn = child:connect(beginnings[i % #beginnings + 1])
      if i % 3 == 0 then conn:receive(0.001) end
      conn:close()
    end
    local left
    for _ = 1, 40 do
      left = count(child)
      if left <= before then break end
      web.sleep(0.05)
    end
    assert(left <= before, ("%d before, %d left"):format(before, left))
    assert.equal("root", child:ask(process.get "/").body)
    child:stop()
  end)
end)
