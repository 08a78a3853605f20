-- SPDX-License-Identifier: MIT
-- What wrk sends, and what it says at the end.  Arguments, all as key=value:
--   depth    requests of one write (pipelining); default 1
--   routes   spreads them over /r/1 to /r/<routes> instead of the URL's path
--   method   default GET
--   headers  how many headers a request has; the last one is x-last
-- Ends with one line for bench/lib: "sample" and numbers, in the order of `done` below.
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
  for i = 1, depth do list[i] = wrk.format(options.method, path_of(i)) end
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
  local depth = options.depth or 1
  local batches = options.routes and spread_batches(depth, options.routes)
    or { batch(depth, function() return nil end) }
  local at = 0
  function request()
    at = at % #batches + 1
    return batches[at]
  end
end

function done(summary, latency)
  local errors = summary.errors
  print("sample", summary.requests, summary.duration,
    latency:percentile(50), latency:percentile(75), latency:percentile(90),
    latency:percentile(99),
    errors.connect + errors.read + errors.write + errors.timeout, errors.status)
end
