-- SPDX-License-Identifier: MIT
-- What can be done with a table that the workers share (web.shared).  Each call is one
-- atomic step over all workers, and takes about a microsecond.
local abi = require "luaweb.abi"
local ffi = require "ffi"
local job = require "luaweb.job"
local trace = require "luaweb.trace"

local C, host, str = abi.C, abi.host, ffi.string
local blame = trace.blame

local MOST_KEY = tonumber(C.LUAWEB_SHARED_MAX_KEY)
local MOST_SECONDS = 2 ^ 31 -- 68 years
local DEFAULT_LIMIT = 1000  -- keys listed
local BREATH = 32           -- parts of a table listed between two breaths

local DONE, ABSENT = tonumber(C.LUAWEB_SHARED_DONE), tonumber(C.LUAWEB_SHARED_ABSENT)
local OTHER, BUSY = tonumber(C.LUAWEB_SHARED_OTHER), tonumber(C.LUAWEB_SHARED_BUSY)
local SET, ADD = tonumber(C.LUAWEB_SHARED_SET), tonumber(C.LUAWEB_SHARED_ADD)
local COMPARE = tonumber(C.LUAWEB_SHARED_COMPARE)
local TEXT, NUMBER = tonumber(C.LUAWEB_SHARED_TEXT), tonumber(C.LUAWEB_SHARED_NUMBER)
local BOOLEAN, NIL = tonumber(C.LUAWEB_SHARED_BOOLEAN), tonumber(C.LUAWEB_SHARED_NIL)

local BUSY_TEXT = "busy: a process that was stopped in the middle of a write holds "
  .. "this part of the table"

local M = {}

---@class luaweb.Shared
---@field name string
---@field size integer      octets
---@field c ffi.cdata*   struct luaweb_shared *
local Shared = {}
Shared.__index = Shared
M.Shared = Shared

local value = ffi.new "struct luaweb_shared_value"
local write = ffi.new "struct luaweb_shared_write"
local listing = ffi.new "struct luaweb_shared_keys"
local stats = ffi.new "struct luaweb_shared_stats"

-- What is asked for -------------------------------------------------------------------

