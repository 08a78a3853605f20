-- SPDX-License-Identifier: MIT
-- Sends spans to a collector, in the background: those of requests, which C has kept,
-- and those that Lua has made.  Nobody waits for it: what does not fit is dropped and
-- counted, and a collector that is slow, broken or gone costs no more than that.
-- OTLP specification, "OTLP/HTTP": what is tried again, and when.
local abi = require "luaweb.abi"
local alt = require "luaweb.alt"
local fetch = require "luaweb.fetch"
local ffi = require "ffi"
local flag = require "luaweb.flag"
local job = require "luaweb.job"
local json = require "luaweb.json"
local log = require "luaweb.log"
local otlp = require "luaweb.tracing.otlp"
local roster = require "luaweb.roster"
local shutdown = require "luaweb.shutdown"
local spans = require "luaweb.tracing.span"
local spawn = require "luaweb.spawn"
local timer = require "luaweb.timer"

local C, host = abi.C, abi.host

local M = {}

local LOOK = 0.2      -- seconds between two looks at what has ended
local AT_ONCE = 64    -- spans that are written before others have a turn
local ATTEMPTS = 5    -- to send the same ones
local FIRST_WAIT, MOST_WAIT = 1, 30 -- seconds between them; it doubles
local LAST = 1        -- seconds at a stop
local QUIET = 60      -- seconds between two words on the same trouble

-- Statuses after which the same may be sent again.
local MAY_REPEAT = { [429] = true, [502] = true, [503] = true, [504] = true }

---@class luaweb.TraceConfig   see tracing/config.lua
---@field url string           where spans are posted
---@field headers table        that each of these requests gets
---@field resource any[]       attributes of the process: name, value, name, value ...
---@field ratio number         0..1 of the traces that begin here are sampled
---@field heeds_parent boolean a trace that came is sampled as its flag says
---@field delay number         seconds that a span waits at most
---@field timeout number       seconds for one request
---@field most_queued integer  spans
---@field most_sent integer    spans in one request

---@class luaweb.TraceStats    since the start of the worker
---@field sent integer         spans that the collector has taken
---@field dropped integer      that found no room, or were not taken

local config              -- nil: it is not running
local pending, texts      -- spans of Lua's; those that were written
local queued              -- how many both are
local oldest              -- when the first of them came
local sender              -- the job that sends, or nil
local stopping            -- a flag: what is left is sent now, or never
local ends_at             -- when that is over
local stats = { sent = 0, dropped = 0 }
local unsaid, said_at, last_why -- spans that nothing was said of; when something was

local ended = ffi.new "struct luaweb_span"

local function now() return C.luaweb_now(host) end

local function say_dropped()
  if unsaid == 0 then return end
  log.warn(("tracing: %d spans were dropped: %s"):format(unsaid, last_why))
  unsaid, said_at = 0, now()
end

local function drop(count, why)
  stats.dropped = stats.dropped + count
  unsaid, last_why = unsaid + count, why
  if now() - said_at >= QUIET then say_dropped() end
end

-- Collecting --------------------------------------------------------------------------

local function note(count)
  if queued == 0 then oldest = now() end
  queued = queued + count
end

