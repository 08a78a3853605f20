-- SPDX-License-Identifier: MIT
-- Matching with one template (core/route/match.h, capture.h): what RFC 6570 expands to
-- is read back, values are as long as can be, and nothing takes long.
local templates = require "spec.route.templates"

local match = templates.match

local STEPS = 2000 -- LW_MATCH_STEPS

local function matches(template, cases)
  for text, vars in pairs(cases) do
    assert.same(vars or { text }, match(template, text) or { text })
  end
end

describe("literal text", function()
  it("matches itself and nothing else", function()
    matches("/a/b", { ["/a/b"] = {}, ["/a/"] = false, ["/a/bc"] = false,
      ["/a/B"] = false, ["a/b"] = false, [""] = false, ["/a/b/"] = false })
  end)

  it("is compared in normal form", function()
    matches("/café/A~", { ["/caf%C3%A9/A~"] = {}, ["/café/%41%7E"] = {},
      ["/cafe/A~"] = false })
    matches("/caf%c3%a9/%41%7e", { ["/café/A~"] = {}, ["/caf%C3%A9/%41~"] = {} })
    matches("/a%2fb", { ["/a%2Fb"] = {}, ["/a/b"] = false })
    matches("/a:b", { ["/a:b"] = {}, ["/a%3Ab"] = false })
  end)
end)

describe("{x}", function()
  it("takes a part of a segment", function()
    matches("/f/{x}.txt", { ["/f/a.txt"] = { x = "a" }, ["/f/a.b.txt"] = { x = "a.b" },
      ["/f/a/b.txt"] = false, ["/f/a.txt/"] = false })
    matches("/{x}/{y}", { ["/a/b"] = { x = "a", y = "b" }, ["/a/b/"] = false })
    matches("/{x}-{y}", { ["/a-b-c"] = { x = "a-b", y = "c" } })
  end)

  it("is unset where there is no text", function()
    matches("/h/{x}", { ["/h/"] = {}, ["/h"] = false, ["/h//"] = false })
    matches("/f/{x}.txt", { ["/f/.txt"] = {} })
  end)

  it("is a list when commas divide it", function()
    matches("/{x}", { ["/a,b"] = { x = { "a", "b" } }, ["/a%2Cb"] = { x = "a,b" },
      ["/,"] = { x = { "", "" } } })
    matches("/{x,y}", { ["/a"] = { x = "a" }, ["/a,b"] = { x = "a", y = "b" },
      ["/a,b,c"] = { x = "a", y = { "b", "c" } }, ["/,b"] = { x = "", y = "b" } })
    matches("/{x*}", { ["/a"] = { x = { "a" } }, ["/a,b"] = { x = { "a", "b" } },
      ["/a=1,b=2"] = { x = { "a=1", "b=2" } } })
    matches("/{x,y*}", { ["/a,b,c"] = { x = "a", y = { "b", "c" } } })
    matches("/{x*,y}", { ["/a,b,c"] = { x = { "a", "b", "c" } } })
  end)

  it("never cuts an escape or a character in two", function()
    matches("/{x}2F", { ["/%2F"] = false, ["/%2F2F"] = { x = "/" } })
    matches("/{x}F", { ["/%2F"] = false, ["/%2FF"] = { x = "/" } })
    matches("/{x:1}{y}", { ["/éé"] = { x = "é", y = "é" } })
    matches("/{x:1}{+y}", { ["/%2Fé"] = { x = "/", y = "é" } })
  end)

  it("has no more characters than its prefix", function()
    matches("/{x:3}", { ["/abc"] = { x = "abc" }, ["/abcd"] = false,
      ["/%C3%A9%2F€"] = { x = "é/€" }, ["/a,b"] = { x = "a,b" } })
    matches("/{x:2}c", { ["/abc"] = { x = "ab" }, ["/abbc"] = false })
    matches("/{x:1,y}", { ["/a,bcd"] = { x = "a", y = "bcd" }, ["/ab,c"] = false })
    matches("/{x,y:1}", { ["/abc,d"] = { x = "abc", y = "d" }, ["/abc,de"] = false })
  end)

  it("does not match broken escapes or what is not UTF-8", function()
    matches("/{x}", { ["/%"] = false, ["/%2"] = false, ["/a%zz"] = false,
      ["/%FF"] = false, ["/%C3%28"] = false })
  end)
end)

