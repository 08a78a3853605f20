-- SPDX-License-Identifier: MIT
-- How long an app takes to load: BENCH_RESOURCES resources, each with a template and a
-- machine of its own, whose functions are its own too.  Writes the app to a file
-- (BENCH_APP, else a temporary one), loads it as `luaweb app.lua` does, and removes it.
-- Prints two numbers, microseconds of CPU: to run the script, and to compile what it
-- declared; and ends.
local app = require "luaweb.app"
local test = require "luaweb.test"

local RESOURCES = tonumber(os.getenv "BENCH_RESOURCES" or 1000)

local HEAD = [[
local web = require "luaweb"
local notes = {}
local core = web.machine {
  web.cors { origins = { "http://example.com" }, methods = { "GET", "PUT" } },
}
local resources = {}
]]
local FOOT = "return web.app(resources)\n"

-- The machines, in turn; @ is the number of the resource.
local kinds = {
  -- read only
  [[
resources[@] = web.resource("/r@/{id}", web.machine {
  handle_ok = function(req) return "r@ " .. req.params.id end,
})
]],
  -- read, written and deleted, behind preconditions
  [[
resources[@] = web.resource("/r@/{id}", web.machine {
  params = { id = "int" },
  exists = function(req) return notes[@ + req.params.id] ~= nil end,
  allowed = function(req) return req.params.id ~= @ end,
  entity_tag = function(req) return web.weak_etag("@" .. req.params.id) end,
  acceptable_media_types = { "application/json" },
  content_valid = function(req) return req:json().number == @ end,
  handle_ok = function(req) return web.json(notes[@ + req.params.id]) end,
  do_put = function(req) notes[@ + req.params.id] = req:json() end,
  do_delete = function(req) notes[@ + req.params.id] = nil end,
})
]],
  -- for pages of other origins
  [[
resources[@] = web.resource("/r@/{id}", web.machine {
  core,
  last_modified = function() return 1000000000 + @ end,
  cache_control = "public, max-age=@",
  handle_ok = function(req) return "r@ " .. req.params.id end,
  do_put = function(req) notes[@] = req:text() end,
})
]],
  -- negotiated
  [[
resources[@] = web.resource("/r@/{id}", web.machine {
  available_languages = { "en", "de" },
  strict = { "media_type", "language" },
  handle_ok = {
    ["application/json"] = function(req) return { number = @, id = req.params.id } end,
    ["text/html"] = function(req) return web.html("<p>r@ " .. #req.params.id) end,
  },
})
]],
  -- for some only
  [[
resources[@] = web.resource("/r@/{id}", web.machine {
  web.auth {
    web.basic {
      realm = "r@",
      verify = function(_, password) return web.secret_equal(password, "secret@") end,
    },
  },
  core,
  allowed = function(req) return req.user ~= "user@" end,
  handle_forbidden = "Not r@.",
  handle_ok = function(req) return "r@ " .. req.params.id end,
  do_post = function(req) notes[@] = req:text() end,
})
]],
}

local function write_app(path)
  local file = assert(io.open(path, "w"))
  file:write(HEAD)
  for i = 1, RESOURCES do
    file:write((kinds[(i - 1) % #kinds + 1]:gsub("@", i)))
  end
  file:write(FOOT)
  file:close()
end

local function check(loaded)
  assert(#loaded.machines == RESOURCES, "not all resources were loaded")
  local answer = test.app(loaded):get "/r1/x"
  assert(answer.status == 200 and answer.body == "r1 x", "not the app that was written")
end

local path = os.getenv "BENCH_APP" or os.tmpname()
write_app(path)
local began = os.clock()
local is_loaded, loaded = pcall(app.load, path)
local ran = os.clock()
os.remove(path)
if not is_loaded then error(loaded, 0) end
loaded:install()
local installed = os.clock()
check(loaded)
print(("%.0f %.0f"):format((ran - began) * 1e6, (installed - ran) * 1e6))
io.stdout:flush()
os.exit(0)
