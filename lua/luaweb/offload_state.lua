-- SPDX-License-Identifier: MIT
-- What runs in a Lua state for offloaded functions: answers one call after the other.
-- There is no loop, so nothing that waits, and no `require "luaweb"`; modules of ours
-- that know no loop (luaweb.json) work.
local ffi = require "ffi"
local plain = require "luaweb.plain"
local trace = require "luaweb.trace"

function package.preload.luaweb()
  error("luaweb can't be used in an offloaded function: there is no loop and no request"
    .. " (luaweb.json and the like can)", 0)
end
package.preload["luaweb.abi"] = package.preload.luaweb

rawset(os, "exit", function()
  error("os.exit can't be called in an offloaded function", 2)
end)

-- Values that can be copied are raised as they are; texts with where it was.
local function on_error(raised)
  if type(raised) ~= "string" and not plain.fault("", raised) then
    return { raised = raised }
  end
  return { raised = trace.back(raised) }
end

-- As in core/base/abi.h, which is not declared here.
local slice = ffi.typeof "struct { const char *data; size_t size; } *"

-- The results of a call as octets; the first tells that there are some.
local function pack(...)
  local fault = plain.fault("result", ...)
  if fault then error(("%s: %s"):format(fault, plain.RULE), 0) end
  return plain.encode(true, ...)
end

local function call(fn, values)
  return pack(fn(unpack(values, 5, values.n)))
end

-- What `require` has put for a module that is being loaded.
local loading
package.preload.loading = function(name) loading = package.loaded[name] end
require "loading"
package.preload.loading, package.loaded.loading = nil, nil

-- It stays where loading failed, and would hide why from who tries again.
local function forget_half_loaded()
  for name, module in pairs(package.loaded) do
    if module == loading then package.loaded[name] = nil end
  end
end

-- A text: on_error had no room, since memory or stack ran out, and what state things
-- are in is anybody's guess.
local function answer_failure(failure)
  if type(failure) == "table" then
    forget_half_loaded()
    return plain.encode(false, failure.raised), false
  end
  collectgarbage()
  local text = tostring(failure)
  if text == "not enough memory" then
    text = text .. " (see --lua-memory)"
  else
    text = trace.without_back(text)
  end
  return plain.encode(false, text), true
end

local function answer_no_function(module, fname, found)
  local what = "it gave no table, but a " .. type(found)
  if type(found) == "table" then what = "that is a " .. type(found[fname]) end
  return plain.encode(false, ("module '%s' has no function '%s': %s"):format(module,
    fname, what))
end

local function answer(call_octets)
  local values = plain.decode(call_octets.data, tonumber(call_octets.size))
  local module, fname = values[1], values[2]
  package.path, package.cpath = values[3], values[4]
  local is_loaded, found = xpcall(require, on_error, module)
  if not is_loaded then return answer_failure(found) end
  local fn = type(found) == "table" and found[fname]
  if type(fn) ~= "function" then
    return answer_no_function(module, fname, found), false
  end
  local ok, result = xpcall(call, on_error, fn, values)
  if ok then return result, false end
  return answer_failure(result)
end

--- Answers a call: module, function, package.path, package.cpath, arguments.
---@param octets lightuserdata   struct luaweb_slice *: of the call, then of the answer:
---                              true and results, or false and an error
---@return string.buffer holder  the answer lives as long as this
---@return boolean is_last       this state must not be used again
return function(octets)
  octets = ffi.cast(slice, octets)
  local holder, is_last = answer(octets)
  octets.data, octets.size = holder:ref()
  return holder, is_last
end
