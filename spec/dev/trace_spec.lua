-- SPDX-License-Identifier: MIT
-- The inspector of `luaweb dev`: the last requests, and how each has walked.
local dev = require "spec.support.dev"
local process = require "spec.support.process"

after_each(process.clean)

local APP = [[
local web = require "luaweb"
return web.app {
  web.get("/hello{/name}", function(req) return "hello" end),
  web.resource("/locked", web.machine { allowed = function() return false end,
    handle_ok = "x" }),
  web.get("/slow", function() web.sleep(30) return "late" end),
}
]]

-- The links of the list, newest first: { id, target }.
local function links(child)
  local list = {}
  local body = dev.get(child, "/.luaweb/trace").body
  for id, target in body:gmatch 'href="/%.luaweb/trace/(%d+)">([^<]*)<' do
    list[#list + 1] = { id = id, target = target }
  end
  return list, body
end

local function walk_of(child)
  return dev.get(child, "/.luaweb/trace/" .. links(child)[1].id).body
end

describe("The inspector", function()
  it("is found at /trace, too", function()
    local child = dev.serve { ["app.lua"] = APP }
    local answer = dev.get(child, "/trace")
    assert.equal(303, answer.status)
    assert.equal("/.luaweb/trace", answer:header "location")
  end)

  for _, template in ipairs { "/trace", "/{x}", "/{+path}", "/tr{x}", "{/path*}" } do
    it("leaves /trace to an app that has " .. template, function()
      local child = dev.serve { ["app.lua"] = ([[
local web = require "luaweb"
return web.app { web.get(%q, function() return "the app's" end) }
]]):format(template) }
      assert.equal("the app's", dev.get(child, "/trace").body)
      assert.equal(200, dev.get(child, "/.luaweb/trace").status)
    end)
  end

  it("says that there was no request yet", function()
    local child = dev.serve { ["app.lua"] = APP }
    assert.matches("There was none yet", dev.get(child, "/.luaweb/trace").body)
  end)

  it("lists requests with status, method, target, time and size", function()
    local child = dev.serve { ["app.lua"] = APP }
    dev.get(child, "/hello/fred?x=%22<b>")
    dev.get(child, "/nowhere")
    local list, body = links(child)
    assert.equal("/nowhere", list[1].target)
    assert.equal("/hello/fred?x=%22&lt;b&gt;", list[2].target)
    assert.matches('<td class="no">404</td><td>GET</td>', body)
    assert.matches('<td class="yes">200</td>.-<td class="dim">%d+%.%d ms</td>'
      .. '<td class="dim">5 B</td>', body)
  end)

  it("shows each row of a walk with its answer and the reason", function()
    local child = dev.serve { ["app.lua"] = APP }
    dev.get(child, "/hello", "Cookie: a=b\r\n")
    local body = walk_of(child)
    assert.matches("<h1 class=\"calm\">GET /hello</h1>", body)
    assert.matches("<td>Cookie</td><td>%(not shown%)</td>", body)
    assert.matches("<code>/hello{/name}</code>.-app%.lua:3", body)
    assert.matches('<td>has_reply</td><td class="yes">yes</td>'
      .. "<td>handle_ok at [^<]*app%.lua:3 gave content</td>", body)
    assert.matches("<p>ends at <code>[%w_]+</code> with 200</p>", body)
  end)

  it("shows why a request was refused", function()
    local child = dev.serve { ["app.lua"] = APP }
    dev.get(child, "/locked")
    assert.matches('<td>allowed</td><td class="no">no</td><td>the function at '
      .. "[^<]*app%.lua:4 answered false</td>", walk_of(child))
  end)

  it("shows that no template matches", function()
    local child = dev.serve { ["app.lua"] = APP }
    dev.get(child, "/nowhere")
    assert.matches("No template matches the path", walk_of(child))
  end)

  it("shows a request that still runs", function()
    local child = dev.serve { ["app.lua"] = APP }
    local conn = child:connect(process.get "/slow")
    require("spec.support.eventually")("it runs", function() return links(child)[1] end)
    local _, body = links(child)
    assert.matches('<td class="dim">runs</td>', body)
    assert.matches("<p>stands at <code>has_reply</code></p>", walk_of(child))
    conn:close()
  end)

  it("remembers 100 requests", function()
    local child = dev.serve { ["app.lua"] = APP }
    local conn = child:connect()
    for i = 1, 103 do child:ask(process.get("/hello/" .. i), conn) end
    local list = links(child)
    assert.equal(100, #list)
    assert.equal("/hello/103", list[1].target)
    assert.equal("/hello/4", list[100].target)
    assert.equal(404, dev.get(child, "/.luaweb/trace/1").status)
    assert.equal(404, dev.get(child, "/.luaweb/trace/x").status)
    conn:close()
  end)

  it("does not know the walks of an older generation", function()
    local child = dev.serve { ["app.lua"] = APP }
    dev.get(child, "/hello")
    dev.write("app.lua", dev.says "two")
    dev.shows(child, "/", "two")
    local list = links(child)
    local body = dev.get(child, "/.luaweb/trace/" .. list[#list].id).body
    assert.matches("GET /hello", body)
    assert.matches("is not known: an older generation has answered it", body)
    assert.matches("has_reply", walk_of(child))
  end)
end)
