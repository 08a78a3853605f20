-- SPDX-License-Identifier: MIT
-- Offloaded functions among others: what goes on meanwhile, how many run and wait, what
-- becomes of those that nobody waits for, and their memory and stack.
local abi = require "luaweb.abi"
local error_log = require "spec.support.error_log"
local job = require "luaweb.job"
local offload = require "luaweb.offload"
local process = require "spec.support.process"
local response = require "luaweb.response"
local web = require "luaweb"

local C, host = abi.C, abi.host
local AT_ONCE, IN_LINE = offload.at_once(), 256

-- block(path): stands still until somebody opens the FIFO for writing.
local SIDE = [[
local M = {}
function M.block(path) return io.open(path):read "*l" end
function M.echo(value) return value end
function M.note(path) io.open(path, "a"):close() end
function M.fill() local list = {}; for i = 1, 1e8 do list[i] = { i } end end
function M.for_ever() while true do end end
function M.deep() return (("x"):gsub("x", M.deep)) end
return M
]]

local before = package.path
local fifos -- of blocked functions

before_each(function()
  fifos = {}
  package.path = process.path "?.lua" .. ";" .. before
  process.file("aside.lua", SIDE)
end)

after_each(function()
  package.path = before
  process.clean()
end)

-- Starts a function that blocks its thread, with this number.
local function block(i)
  fifos[i] = process.path("fifo." .. i)
  assert(os.execute("mkfifo " .. fifos[i]) == 0)
  return job.start(job.offload, "aside", "block", fifos[i])
end

-- Lets it end.  Opening waits until the function has opened, too.
local function release(i)
  local file = io.open(fifos[i], "w")
  file:write("released ", i, "\n")
  file:close()
end

local function block_all()
  local blocked = {}
  for i = 1, AT_ONCE do blocked[i] = block(i) end
  return blocked
end

local function release_all(blocked)
  for i = 1, AT_ONCE do release(i) end
  for i = 1, AT_ONCE do assert.equal("released " .. i, blocked[i]:join()) end
end

local function app_of(text)
  return process.file("app.lua", ([[
package.path = %q .. package.path
local web, job = require "luaweb", require "luaweb.job"
%s
return web.app { web.get("/", function() return "" end) }
]]):format(process.path "?.lua" .. ";", text))
end

describe("while offloaded functions run", function()
  it("other jobs do, and as many run as may at once", function()
    local blocked, ran = block_all(), false
    job.spawn(function() ran = true end):join()
    web.sleep(0.001)
    assert.is_true(ran)
    release_all(blocked) -- each has opened its FIFO
  end)

  it("the next waits in line until one of them ends", function()
    local blocked, done = block_all(), false
    local waiting = job.start(function()
      done = job.offload("aside", "echo", "next")
    end)
    web.sleep(0.02)
    assert.is_false(done)
    release_all(blocked)
    waiting:join()
    assert.equal("next", done)
  end)

  it("256 wait in line; the next is answered 503, and the log says so once", function()
    local blocked, waiting = block_all(), {}
    for i = 1, IN_LINE do waiting[i] = job.start(job.offload, "aside", "echo", i) end
    local log = error_log.of(function()
      for _ = 1, 3 do
        local ok, answer = pcall(job.offload, "aside", "echo", 1)
        assert.is_false(ok)
        assert.equal(response.Response, getmetatable(answer))
        assert.equal(503, answer.code)
      end
    end)
    assert.matches("^[^\n]* warn  too many functions are offloaded at once: some "
      .. "requests get 503\n$", log)
    release_all(blocked)
    for i = 1, IN_LINE do assert.equal(i, waiting[i]:join()) end
  end)
end)

