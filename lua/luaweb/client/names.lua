-- SPDX-License-Identifier: MIT
-- Host names: which addresses they have, by the rules of the system (hosts file, search
-- list, nsswitch.conf).  Who asks for a name that is being looked up waits for the same
-- result, and results are kept for a short while: how long they hold, the system
-- doesn't tell.
local abi = require "luaweb.abi"
local cancellation = require "luaweb.cancellation"
local ffi = require "ffi"
local wake = require "luaweb.wake"

local C, host = abi.C, abi.host
local WAIT = tonumber(C.LUAWEB_LOOKUP_WAIT)
local DONE = tonumber(C.LUAWEB_LOOKUP_DONE)

local KEPT        = 10  -- seconds that addresses are kept
local FAILED_KEPT = 1   -- seconds that a failure is
local MOST_HALF   = 500 -- names in each half of what is kept

local FULL = "too many names are being looked up; try again later"
local MOST_OCTETS, MOST_LABEL = 253, 63 -- RFC 1035 §2.3.4, without the last dot

local M = {}

---@class luaweb.Name
---@field lookup ffi.cdata*?    while it is being looked up
---@field id integer            of the lookup
---@field users integer         who wait for it
---@field addresses string[]?   the result, or
---@field message string?       why there is none
---@field expires number        by luaweb_now

-- Names by their text, in halves: when the young half is full, it becomes the old one,
-- and what was old is forgotten.
local young, old, young_count = {}, {}, 0

-- Finalizers run when the state closes, too: what is left is freed then.
local free_lookup = C.luaweb_lookup_free
local function drop(lookup) free_lookup(host, lookup) end

local text = ffi.new "struct luaweb_slice"
local when = ffi.new "double[1]"

local function keep(key, name)
  if young_count == MOST_HALF then old, young, young_count = young, {}, 0 end
  young[key], young_count = name, young_count + 1
end

local function forget(key, name)
  if young[key] == name then young[key], young_count = nil, young_count - 1 end
  if old[key] == name then old[key] = nil end
end

-- Takes the result, if there is one.
local function is_settled(name)
  if not name.lookup then return true end
  local result = C.luaweb_lookup_result(host, name.lookup, text, when)
  if result == WAIT then return false end
  local octets = ffi.string(text.data, text.size)
  if result == DONE then
    name.addresses = {}
    for line in octets:gmatch "[^\n]+" do table.insert(name.addresses, line) end
  else
    name.message = octets
  end
  name.expires = when[0] + (result == DONE and KEPT or FAILED_KEPT)
  drop(ffi.gc(name.lookup, nil))
  name.lookup = nil
  return true
end

-- What is kept, or a name that is being looked up now; nil: the line is full.
local function find(key)
  local name = young[key] or old[key]
  if name then
    if not is_settled(name) or C.luaweb_now(host) < name.expires then return name end
    forget(key, name)
  end
  local begun = C.luaweb_lookup_begin(host, key)
  if begun == nil then return nil end
  name = { lookup = ffi.gc(begun, drop), id = C.luaweb_lookup_id(host, begun),
    users = 0, expires = 0 }
  keep(key, name)
  return name
end

local function wait(name, deadline)
  while not is_settled(name) do
    if not wake.wait_until(name.id, deadline, "names.resolve") then return false end
  end
  return true
end

-- When the last of those who wait has gone, what stands in line leaves it.  What runs
-- stays known: who asks again must not fill the line with the same.
local function leave(key, name)
  name.users = name.users - 1
  if name.users == 0 and name.lookup and C.luaweb_lookup_cancel(host, name.lookup) then
    forget(key, name)
  end
end

local function is_label(label)
  return #label > 0 and #label <= MOST_LABEL
end

-- Why a text can be no host name, or nil.  The last label must not look like part of a
-- number: the system would take "127.1" or "0x7f000001" for an address.
local function fault_of(given)
  if given:find "[\128-\255]" then
    return "it is not ASCII: write it in its A-label form (xn--...)"
  end
  if given:find "[^%w%-_.]" then return "it has characters that no host name has" end
  local bare = given:gsub("%.$", "")
  if #bare == 0 or #bare > MOST_OCTETS then return "it has not 1 to 253 characters" end
  for label in (bare .. "."):gmatch "([^.]*)%." do
    if not is_label(label) then return "a label has not 1 to 63 characters" end
  end
  local last = bare:match "[^.]*$"
  if last:find "^%d+$" or last:find "^0[xX]%x*$" then
    return "it ends in a number, but is no IP address"
  end
end

-- The text as a numeric address, or nil.
local function address_of(given)
  local bare = given:match "^%[([%x:.]+)%]$" or given
  local is_address = not bare:find "%z" and C.luaweb_address_version(host, bare) ~= 0
  return is_address and bare or nil
end

--- Why a text is neither a host name nor a numeric address; nil: it is one.
---@param given string
---@return string? fault
function M.fault(given)
  return not address_of(given) and fault_of(given) or nil
end

--- A host as certificates and Server Name Indication have it: without brackets, the
--- zone of an address, or a last dot.
---@param given string
---@return string
function M.bare(given)
  local address = address_of(given)
  if address then return (address:gsub("%%.*", "")) end
  return (given:gsub("%.$", ""))
end

local function refusal(given, why)
  return ("can't look up the host %q: %s"):format(given:sub(1, 300), why)
end

--- The addresses of a host; waits while it is looked up.  A numeric address needs no
--- look-up, and may stand in brackets.
---@param given string      a host name, or a numeric address
---@param timeout number?   seconds; nil: as long as it takes
---@return string[]? addresses   numeric, in the order that the system prefers
---@return string? message
---@return string? kind     "name" or "timeout"
function M.resolve(given, timeout)
  if type(given) ~= "string" then
    error("names.resolve wants a string, not a " .. type(given), 2)
  end
  cancellation.enter "names.resolve"
  local address = address_of(given)
  if address then return { address } end
  local fault = fault_of(given)
  if fault then return nil, refusal(given, fault), "name" end
  local key = given:lower()
  local name = find(key)
  if not name then return nil, refusal(given, FULL), "name" end
  name.users = name.users + 1
  local ok, came = pcall(wait, name, C.luaweb_now(host) + (timeout or math.huge))
  leave(key, name)
  if not ok then error(came, 0) end
  if not came then
    return nil, refusal(given, ("no answer within %g s"):format(timeout)), "timeout"
  end
  if name.addresses then return { unpack(name.addresses) } end
  return nil, refusal(given, name.message), "name"
end

return M
