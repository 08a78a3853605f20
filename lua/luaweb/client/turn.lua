-- SPDX-License-Identifier: MIT
-- Gives way to the rest of the worker.  Octets that are there already are taken without
-- waiting: who reads or sends as fast as the other side does would otherwise never end
-- the turn of the loop, and stop all that the worker serves.
local abi = require "luaweb.abi"
local sched = require "luaweb.sched"
local timer = require "luaweb.timer"

local C, host = abi.C, abi.host

local HELD = 0.005  -- seconds of a turn after which it is ended
local PAUSE = 0.001 -- the shortest wait

local M = {}

local number, since = 0, 0 -- of the turn that was seen last, and when that was

--- Ends the loop's turn when it has lasted long; then it waits for a moment.  To be
--- called between two pieces of work, where waiting is allowed and nothing is held.
function M.give_way()
  local now, turn = C.luaweb_now(host), sched.turn_number()
  if turn ~= number then
    number, since = turn, now
  elseif now - since > HELD then
    timer.sleep(PAUSE)
  end
end

return M
