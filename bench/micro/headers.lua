-- SPDX-License-Identifier: MIT
-- Handlers that differ in how often they look a header up: never, once, eleven times.
local web = require "luaweb"

local function looking_up(times)
  return function(req)
    local value
    for _ = 1, times do value = req.headers["x-last"] end
    return value or "none"
  end
end

return web.app {
  web.get("/look/0", looking_up(0)),
  web.get("/look/1", looking_up(1)),
  web.get("/look/11", looking_up(11)),
}
