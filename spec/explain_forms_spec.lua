-- SPDX-License-Identifier: MIT
-- `luaweb explain` for tools, as JSON and for Graphviz, and its answer to wrong usage.
local json = require "luaweb.json"
local page = require "luaweb.explain.text"
local process = require "spec.support.process"

local HELLO, APP = "apps/hello.lua", "spec/apps/explained.lua"

after_each(process.clean)

local function explain(...)
  local ended = process.run("explain", ...)
  assert(ended.code == 0, ended.errors)
  return ended.output
end

local function names(list)
  local result = {}
  for i, item in ipairs(list) do result[i] = item.name or item.row end
  return result
end

describe("luaweb explain --json", function()
  it("has the passes: what each has removed", function()
    local passes = json.decode(explain(HELLO, "GET", "/hello", "--json")).passes
    assert.same({ 49, 8, 31, 10, 0, 10, 6, 4 }, { passes.rows, #passes.fixed,
      #passes.literal, passes.after_literal, #passes.unary, passes.after_unary,
      #passes.unreachable, passes.after_subgraph })
    assert.same({ row = 12, name = "not_options", answer = "yes" }, passes.fixed[1])
    local said = json.decode(explain(APP, "/notes/1", "--json")).passes.literal[10]
    assert.same({ row = 11, name = "legally_available", answer = "yes",
      place = "spec/apps/explained.lua:7" }, said)
  end)

  it("has the program, the walk and the response", function()
    local all = json.decode(explain(HELLO, "GET", "/hello", "--json"))
    assert.same({ step = 3, row = "has_reply", by = "core",
      who = "handle_ok at apps/hello.lua:7",
      yes = { status = 200, row = "range_wanted" },
      no = { status = 204, row = "has_reply" } }, all.program.steps[4])
    assert.same({ step = 0 }, all.program.start)
    assert.same({ row = 46, name = "has_reply", how = "asked", step = 3, answer = "yes",
      reason = "handle_ok at apps/hello.lua:7 gave content", source = "15.3.1, 15.3.5",
      to = "range_wanted", jumps = false }, all.walk.rows[25])
    assert.same({ row = "range_wanted", status = 200 }, all.walk.ending)
    assert.same({ "HTTP/1.1 200 OK", 200, 13 }, { all.response.line,
      all.response.status, all.response.size })
    assert.same({ "Date", "Content-Type", "Content-Length", "Connection" },
      names(all.response.fields))
    assert.same({ template = "/hello{/name}", place = "apps/hello.lua:13",
      methods = { "GET", "HEAD", "OPTIONS" } }, all.resource)
  end)

  it("has the request as it was sent, fields in their order", function()
    local all = json.decode(explain(APP, "PUT", "/notes/2", "--json", "-d", "tea",
      "-H", "X-One: 1", "-H", "Content-Type: text/plain", "-H", "X-One:2"))
    assert.same({ method = "PUT", target = "/notes/2", size = 3, fields = {
      { name = "X-One", value = "1" }, { name = "Content-Type", value = "text/plain" },
      { name = "X-One", value = "2" } } }, all.request)
    assert.equal(201, all.response.status)
  end)

  it("has empty lists, and no resource, for what no resource matches", function()
    local text = explain(HELLO, "/missing", "--json")
    assert.matches('"steps":%[%]', text)
    assert.matches('"unary":%[%]', text)
    local all = json.decode(text)
    assert.same({ row = "may_create", status = 404 }, all.program.start)
    assert.is_nil(all.resource)
  end)
end)

describe("luaweb explain --dot", function()
  local BOLD = ", penwidth=3, color=blue];"

  local function has(text, line)
    assert(text:find("\n  " .. line .. "\n", 1, true), line .. " is not in\n" .. text)
  end

  it("draws the program, and the way of the request in bold", function()
    local text = explain(HELLO, "/hello", "--dot")
    has(text, 'label="GET /hello\\n/hello{/name}"; labelloc=t; fontname="sans-serif";')
    has(text, 'start -> step0 [label=""' .. BOLD)
    has(text, 'step0 -> step3 [label="no"' .. BOLD)
    has(text, 'step0 -> step1 [label="yes"];')
    has(text, 'step1 [shape=box, label="1 if_match_holds\\nC"];')
    has(text, 'step3 -> end_range_wanted_200 [label="yes"' .. BOLD)
    has(text, 'end_range_wanted_200 [shape=ellipse, label="200\\nrange_wanted"' .. BOLD)
    has(text, 'end_is_cached_read_304 [shape=ellipse, label="304\\nis_cached_read"];')
  end)

  it("has an end of its own where the app has ended the walk", function()
    local text = explain(APP, "/notes/1?as=status", "--dot")
    has(text, 'step0 -> halt0 [label="404"' .. BOLD)
    has(text, 'halt0 [shape=ellipse, label="404\\nanswered by the app"' .. BOLD)
    has(text, 'step0 -> step1 [label="yes"];')
  end)

  it("draws a constant as one end", function()
    local text = explain(HELLO, "OPTIONS", "/hello", "--dot")
    has(text, 'start -> end_has_reply_204 [label=""' .. BOLD)
  end)

  it("escapes what is in quotes", function()
    local text = explain(HELLO, 'http://a/"\\', "--dot")
    has(text, 'label="GET http://a/\\"\\\\"; labelloc=t; fontname="sans-serif";')
  end)

  it("is what dot understands", function()
    if os.execute "command -v dot >/dev/null" ~= 0 then
      local text = explain(APP, "/page", "--dot") -- without it: braces and quotes match
      assert.matches("^digraph program {\n.*\n}\n$", text)
      assert.equal(0, select(2, text:gsub('"', "")) % 2)
      return
    end
    local path = process.file("page.dot", explain(APP, "/page", "--dot"))
    assert.equal(0, os.execute("dot -Tsvg -o /dev/null '" .. path .. "'"))
  end)
end)

describe("wrong usage of luaweb explain", function()
  local USAGE = "want an app, a method and a path, e.g.: "
    .. "luaweb explain apps/hello.lua GET /hello"

  local function is_refused(message, ...)
    local words = { ... }
    it(("ends with code 2: %s"):format(table.concat(words, " ")), function()
      local ended = process.run("explain", unpack(words))
      assert.equal(2, ended.code)
      assert.equal(("luaweb: %s\nTry: luaweb --help\n"):format(message), ended.errors)
      assert.equal("", ended.output)
    end)
  end

  is_refused(USAGE)
  is_refused(USAGE, HELLO, "GET")
  is_refused(USAGE, HELLO, "GET", "/hello", "/more")
  is_refused(USAGE, HELLO, "--dot")
  is_refused(USAGE, HELLO, "-H", "Accept: */*")
  is_refused("--json or --dot: want one of them", HELLO, "/hello", "--json", "--dot")
  is_refused("-H wants 'Name: value'", HELLO, "/hello", "-H", "Accept")
  is_refused("-H wants 'Name: value'", HELLO, "/hello", "-H", "A B: c")
  is_refused("-H wants 'Name: value'", HELLO, "/hello", "-H", "A: b\r\nC: d")
  is_refused('"G T" is no method', HELLO, "G T", "/hello")
  is_refused('"/a b" is no path: percent-encode it', HELLO, "GET", "/a b")
  is_refused("--filter is no option of `luaweb explain`", HELLO, "--filter", "x")
  is_refused("this option needs a value: -H", HELLO, "/hello", "-H")

  it("ends with code 1 for an app that is wrong", function()
    local ended = process.run("explain", process.file("broken.lua", "return {\n"), "/")
    assert.equal(1, ended.code)
    assert.matches("broken.lua:2: ", ended.errors)
  end)
end)

describe("an app that is explained", function()
  it("is started and stopped", function()
    local seen = process.path "seen"
    local path = process.file("app.lua", ([[
local web = require "luaweb"
local function note(word)
  local file = io.open(%q, "a")
  file:write(word)
  file:close()
end
return web.app {
  on_start = function() web.sleep(0.01) note "start " end,
  on_stop = function() note "stop" end,
  web.get("/", function() note "handle " end),
}
]]):format(seen))
    explain(path, "/")
    local file = assert(io.open(seen))
    assert.equal("start handle stop", file:read "*a")
    file:close()
  end)
end)

describe("the page of luaweb explain", function()
  local function explained(ending)
    return { request = { method = "GET", target = "/", fields = {}, size = 0 },
      passes = { rows = 1, fixed = {}, literal = {}, unary = {}, unreachable = {},
        after_literal = 1, after_unary = 1, after_subgraph = 1 },
      program = { start = { step = 0 }, steps = { { step = 0, row = "a", who = "C",
        yes = { status = 200 }, no = { status = 204 } } } },
      walk = { rows = { { row = 1, name = "a", how = "asked", step = 0,
        reason = "it waits" } }, ending = ending }, fault = "no answer" }
  end

  it("has colours only where a terminal wants them", function()
    local ending = { row = "a", status = 200 }
    assert.matches("^\27%[1mGET /\27%[0m\n", page.write(explained(ending), true))
    assert.matches("^GET /\n", page.write(explained(ending), false))
    assert.is_nil(page.write(explained(ending), false):find "\27")
  end)

  it("tells where a walk stands that has no end, and why there is no answer", function()
    local text = page.write(explained { row = "a" }, false)
    assert.matches("\n   1  a  %?    step 0   it waits\n  stands at a\n", text)
    assert.matches("\nResponse\n  none: no answer\n$", text)
  end)
end)

describe("luaweb --help", function()
  it("tells what the flags of explain do", function()
    local output = process.run("--help").output
    for _, line in ipairs { "luaweb explain app.lua /path +how it answers",
      "%-H 'Name: value' +explain, check: ", "%-d body +explain: ",
      "%-%-dot +explain: ",
      "%-%-json +routes, explain, check, status: as JSON" } do
      assert.matches("\n  " .. line, output)
    end
  end)
end)

describe("luaweb explain --help", function()
  it("shows how it is called, with examples, and that the app runs", function()
    local ended = process.run("explain", "--help")
    assert.equal(0, ended.code)
    assert.matches("^luaweb explain app%.lua %[METHOD%] /path", ended.output)
    assert.matches("\nExamples\n  luaweb explain apps/hello%.lua\n", ended.output)
    assert.matches("functions of the app run, its operations too", ended.output)
  end)
end)
