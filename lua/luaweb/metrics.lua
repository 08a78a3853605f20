-- SPDX-License-Identifier: MIT
-- What all workers have counted, for an app that shows it at a resource of its own.
local abi = require "luaweb.abi"
local ffi = require "ffi"
local machine = require "luaweb.machine"
local response = require "luaweb.response"

local C, host = abi.C, abi.host
local text, media_type = ffi.new "struct luaweb_slice", ffi.new "struct luaweb_slice"

local M = {}

local function answer()
  C.luaweb_metrics(host, text, media_type)
  return response.bytes(ffi.string(media_type.data, media_type.size),
    ffi.string(text.data, text.size))
end

--- A machine whose representation is the metrics of all workers in Prometheus' text
--- format 0.0.4: `web.resource("/metrics", web.metrics())`.  Who may see it is up to
--- what it is composed with.
---@return luaweb.Machine
function M.metrics()
  return machine.machine { handle_ok = answer, cache_control = "no-store" }
end

return M
