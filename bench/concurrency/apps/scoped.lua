-- SPDX-License-Identifier: MIT
-- B15: handlers that have a time limit, and whose jobs end with the client.
if os.getenv "BENCH_JIT" == "off" then jit.off() end

local job = require "luaweb.job"
local scope = require "luaweb.scope"
local web = require "luaweb"

local limited = web.machine { timeout = 30 }

local function answer() return "ok" end

return web.app {
  web.resource("/timeout", web.machine { limited, handle_ok = answer }),
  web.resource("/scope", web.machine { limited, handle_ok = function(req)
    scope.finally(answer)
    return req.closed:ready() and "gone" or "ok"
  end }),
  web.resource("/sleep", web.machine { limited, handle_ok = function()
    web.sleep(0)
    return "ok"
  end }),
  web.resource("/spawn", web.machine { limited, handle_ok = function()
    return job.spawn(answer):join()
  end }),
}
