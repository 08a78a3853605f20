-- SPDX-License-Identifier: MIT
-- A greeting that never changes: C answers alone, and no request enters Lua.
local web = require "luaweb"

return web.app {
  web.resource("/constant", web.machine { handle_ok = "Hello, World!" }),
}
