-- SPDX-License-Identifier: MIT
-- What wrk sends, and what it says at the end.  Arguments, all as key=value:
--   depth        requests of one write (pipelining); default 1
--   routes       spreads them over /r/1 to /r/<routes> instead of the URL's path
--   method       default GET
--   headers      how many headers a request has; the last one is x-last
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

local BATCHES = 512 -- different writes, where there are many routes
local HOST = 1      -- header that wrk adds

local options = {}

local function add_headers(count)
  for i = 1, count - HOST - 1 do wrk.headers["x-header-" .. i] = "value-" .. i end
  wrk.headers["x-last"] = "last"
end

-- A write of `depth` requests for paths that `path_of` gives.
local function batch(depth, path_of)
  local list = {}
  for i = 1, depth do list[i] = wrk.format(nil, path_of(i)) end
  return table.concat(list)
end

-- Every route equally often, in an order that looks random but is the same each time.
local function shuffled_paths(routes, count)
  local paths = {}
  for i = 1, count do paths[i] = "/r/" .. (i - 1) % routes + 1 end
  math.randomseed(1)
  for i = count, 2, -1 do
    local j = math.random(i)
    paths[i], paths[j] = paths[j], paths[i]
  end
  return paths
end

local function spread_batches(depth, routes)
  local paths, batches = shuffled_paths(routes, BATCHES * depth), {}
  for i = 1, BATCHES do
    batches[i] = batch(depth, function(k) return paths[(i - 1) * depth + k] end)
  end
  return batches
end

function init(args)
  for _, text in ipairs(args) do
    local key, value = text:match "^(%l+)=(.+)$"
    options[key] = tonumber(value) or value
  end
  if options.headers then add_headers(options.headers) end
  if options.method then wrk.method = options.method end
  local depth = options.depth or 1
  if depth == 1 and not options.routes then return end -- wrk's own request is cheaper
  local batches = options.routes and spread_batches(depth, options.routes)
    or { batch(depth, function() return nil end) }
  local at = 0
  function request()
    at = at % #batches + 1
    return batches[at]
  end
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
