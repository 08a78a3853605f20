-- SPDX-License-Identifier: MIT
-- What luaweb answers in a benchmark; the peers under bench/peers answer the same.
-- Each answer is made by a Lua function: a request costs all that it does in an app.
local web = require "luaweb"

local hello = web.machine {
  methods = { "GET", "HEAD", "OPTIONS" },
  handle_ok = function(req)
    return "Hello, " .. (req.params.name or "World") .. "!"
  end,
}

return web.app {
  web.get("/plaintext", function() return "Hello, World!" end),
  web.get("/json", function() return { message = "Hello, World!" } end),
  web.resource("/hello{/name}", hello),
}
