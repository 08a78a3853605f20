-- SPDX-License-Identifier: MIT
-- What negotiation has chosen for a request, or would choose: it is worked out when it
-- is first asked for.  RFC 9110 §12.
local abi = require "luaweb.abi"
local ffi = require "ffi"
local handle = require "luaweb.request.handle"

local C, host = abi.C, abi.host
local M = {}

---@class luaweb.Accepted   of what the machine offers; nil: nothing was to be chosen
---@field media_type string?
---@field language string?
---@field charset string?
---@field content_coding string?

local dimensions = { media_type = 0, language = 1, charset = 2, content_coding = 3 }
local chosen = ffi.new "struct luaweb_slice"

local accepted_mt = {
  __index = function(self, name)
    local dimension, req = dimensions[name], rawget(self, 1)
    if not dimension then return nil end
    local r = handle.facts(req)
    if not C.luaweb_accepted(host, r, req[2], dimension, chosen) then return nil end
    return handle.slice(chosen)
  end,
}

--- The view of a request.
---@param req luaweb.Request
---@return luaweb.Accepted
function M.of(req)
  return setmetatable({ req }, accepted_mt)
end

return M