local function check_key(key, what)
  if type(key) ~= "string" then
    blame(("%s wants a string as key, not a %s"):format(what, type(key)))
  end
  if #key == 0 or #key > MOST_KEY then
    blame(("%s: a key has 1 to %d octets, not %d"):format(what, MOST_KEY, #key))
  end
end

local function check_seconds(seconds, what)
  if seconds == nil then return 0 end
  if type(seconds) ~= "number" or not (seconds > 0 and seconds <= MOST_SECONDS) then
    blame(what .. " wants a time to live in seconds, more than 0; none: for ever")
  end
  return seconds
end

local function refuse_value(v, what)
  if v == nil then
    blame(what .. " wants a value; table:delete(key) removes one")
  end
  blame(("%s: a %s can't be shared: strings, numbers and booleans can%s"):format(what,
    type(v), type(v) == "table" and " (encode it, e.g. with require "
      .. "\"luaweb.json\".encode)" or ""))
end

-- C reads the text before the call returns; our caller holds it as long.
local function put(into, v, what)
  local kind = type(v)
  if kind == "string" then
    into.kind, into.text.data, into.text.size = TEXT, v, #v
  elseif kind == "number" then
    into.kind, into.number = NUMBER, v
  elseif kind == "boolean" then
    into.kind, into.number = BOOLEAN, v and 1 or 0
  else
    refuse_value(v, what)
  end
end

local function put_or_nil(into, v, what)
  if v == nil then
    into.kind = NIL
  else
    put(into, v, what)
  end
end

local function start_write(how, key, seconds, what)
  check_key(key, what)
  write.how, write.key, write.key_size = how, key, #key
  write.seconds = check_seconds(seconds, what)
end

local function fault_of(self, result, v)
  if result == BUSY then return BUSY_TEXT end
  return ("too large: %d octets; the table \"%s\" takes values of %d at most"):format(
    #v, self.name, self:stats().max_value)
end

-- What is done ------------------------------------------------------------------------

local function read()
  if value.kind == TEXT then
    local text = str(value.text.data, value.text.size)
    return text
  end
  if value.kind == NUMBER then return value.number end
  return value.number == 1
end

--- The value of a key.
---@param key string                1 to 1024 octets
---@return string|number|boolean|nil value   nil: there is none, or it has expired
---@return string? message          it could not be looked at: a process was stopped
function Shared:get(key)
  check_key(key, "shared:get")
  local result = C.luaweb_shared_get(host, self.c, key, #key, value)
  if result == DONE then return read() end
  if result == BUSY then return nil, BUSY_TEXT end
  return nil
end

--- Gives a key a value.
---@param key string
---@param v string|number|boolean
---@param seconds number?   its time to live; nil: for ever, or until there is no room
---@return boolean? done
---@return string? message  the value is too large, or a process was stopped
function Shared:set(key, v, seconds)
  start_write(SET, key, seconds, "shared:set")
  put(write.value, v, "shared:set")
  local result = C.luaweb_shared_write(host, self.c, write)
  if result == DONE then return true end
  return nil, fault_of(self, result, v)
end

--- Gives a key a value where it has none.
---@param key string
---@param v string|number|boolean
---@param seconds number?
---@return boolean? done    false: it has a value
---@return string? message  as of set
function Shared:add(key, v, seconds)
  start_write(ADD, key, seconds, "shared:add")
  put(write.value, v, "shared:add")
  local result = C.luaweb_shared_write(host, self.c, write)
  if result == DONE then return true end
  if result == OTHER then return false end
  return nil, fault_of(self, result, v)
end

--- Gives a key a value only where it has the expected one.
---@param key string
---@param expected string|number|boolean|nil   nil: none
---@param v string|number|boolean|nil          nil: none any more
---@param seconds number?
---@return boolean? done    false: it has another
---@return string? message  as of set
function Shared:compare_and_set(key, expected, v, seconds)
  start_write(COMPARE, key, seconds, "shared:compare_and_set")
  put_or_nil(write.expected, expected, "shared:compare_and_set")
  put_or_nil(write.value, v, "shared:compare_and_set")
  local result = C.luaweb_shared_write(host, self.c, write)
  if result == DONE then return true end
  if result == OTHER then return false end
  return nil, fault_of(self, result, v)
end

local function check_number(v, default, what)
  if v == nil then return default end
  if type(v) ~= "number" or v - v ~= 0 then
    blame("shared:incr wants a number " .. what)
  end
  return v
end

--- Adds to the number of a key.
---@param key string
---@param by number?        default: 1
---@param start number?     what it is added to where there is none; default: 0
---@param seconds number?   the time to live of one that begins; it is not prolonged
---@return number? number   the new one
---@return string? message  the key has no number, or a process was stopped
function Shared:incr(key, by, start, seconds)
  start_write(SET, key, seconds, "shared:incr")
  by, start = check_number(by, 1, "to add"), check_number(start, 0, "to start with")
  local result = C.luaweb_shared_incr(host, self.c, write, by, start)
  if result == DONE then return write.value.number end
  return nil, result == BUSY and BUSY_TEXT or "the key has a value that is no number"
end

--- Removes a key.
---@param key string
---@return boolean? done    false: there was none
---@return string? message  a process was stopped
function Shared:delete(key)
  check_key(key, "shared:delete")
  local result = C.luaweb_shared_delete(host, self.c, key, #key)
  if result == BUSY then return nil, BUSY_TEXT end
  return result ~= ABSENT
end

local function add_keys(list, seen, limit)
  local octets = ffi.cast("const uint8_t *", listing.keys.data)
  local at, stop = 0, tonumber(listing.keys.size)
  while at < stop and #list < limit do
    local size = octets[at] * 256 + octets[at + 1]
    local key = str(octets + at + 2, size)
    if not seen[key] then
      list[#list + 1], seen[key] = key, true
    end
    at = at + 2 + size
  end
  return at >= stop
end

--- Keys, in no order: those that are there all the time; others may be or not.  A large
--- table is listed in parts, between which others have their turn: this may wait.
---@param prefix string?    they begin with it; default: all
---@param limit integer?    so many at most; default: 1000
---@return string[]? keys
---@return boolean|string is_all   false: there may be more; a message where keys is nil
function Shared:keys(prefix, limit)
  prefix, limit = prefix or "", limit or DEFAULT_LIMIT
  if type(prefix) ~= "string" then blame "shared:keys wants a string as prefix" end
  if type(limit) ~= "number" or limit ~= limit or limit < 1 then
    blame "shared:keys wants a limit of 1 or more"
  end
  local list, seen, cursor, parts = {}, {}, 0, 0
  repeat
    listing.cursor, listing.prefix, listing.prefix_size = cursor, prefix, #prefix
    if C.luaweb_shared_keys(host, self.c, listing) == BUSY then
      return nil, BUSY_TEXT
    end
    cursor, parts = listing.cursor, parts + 1
    if not add_keys(list, seen, limit) then return list, false end
    if parts % BREATH == 0 then job.yield() end
  until cursor == 0
  return list, true
end

--- How many keys there are; some may have expired.
---@return integer
function Shared:count()
  C.luaweb_shared_stats(host, self.c, stats)
  return stats.count
end

local NUMBERS = { "size", "capacity", "used", "max_value", "count", "hits", "misses",
  "writes", "evictions", "expired", "repairs", "resets", "busy" }

--- What is in it and what happened: see struct luaweb_shared_stats (base/abi_shared.h).
---@return table<string, number>
function Shared:stats()
  C.luaweb_shared_stats(host, self.c, stats)
  local all = {}
  for _, name in ipairs(NUMBERS) do all[name] = stats[name] end
  return all
end

return M