describe("{+x}", function()
  it("takes segments, and what is behind it takes the last it can", function()
    matches("/f/{+x}", { ["/f/a/b"] = { x = "a/b" }, ["/f/"] = {}, ["/f"] = false })
    matches("/f/{+x}/meta", { ["/f/a/meta/b/meta"] = { x = "a/meta/b" },
      ["/f/meta"] = false, ["/f//meta"] = {} })
    matches("/{x}{+y}", { ["/a/b/c"] = { x = "a", y = "/b/c" }, ["/a"] = { x = "a" } })
  end)
end)

describe("{.x}", function()
  it("takes labels, and a value has no dot", function()
    matches("/a{.x}", { ["/a.b"] = { x = "b" }, ["/a"] = {}, ["/a."] = { x = "" },
      ["/a.b.c"] = false })
    matches("/{n}{.x}", { ["/a.tar.gz"] = { n = "a.tar", x = "gz" },
      ["/a"] = { n = "a" } })
    matches("/a{.x,y}", { ["/a.b.c"] = { x = "b", y = "c" }, ["/a.b"] = { x = "b" } })
    matches("/a{.x*}", { ["/a.b.c"] = { x = { "b", "c" } } })
  end)
end)

describe("{/x}", function()
  it("takes segments with their slash, or nothing", function()
    matches("/h{/x}", { ["/h/a"] = { x = "a" }, ["/h"] = {}, ["/h/"] = { x = "" },
      ["/h/a/b"] = false, ["/ha"] = false })
    matches("/d{/x}{/y}", { ["/d/a/b"] = { x = "a", y = "b" }, ["/d/a"] = { x = "a" } })
    matches("/d{/x,y}", { ["/d/a/b"] = { x = "a", y = "b" }, ["/d/a"] = { x = "a" },
      ["/d/a,b/c"] = { x = { "a", "b" }, y = "c" }, ["/d/a/b/c"] = false })
    matches("/d{/x*}", { ["/d/a/b"] = { x = { "a", "b" } }, ["/d"] = {},
      ["/d/a,b"] = { x = { "a,b" } }, ["/d/k=v"] = { x = { "k=v" } } })
    matches("/d{/x*}/edit", { ["/d/a/edit"] = { x = { "a" } }, ["/d/edit"] = {},
      ["/d/edit/edit"] = { x = { "edit" } } })
    matches("{/x}/i", { ["/a/i"] = { x = "a" }, ["/i"] = {} })
    matches("/d{/x:2}", { ["/d/ab"] = { x = "ab" }, ["/d/abc"] = false })
  end)
end)

describe("{;x}", function()
  it("binds by name, in any order", function()
    matches("/m{;x,y}", { ["/m;x=1;y=2"] = { x = "1", y = "2" },
      ["/m;y=2;x=1"] = { x = "1", y = "2" }, ["/m;y=2"] = { y = "2" },
      ["/m"] = {}, ["/m;x"] = { x = "" }, ["/m;z=1"] = false, ["/m;"] = false,
      ["/m;x=1;x=2"] = false, ["/m;=1"] = false, ["/m;x=a,b"] = { x = { "a", "b" } } })
    matches("/m{;x*}", { ["/m;x=1;x=2"] = { x = { "1", "2" } },
      ["/m;a=1;b=2"] = { x = { a = "1", b = "2" } }, ["/m;x=1;a=2"] = false })
    matches("/m{;x,y*}", { ["/m;a=1;x=2;b=3"] = { x = "2", y = { a = "1", b = "3" } },
      ["/m;y=1;x=2;y=3"] = { x = "2", y = { "1", "3" } } })
    matches("/m{;x*,y*}", { ["/m;a=1;y=2"] = { x = { a = "1" }, y = { "2" } } })
  end)

  it("ends where what follows begins", function()
    matches("/m{;x}z", { ["/m;x=1z"] = { x = "1" }, ["/mz"] = {} })
    matches("/m{;x}/n", { ["/m;x=1/n"] = { x = "1" } })
    matches("/m{;x:2}", { ["/m;x=ab"] = { x = "ab" }, ["/m;x=abc"] = false })
    matches("/m{;%C3%A9}", { ["/m;é=1"] = { ["%C3%A9"] = "1" } })
  end)
end)

