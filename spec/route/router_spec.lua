-- SPDX-License-Identifier: MIT
-- The router (core/route/router.h): which of many templates a path belongs to.
local ffi = require "ffi"
local templates = require "spec.route.templates"

local router_of = templates.router_of

local function found(router, path, query)
  local template, vars = router:find(path, query)
  return { template, vars }
end

describe("a router", function()
  it("finds nothing when it is empty", function()
    assert.is_nil((router_of {}:find "/"))
  end)

  it("finds the template of a path, with its values", function()
    local router = router_of { "/", "/a", "/a/{x}", "/b{/x}" }
    assert.same({ "/", {} }, found(router, "/"))
    assert.same({ "/a", {} }, found(router, "/a"))
    assert.same({ "/a/{x}", { x = "z" } }, found(router, "/a/z"))
    assert.same({ "/b{/x}", {} }, found(router, "/b"))
    assert.same({ "/b{/x}", { x = "z" } }, found(router, "/b/z"))
    assert.is_nil((router:find "/c"))
    assert.is_nil((router:find ""))
    assert.is_nil((router:find "/a/%"))
  end)

  it("keeps templates when the text they were given is gone", function()
    local router, text = templates.router(), ffi.new("char[8]", "/keep/1")
    local refusal = ffi.new "struct lw_refusal"
    local given = ffi.new("struct luaweb_slice", text, 7)
    assert.equal(0, templates.C.lw_router_add(router.router, given, refusal))
    ffi.fill(text, 8, 0x78)
    router.templates[0] = "/keep/1"
    assert.is_true((router:build()))
    assert.equal("/keep/1", (router:find "/keep/1"))
  end)
end)

-- Each: templates from the more specific to the less, and who has which path.
local ORDERS = {
  { "a literal before a variable", { "/users/me", "/users/{id}" },
    { ["/users/me"] = 1, ["/users/mex"] = 2, ["/users/m"] = 2, ["/users/"] = 2 } },
  { "a longer literal before a shorter one", { "/users/me{x}", "/users/m{x}" },
    { ["/users/mex"] = 1, ["/users/mx"] = 2 } },
  { "literals from the left", { "/a/{y}", "/{x}/b" },
    { ["/a/b"] = 1, ["/c/b"] = 2 } },
  { "{x} before {+x}", { "/files/{name}", "/files/{+path}" },
    { ["/files/a"] = 1, ["/files/a/b"] = 2 } },
  { "{x} before {/x} before {+x}", { "/f/{x}", "/f{/x*}", "/f{+x}" },
    { ["/f/a"] = 1, ["/f/a/b"] = 2, ["/f"] = 2, ["/fa/b"] = 3 } },
  { "text behind a variable before its end", { "/f/{x}.json", "/f/{x}" },
    { ["/f/a.json"] = 1, ["/f/a.js"] = 2, ["/f/.json"] = 2 } },
  { "more text in a segment before less", { "/{y}-{m}-{d}", "/{y}-{m}", "/{y}" },
    { ["/2024-05-06"] = 1, ["/2024-05"] = 2, ["/2024"] = 3, ["/1-2-3-4"] = 1 } },
  { "text in the segment before its end", { "/{x}-{y}/{z}", "/{x}/edit", "/{x}/{+y}" },
    { ["/a-b/edit"] = 1, ["/a/edit"] = 2, ["/a/b/c"] = 3, ["/a-b/c/d"] = 3 } },
  { "labels in the segment before its end", { "/{x}{.y}/{z}", "/{x}/edit" },
    { ["/a.b/edit"] = 1, ["/a/edit"] = 2 } },
  { "longer text behind a variable first", { "/{x}.json", "/{x}-{y}" },
    { ["/a-b.json"] = 1, ["/a-b"] = 2, ["/a.json-b"] = 2 } },
  { "a label before the end", { "/{x}{.y}", "/{x}/z" },
    { ["/a.b"] = 1, ["/a"] = 1, ["/a.b/z"] = 2 } },
  { "the end before what may follow", { "/h", "/h{/x}" },
    { ["/h"] = 1, ["/h/"] = 2, ["/h/a"] = 2 } },
  { "fewer segments before more", { "/d{/x}", "/d{/x,y}", "/d{/x*}" },
    { ["/d/a"] = 1, ["/d/a/b"] = 2, ["/d/a/b/c"] = 3, ["/d"] = 1 } },
  { "a short prefix before a long one", { "/{x:2}", "/{x:4}", "/{x}" },
    { ["/ab"] = 1, ["/abc"] = 2, ["/abcde"] = 3 } },
  { "what is there before what is not", { "/a{/x}/c", "/a{/x}{/y}" },
    { ["/a/b/c"] = 1, ["/a/c"] = 2, ["/a/b"] = 2 } },
  { "an escaped slash is not a slash", { "/a%2Fb", "/a/b", "/{x}" },
    { ["/a%2fb"] = 1, ["/a/b"] = 2, ["/a%2Fc"] = 3 } },
}

