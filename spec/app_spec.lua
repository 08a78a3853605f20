-- SPDX-License-Identifier: MIT
-- Apps: what web.app takes, how resources become one, and how a script is loaded
-- (lua/luaweb/app.lua).
local job = require "luaweb.job"
local new_folder = require("spec.support.folder").new
local test = require "luaweb.test"
local web = require "luaweb"

local function nothing() end

--- The error of a function, without the place in this file that it begins with.
local function fault_of(fn, ...)
  local ok, message = pcall(fn, ...)
  assert.is_false(ok)
  local rest = message:match "^[^:]*app_spec%.lua:%d+: (.*)$"
  assert.is_truthy(rest, message)
  return rest
end

local function fault(spec)
  return fault_of(function() test.app(web.app(spec)) end)
end

describe("web.app", function()
  it("refuses an entry that is no resource, and says which", function()
    assert.equal("web.app: entry 2 is a string, not a resource",
      fault { web.get("/", nothing), "/x" })
    assert.equal("web.app: entry 1 is a table, not a resource", fault { {} })
    assert.equal("web.app: entry 1 is a machine, not a resource: put "
      .. "web.resource(template, machine) there",
      fault { web.machine { handle_ok = "x" } })
    assert.equal("web.app: entry 1 is a nil, not a resource",
      fault { nil, web.get("/", nothing) })
  end)

  it("refuses a key that no app has", function()
    assert.equal("web.app: no app has the key on_begin", fault { on_begin = nothing })
    assert.equal("web.app: no app has the key worker (did you mean workers?)",
      fault { worker = 1 })
    assert.equal("web.app: no app has the key 0", fault { [0] = web.get("/", nothing) })
  end)

  it("wants functions for on_start and on_stop", function()
    assert.equal("web.app: on_start wants a function", fault { on_start = "x" })
    assert.equal("web.app: on_stop wants a function", fault { on_stop = {} })
  end)

  it("wants a whole number of workers", function()
    for _, count in ipairs { 0, 1.5, -1, 0 / 0, math.huge, "2" } do
      assert.equal("web.app: workers wants a whole number from 1",
        fault { workers = count })
    end
    assert.equal(2, web.app { workers = 2 }.workers)
  end)

  it("wants machines to include", function()
    assert.equal("web.app: includes wants a list of machines",
      fault { includes = web.machine {} })
    assert.equal("web.app: includes: [1]: a machine includes machines, not a table",
      fault { includes = { {} } })
    assert.equal("web.app: not_found wants a machine", fault { not_found = nothing })
  end)

  it("wants a table", function()
    assert.equal("web.app wants a table",
      fault_of(function() return web.app(nil) end))
  end)

  it("may have no resource", function()
    assert.equal(404, test.app(web.app {}):get("/").status)
  end)

  it("waits for on_start, which gets the app", function()
    local app, given
    app = web.app {
      on_start = function(self)
        web.sleep(0.01)
        given = self
      end,
    }
    test.app(app)
    assert.equal(app, given)
  end)
end)

describe("a resource", function()
  it("wants a template and a machine", function()
    assert.equal("web.resource wants a URI template first",
      fault_of(function() web.resource(nil, web.machine {}) end))
    assert.equal('web.resource("/x") wants a machine second',
      fault_of(function() web.resource("/x", { handle_ok = "x" }) end))
    assert.equal("web.resource wants a URI template first",
      fault_of(function() web.get(5, nothing) end))
  end)

  it("in its short form wants a function", function()
    assert.equal("/x: handle_ok: wants a function of the request",
      fault_of(function() web.get "/x" end))
    assert.equal("/x: do_post: wants a function of the request",
      fault_of(function() web.post("/x", "text") end))
  end)

  it("with a broken template is named with its place", function()
    assert.equal('the template "/{" has a { without its }',
      fault { web.get("/{", nothing) })
    assert.equal('the template "x" does not start with /',
      fault { web.get("x", nothing) })
    assert.equal('the template "/\\0" has a space or a control octet',
      fault { web.get("/\0", nothing) })
  end)

  it("with a template that matches the same paths is named with both places", function()
    local message = fault { web.get("/{a}{/b}", nothing), web.put("/{x}{/y}", nothing) }
    assert.matches('^the template "/{x}{/y}" matches the same paths as a template '
      .. 'declared before: "/{a}{/b}" at .*app_spec.lua:%d+$', message)
  end)

  it("has at most 32 methods", function()
    local methods = {}
    for i = 1, 33 do methods[i] = "M" .. i end
    assert.equal("/x: methods: more than 32, or M33 is too long",
      fault { web.resource("/x", web.machine { methods = methods, do_any = nothing }) })
    assert.matches("^/x: methods: more than 0, or MMMM", fault {
      web.resource("/x", web.machine { methods = { ("M"):rep(65) }, do_any = nothing }),
    })
  end)
end)