describe("an offloaded function that nobody waits for any more", function()
  local function cancel_wait(fn)
    local waiting = job.start(fn)
    waiting:cancel "not needed"
    local ok, raised = pcall(waiting.join, waiting)
    assert.is_false(ok)
    assert.equal("cancelled: not needed", tostring(raised))
  end

  it("is taken out of line, and never runs", function()
    local blocked, note = block_all(), process.path "note"
    cancel_wait(function() job.offload("aside", "note", note) end)
    release_all(blocked)
    job.offload("aside", "echo", 1)
    assert.is_nil(io.open(note))
  end)

  it("runs to its end and keeps its place until then; its results are dropped",
    function()
      local others = {}
      for i = 1, AT_ONCE - 1 do others[i] = block(i) end
      fifos[AT_ONCE] = process.path "last"
      assert(os.execute("mkfifo " .. fifos[AT_ONCE]) == 0)
      cancel_wait(function() job.offload("aside", "block", fifos[AT_ONCE]) end)
      local done = false
      local waiting = job.start(function()
        done = job.offload("aside", "echo", true)
      end)
      web.sleep(0.02)
      assert.is_false(done)
      release(AT_ONCE)
      waiting:join()
      assert.is_true(done)
      for i = 1, AT_ONCE - 1 do release(i) end
      for i = 1, AT_ONCE - 1 do others[i]:join() end
    end)

  it("is not even begun by a job that was cancelled before", function()
    local note = process.path "note"
    local cancelled = job.spawn(function()
      local ok, err = pcall(job.offload, "aside", "note", note)
      assert.is_false(ok)
      error(err, 0)
    end)
    local me = job.spawn(function()
      job.yield()
      return pcall(cancelled.join, cancelled)
    end)
    cancelled:cancel "not needed"
    me:join()
    job.offload("aside", "echo", 1)
    assert.is_nil(io.open(note))
  end)

  it("may be freed while it runs, whatever its octets ask for", function()
    C.luaweb_offload_free(host, C.luaweb_offload_begin(host, "\255\0x", 3))
    assert.equal(1, job.offload("aside", "echo", 1))
  end)
end)

describe("the end of the process", function()
  it("waits for offloaded functions that end soon, and drops those in line", function()
    local note = process.path "note"
    local ended = process.run("routes", app_of(([[
for _ = 1, 20 do job.spawn(job.offload, "aside", "note", %q) end
job.yield()]]):format(note)))
    assert.same({ 0, "" }, { ended.code, ended.errors })
  end)

  it("does not wait for one that never ends, and says so", function()
    local ended = process.run("routes", app_of [[
for _ = 1, 20 do job.spawn(job.offload, "aside", "for_ever") end
job.yield()
io.write "printed"]])
    assert.equal(0, ended.code)
    assert.matches("^printed", ended.output)
    assert.matches("^[^\n]* warn  stopping: what still runs on the thread pool is cut "
      .. "short\n$", ended.errors)
  end)
end)

describe("a stop", function()
  local function serve(...)
    local child = process.serve(process.file("app.lua", ([[
package.path = %q .. package.path
local web, job = require "luaweb", require "luaweb.job"
return web.app {
  web.get("/block", function()
    print "begun"
    return job.offload("aside", "block", %q)
  end),
  web.get("/for-ever", function()
    print "begun"
    job.offload("aside", "for_ever")
  end),
}
]]):format(process.path "?.lua" .. ";", process.path "fifo.1")), ...)
    child:expect "/for%-ever"
    return child
  end

  it("waits for requests that wait for offloaded functions", function()
    fifos[1] = process.path "fifo.1"
    assert(os.execute("mkfifo " .. fifos[1]) == 0)
    local child = serve()
    local witness, conn = child:connect(), child:connect(process.get "/block")
    child:expect "^begun$"
    child:signal "TERM"
    process.rest(witness) -- closed once the stop has begun
    release(1)
    assert.equal("released 1", process.answers(conn).body)
    conn:close()
    assert.equal(0, (child:wait()))
    assert.equal("", child:errors())
  end)

  it("waits until the drain timeout, then ends whatever runs", function()
    local child = serve("--drain-timeout", "0.2")
    local conn = child:connect(process.get "/for-ever")
    child:expect "^begun$"
    child:signal "TERM"
    assert.equal(0, (child:wait()))
    conn:close()
    assert.matches("warn  stopping: 1 connection was cut after the drain timeout\n"
      .. "[^\n]* warn  stopping: what still runs on the thread pool is cut short\n$",
      child:errors())
  end)
end)

describe("an offloaded function that wants too much", function()
  it("memory gets an error, and the next call a new state", function()
    local ended = process.run("routes", "--lua-memory", "30m", app_of [[
for _ = 1, 3 do print(select(2, pcall(job.offload, "aside", "fill"))) end
print(job.offload("aside", "echo", "still here"))]])
    local line = "job.offload: aside.fill: not enough memory (see --lua-memory)\n"
    assert.equal(line:rep(3) .. "still here\n", ended.output:sub(1, 3 * #line + 11))
    assert.equal(0, ended.code)
  end)

  it("of the stack gets one, too, even where threads have a small one", function()
    local app = app_of [[
print((select(2, pcall(job.offload, "aside", "deep")):match "stack overflow"))]]
    for _, limit in ipairs { "unlimited", "8192" } do
      local pipe = io.popen(("ulimit -Ss %s; exec %s routes %s 2>&1"):format(limit,
        process.binary, app))
      assert.matches("^stack overflow\n", pipe:read "*a")
      pipe:close()
    end
  end)
end)
