-- SPDX-License-Identifier: MIT
-- B15: a handler that asks nothing of the scheduler; what scoped.lua is compared with.
if os.getenv "BENCH_JIT" == "off" then jit.off() end

local web = require "luaweb"

return web.app {
  web.get("/empty", function() return "ok" end),
}
