-- SPDX-License-Identifier: MIT
-- The greeting and nothing else: what full.lua is compared with.
local web = require "luaweb"

return web.app {
  web.get("/hello{/name}", function(req)
    return "Hello, " .. (req.params.name or "World") .. "!"
  end),
}
