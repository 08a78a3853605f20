-- SPDX-License-Identifier: MIT
-- What requests of many kinds come to, for the specs of metrics.
local job = require "luaweb.job"
local web = require "luaweb"

local gate = require("luaweb.ivar").new()

return web.app {
  web.get("/hello{/name}", function(req)
    return "Hello, " .. (req.params.name or "you")
  end),
  web.resource("/constant", web.machine { handle_ok = "always the same" }),
  web.get("/slow", function()
    web.sleep(0.03)
    return "at last"
  end),
  web.get("/wait", function()
    gate:read()
    return "opened"
  end),
  web.post("/open", function() gate:fill(true) end),
  web.get("/fails", function() error "as it must" end),
  web.get("/stands", function() while true do end end),
  web.post("/content", function(req) return #req:text() .. " octets" end),
  web.get("/jobs", function()
    job.spawn(function() error "nobody waits for this" end)
    local joined = job.spawn(function() error "somebody does" end)
    pcall(joined.join, joined)
    job.background(function() web.sleep(60) end)
    return "started"
  end),
  web.get("/stream", function()
    return web.streaming(function(out)
      out:write "begun"
      gate:read()
      out:write "done"
    end)
  end),
  web.resource("/seen", web.metrics()),
}
