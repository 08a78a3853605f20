-- SPDX-License-Identifier: MIT
-- Shared tables of the test library (core/share/table.c), as Lua likes them.
local ffi = require "ffi"
local pure = require "spec.support.pure"
local share = require "spec.support.share"

pcall(pure.load, "base/abi_shared")
local lib = pure.load "share/table"

local M = {}
local Table = {}
Table.__index = Table

local KINDS = { string = 1, number = 2, boolean = 3 }
local RESULTS = { [0] = "done", "absent", "other", "too large", "busy" }
local value = ffi.new "struct luaweb_shared_value"
local expected = ffi.new "struct luaweb_shared_value"
local write = ffi.new "struct lw_write"
local rate = ffi.new "struct lw_rate"
local rate_state = ffi.new "struct lw_rate_state"

M.now = 1e6 -- microseconds; the specs' own clock

--- Opens one in shared memory.
function M.open(name, size)
  local c = lib.lw_table_open(name, size)
  return c ~= nil and setmetatable({ c = c }, Table) or nil
end

--- An empty one in the memory of the one before, which is no more.
function M.renew(size)
  local memory = ffi.cast("uint8_t *", share.lib.lw_share_region("renewed", size))
  ffi.fill(memory, size)
  lib.lw_table_begin(memory, size)
  local c = ffi.gc(lib.lw_table_attach(memory, size), lib.lw_table_detach)
  return setmetatable({ c = c, memory = memory, size = size }, Table)
end

local anchors = {} -- what the structs above point to; nobody reads it
M.anchors = anchors

local function slice(text)
  return ffi.new("struct luaweb_slice", text, #text)
end

local function fill(into, v)
  into.kind = KINDS[type(v)] or 0
  into.number = type(v) == "number" and v or v == true and 1 or 0
  into.text = slice(type(v) == "string" and v or "")
  anchors[into == value and 1 or 2] = v
end

local function fill_write(key, ttl_us)
  write.key, write.now_us = slice(key), M.now
  write.expires_us = ttl_us and M.now + ttl_us or 0
end

function Table:get(key)
  local result = lib.lw_table_get(self.c, slice(key), M.now, value)
  if result ~= 0 then return nil, RESULTS[result] end
  if value.kind == 1 then return ffi.string(value.text.data, value.text.size) end
  if value.kind == 3 then return value.number == 1 end
  return value.number
end

-- Calls that are ready to be made: only C is left to be run.
local number = ffi.new "double[1]"
local CALLS = {
  set = function(c) return lib.lw_table_set(c, write, value) end,
  add = function(c) return lib.lw_table_add(c, write, value) end,
  compare_and_set = function(c)
    return lib.lw_table_compare_and_set(c, write, expected, value)
  end,
  incr = function(c)
    return lib.lw_table_incr(c, write, value.number, expected.number, number)
  end,
  delete = function(c) return lib.lw_table_delete(c, write.key, write.now_us) end,
  take = function(c) return lib.lw_table_take(c, write.key, write.now_us, rate,
    rate_state) end,
}

--- A function that makes the call, until the next one is prepared.
---@param name string
---@param key string
---@param v any?        value; of incr: by
---@param old any?      what is expected; of incr: start
---@param ttl_us number?
function Table:prepare(name, key, v, old, ttl_us)
  local call, c = CALLS[name], self.c
  fill(value, v)
  fill(expected, old)
  fill_write(key, ttl_us)
  anchors[3] = key
  return function() return call(c) end
end

function Table:set(key, v, ttl_us)
  return RESULTS[self:prepare("set", key, v, nil, ttl_us)()]
end

function Table:add(key, v, ttl_us)
  return RESULTS[self:prepare("add", key, v, nil, ttl_us)()]
end

function Table:compare_and_set(key, old, v, ttl_us)
  return RESULTS[self:prepare("compare_and_set", key, v, old, ttl_us)()]
end

function Table:incr(key, by, start, ttl_us)
  local result = self:prepare("incr", key, by or 1, start or 0, ttl_us)()
  return result == 0 and number[0] or nil, RESULTS[result]
end

function Table:delete(key)
  return RESULTS[self:prepare("delete", key)()]
end

function Table:take(key, per_second, burst)
  rate.interval_us, rate.burst = 1e6 / per_second, burst
  return RESULTS[self:prepare("take", key)()], rate_state
end

local ROOM = 4096
local octets = ffi.new("uint8_t[?]", ROOM)

--- All keys, sorted, each once.
function Table:keys(prefix)
  local listing = ffi.new "struct lw_listing"
  listing.prefix, listing.now_us = slice(prefix or ""), M.now
  listing.into, listing.room = ffi.cast("char *", octets), ROOM
  local seen, list, calls = {}, {}, 0
  repeat
    assert(lib.lw_table_keys(self.c, listing) == 0)
    local at, stop = 0, tonumber(listing.size)
    while at < stop do
      local size = octets[at] * 256 + octets[at + 1]
      local key = ffi.string(octets + at + 2, size)
      if not seen[key] then list[#list + 1] = key end
      seen[key], at = true, at + 2 + size
    end
    calls = calls + 1
  until listing.cursor == 0
  table.sort(list)
  return list, calls
end

function Table:stats()
  local stats = ffi.new "struct lw_table_stats"
  lib.lw_table_stats(self.c, stats)
  return setmetatable({}, { __index = function(_, name)
    return tonumber(stats[name])
  end })
end

--- What all shared memory of this process takes.
function M.resident_kib()
  for line in io.lines "/proc/self/status" do
    local kib = line:match "^RssShmem:%s+(%d+)"
    if kib then return tonumber(kib) end
  end
end

--- nil, or what is wrong with it.
function Table:wrong()
  local text = lib.lw_table_check(self.c)
  return text ~= nil and ffi.string(text) or nil
end

return M
