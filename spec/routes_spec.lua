-- SPDX-License-Identifier: MIT
-- `luaweb routes`: resources, methods, media types, places; for people and for tools.
local json = require "luaweb.json"
local process = require "spec.support.process"

after_each(process.clean)

local APP = [[
local web = require "luaweb"
return web.app {
  web.get("/", function() return "hello" end),
  web.resource("/page", web.machine { handle_ok = {
    ["text/html"] = "<p>", ["application/json"] = "{}",
  } }),
  web.resource("/note/{id}", web.machine {
    handle_ok = function() return "note" end,
    available_media_types = function() return { "text/plain" } end,
    acceptable_media_types = { "text/plain", "text/markdown" },
    patch_media_types = { "application/merge-patch+json" },
    do_put = function() end,
    do_patch = function() end,
  }),
  web.any("/any", function() end),
  on_start = function() error "nothing of the app runs" end,
}
]]

describe("luaweb routes", function()
  it("lists resources in columns: template, methods, media types, place", function()
    local path = process.file("app.lua", APP)
    local ended = process.run("routes", path)
    assert.equal("", ended.errors)
    assert.equal(0, ended.code)
    local note = "gives what FILE:9 says; takes text/plain, text/markdown; "
      .. "PATCH takes application/merge-patch+json"
    note = note:gsub("FILE", path)
    local function line(template, methods, types, number)
      return ("  %-10s  %-30s  %s  %s:%d\n"):format(template, methods,
        types .. (" "):rep(#note - #types), path, number)
    end
    assert.equal(line("/", "GET, HEAD, OPTIONS", "", 3)
      .. line("/page", "GET, HEAD, OPTIONS", "gives application/json, text/html", 4)
      .. line("/note/{id}", "GET, HEAD, PATCH, PUT, OPTIONS", note, 7)
      .. line("/any", "(any)", "", 15), ended.output)
  end)

  it("has no column for media types where nobody speaks of them", function()
    local ended = process.run("routes", "apps/hello.lua")
    assert.equal("  /hello{/name}  GET, HEAD, OPTIONS  apps/hello.lua:13\n",
      ended.output)
  end)

  it("has the same as JSON", function()
    local path = process.file("app.lua", APP)
    local ended = process.run("routes", path, "--json")
    assert.equal(0, ended.code)
    assert.same({
      { template = "/", methods = { "GET", "HEAD", "OPTIONS" }, place = path .. ":3" },
      { template = "/page", methods = { "GET", "HEAD", "OPTIONS" },
        place = path .. ":4", media_types = { "application/json", "text/html" } },
      { template = "/note/{id}",
        methods = { "GET", "HEAD", "PATCH", "PUT", "OPTIONS" }, place = path .. ":7",
        media_types_by = path .. ":9",
        accepted = { "text/plain", "text/markdown" },
        accepted_patches = { "application/merge-patch+json" } },
      { template = "/any", methods = { "*" }, place = path .. ":15" },
    }, json.decode(ended.output))
  end)

  it("names resources once whose templates are equal", function()
    local path = process.file("app.lua", [[
local web = require "luaweb"
return web.app {
  web.get("/a", function() end),
  web.put("/a", function() end),
}
]])
    local ended = process.run("routes", path)
    assert.equal(("  /a  GET, HEAD, PUT, OPTIONS  %s:3\n"):format(path), ended.output)
  end)

  it("tells about itself with --help", function()
    local ended = process.run("routes", "--help")
    assert.equal(0, ended.code)
    assert.matches("^luaweb routes app%.lua %[%-%-json%]\n", ended.output)
  end)
end)

describe("luaweb serve", function()
  it("lists them as `luaweb routes` does", function()
    local path = process.file("app.lua", APP:gsub("on_start[^\n]*\n", ""))
    local child = process.serve(path)
    child:expect "  /any "
    assert.matches("  /page +GET, HEAD, OPTIONS +gives application/json, text/html +"
      .. "[^ ]+:4\n",
      child.output)
    child:stop()
  end)
end)
