-- SPDX-License-Identifier: MIT
-- Time as something to wait for: web.sleep and web.after.
local commit = require "luaweb.commit"
local waiting = require "luaweb.waiting"
local walk = require "luaweb.walk"

local M = {}

local After = {} -- the leaf: its clock starts when it is walked
After.__index = After

function After:attempt() return self.seconds == 0, true, nil end

function After:enlist(node) waiting.start_timer(node, self.seconds) end

walk.extend(After)

local never = walk.new { kind = "never" }

local function check(what, seconds)
  if type(seconds) ~= "number" or seconds ~= seconds or seconds < 0 then
    error(what .. " wants a number of seconds, 0 or more", 3)
  end
end

--- Waits for a time.
---@param seconds number   0 or more; rounded up to milliseconds
function M.sleep(seconds)
  check("web.sleep", seconds)
  commit.wait_for(commit.enter "web.sleep", seconds)
end

--- The alternative that a time is over, from when it is waited for.
---@param seconds number   0: ready at once; math.huge: never
---@return luaweb.Alternative
function M.after(seconds)
  check("web.after", seconds)
  if seconds == math.huge then return never end
  return setmetatable({ seconds = seconds }, After)
end

return M