describe("{?x} and {&x}", function()
  it("bind by name, in any order", function()
    matches("/s{?x,y}", { ["/s?y=2&x=1"] = { x = "1", y = "2" }, ["/s"] = {},
      ["/s?z=1"] = false, ["/s?x=1&z=2"] = false, ["/s?x=a/b?c"] = { x = "a/b?c" } })
    matches("/s?f=1{&x}", { ["/s?f=1&x=2"] = { x = "2" }, ["/s?f=1"] = {},
      ["/s?f=2&x=2"] = false })
    matches("/s{?m*}", { ["/s?a=1&b=%26"] = { m = { a = "1", b = "&" } } })
    matches("/s{?x}{&m*}", { ["/s?x=1&a=2"] = { x = "1", m = { a = "2" } } })
  end)

  it("come behind {+x}", function()
    matches("/f/{+p}{?q}", { ["/f/a/b?q=1"] = { p = "a/b", q = "1" } })
  end)
end)

describe("matching", function()
  it("stays below its bound for what was made to make it slow", function()
    local dashes, slashes = ("-"):rep(8000), ("/a"):rep(4000)
    for template, text in pairs {
      ["/{a}-{b}-{c}-{d}-{e}x"]            = "/" .. dashes,
      ["/{a}%2D{b}%2D{c}%2D{d}x"]          = "/" .. ("%2D"):rep(2600),
      ["/{a}%2F{b}%2F{c}%2F{d}x"]          = "/" .. ("%2F"):rep(2600),
      ["{/a*}{/b*}{/c*}{/d*}/x"]           = slashes,
      ["/{+a}/a{+b}/a{+c}/a{+d}/x"]        = slashes,
      ["/{a}{.b}{.c}{.d}{.e}{.f}{.g}{.h}"] = "/" .. ("."):rep(8000) .. "/",
      ["/m{;a*}a{;b*}a{;c*}x"]             = "/m" .. (";a=a"):rep(2000),
      ["/m{;a}=x"]                         = "/m;b" .. ("="):rep(8000),
      ["{/a,b,c,d,e}{/f,g,h,i,j}{/k,l}x"]  = slashes,
    } do
      local start = os.clock()
      local vars, steps = match(template, text)
      assert.is_nil(vars)
      assert.is_true(steps > 0 and steps <= STEPS, ("%s: %d"):format(template, steps))
      assert.is_true(os.clock() - start < 0.2, template)
    end
  end)

  it("takes few steps for what is usual", function()
    local function steps(...) return select(2, match(...)) end
    assert.is_true(steps("/users/{id}/posts/{post}", "/users/7/posts/8") <= 5)
    assert.is_true(steps("/{a}-{b}-{c}", "/this-is-a-title-of-many-words-2024") < 25)
    assert.is_true(steps("/{a}-{b}-{c}/edit", "/this-is-a-title-of-many-words/e") < 25)
  end)

  it("takes values as long as a path may be, and lists of all its segments", function()
    assert.same({ x = ("y"):rep(8000) }, match("/{x}", "/" .. ("y"):rep(8000)))
    local vars = match("/d{/x*}", "/d" .. ("/é"):rep(4000))
    assert.equal(4000, #vars.x)
    assert.equal("é", vars.x[4000])
    assert.equal(4001, #match("/{x}", "/" .. (","):rep(4000)).x)
  end)

  it("takes the 16 variables that a template may have", function()
    local names, values, vars = {}, {}, {}
    for i = 1, 16 do
      names[i], values[i], vars["v" .. i] = "/{v" .. i .. "}", "/" .. i, tostring(i)
    end
    assert.same(vars, match(table.concat(names), table.concat(values)))
  end)
end)
