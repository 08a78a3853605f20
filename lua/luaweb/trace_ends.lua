-- SPDX-License-Identifier: MIT
-- Where traces end.  The JIT compiler can't compile a call of `yield`, `running` or
-- `isyieldable`: there it ends the trace, and begins another behind the call, which
-- ends where code begins that is compiled already, or at the next such call.  A loop
-- that is not compiled before it waits thus becomes traces without end, one behind the
-- other for each time round, until there are too many and all are thrown away.  So the
-- functions that make these calls are compiled first, each on its own: what comes to
-- one ends there.
local sched = require "luaweb.sched"

local create, resume = coroutine.create, coroutine.resume

local M = {}

local CALLS = 300 -- more than it takes for a function to be compiled

-- Each call in a coroutine that is given up then: what comes behind `yield` is left to
-- who really waits.
local function yield_often()
  for _ = 1, CALLS do
    resume(create(sched.park))
    resume(create(sched.rest), false)
  end
end
jit.off(yield_often)

local function check_often()
  for _ = 1, CALLS do sched.check "a wait" end
end
jit.off(check_often)

--- Has them compiled, the last as soon as the first task runs.
function M.prepare()
  yield_often()
  sched.ready { co = create(check_often) }
end

return M