describe("a router chooses", function()
  for _, order in ipairs(ORDERS) do
    local title, list, paths = order[1], order[2], order[3]
    it(title .. ", in whatever order they were declared", function()
      for turn = 1, #list do
        local turned = {}
        for i = 1, #list do turned[i] = list[(i + turn) % #list + 1] end
        local router = router_of(turned)
        for path, number in pairs(paths) do
          assert.same({ path, list[number] }, { path, (router:find(path)) })
        end
      end
    end)
  end

  it("goes back to less specific ones where the first does not match", function()
    local router = router_of { "/a/{x}/edit", "/{y}/b/{z}", "/a/b/x/{w}", "/{+rest}" }
    assert.same({ "/{y}/b/{z}", { y = "a", z = "c" } }, found(router, "/a/b/c"))
    assert.same({ "/a/{x}/edit", { x = "b" } }, found(router, "/a/b/edit"))
    assert.same({ "/a/b/x/{w}", { w = "1" } }, found(router, "/a/b/x/1"))
    assert.same({ "/{+rest}", { rest = "a/b/x/1/2" } }, found(router, "/a/b/x/1/2"))
  end)

  it("among literals that share their beginning", function()
    local list = { "/", "/a", "/ab", "/abc", "/abcd/e", "/abd", "/b", "/{x}" }
    local router = router_of(list)
    for i = 1, #list - 1 do assert.equal(list[i], (router:find(list[i]))) end
    for _, path in ipairs { "/abcd", "/abce", "/c", "/aa" } do
      assert.equal("/{x}", (router:find(path)))
    end
    assert.is_nil((router:find "/abcd/"))
  end)

  it("among literals longer than a node holds, and more than it holds", function()
    local list = {}
    for octet = 97, 122 do
      list[#list + 1] = ("/a-common-beginning-of-many-octets/%c"):format(octet)
        .. ("-and-a-long-end"):rep(3)
    end
    local router = router_of(list)
    for _, path in ipairs(list) do
      assert.equal(path, (router:find(path)))
      assert.is_nil((router:find(path .. "x")))
      assert.is_nil((router:find(path:sub(1, -2))))
      assert.is_nil((router:find(path:sub(1, -2) .. "x")))
    end
  end)

  it("among thousands, in steps that do not grow with them", function()
    local function steps_of(count)
      local list = {}
      for i = 1, count do list[i] = ("/r%05d/{x}/%d"):format(i, i % 7) end
      local router, most = router_of(list), 0
      for i = 1, count, 37 do
        local template, vars, steps = router:find(("/r%05d/v/%d"):format(i, i % 7))
        assert.same({ list[i], { x = "v" } }, { template, vars })
        most = math.max(most, steps)
      end
      assert.is_nil((router:find "/r00001/v/9"))
      return most
    end
    assert.is_true(steps_of(10) <= 8)
    assert.is_true(steps_of(5000) <= 12)
  end)

  it("stays below its bound for what was made to make it slow", function()
    local list = {}
    for i = 1, 15 do
      local parts = {}
      for j = 1, i do parts[j] = ("{v%d}"):format(j) end
      list[i] = "/" .. table.concat(parts, "-") .. "/end"
      list[15 + i] = "/" .. table.concat(parts, "/") .. "/end"
    end
    table.remove(list, 16) -- the same as the first
    local router = router_of(list)
    for _, path in ipairs { "/" .. ("-"):rep(8000) .. "/x", ("/a"):rep(4000),
      "/" .. ("a-"):rep(4000), "/" .. ("%2D"):rep(2600) .. "/" } do
      local start = os.clock()
      local template, _, steps = router:find(path)
      assert.is_nil(template)
      assert.is_true(steps <= 2000)
      assert.is_true(os.clock() - start < 0.2)
    end
  end)
end)

describe("variables of the query", function()
  local router = router_of { "/s{?q,page}{&tag*}", "/all{?pairs*}", "/l{?l}",
    "/n{?a*,b*}" }

  local function vars(path, query) return (select(2, router:find(path, query))) end

  it("are bound by name, in any order; what nobody asked for is passed over", function()
    assert.same({ q = "x", page = "2", tag = { "a", "b" } },
      vars("/s", "tag=a&other=1&page=2&tag=b&q=x"))
    assert.same({}, vars("/s"))
    assert.same({}, vars("/s", ""))
    assert.same({ q = "" }, vars("/s", "q&&=x"))
  end)

  it("have the first of several values", function()
    assert.same({ q = "1" }, vars("/s", "q=1&q=2"))
  end)

  it("are lists where commas divide them, which escaped commas do not", function()
    assert.same({ l = { "a", "b" } }, vars("/l", "l=a,b"))
    assert.same({ l = "a,b" }, vars("/l", "l=a%2Cb"))
  end)

  it("have all pairs that are nobody's, as a map, when they are exploded", function()
    assert.same({ pairs = { a = "1", ["b c"] = "2 3" } }, vars("/all", "a=1&b+c=2+3"))
    assert.same({ pairs = { "1", "2" } }, vars("/all", "pairs=1&x=3&pairs=2"))
    assert.same({ a = { x = "1" }, b = { "2" } }, vars("/n", "x=1&b=2"))
    assert.same({ q = "1", tag = { x = "2" } }, vars("/s", "q=1&x=2"))
  end)

  it("are decoded as forms are, and once", function()
    assert.same({ q = "a b+c%20é" }, vars("/s", "q=a+b%2Bc%2520%C3%A9"))
    assert.same({ q = "100%" }, vars("/s", "q=100%"))
    assert.same({ q = "\255" }, vars("/s", "q=%FF"))
    assert.same({ q = "1" }, vars("/s", "%71=1"))
  end)
end)

describe("adding a template", function()
  local SAME = "matches the same paths as a template declared before"

  it("gives one number to templates of one meaning", function()
    local router = templates.router()
    for number, list in pairs {
      [0] = { "/a/{x}", "/%61/{x}" },
      [1] = { "/café", "/caf%C3%A9", "/caf%c3%a9" },
      [2] = { "/s{?q,r}", "/s{?r,q}", "/s{?q}{&r}" },
    } do
      for _, template in ipairs(list) do
        assert.same({ number, template }, { router:add(template), template })
      end
    end
  end)

  for title, case in pairs {
    ["under other names"]              = { "/a/{x}{/y}", "/a/{p}{/q}" },
    ["in another order"]               = { "/{x}/{y}", "/{y}/{x}" },
    ["with a query"]                   = { "/s", "/s{?q}" },
    ["with another query"]             = { "/s{?q}", "/s{?r}" },
    ["with a query of lists"]          = { "/s{?q}", "/s{?q*}" },
    ["with one more in its query"]     = { "/s{?q}", "/s{?q,r}" },
    ["with a variable from elsewhere"] = { "/{x}{?y}", "/{y}{?x}" },
  } do
    it("refuses one that matches the same paths " .. title, function()
      local router = templates.router()
      assert.equal(0, router:add(case[1]))
      assert.same({ nil, SAME, case[1] }, { router:add(case[2]) })
      assert.equal(0, router:add(case[1]))
    end)
  end

  it("tells apart what does not match the same paths", function()
    local router = templates.router()
    for number, template in ipairs { "/a/{x}", "/a{/x}", "/a/{x*}", "/a/{+x}",
      "/a/{x:3}", "/a/{x,y}", "/a{;x}", "/a{;y}", "/a", "/a/" } do
      assert.equal(number - 1, (router:add(template)))
    end
  end)

  it("refuses what is none, and the router stays as it is", function()
    local router = templates.router()
    assert.equal(0, router:add "/a")
    assert.same({ nil, "has a { without its }" }, { router:add "/b/{" })
    assert.same({ nil, "does not start with /" }, { router:add "b" })
    assert.equal(1, router:add "/b")
    assert.is_true((router:build()))
    assert.equal("/b", (router:find "/b"))
  end)
end)

describe("building a router", function()
  for hidden, list in pairs {
    ["/{x,y}"]         = { "/{x}", "/{x,y}" },
    ["/a{+x}"]         = { "/a{+x}", "/a{+x,y}", "/a{+x*}" },
    ["/{+x}"]          = { "/{x}{/y*}", "/{+x}" },
    ["/d{/x,y}"]       = { "/d{/x}{/y}", "/d{/x,y}" },
    ["{/x}"]           = { "/{x}", "{/x}" },
    ["/a{/x:3}"]       = { "/a{/x:3}", "/a", "/a/{x}" },
  } do
    it(("finds that nothing leads to %s"):format(hidden), function()
      local router = templates.router()
      for _, template in ipairs(list) do assert(router:add(template)) end
      local ok, which, winner = router:build()
      assert.is_false(ok)
      if hidden ~= "/a{+x}" then assert.equal(hidden, which) end
      assert.are_not.equal(which, winner)
    end)
  end

  it("leaves alone what wins some paths only", function()
    for _, list in ipairs {
      { "/{x}", "/{+x}" }, { "/{x:3}", "/{x}" }, { "/a{/x}", "/a/{y}" },
      { "/d{/x}", "/d{/x,y}", "/d{/x*}" }, { "/{x}", "/{x}/{y}", "/{x}{/y*}" },
      { "/{x}-{y}", "/{x}", "/{x}{.y}/a" }, { "/m{;x}", "/m{;x*}", "/m" },
      { "/{a}/{b}/{c}/{d}/{e}/{f}/{g}", "/{+x}" },
    } do
      assert.is_true((router_of(list).router.trie.node_count > 0))
    end
  end)
end)
