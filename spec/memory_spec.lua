-- SPDX-License-Identifier: MIT
-- What the server process holds in memory, while clients do what they can to fill it.
local process = require "spec.support.process"

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
