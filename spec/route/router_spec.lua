-- SPDX-License-Identifier: MIT
-- The router (core/route/router.h): which resource a path belongs to.
local ffi = require "ffi"
local pure = require "spec.support.pure"

pure.load "route/template"
local C = pure.load "route/router"

local function slice(text)
  return ffi.new("struct luaweb_slice", text, #text)
end

local function new_router()
  local router = ffi.new "struct lw_router"
  C.lw_router_construct(router)
  return ffi.gc(router, C.lw_router_destruct)
end

--- Adds a template; nil, or why not.
local function add(router, template, resource)
  local why = ffi.new "const char *[1]"
  if C.lw_router_add(router, slice(template), resource, why) then return nil end
  return ffi.string(why[0])
end

local function router_of(templates)
  local router = new_router()
  for i, template in ipairs(templates) do assert.is_nil(add(router, template, i)) end
  return router
end

--- The number of the resource and the captured values, or nil.
local function find(router, path)
  local pairs_, count = ffi.new "struct luaweb_field[16]", ffi.new "uint32_t[1]"
  local resource = ffi.new "uint32_t[1]"
  if not C.lw_router_match(router, slice(path), resource, pairs_, count) then
    return nil
  end
  local values = {}
  for i = 0, count[0] - 1 do values[i + 1] = pure.string(pairs_[i].value) end
  return resource[0], values
end

describe("a router", function()
  it("finds nothing when it is empty", function()
    assert.is_nil(find(new_router(), "/"))
  end)

  it("finds the resource of a path, with its values", function()
    local router = router_of { "/", "/a", "/a/{x}", "/b{/x}" }
    assert.equal(1, find(router, "/"))
    assert.equal(2, find(router, "/a"))
    assert.same({ 3, { "z" } }, { find(router, "/a/z") })
    assert.same({ 4, {} }, { find(router, "/b") })
    assert.same({ 4, { "z" } }, { find(router, "/b/z") })
    assert.is_nil(find(router, "/c"))
    assert.is_nil(find(router, ""))
  end)

  local templates = {
    "/users/me", "/users/{id}", "/{any}/{id}", "/users{/id}{/part}",
  }
  local paths = {
    ["/users/me"]     = "/users/me",
    ["/users/7"]      = "/users/{id}",
    ["/x/7"]          = "/{any}/{id}",
    ["/users"]        = "/users{/id}{/part}",
    ["/users/7/name"] = "/users{/id}{/part}",
  }

  it("tries what is more specific first, in whatever order it was declared", function()
    for turn = 1, #templates do
      local order = {}
      for i = 1, #templates do order[i] = templates[(i + turn) % #templates + 1] end
      local router = router_of(order)
      for path, template in pairs(paths) do
        assert.equal(template, order[find(router, path)])
      end
    end
  end)

  it("goes on to less specific ones where the first does not match", function()
    local router = router_of { "/a/{x}/edit", "/{y}/b/{z}" }
    assert.same({ 2, { "a", "c" } }, { find(router, "/a/b/c") })
    assert.same({ 1, { "b" } }, { find(router, "/a/b/edit") })
  end)

  it("refuses a template that matches the same paths as another", function()
    local router = router_of { "/a/{x}{/y}" }
    local why = "matches the same paths as a template declared before"
    assert.equal(why, add(router, "/a/{x}{/y}", 2))
    assert.equal(why, add(router, "/a/{p}{/q}", 2))
    assert.is_nil(add(router, "/a{/x}{/y}", 2))
    assert.is_nil(add(router, "/a/{x}", 3))
  end)

  it("refuses what is no template, and stays as it is", function()
    local router = router_of { "/a" }
    assert.equal("has a { without its }", add(router, "/b/{", 2))
    assert.is_nil(find(router, "/b/"))
    assert.equal(1, find(router, "/a"))
  end)

  it("keeps the template when the text it was given is gone", function()
    local router, text = new_router(), ffi.new("char[8]", "/keep/1")
    local why = ffi.new "const char *[1]"
    local given = ffi.new("struct luaweb_slice", text, 7)
    assert.is_true(C.lw_router_add(router, given, 9, why))
    ffi.fill(text, 8, 0x78)
    assert.equal(9, find(router, "/keep/1"))
  end)

  it("holds a thousand resources", function()
    local list = {}
    for i = 1, 1000 do list[i] = ("/r%d/{x}"):format(i) end
    local router = router_of(list)
    assert.same({ 1, { "v" } }, { find(router, "/r1/v") })
    assert.same({ 1000, { "v" } }, { find(router, "/r1000/v") })
    assert.is_nil(find(router, "/r1001/v"))
  end)
end)
