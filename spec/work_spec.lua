-- SPDX-License-Identifier: MIT
-- Work on the thread pool comes in kinds (core/net/work.h): none of them holds up
-- another, whatever its line holds.
local error_log = require "spec.support.error_log"
local job = require "luaweb.job"
local offload = require "luaweb.offload"
local process = require "spec.support.process"
local web = require "luaweb"

local HASHES = 34 -- two that are computed, 32 in line
local THREADS = 2 + 4 + offload.at_once() + 4 + 1 -- of each kind, and the log's

local before = package.path

before_each(function()
  package.path = process.path "?.lua" .. ";" .. before
  process.file("aside.lua", [[
local M = {}
function M.block(path) return io.open(path):read "*l" end
function M.echo(value) return value end
return M
]])
end)

after_each(function()
  package.path = before
  process.clean()
end)

local function start(count, fn, ...)
  local jobs = {}
  for i = 1, count do jobs[i] = job.start(fn, ...) end
  return jobs
end

local function join(jobs)
  for _, one in ipairs(jobs) do one:join() end
end

-- Nobody else fits into a line.
local function assert_full(fn, ...)
  local arguments = { ... }
  local _, is_taken = error_log.of(function() return (pcall(fn, unpack(arguments))) end)
  assert.is_false(is_taken)
end

-- The threads that may run offloaded functions stand still, and their line is full,
-- while `fn` runs.
local function while_blocked(fn)
  local at_once = offload.at_once()
  local blocked, fifos = {}, {}
  for i = 1, at_once do
    fifos[i] = process.path("fifo." .. i)
    assert(os.execute("mkfifo " .. fifos[i]) == 0)
    blocked[i] = job.start(job.offload, "aside", "block", fifos[i])
  end
  local waiting = start(256, job.offload, "aside", "echo", 1)
  assert_full(job.offload, "aside", "echo", 1)
  local ok, err = pcall(fn)
  for i = 1, at_once do io.open(fifos[i], "w"):close() end
  join(blocked)
  join(waiting)
  if not ok then error(err, 0) end
end

describe("the thread pool", function()
  it("runs offloaded functions while the line of password hashes is full", function()
    local ended = 0
    local hashes = start(HASHES, function()
      web.password_hash "x"
      ended = ended + 1
    end)
    assert_full(web.password_hash, "x")
    for i = 1, 5 do assert.equal(i, job.offload("aside", "echo", i)) end
    assert.is_true(ended < HASHES)
    join(hashes)
  end)

  it("hashes passwords while offloaded functions stand still", function()
    while_blocked(function()
      assert.matches("^%$argon2id", web.password_hash "x")
    end)
  end)

  it("looks names up while both stand still", function()
    local names = require "luaweb.client.names"
    while_blocked(function()
      local hashes = start(HASHES, web.password_hash, "x")
      assert(names.resolve("localhost", 30))
      join(hashes)
    end)
  end)

  it("writes the access log while both stand still", function()
    local log = process.path "access.log"
    local child = process.serve(process.file("app.lua", ([[
package.path = %q .. package.path
local web, job = require "luaweb", require "luaweb.job"
return web.app { web.get("/", function()
  for _ = 1, 256 do job.spawn(job.offload, "aside", "block", %q) end
  for _ = 1, 34 do job.spawn(web.password_hash, "x") end
  return ""
end) }
]]):format(process.path "?.lua" .. ";", process.path "fifo")), "--access-log", log)
    assert(os.execute("mkfifo " .. process.path "fifo") == 0)
    child:ask(process.get "/")
    local text
    for _ = 1, 500 do
      local file = io.open(log)
      text = file and file:read "*a" or ""
      if file then file:close() end
      if text ~= "" then break end
      web.sleep(0.01)
    end
    assert.matches("GET / HTTP/1.1", text)
  end)
end)

describe("the size of the thread pool", function()
  local function run(environment)
    local app = process.file("app.lua", [[
local web = require "luaweb"
print("threads " .. os.getenv "UV_THREADPOOL_SIZE")
return web.app { web.get("/", function() return "" end) }]])
    local pipe = io.popen(("env %s %s routes %s 2>&1"):format(environment,
      process.binary, app))
    local text = pipe:read "*a"
    pipe:close()
    return text
  end

  it("is set so that every kind has its threads", function()
    local threads = run("-u UV_THREADPOOL_SIZE"):match "^threads (%d+)\n"
    assert.equal(THREADS, tonumber(threads))
  end)

  it("is the operator's where UV_THREADPOOL_SIZE is set; too small is told", function()
    assert.matches("^threads 100\n", run "UV_THREADPOOL_SIZE=100")
    local told = ("UV_THREADPOOL_SIZE=2: with fewer than %d threads, slow hashes, "
      .. "names, files and offloaded functions hold up each other\nthreads 2\n")
      :format(THREADS)
    assert.matches("^[^\n]* warn  " .. told, run "UV_THREADPOOL_SIZE=2")
  end)
end)
