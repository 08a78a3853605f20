-- SPDX-License-Identifier: MIT
-- job.offload: a function of a module runs on another thread, in a Lua state of its
-- own, while the loop goes on.  Owns nothing but what runs; offload_state.lua is the
-- other side.
local abi = require "luaweb.abi"
local commit = require "luaweb.commit"
local ffi = require "ffi"
local log = require "luaweb.log"
local plain = require "luaweb.plain"
local response = require "luaweb.response"
local wake = require "luaweb.wake"

local C, host = abi.C, abi.host
local WAIT = tonumber(C.LUAWEB_OFFLOAD_WAIT)
local DONE = tonumber(C.LUAWEB_OFFLOAD_DONE)

local RETRY_AFTER = 1  -- seconds, for those who find the line full
local SAY_AGAIN   = 10 -- seconds between two words on that

local M = {}

-- Finalizers run when the state closes, too: what is left is freed then.
local free = C.luaweb_offload_free
local function drop(offload) free(host, offload) end

local say_again = 0

local function refuse()
  local now = C.luaweb_now(host)
  if now >= say_again then
    say_again = now + SAY_AGAIN
    log.warn "too many functions are offloaded at once: some requests get 503"
  end
  error(response.status(503):header("Retry-After", RETRY_AFTER), 0)
end

local function begin(octets)
  local data, size = octets:ref()
  local begun = C.luaweb_offload_begin(host, data, size)
  plain.free()
  if begun == nil then refuse() end
  return ffi.gc(begun, drop)
end

-- Waits for the pool; what it has answered is lent until the offload is dropped.
local function wait(offload, answer)
  local id = C.luaweb_offload_id(host, offload)
  local result = C.luaweb_offload_result(host, offload, answer)
  while result == WAIT do
    wake.wait(id, "job.offload")
    result = C.luaweb_offload_result(host, offload, answer)
  end
  return result
end

local function read(result, answer)
  if result == DONE then return plain.decode(answer.data, answer.size) end
  return { n = 2, false, ffi.string(answer.data, answer.size) }
end

local function check(module, fname, ...)
  if type(module) ~= "string" or type(fname) ~= "string" then
    error("job.offload wants the name of a module and that of a function in it", 3)
  end
  local fault = plain.fault("argument", ...)
  if fault then error(("job.offload: %s: %s"):format(fault, plain.RULE), 3) end
end

--- Runs a function of a module on another thread, in a Lua state of its own, and waits
--- for it: for what would hold up all others.  Arguments and results are copied.  What
--- it raises is raised here, with where that was.  When too many wait already, the
--- request ends with 503.  When the job is cancelled, this raises at once; a function
--- that runs goes on to its end, and its results are dropped.
---@param module string   as for `require`
---@param fname string    the name of a function in the table that the module gives
---@param ... any         nil, booleans, numbers, strings, tables of these
---@return any ...        likewise
function M.offload(module, fname, ...)
  commit.enter "job.offload"
  check(module, fname, ...)
  local answer = ffi.new "struct luaweb_slice"
  local offload = begin(plain.encode(module, fname, package.path, package.cpath, ...))
  local ok, result = pcall(wait, offload, answer)
  local values = ok and read(result, answer)
  drop(ffi.gc(offload, nil))
  if not ok then error(result, 0) end
  if values[1] then return unpack(values, 2, values.n) end
  local raised = values[2]
  if type(raised) == "string" then
    raised = ("job.offload: %s.%s: %s"):format(module, fname, raised)
  end
  error(raised, 0)
end

--- How many such functions may run at once.
---@return integer
function M.at_once() return C.luaweb_offload_at_once(host) end

return M
