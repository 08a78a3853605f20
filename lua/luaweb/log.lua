-- SPDX-License-Identifier: MIT
-- The error log, from Lua.  C writes it: one line an event, control octets escaped.
local abi = require "luaweb.abi"

local C, host = abi.C, abi.host
local M = {}

local listener -- who reads along, or nil

--- Lets somebody read along what Lua writes.
---@param fn (fun(level: string, text: string))?   nil: nobody any more
function M.listen(fn)
  listener = fn
end

for level, name in ipairs { "debug", "info", "warn", "error" } do
  --- Writes one event.
  ---@param text string
  M[name] = function(text)
    C.luaweb_log(host, level - 1, text, #text)
    if listener then listener(name, text) end
  end
end

return M
