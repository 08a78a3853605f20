-- SPDX-License-Identifier: MIT
-- What an app says for all its machines, that of unmatched paths among them, and what
-- it tells of itself when it is installed (lua/luaweb/app.lua, assembly.lua).
local test = require "luaweb.test"
local web = require "luaweb"

local function nothing() end

describe("what an app includes", function()
  local core = web.machine {
    web.cors { origins = { "http://a.example" } },
    handle_not_found = "nothing here", cache_control = "no-store",
  }
  local origin = { headers = { Origin = "http://a.example" } }

  local function allowed(res) return res.headers["access-control-allow-origin"] end

  it("is in front of what each resource says", function()
    local client = test.app(web.app { includes = { core },
      web.get("/", function() return "root" end),
      web.resource("/own", web.machine { handle_ok = nothing, exists = false,
        handle_not_found = "gone fishing" }),
    })
    local res = client:get("/", origin)
    assert.equal("http://a.example", allowed(res))
    assert.equal("no-store", res.headers["cache-control"])
    assert.equal("gone fishing", client:get("/own").body)
  end)

  it("is in what answers unmatched paths, whatever the method", function()
    local client = test.app(web.app { includes = { core } })
    for _, method in ipairs { "GET", "PUT", "BREW", "OPTIONS" } do
      local res = client:request(method, "/missing", origin)
      assert.same({ 404, "nothing here", "http://a.example" },
        { res.status, res.body, allowed(res) })
    end
  end)

  it("goes on in not_found, which wins", function()
    local client = test.app(web.app { includes = { core },
      not_found = web.machine { handle_not_found = function(req)
        return "no " .. req.path
      end },
    })
    local res = client:get("/missing", origin)
    assert.same({ 404, "no /missing", "http://a.example" },
      { res.status, res.body, allowed(res) })
  end)

  it("may ask who it is before it says that nothing is there", function()
    local login = web.machine { web.auth { web.bearer { verify = nothing } } }
    local client = test.app(web.app { includes = { login } })
    assert.equal(401, client:get("/missing").status)
  end)

  it("may ask more than one who lets in", function()
    local login = web.auth { web.bearer { verify = nothing } }
    local other = web.auth { web.basic { realm = "r", verify = nothing } }
    local client = test.app(web.app { includes = { login },
      web.resource("/", web.machine { other, handle_ok = "x" }),
    })
    assert.equal('Bearer realm="restricted", Basic realm="r", charset="UTF-8"',
      client:get("/").headers["www-authenticate"])
  end)

  it("answers for a path whose parameters do not fit", function()
    local client = test.app(web.app { includes = { core },
      web.resource("/{x}", web.machine { handle_ok = "x", params = { x = "%d+" } }),
    })
    local res = client:get("/a", origin)
    assert.same({ 404, "nothing here", "http://a.example" },
      { res.status, res.body, allowed(res) })
  end)
end)

describe("an installed app", function()
  it("tells its routes: methods, media types and places", function()
    local line = debug.getinfo(1, "l").currentline + 2
    local app = web.app {
      web.get("/a", nothing),
      web.resource("/b", web.machine { do_put = nothing,
        handle_ok = { ["text/html"] = nothing, ["application/json"] = nothing } }),
      web.any("/c", nothing),
    }
    app:install()
    local routes = require("luaweb.command.routes").of(app)
    assert.matches("app_includes_spec.lua:" .. line .. "$", routes[1].place)
    for _, route in ipairs(routes) do route.place = nil end
    assert.same({
      { template = "/a", methods = { "GET", "HEAD", "OPTIONS" } },
      { template = "/b", methods = { "GET", "HEAD", "PUT", "OPTIONS" },
        media_types = { "application/json", "text/html" } },
      { template = "/c", methods = { "*" } },
    }, routes)
  end)

  it("keeps what it was made of, for those who explain it", function()
    local app = web.app { web.resource("/a", web.machine { do_patch = nothing }) }
    app:install()
    local known = app.machines[1]
    assert.equal("/a", known.template)
    assert.is_number(known.number)
    assert.is_number(known.assembly.rows.graph.index.patch_given)
    assert.is_nil(app.unmatched.assembly.rows.graph.index.patch_given)
    assert.matches("app_includes_spec.lua:%d+$", known.assembly.machine.places.do_patch)
  end)

  it("may be installed again: each time it is another one", function()
    local app = web.app { includes = { web.machine { vary = { "X-A" } } },
      web.resource("/", web.machine { handle_ok = "x", vary = { "X-B" } }) }
    test.app(app)
    assert.equal("X-A, X-B", test.app(app):get("/").headers.vary)
  end)

  it("with a thousand resources is ready in far less than a second", function()
    local list = {}
    local core = web.machine { web.cors { origins = "*" }, allowed = nothing }
    local before = os.clock()
    for i = 1, 1000 do
      list[i] = web.resource(("/r%d/{id}"):format(i), web.machine { core,
        params = { id = "int" }, exists = nothing, entity_tag = nothing,
        handle_ok = function() return "x" end, do_put = nothing, do_delete = nothing,
        handle_not_found = "none", handle_created = "made" })
    end
    web.app(list):install()
    local seconds = os.clock() - before
    assert.is_true(seconds < 0.6, ("%.0f ms of CPU"):format(seconds * 1000))
  end)
end)
