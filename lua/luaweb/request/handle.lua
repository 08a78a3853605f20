-- SPDX-License-Identifier: MIT
-- What a request is in Lua: a table of places.  Places, not keys: a table that never
-- grows a hash part costs a third.  The modules that know how to fill a place look
-- there raw, since one that is empty would be asked for by the handle's metatable.
--
--   1  the address of the C struct; a plain number, where a pointer would be one object
--      more for the collector
--   2  the struct's generation when the handle was made; it is raised when the request
--      ends
local abi = require "luaweb.abi"
local ffi = require "ffi"

local request_at, str = abi.request_at, ffi.string

local M = {
  PARAMS = 3, QUERY = 4, COOKIES = 5, HEADERS = 6, TRAILERS = 7, STATE = 8,
  CONTENT = 9, -- what request/body.lua has read
  FORM = 10,
  REPLY = 11,  -- what an operation left to be sent
  USER = 12,   -- who is asking
  MEMO = 13, VALUE = 14, MORE = 15, -- a function of web.memo, its value, others
  STEP = 16,   -- the number of the function that was called last
  CLOSED = 17, -- a flag: the client is gone
  PLACES = 17,
}

M.ENDED = "this request has ended: it was kept after its handler returned"

--- The C struct of a request, or an error in who called our caller.
---@param self luaweb.Request
---@return ffi.cdata* r   struct luaweb_request
function M.facts(self)
  local r = request_at(self[1])
  if r.generation ~= self[2] then error(M.ENDED, 3) end
  return r
end

--- The octets of a slice.  Functions that are hot on their own must not end in a call
--- of a built-in one: the compiler gives up on them.
---@param s ffi.cdata*
---@return string
function M.slice(s)
  local text = str(s.data, s.size)
  return text
end

return M
