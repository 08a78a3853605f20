-- SPDX-License-Identifier: MIT
-- More than the server may take: connections, descriptors, Lua memory.  What is too
-- much is told so and can try again; what is being served goes on.
local process = require "spec.support.process"
local web = require "luaweb"

local ROOT = process.get "/"

after_each(process.clean)

-- Asks on new connections until one is served (there is at most so much time).
local function serves_within(child, seconds)
  local status
  for _ = 1, seconds * 20 do
    status = child:ask(ROOT).status
    if status == 200 then return end
    web.sleep(0.05)
  end
  error(("not served within %g s, but answered %d"):format(seconds, status), 2)
end

local function is_told_to_come_back(answer)
  assert.equal(503, answer.status)
  assert.matches("^%d+$", answer:header "retry-after")
end

describe("--max-connections", function()
  -- So many connections, each of which was served.
  local function fill(child, count)
    local conns = {}
    for i = 1, count do
      conns[i] = child:connect()
      assert.equal(200, child:ask(ROOT, conns[i]).status)
    end
    return conns
  end

  it("serves as many as it says, again and again", function()
    local child = process.serve("spec/apps/cases.lua", "--max-connections", "3")
    local conns = fill(child, 3)
    for i = 1, 3 do assert.equal(200, child:ask(ROOT, conns[i]).status) end
    assert.equal("", child:errors())
  end)

  it("answers 503 to one more, says when to come back, and closes", function()
    local child = process.serve("spec/apps/cases.lua", "--max-connections", "3")
    local conns, one_more = fill(child, 3), child:connect()
    local answer = process.answers(one_more)
    is_told_to_come_back(answer)
    assert.equal("close", answer:header "connection")
    assert.matches("too many connections", answer.body)
    assert.equal("closed", select(2, process.rest(one_more)))
    one_more:close()
    for i = 1, 3 do assert.equal(200, child:ask(ROOT, conns[i]).status) end
  end)

  it("serves again when one closes", function()
    local child = process.serve("spec/apps/cases.lua", "--max-connections", "3")
    local conns = fill(child, 3)
    is_told_to_come_back(child:ask(ROOT))
    conns[2]:close()
    serves_within(child, 2)
    assert.equal(200, child:ask(ROOT, conns[1]).status)
  end)

  it("closes without a word where 64 more are being told", function()
    local child = process.serve("spec/apps/cases.lua", "--max-connections", "1")
    local conns = fill(child, 1)
    for i = 2, 65 do conns[i] = child:connect() end
    for i = 2, 65 do is_told_to_come_back(process.answers(conns[i])) end
    local octets, ending = process.rest(child:connect())
    assert.equal("", octets)
    assert.equal("closed", ending)
    assert.equal(200, child:ask(ROOT, conns[1]).status)
  end)
end)

describe("The limit of descriptors", function()
  local binary = process.binary
  after_each(function() process.binary = binary end)

  -- Serves with such limits of its own; the shell that sets them becomes luaweb.
  local function serve_with(limits, ...)
    process.binary = process.file("luaweb", ("#!/bin/sh\n%s\nexec '%s' \"$@\"\n")
      :format(limits, binary))
    assert.equal(0, os.execute("chmod +x " .. process.binary))
    return process.serve("spec/apps/cases.lua", ...)
  end

  local function soft_and_hard(child)
    local file = assert(io.open(("/proc/%d/limits"):format(child.pid)))
    local text = file:read "*a"
    file:close()
    return text:match "Max open files%s+(%d+)%s+(%d+)"
  end

  it("is raised as far as it may be", function()
    local child = serve_with "ulimit -Sn 100; ulimit -Hn 700"
    local soft, hard = soft_and_hard(child)
    assert.equal("700", hard)
    assert.equal("700", soft)
  end)

  it("lowers --max-connections to what it allows, and says so at the start", function()
    local child = serve_with "ulimit -n 700"
    assert.matches("^%S+ info  at most 636 connections: ulimit %-n is 700\n$",
      child:errors())
  end)

  it("is not spoken of where it is high enough", function()
    local child = serve_with("ulimit -n 700", "--max-connections", "636")
    assert.equal("", child:errors())
  end)

  it("is answered with 503 when connections come close to it", function()
    local child = serve_with "ulimit -n 130"
    local conns = {}
    for i = 1, 66 do
      conns[i] = child:connect()
      assert.equal(200, child:ask(ROOT, conns[i]).status)
    end
    is_told_to_come_back(process.answers(child:connect()))
  end)

  it("leaves half to connections where it is very low", function()
    assert.matches("at most 20 connections: ulimit %-n is 40\n$",
      serve_with("ulimit -n 40"):errors())
  end)
end)

