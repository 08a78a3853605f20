-- SPDX-License-Identifier: MIT
-- Waiting in specs for what must soon hold, and nobody can be told of.
local web = require "luaweb"

local SECONDS, STEP = 10, 0.01

--- Waits until something holds.
---@param what string       for the error when it never does
---@param holds fun(): any
return function(what, holds)
  for _ = 1, SECONDS / STEP do
    if holds() then return end
    web.sleep(STEP)
  end
  error("never: " .. what, 2)
end
