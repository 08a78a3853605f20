-- SPDX-License-Identifier: MIT
-- web.shared: opens tables that all workers of one machine share, and that outlive a
-- reload.  What can be done with them: shared/table.lua.
local abi = require "luaweb.abi"
local Shared = require("luaweb.shared.table").Shared
local trace = require "luaweb.trace"

local C, host, blame = abi.C, abi.host, trace.blame

local MOST_NAME = tonumber(C.LUAWEB_SHARED_MAX_NAME)
local LEAST_SIZE, MOST_SIZE = tonumber(C.LUAWEB_SHARED_MIN_SIZE), 16 * 2 ^ 30

local M = {}

local UNITS = { [""] = 1, k = 2 ^ 10, m = 2 ^ 20, g = 2 ^ 30 }

local function octets_of(size, name)
  local octets = size
  if type(size) == "string" then
    local digits, unit = size:lower():match "^(%d+)([kmg]?)$"
    octets = digits and tonumber(digits) * UNITS[unit]
  end
  if type(octets) ~= "number" or octets ~= math.floor(octets) or octets < LEAST_SIZE
    or octets > MOST_SIZE then
    blame(("web.shared \"%s\" wants a size from 64k to 16g, e.g. { size = \"10m\" }")
      :format(name))
  end
  return octets
end

local known = {} -- by name: { table, place }

local function check_options(name, options)
  if type(name) ~= "string" or name:find "[%c ]" or #name == 0 or #name > MOST_NAME
  then
    blame(("web.shared wants a name of 1 to %d octets without spaces"):format(
      MOST_NAME))
  end
  if type(options) ~= "table" then
    blame(("web.shared \"%s\" wants { size = ... }"):format(name))
  end
  for option in pairs(options) do
    if option ~= "size" then
      blame(("web.shared \"%s\": %s: there is no such option"):format(name,
        tostring(option)))
    end
  end
end

--- A table that the workers share.  When it is full, what has expired makes room, then
--- what was used longest ago; no value is refused for lack of room.  After a reload
--- that gives it another size it is empty.
---@param name string                the same name and size are the same table
---@param options { size: string|integer }   octets, of keys and values and what holds
---                                  them: 64k to 16g; memory is taken as it fills
---@return luaweb.Shared
function M.shared(name, options)
  if type(name) == "string" and name:find "^web%." then
    blame "web.shared: names that begin with \"web.\" are luaweb's own"
  end
  return M.open(name, options)
end

--- The same for luaweb's own names.
---@param name string
---@param options { size: string|integer }
---@return luaweb.Shared
function M.open(name, options)
  local place = trace.place()
  check_options(name, options)
  local size = octets_of(options.size, name)
  local one = known[name]
  if one and one.table.size ~= size then
    blame(("web.shared \"%s\" has another size, %d, at %s"):format(name,
      one.table.size, one.place))
  end
  if one then return one.table end
  local c = C.luaweb_shared_open(host, name, size)
  if c == nil then
    blame(("web.shared \"%s\": no room for %d octets more"):format(name, size))
  end
  local self = setmetatable({ name = name, size = size, c = c }, Shared)
  known[name] = { table = self, place = place }
  return self
end

return M