local function record(span)
  if queued >= config.most_queued then
    return drop(1, "too many wait for the collector")
  end
  note(1)
  pending[#pending + 1] = span
end

local function write_pending()
  local written = pending
  pending = {}
  for i, span in ipairs(written) do
    texts[#texts + 1] = otlp.span(span)
    if i % AT_ONCE == 0 then job.yield() end
  end
end

-- What there is no room for stays in C, which counts what it loses.  While others have
-- their turn, the end may come.
local function write_ended()
  local count = 0
  while config and queued < config.most_queued and C.luaweb_span_take(host, ended) do
    note(1)
    texts[#texts + 1] = otlp.request(ended)
    count = count + 1
    if count % AT_ONCE == 0 then job.yield() end
  end
end

local lost_before = 0

local function count_lost()
  local lost = C.luaweb_spans_lost(host)
  if lost > lost_before then
    drop(lost - lost_before, "too many wait for the collector")
  end
  lost_before = lost
end

local function collect()
  write_ended()
  write_pending()
  count_lost()
end

-- Takes the oldest that were written, as many as go into one request.
local function take()
  local batch, rest = {}, {}
  for i, text in ipairs(texts) do
    local list = i <= config.most_sent and batch or rest
    list[#list + 1] = text
  end
  texts, queued, oldest = rest, queued - #batch, now()
  return batch
end

-- Sending -----------------------------------------------------------------------------

local function time_left()
  if not ends_at then return config.timeout end
  return math.max(ends_at - now(), 0.01)
end

-- Lua reads "nan" and "inf" as numbers; no sum or time is one of these.
local function finite(value)
  local n = tonumber(value)
  return n and n - n == 0 and n or nil
end

-- The collector may have taken some only.
local function count_taken(batch, res)
  local answer = json.decode(res.body)
  local partial = type(answer) == "table" and answer.partialSuccess
  local rejected = type(partial) == "table" and finite(partial.rejectedSpans) or 0
  rejected = math.floor(math.max(0, math.min(rejected, #batch)))
  stats.sent = stats.sent + #batch - rejected
  if rejected > 0 then
    drop(rejected, "the collector says: " .. tostring(partial.errorMessage))
  end
end

-- Sends once: true, or nil, why, whether and when it may be tried again.
local function post(batch, body)
  local res, message = fetch.fetch(config.url, { method = "POST", body = body,
    headers = config.headers, timeout = time_left(), redirects = 0, trace = false,
    max_size = 65536 })
  if not res then return nil, message, true end
  if res.ok then
    count_taken(batch, res)
    return true
  end
  local after = finite(res.headers["retry-after"])
  return nil, ("%s answered %d"):format(config.url, res.status),
    MAY_REPEAT[res.status], after
end

-- Waits for a time, but not at a stop.
local function pause(seconds)
  alt.choose { timer.after(math.min(seconds, MOST_WAIT)), stopping }:sync()
end

local function send(batch)
  local body, wait = otlp.batch(config.attributes, batch), FIRST_WAIT
  for attempt = 1, ATTEMPTS do
    local is_sent, why, may_repeat, after = post(batch, body)
    if is_sent then return end
    if not may_repeat or attempt == ATTEMPTS or stopping:ready() then
      return drop(#batch, why)
    end
    pause(math.max(after or 0, wait * (0.75 + math.random() / 2)))
    wait = wait * 2
  end
end

local function send_all()
  while #texts > 0 and not stopping:ready() do send(take()) end
end

local function is_due()
  return #texts > 0 and not stopping:ready()
    and (queued >= config.most_sent or now() - oldest >= config.delay)
end

local function work()
  while not stopping:ready() do
    collect()
    if is_due() and (not sender or sender:attempt()) then
      sender = spawn.spawn_in(roster.server, send_all)
    end
    pause(LOOK)
  end
end

-- Life --------------------------------------------------------------------------------

--- Begins to record and to send.
---@param wanted luaweb.TraceConfig
function M.start(wanted)
  config = setmetatable({ attributes = otlp.attributes(wanted.resource) },
    { __index = wanted })
  pending, texts, queued, oldest, sender, ends_at = {}, {}, 0, 0, nil, nil
  stopping = flag.new "the end of tracing"
  stats.sent, stats.dropped, lost_before = 0, 0, C.luaweb_spans_lost(host)
  unsaid, said_at = 0, -math.huge
  C.luaweb_spans_start(host, ffi.new("struct luaweb_sampling", wanted.ratio,
    wanted.heeds_parent and 1 or 0))
  spans.record = record
  job.server(work)
end

local function flush()
  collect()
  if sender and not sender:attempt() then
    alt.choose { sender:done_alt(), timer.after(LAST) }:sync()
    if not sender:attempt() then sender:cancel "the worker stops" end
  end
  while #texts > 0 and now() < ends_at do send(take()) end
  if #texts > 0 then drop(#texts, "the worker stops") end
  say_dropped()
end

--- Sends what is left, for a second at most, and ends.
function M.stop()
  if not config or stopping:ready() then return end
  ends_at = now() + LAST
  flag.raise(stopping)
  flush()
  spans.record = nil
  C.luaweb_spans_stop(host)
  config = nil
end

--- Has it end when the worker stops, after all requests and the app's on_stop.
function M.stop_with_worker()
  shutdown.on_stop(M.stop)
end

--- How many were sent, and how many dropped.
---@return luaweb.TraceStats
function M.stats()
  return { sent = stats.sent, dropped = stats.dropped }
end

return M
