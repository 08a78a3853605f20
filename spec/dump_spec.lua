-- SPDX-License-Identifier: MIT
-- What job.dump and job.stats tell of a server's handlers (lua/luaweb/dump.lua).
local json = require "luaweb.json"
local process = require "spec.support.process"
local web = require "luaweb"

local APP = "spec/apps/looked_at.lua"

local child, conns

before_each(function()
  conns = {}
  child = process.serve(APP)
end)
after_each(process.clean)

-- Sends octets, whose handler waits from then on.
local function ask(octets)
  conns[#conns + 1] = child:connect(octets)
end

-- Asks for the dump until it has a line with this, of what is not about to go on.
local function wait_for(text)
  local dump
  for _ = 1, 200 do
    dump = child:ask(process.get "/dump").body
    for line in dump:gmatch "[^\n]+" do
      local is_there = line:find(text, 1, true) and not line:find " ready"
      if is_there then return line, dump end
    end
    web.sleep(0.02)
  end
  error(("%q is not in:\n%s"):format(text, dump), 2)
end

local ID = "%[%x+%-%d+%]"

describe("job.dump in a server", function()
  it("tells of a handler that waits, even by a tail call", function()
    ask(process.get "/listen")
    local line = wait_for "GET /listen"
    assert.matches("^handler spec/apps/looked_at%.lua:10 GET /listen " .. ID
      .. " parked for chan:take$", line)
  end)

  it("tells of the handler that asks", function()
    local line = wait_for "GET /dump"
    assert.matches("^handler spec/apps/looked_at%.lua:%d+ GET /dump " .. ID
      .. " running$", line)
  end)

  it("tells of jobs by the request that they belong to", function()
    ask(process.get "/job")
    local line, dump = wait_for "GET /job"
    assert.matches(" parked for job:join$", line)
    local id = line:match(ID):gsub("%p", "%%%0")
    assert.matches("\njob spec/apps/looked_at%.lua:15 " .. id
      .. " parked for chan:take\n", dump .. "\n")
  end)

  it("tells of content that has not come", function()
    ask(process.post("/body", "hello"):sub(1, -3))
    local line = wait_for "POST /body"
    assert.matches(" parked for content of POST /body$", line)
  end)

  it("tells of a client that does not read", function()
    ask(process.get "/stream")
    local line = wait_for "which reads slowly"
    assert.matches("GET /stream " .. ID
      .. " parked for the client of GET /stream, which reads slowly$", line)
  end)

  it("tells of a socket", function()
    ask(process.get("/ask/" .. child.port))
    assert.matches(" parked for a socket$", wait_for "GET /ask")
  end)

  it("tells of a handler that goes on after its request has ended", function()
    child = process.serve(APP, "--request-timeout", "0.3")
    ask(process.get "/shielded")
    local line = wait_for "[a request that has ended]"
    assert.equal("handler spec/apps/looked_at.lua:19 [a request that has ended] "
      .. "parked for chan:take (cancelled) (shielded)", line)
  end)

  it("tells nothing of those that have ended", function()
    ask(process.post("/body", "hello"):sub(1, -3))
    wait_for "POST /body"
    conns[1]:send "lo"
    process.answers(conns[1])
    local dump = child:ask(process.get "/dump").body
    assert.matches("^0 jobs, 1 handlers\n[^\n]*GET /dump[^\n]*\n[^\n]*$", dump)
  end)
end)

describe("job.stats in a server", function()
  it("counts handlers and what they wait for", function()
    ask(process.get "/listen")
    ask(process.get "/job")
    wait_for "GET /listen"
    wait_for "GET /job"
    local now = json.decode(child:ask(process.get "/stats").body)
    assert.same({ 1, 3, 0, 3 }, { now.jobs, now.handlers, now.ready, now.parked })
    assert.equal(4, now.coroutines)
  end)

  it("does not count the loading of the app as a turn", function()
    local slow = process.serve(process.file("slow.lua", [[
      local now, web = require("system").monotime, require "luaweb"
      local start = now()
      repeat until now() - start > 0.5
      return web.app {
        web.get("/", function() return web.json(require("luaweb.job").stats()) end) }
      ]]))
    local now = json.decode(slow:ask(process.get "/").body)
    assert.is_true(now.longest_turn < 0.5, now.longest_turn)
    slow:stop()
  end)
end)
