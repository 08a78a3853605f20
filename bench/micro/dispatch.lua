-- SPDX-License-Identifier: MIT
-- What it costs to enter Lua for a request: pull the event, make the handle, call the
-- handler, hand its answer to C, which writes it.  BENCH_HANDLERS is how many resources
-- there are, each with a handler compiled on its own, so that the JIT compiler can't
-- take them for the same; with BENCH_SHARED set, they share one.  Prints one number,
-- nanoseconds of CPU, and ends.
--
-- A client in the same process sends a request on each of BATCH connections: as many as
-- the loop reads, parses and routes before it enters Lua, which then serves them in one
-- go.  The time from the first handler of a batch to the last is BATCH - 1 dispatches
-- and nothing else.
local ffi = require "ffi"
local test = require "luaweb.test"
local web = require "luaweb"

local HANDLERS = tonumber(os.getenv "BENCH_HANDLERS" or 1)
local BATCH = 16
local WARM_S, MEASURE_S = 1.5, 0.5
local CLOCK_MONOTONIC, CLOCK_THREAD_CPU = 1, 3

ffi.cdef [[
struct bench_time { long s, ns; };
int clock_gettime(int clock, struct bench_time *time);
]]

local time = ffi.new "struct bench_time"

local function now_ns(clock)
  ffi.C.clock_gettime(clock, time)
  return tonumber(time.s) * 1e9 + tonumber(time.ns)
end

local served, began_ns, ended_ns = 0, 0, 0

-- Called by every handler.
local function note()
  served = served + 1
  if served == 1 then
    began_ns = now_ns(CLOCK_THREAD_CPU)
  elseif served == BATCH then
    ended_ns = now_ns(CLOCK_THREAD_CPU)
  end
end

local function make_handler(i)
  local source = "local note = ... return function() note() return 'answer %d' end"
  return assert(loadstring(source:format(i)))(note)
end

local shared = os.getenv "BENCH_SHARED" and make_handler(0)
local resources = {}
for i = 1, HANDLERS do
  resources[i] = web.get("/r/" .. i, shared or make_handler(i))
end
local client = test.app(web.app(resources))

local conns = {}
for i = 1, BATCH do conns[i] = client:connect() end

local function serve_batch()
  served = 0
  for i = 1, BATCH do
    conns[i]:send(("GET /r/%d HTTP/1.1\r\nHost: bench\r\n\r\n")
      :format(math.random(HANDLERS)))
  end
  for i = 1, BATCH do assert(conns[i]:receive(5)) end
  assert(served == BATCH, "not every request was served")
  return (ended_ns - began_ns) / (BATCH - 1)
end

local function batches_for(seconds)
  local until_ns, list = now_ns(CLOCK_MONOTONIC) + seconds * 1e9, {}
  repeat list[#list + 1] = serve_batch() until now_ns(CLOCK_MONOTONIC) > until_ns
  return list
end

batches_for(WARM_S)
local list = batches_for(MEASURE_S)
table.sort(list)
print(("%.0f"):format(list[math.ceil(#list / 2)]))
io.stdout:flush()
os.exit(0)
