-- SPDX-License-Identifier: MIT
-- An app with a fault in nearly every resource, for `luaweb check` to find.
local web = require "luaweb"

local count = 0

local function next_count()
  count = count + 1
  return count
end

local function header(name, value)
  return function() return web.text("x"):header(name, value) end
end

local function by_hand(req)
  local wants_json = (req.headers.accept or ""):find("json", 1, true)
  return wants_json and web.json { 1 } or "one"
end

local function late(req)
  return req.params.id == 7 and "seven" or 404
end

local function nothing() end

return web.app {
  web.get("/good", function() return "good" end),
  web.get("/tag", header("ETag", '"v"')),
  web.get("/bare", header("ETag", "v")),
  web.get("/modified", header("Last-Modified", "Mon, 30 Nov 2020 14:05:20 GMT")),
  web.resource("/cached", web.machine {
    entity_tag = '"v"',
    handle_ok = header("Cache-Control", "max-age=3"),
  }),
  web.resource("/changing", web.machine {
    entity_tag = function() return web.etag(tostring(next_count())) end,
    handle_ok = function() return "x" end,
  }),
  web.get("/by-hand", by_hand),
  web.get("/head", function(req) return web.text("x"):header("X-Was", req.method) end),
  web.get("/random", function() return web.text("x"):header("X-N", next_count()) end),
  web.get("/fails", function() error "boom" end),
  web.resource("/moved", web.machine {
    stays_for_good = function() return 301 end,
    location = "/good", handle_ok = "x", do_post = nothing,
  }),
  web.resource("/found", web.machine {
    stays_for_now = 302, location = "/good", handle_ok = "x", do_post = nothing,
  }),
  web.resource("/elsewhere", web.machine {
    stays_for_good = 301, location = "/good", handle_ok = "x",
  }),
  web.resource("/late/{id}", web.machine { params = { id = "int" }, handle_ok = late }),
  web.resource("/word/{w}", web.machine {
    params = { w = "%u+%-%d+" }, handle_ok = "x",
  }),
  web.resource("/near{/x}", web.machine { handle_ok = "x" }),
  web.get("/near", function() return "nearer" end),
  web.resource("/private", web.machine {
    web.auth {
      web.basic { realm = "private", verify = function(name) return name == "me" end },
    },
    handle_ok = header("ETag", '"secret"'),
  }),
  web.resource("/choice", web.machine {
    handle_ok = { ["text/html"] = "<p>", ["application/json"] = "{}" },
    available_languages = { "en", "de" },
    strict = { "media_type", "language" },
  }),
  web.resource("/loose", web.machine {
    handle_ok = { ["text/html"] = "<p>", ["application/json"] = "{}" }, strict = {},
  }),
  web.any("/any", nothing),
}