describe("--lua-memory", function()
  -- /hoard takes 40 MiB, tells so, and lets go after so many seconds.
  local APP = [[
local web = require "luaweb"
local hoard = {}
local function let_go(seconds)
  web.sleep(seconds)
  hoard = {}
end
local function fill(req)
  for i = 1, 40 do hoard[i] = ("x"):rep(2 ^ 20) .. i end
  require("luaweb.job").background(let_go, tonumber(req.params.seconds))
end
return web.app {
  web.get("/", function() return "root" end),
  web.get("/hoard/{seconds}", fill),
  web.get("/slow", function() web.sleep(0.3) return "slow" end),
}
]]

  local function serve(limit)
    return process.serve(process.file("hoard.lua", APP), "--lua-memory", limit)
  end

  -- No new generation can take the place of the one that holds too much.
  local function serve_alone(limit)
    local child = serve(limit)
    process.file("hoard.lua", "error 'broken'")
    return child
  end

  local function hoard(child, seconds)
    assert.equal(204, child:ask(process.get("/hoard/" .. seconds)).status)
    -- Whether there is too much is asked in front of what is done next.
    child:ask(ROOT)
  end

  it("answers 503 to new requests while Lua holds more, and logs it once", function()
    local child = serve_alone "32m"
    hoard(child, 60)
    for _ = 1, 3 do is_told_to_come_back(child:ask(ROOT)) end
    local log, count = child:errors():gsub(
      "error Lua holds %d+ MiB, more than %-%-lua%-memory", "")
    assert.equal(1, count, log)
  end)

  it("keeps the connection of a request that it refuses", function()
    local child = serve_alone "32m"
    hoard(child, 60)
    local conn = child:connect()
    for _ = 1, 3 do is_told_to_come_back(child:ask(ROOT, conn)) end
    conn:close()
  end)

  it("lets what runs go on, and answers that need no Lua", function()
    local child = serve_alone "32m"
    local slow = child:connect(process.get "/slow")
    hoard(child, 60)
    is_told_to_come_back(child:ask(ROOT))
    assert.equal("slow", process.answers(slow).body)
    assert.equal(404, child:ask(process.get "/missing").status)
    slow:close()
  end)

  it("serves again once Lua has let go", function()
    local child = serve_alone "32m"
    hoard(child, 0.5)
    is_told_to_come_back(child:ask(ROOT))
    serves_within(child, 8)
  end)

  it("replaces the generation that holds it by a new one", function()
    local child = serve "32m"
    hoard(child, 60)
    serves_within(child, 8)
    child:says "reload: Lua held more than %-%-lua%-memory\n.*reload: generation 2"
  end)

  it("is no matter of garbage that nothing holds", function()
    local child = serve "64m"
    for _ = 1, 5 do assert.equal(204, child:ask(process.get "/hoard/0").status) end
    assert.equal(200, child:ask(ROOT).status)
    child:stop()
  end)

  it("is switched off by 0", function()
    local child = serve "0"
    hoard(child, 60)
    assert.equal(200, child:ask(ROOT).status)
    child:stop()
  end)
end)
