-- SPDX-License-Identifier: MIT
-- What a streaming handler writes to, and how fields and content get to C.
local abi = require "luaweb.abi"
local body = require "luaweb.request.body"
local ffi = require "ffi"
local handle = require "luaweb.request.handle"
local sched = require "luaweb.sched"
local waiting = require "luaweb.waiting"
local wake = require "luaweb.wake"
local walk = require "luaweb.walk"

local C, host = abi.C, abi.host

local M = {}

local header_errors = {
  [tonumber(C.LUAWEB_REPLY_BAD_NAME)] = "is not a header name",
  [tonumber(C.LUAWEB_REPLY_BAD_VALUE)] = "has a value with a control octet",
  [tonumber(C.LUAWEB_REPLY_TOO_LARGE)] = "makes the header section larger than 64 KiB",
}

--- Adds a header to a response, or a trailer once it has begun.
---@param r ffi.cdata*   struct luaweb_request
---@param generation integer
---@param name string
---@param value string
function M.add_header(r, generation, name, value)
  local result = C.luaweb_header(host, r, generation, name, #name, value, #value)
  local message = header_errors[result]
  if message then error(("the response header %q %s"):format(name, message), 0) end
end

--- Writes all of a string, waiting while the client is slow.
---@param r ffi.cdata*   struct luaweb_request
---@param generation integer
---@param s string
---@param what string   the call
function M.write_all(r, generation, s, what)
  local at, size = ffi.cast("const char *", s), #s
  while size > 0 do
    local taken = C.luaweb_write(host, r, generation, at, size)
    if taken > 0 then
      at, size = at + taken, size - taken
    elseif taken == 0 then
      wake.wait(r.slot, what)
    elseif taken == C.LUAWEB_REPLY_TOO_LARGE then
      error("more content than Content-Length said", 0)
    else
      body.raise_gone(r, generation)
    end
  end
end

---@class luaweb.Out   what a streaming handler writes to
local Out = {}
Out.__index = Out

-- An Out: [1] the C struct of the request, [2] its generation, [3] octets taken so far.

---@param r ffi.cdata*   struct luaweb_request
---@param generation integer
---@return luaweb.Out
function M.new(r, generation)
  return setmetatable({ r, generation, 0 }, Out)
end

local function check_alive(out)
  if out[1].generation ~= out[2] then error(handle.ENDED, 3) end
end

--- Sends some content; waits while the client is slow.
---@param s string|number
function Out:write(s)
  if type(s) == "number" then s = tostring(s) end
  if type(s) ~= "string" then error("out:write wants a string", 2) end
  check_alive(self)
  sched.check "out:write"
  M.write_all(self[1], self[2], s, "out:write")
  self[3] = self[3] + #s
end

-- The leaf that there is room to write: the wake may have been for something else, so
-- `wait_for_room` comes behind.
local Room = {}
Room.__index = Room

-- Whether there is room; raises when nobody is there to write to.
local function has_room(r, generation)
  local result = C.luaweb_room(host, r, generation)
  if result < 0 then body.raise_gone(r, generation) end
  return result == 1
end

function Room:attempt()
  local ok, result = pcall(has_room, self.r, self.generation)
  if not ok then return true, false, result end
  return result, true, nil
end

function Room:enlist(node) waiting.enlist(node, self.r.slot) end

walk.extend(Room)

--- The alternative that out:write would not wait.
---@return luaweb.Alternative
function Out:writable()
  check_alive(self)
  local r, generation = self[1], self[2]
  return setmetatable({ r = r, generation = generation }, Room):wrap(function()
    while not has_room(r, generation) do wake.wait(r.slot, "out:writable") end
  end)
end

--- Adds a trailer, which goes out behind chunked content (RFC 9110 6.5).
---@param name string
---@param value string
function Out:trailer(name, value)
  if type(name) ~= "string" or type(value) ~= "string" then
    error("out:trailer wants two strings", 2)
  end
  check_alive(self)
  M.add_header(self[1], self[2], name, value)
end

return M
