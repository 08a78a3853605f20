-- SPDX-License-Identifier: MIT
-- The smallest app: one resource with an optional name.
local web = require "luaweb"

local hello = web.machine {
  methods = { "GET", "HEAD", "OPTIONS" },
  handle_ok = function(req)
    return "Hello, " .. (req.params.name or "World") .. "!"
  end,
}

return web.app {
  web.resource("/hello{/name}", hello),
}
