-- SPDX-License-Identifier: MIT
-- Which other origins' pages may use a machine: web.cors is short for the keys cors_*.
-- Fetch, CORS protocol.
local graph = require "luaweb.graph"
local keys = require "luaweb.machine.keys"
local machine = require "luaweb.machine"
local trace = require "luaweb.trace"

local M = {}

local options = {
  enabled = "cors_enabled",
  origins = "cors_origins",
  methods = "cors_methods",
  headers = "cors_headers",
  expose = "cors_expose",
  credentials = "cors_credentials",
  max_age = "cors_max_age",
  private_network = "cors_private_network",
}

---@class luaweb.CorsOptions   each may be a function of the request
---@field origins string[]|"*"        who may; default: nobody
---@field methods string[]|"*"|nil    default: the machine's
---@field headers string[]|"*"|nil    that a request may have
---@field expose string[]|"*"|nil     that a page may read
---@field credentials boolean?        whether with cookies; not with "*"
---@field max_age number?             seconds for which a preflight's answer is kept
---@field private_network boolean?    whether from a public page to a private address
---@field enabled boolean?            default: true

--- A machine with a policy for other origins, for others to include.
---@param spec luaweb.CorsOptions
---@return luaweb.Machine
function M.cors(spec)
  local place = trace.place()
  if type(spec) ~= "table" then error(place .. ": web.cors wants a table", 0) end
  local policy = { graph.components.cors }
  for option, value in pairs(spec) do
    local key = options[option]
    if not key then
      local meant = type(option) == "string" and keys.meant(option, options)
      error(("%s: web.cors: %s: there is no such option%s"):format(place,
        tostring(option), meant and (" (did you mean %s?)"):format(meant) or ""), 0)
    end
    policy[key] = value
  end
  return machine.machine(policy)
end

return M
