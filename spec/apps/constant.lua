-- SPDX-License-Identifier: MIT
-- An app that C answers alone.
local web = require "luaweb"

return web.app {
  web.resource("/", web.machine { handle_ok = "the same" }),
}
