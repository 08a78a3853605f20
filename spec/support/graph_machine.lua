-- SPDX-License-Identifier: MIT
-- Machines with every method, on the reference walk.
local http = require "spec.support.reference_http"
local reference = require "spec.support.reference_walk"

local M = {}

function M.nothing() end

local nothing = M.nothing

--- A machine that has every method; `keys` are added or replaced.
function M.machine(keys)
  local all = { handle_ok = "hello", do_post = nothing, do_put = nothing,
                do_patch = nothing, do_delete = nothing }
  for key, value in pairs(keys or {}) do all[key] = value end
  return all
end

--- Where a request ends on such a machine, and all that the walk tells.
---@param keys table?
---@param text string   see reference_http.request
function M.walk(keys, text)
  return reference.machine_walk(M.machine(keys), http.request(text))
end

return M