describe("resources with equal templates", function()
  it("are one", function()
    local client = test.app(web.app {
      web.get("/x", function() return "got" end),
      web.put("/x", function() return "put" end),
      web.get("/y", function() return "y" end),
      web.resource("/x", web.machine { do_brew = nothing, body_limit = 5 }),
    })
    assert.equal("got", client:get("/x").body)
    assert.equal("put", client:put("/x").body)
    assert.equal("got", client:request("BREW", "/x").body)
    assert.equal(413, client:put("/x", { body = "123456" }).status)
    assert.equal("GET, HEAD, BREW, PUT, OPTIONS", client:options("/x").headers.allow)
  end)

  it("may say the same twice", function()
    local machine = web.machine { handle_ok = "same", expires = 5 }
    local client = test.app(web.app {
      web.resource("/x", machine), web.resource("/x", machine),
      web.resource("/x", web.machine { expires = 5 }),
    })
    assert.equal("same", client:get("/x").body)
  end)

  it("that contradict each other are named with both places", function()
    local line = debug.getinfo(1, "l").currentline + 2
    local message = fault {
      web.get("/x", function() return 1 end),
      web.get("/y", nothing),
      web.get("/x", function() return 2 end),
    }
    assert.matches(('^handle_ok: "/x" has handle_ok already, declared at '
      .. '.*app_spec.lua:%d$'):format(line), message)
    assert.matches('^body_limit: "/x" has body_limit already', fault {
      web.resource("/x", web.machine { handle_ok = "x", body_limit = 1 }),
      web.resource("/x", web.machine { body_limit = 2 }),
    })
  end)

  it("must agree on the methods", function()
    assert.equal("/x: do_put: none of its methods is in `methods`: nothing can "
      .. "reach it", fault {
        web.resource("/x", web.machine { methods = { "GET" }, handle_ok = "x" }),
        web.put("/x", nothing),
      })
  end)

  it("of different apps have nothing to do with each other", function()
    local first = test.app(web.app { web.get("/x", function() return "first" end) })
    local second = test.app(web.app { web.put("/x", function() return "second" end) })
    assert.equal("first", first:get("/x").body)
    assert.equal("second", second:put("/x").body)
    assert.equal(405, second:get("/x").status)
  end)
end)

describe("a script", function()
  local folder

  before_each(function() folder = new_folder() end)
  after_each(function() folder:remove() end)

  --- A client of the app that these lines are, after `local web = require "luaweb"`.
  local function client_of(text)
    return test.app(folder:write("main.lua", 'local web = require "luaweb"\n' .. text))
  end

  local function script_fault(text)
    local ok, message = pcall(client_of, text)
    assert.is_false(ok)
    return message:sub(1, #folder.path) == folder.path and message:sub(#folder.path + 2)
      or message
  end

  it("is a job: it may wait while it loads, and others run meanwhile", function()
    local other
    job.spawn(function() other = "ran" end)
    local client = client_of [[
      web.sleep(0.02)
      return web.app { web.get("/", function() return "late" end) }
    ]]
    assert.equal("late", client:get("/").body)
    assert.equal("ran", other)
  end)

  it("finds the modules beside it, which may wait too", function()
    folder:write("app_spec_module.lua", [[
      require("luaweb").sleep(0.01)
      return "from a module"
    ]])
    assert.equal("from a module", client_of([[
      local text = require "app_spec_module"
      return web.app { web.get("/", function() return text end) }
    ]]):get("/").body)
    package.loaded.app_spec_module = nil
  end)

  it("is named when it is not there", function()
    assert.error_matches(function() test.app "no/such/app.lua" end, "no/such/app.lua")
  end)

  it("is named with the line where it is no Lua", function()
    assert.matches("^main.lua:3: ", script_fault "\nreturn web.app {,}")
  end)

  it("is named with the line where it fails", function()
    assert.equal("main.lua:3: on purpose", script_fault "\nerror 'on purpose'")
  end)

  it("must return an app", function()
    local wanted = "main.lua: the script must return web.app { ... }"
    assert.matches(wanted, script_fault "", 1, true)
    assert.matches(wanted, script_fault "return {}", 1, true)
    assert.matches(wanted, script_fault "return nil, 'no database'", 1, true)
  end)

  it("is named with the line of what it declares wrongly", function()
    assert.equal("main.lua:3: do_it: wants a function of the request", script_fault [[

local wrong = web.machine { do_it = 1 }
return web.app {}]])
    assert.equal("main.lua:4: /b: colour: no machine has this key", script_fault [[
return web.app {
  web.get("/a", function() end),
  web.resource("/b", web.machine { colour = "blue" }),
}]])
  end)

  it("is named with a line of the app, where that is what is wrong", function()
    assert.equal("main.lua:2: web.app: no app has the key colour",
      script_fault "return web.app { colour = 1 }")
    assert.matches("^main.lua:[234]: web.app: entry 2 is a string, not a resource$",
      script_fault [[
return web.app {
  web.get("/", function() end), "x",
}]])
  end)

  it("is not named for what a module of it declares wrongly", function()
    folder:write("app_spec_wrong.lua",
      "\n\nreturn require('luaweb').machine { colour = 'blue' }")
    assert.equal("app_spec_wrong.lua:3: /: colour: no machine has this key",
      script_fault "return web.app { web.resource('/', require 'app_spec_wrong') }")
  end)

  it("in a folder that is called luaweb is named as any other", function()
    local path = folder:write("luaweb/main.lua",
      "\nlocal m = require('luaweb').machine { colour = 1 }\nreturn m")
    local ok, message = pcall(test.app, path)
    assert.is_false(ok)
    assert.equal(path .. ":2: colour: no machine has this key", message)
  end)
end)
