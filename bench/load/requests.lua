-- SPDX-License-Identifier: MIT
-- What wrk sends, and what it says at the end.  Arguments, all as key=value:
--   depth    requests of one write (pipelining); default 1
--   headers  how many headers a request has; the last one is x-last
--   field    a line of the head, after Host; again for each further one, in this order
-- In the environment, since `done` runs where no argument is seen:
--   BENCH_CONNECTIONS  the same as wrk's -c
-- Ends with one line for bench/lib: "sample" and numbers, in the order of `done` below.
local ffi = require "ffi"

-- wrk 4's counts of latencies, by microseconds.
ffi.cdef [[
struct stats {
  uint64_t count, limit, min, max;
  uint64_t data[];
};
]]

local HOST = 1 -- header that wrk adds

local options, fields = {}, {}

local function add_headers(count)
  for i = 1, count - HOST - 1 do wrk.headers["x-header-" .. i] = "value-" .. i end
  wrk.headers["x-last"] = "last"
end

-- wrk takes fields from a table, in no order: this way all runs send the same octets.
local function fix_head()
  local head = "GET " .. wrk.path .. " HTTP/1.1\r\nHost: " .. wrk.headers.Host .. "\r\n"
    .. table.concat(fields, "\r\n") .. "\r\n\r\n"
  function wrk.format() return head end
end

local function read_arguments(args)
  for _, text in ipairs(args) do
    local key, value = text:match "^(%l+)=(.+)$"
    if key == "field" then
      fields[#fields + 1] = value
    else
      options[key] = tonumber(value)
    end
  end
end

function init(args)
  read_arguments(args)
  if options.headers then add_headers(options.headers) end
  if #fields > 0 then fix_head() end
  local depth = options.depth or 1
  if depth == 1 then return end -- wrk's own way is cheaper for it
  local list = {}
  for i = 1, depth do list[i] = wrk.format() end
  local requests = table.concat(list)
  function request() return requests end
end

-- wrk adds latencies that it did not measure ("coordinated omission": its
-- stats_correct), at an interval of requests, though it measures writes: with
-- pipelining nothing would be left of the truth.  What it added is known, so it is
-- taken away again: value n got what was at n + interval.
local function measured(latency, interval)
  local stats = ffi.cast("struct stats **", latency)[0]
  local data, least, most = stats.data, tonumber(stats.min), tonumber(stats.max)
  assert(least == latency.min and most == latency.max, "not the wrk that we know")
  local counts, total = {}, 0
  for n = least, most do
    local added = n > interval and n + interval <= most and data[n + interval] or 0
    counts[n] = tonumber(data[n] - added)
    total = total + counts[n]
  end
  return counts, total
end

local function percentiles(counts, total, least, ...)
  local values, n, sum = {}, least, counts[least]
  for i, percent in ipairs { ... } do
    while sum < total * percent / 100 do
      n = n + 1
      sum = sum + counts[n]
    end
    values[i] = n
  end
  return unpack(values)
end

function done(summary, latency)
  local connections = tonumber(os.getenv "BENCH_CONNECTIONS")
  local answers = math.floor(summary.requests / connections)
  if answers == 0 then return end
  local errors = summary.errors
  local counts, total = measured(latency, math.floor(summary.duration / answers))
  local p50, p75, p90, p99 = percentiles(counts, total, latency.min, 50, 75, 90, 99)
  print("sample", summary.requests, summary.duration, p50, p75, p90, p99,
    errors.connect + errors.read + errors.write + errors.timeout, errors.status)
end
