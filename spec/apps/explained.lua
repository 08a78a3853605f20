-- SPDX-License-Identifier: MIT
-- An app to be explained: every kind of answer that a row can have.
local web = require "luaweb"

local notes = { [1] = "milk" }

local note = web.machine {
  params = { id = "int" },
  allowed = function(req)
    if req.query.as == "status" then return 404 end
    if req.query.as == "response" then return web.text("no"):status(403) end
    if req.query.as == "fault" then error "boom" end
    return req.query.as ~= "nobody"
  end,
  exists = function(req) return notes[req.params.id] ~= nil end,
  legally_available = true,
  entity_tag = '"v1"',
  acceptable_media_types = { "text/plain" },
  handle_forbidden = "not for you",
  handle_ok = function(req) return notes[req.params.id] end,
  do_put = function(req)
    notes[req.params.id] = req:text()
  end,
  do_delete = function() return "gone" end,
}

local page = web.machine {
  web.auth {
    web.basic { realm = "pages", verify = function(name) return name == "me" end },
  },
  web.cors { origins = { "http://a.example" } },
  handle_ok = {
    ["text/html"] = function() return "<p>hello" end,
    ["application/json"] = function() return { "hello" } end,
  },
  cache_control = "no-cache",
}

return web.app {
  web.resource("/notes/{id}", note),
  web.resource("/page", page),
  web.resource("/constant", web.machine { handle_ok = "always", accept_ranges = true }),
  web.resource("/cookie", web.machine {
    handle_ok = function() return web.text("hi"):cookie("session", "secret-1") end,
  }),
}
