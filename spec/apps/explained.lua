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
  web.resource("/choice", web.machine {
    strict = {}, available_languages = { "en", "de" },
    available_charsets = { "utf-8", "utf-16" }, available_content_codings = { "br" },
    handle_ok = { ["text/plain"] = "hi" },
  }),
  web.resource("/strict", web.machine {
    strict = { "language" }, available_languages = function() return { "de" } end,
    available_charsets = function() return { "utf-8" } end,
    handle_ok = function() return "hi" end,
  }),
  web.resource("/no-tag", web.machine {
    entity_tag = function() return "v1" end,
    handle_ok = function() return "hi" end,
  }),
  web.resource("/silent", web.machine {
    exists = web.memo(function() return false end),
    handle_not_found = function() error "boom" end, handle_ok = "hi",
  }),
  web.resource("/keys", web.machine {
    web.auth {
      web.basic { realm = "a", verify = function(name) return name == "me" end },
      web.bearer { verify = function() error "boom" end },
      web.bearer { verify = function() return true end },
    },
    web.cors { origins = { "http://a.example" } },
    handle_ok = { ["text/html"] = function() error "bang" end },
    do_patch = function() end,
  }),
  web.resource("/stale", web.machine {
    expires = function() return "tomorrow" end,
    handle_ok = function() return "hi" end,
  }),
}
