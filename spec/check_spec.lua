-- SPDX-License-Identifier: MIT
-- `luaweb check`: what it finds in apps, and how it reports.
local json = require "luaweb.json"
local process = require "spec.support.process"

local APP = "spec/apps/checked.lua"

after_each(process.clean)

local function check(...)
  return process.run("check", ...)
end

local ended -- of the app with all the faults

-- What was found of a resource, without its place.
local function found(template)
  ended = ended or check(APP)
  local list = {}
  for line in ended.output:gmatch "[^\n]+" do
    local what = line:match "^spec/apps/checked%.lua:%d+: (.*)$"
    if what and what:sub(1, #template + 2) == template .. ": " then
      list[#list + 1] = what:sub(#template + 3)
    end
  end
  return list
end

describe("a resource", function()
  local function is_told(template, ...)
    local wanted = { ... }
    local title = ("%s: %s"):format(template, wanted[1] or "nothing")
    it("is told of " .. title, function() assert.same(wanted, found(template)) end)
  end

  is_told "/good"
  is_told("/tag", "If-None-Match with its own ETag gets 200, not 304 "
    .. "(RFC 9110 §13.1.2): say it by entity_tag")
  is_told("/bare", "its ETag v is none: it wants quotes (RFC 9110 §8.8.3)")
  is_told("/modified", "If-Modified-Since with its own Last-Modified gets 200, not 304 "
    .. "(RFC 9110 §13.1.3): say it by last_modified")
  is_told("/cached", "its 304 lacks Cache-Control, which its 200 has "
    .. "(RFC 9110 §15.4.5): say it by cache_control")
  is_told("/changing", "warning: its ETag is another one at each request: "
    .. "no client can use it")
  is_told("/by-hand", "with Accept: application/json it has another Content-Type, "
    .. "but its Vary does not name Accept (RFC 9110 §12.5.5)")
  is_told("/head", "HEAD has another x-was than GET (RFC 9110 §9.3.2)")
  is_told "/random"
  is_told("/fails", "GET answers 500: see the error log")
  is_told("/moved", "not tried: POST: operations are not called",
    "warning: stays_for_good answers 301 where POST is allowed: a client may turn it "
      .. "into GET; 308 keeps the method (RFC 9110 §15.4)")
  is_told("/found", "not tried: POST: operations are not called",
    "warning: stays_for_now answers 302 where POST is allowed: a client may turn it "
      .. "into GET; 307 keeps the method (RFC 9110 §15.4)")
  is_told "/elsewhere"
  is_told("/late/{id}", "warning: its handler finds out by itself that nothing is "
    .. "there (404), so that If-None-Match: * gets 304: say it by exists "
    .. "(RFC 9110 §13.2.1)",
    "not tried: what is there: GET /late/1 answers 404: give --param")
  is_told("/word/{w}", 'not tried: no sample goes with params.w = "%u+%-%d+": '
    .. "give --param w=...")
  is_told("/near{/x}", "not tried: /near does not lead here but to /near: "
    .. "give --param")
  is_told("/private", "not tried: Allow of OPTIONS: authorized answers 401",
    "not tried: what is behind its 401: give -H 'Authorization: ...'")
  is_told "/choice"
  is_told "/loose"
  is_told("/any", "not tried: any other method: operations are not called")
end)

describe("luaweb check", function()
  it("ends with code 4 where something is wrong, and with a summary", function()
    found "/good"
    assert.equal(4, ended.code)
    assert.matches("\n21 resources, %d+ requests: 7 errors, 4 warnings, 8 not tried\n$",
      ended.output)
  end)

  it("ends with code 0 where nothing is wrong", function()
    local good = check "apps/hello.lua"
    assert.equal(0, good.code)
    assert.equal("", good.errors)
    assert.matches("^1 resource, %d+ requests: 0 errors, 0 warnings, 0 not tried\n$",
      good.output)
  end)

  local function file_of(machine)
    return process.file("app.lua", ('local web = require "luaweb"\nreturn web.app {\n'
      .. '  web.resource("/a{/x}", web.machine {\n%s\n}) }\n'):format(machine))
  end

  it("ends with code 0 where there are only warnings", function()
    local path = file_of [[
      handle_ok = "x", do_post = function() end, location = "/", stays_for_good = 301]]
    local warned = check(path)
    assert.equal(0, warned.code)
    assert.matches(": 0 errors, 1 warning, 1 not tried\n$", warned.output)
  end)

  it("names the place of the key that is to be mended", function()
    local path = file_of [[
      handle_ok = function() return web.text("x"):header("ETag", '"a"') end]]
    assert.equal(("%s:3: /a{/x}: If-None-Match with its own ETag gets 200, not 304 "
      .. "(RFC 9110 §13.1.2): say it by entity_tag\n"):format(path),
      check(path).output:match "^[^\n]*\n")
  end)

  it("calls no operation", function()
    local path = file_of [[
      handle_ok = "x", methods = { "GET", "POST", "PUT", "DELETE", "BREW" },
      do_any = function() error "called" end]]
    local quiet = check(path)
    assert.equal("", quiet.errors)
    assert.matches("not tried: BREW, DELETE, POST, PUT: operations are not called\n",
      quiet.output)
    assert.equal(0, quiet.code)
  end)

  it("takes values for variables, and headers for all its requests", function()
    local given = check(APP, "--param", "id=7", "--param=w=A-1", "--param", "x=far",
      "-H", "Authorization: Basic bWU6").output
    local function lacks(part) assert.is_nil(given:find(part, 1, true), part) end
    lacks "/late/{id}"
    lacks "/word/{w}"
    lacks "/near{/x}"
    assert.matches("/private: If%-None%-Match with its own ETag gets 200", given)
    assert.matches("/changing", given)
  end)

  it("asks for what is not there too, where it is told what is", function()
    local path = process.file("app.lua", [[
local web = require "luaweb"
local function note(req) return ({ [7] = { text = "a" } })[req.params.id].text end
local function word(req) return req.params.w == "b-1" and "b" or 404 + nil end
return web.app {
  web.resource("/n/{id}", web.machine { params = { id = "int" }, handle_ok = note }),
  web.resource("/w/{w}", web.machine { params = { w = "%a%-?%d*" }, handle_ok = word }),
  web.get("/t/{t}", function(req) return req.params.t == "x" and "x" or 404 end),
  web.put("/p/{q}", function() error "called" end),
}
]])
    local found_ones = {}
    local told = check(path, "--param", "id=7", "--param", "w=b-1", "--param", "t=x",
      "--param", "q=1")
    for what in told.output:gmatch ": (/[^\n]+)\n" do
      found_ones[#found_ones + 1] = what
    end
    local WHY = "answers 500: what is not there is a 404; see the error log"
    assert.same({ "/n/{id}: GET /n/987654321 " .. WHY, "/w/{w}: GET /w/a " .. WHY,
      "/p/{q}: not tried: PUT: operations are not called" }, found_ones)
  end)

  it("warns of a segment that elsewhere would be a variable", function()
    local path = process.file("app.lua", 'local web = require "luaweb"\n'
      .. 'return web.app { web.get("/a/:x/b/:", function() return "x" end) }\n')
    assert.equal(path .. ":2: /a/:x/b/:: warning: :x is a literal: a variable is {x}",
      check(path).output:match "^[^\n]*")
  end)

  it("warns of JSON that goes out for another media type", function()
    local path = file_of [[
      handle_ok = { ["text/html"] = function() return { a = 1 } end,
        ["text/plain"] = "x", ["application/problem+json"] = { a = 1 },
        ["application/json"] = function() return { a = 1 } end }]]
    local warned = check(path)
    assert.equal(path .. ":3: /a{/x}: warning: what handle_ok has for text/html "
      .. "answers application/json: a table is JSON", warned.output:match "^[^\n]*")
    assert.matches(": 0 errors, 1 warning, 0 not tried\n$", warned.output)
  end)

  it("gives the same as JSON", function()
    local all = json.decode(check(APP, "--json").output)
    assert.same({ 21, 7, 4, 8, 19 }, { all.resources, all.errors, all.warnings,
      all.skipped, #all.findings })
    assert.same({ level = "error", place = APP .. ":29", template = "/tag",
      what = found("/tag")[1] }, all.findings[1])
    assert.matches("^warning$", all.findings[5].level)
  end)

  it("finds a server at fault that fails for paths without a resource", function()
    local path = process.file("app.lua", [[
local web = require "luaweb"
return web.app {
  not_found = web.machine { handle_not_found = function() error "boom" end },
}
]])
    local failed = check(path)
    assert.equal(4, failed.code)
    assert.matches("^[^\n]+: unmatched paths: GET of a path without a resource answers "
      .. "500\n0 resources, 1 request: 1 error,", failed.output)
  end)
end)

describe("wrong usage of luaweb check", function()
  local function is_refused(message, ...)
    local words = { ... }
    it(("ends with code 2: %s"):format(table.concat(words, " ")), function()
      local refused = check(unpack(words))
      assert.equal(2, refused.code)
      assert.equal(("luaweb: %s\nTry: luaweb --help\n"):format(message), refused.errors)
      assert.equal("", refused.output)
    end)
  end

  local HELLO = "apps/hello.lua"
  is_refused("want one app, e.g.: luaweb check apps/hello.lua")
  is_refused("want one app, e.g.: luaweb check apps/hello.lua", HELLO, HELLO)
  is_refused("--param id: want name=value", HELLO, "--param", "id")
  is_refused("--param id: no template has this variable", HELLO, "--param", "id=7")
  is_refused("-H wants 'Name: value'", HELLO, "-H", ":")
  is_refused("--dot is no option of `luaweb check`", HELLO, "--dot")

  it("is explained by --help", function()
    local help = check "--help"
    assert.equal(0, help.code)
    assert.matches("no operation does", help.output)
    assert.matches("\nExit codes: 0 nothing is wrong", help.output)
  end)

  it("ends with code 1 for an app that does not load", function()
    local ended_early = check(process.file("broken.lua", "return {\n"))
    assert.equal(1, ended_early.code)
    assert.matches("broken.lua:2: ", ended_early.errors)
  end)
end)

it("is done with a resource that streams for ever once it has its head", function()
  local app = process.file("stream.lua", [[
    local web = require "luaweb"
    return web.app { web.get("/events", function()
      return web.streaming(function(out)
        while true do
          out:write "tick\n"
          web.sleep(0.02)
        end
      end):type "text/event-stream"
    end) }
  ]])
  assert.matches("^1 resource, %d+ requests: 0 errors, 0 warnings, 0 not tried$",
    (check(app).output:gsub("\n$", "")))
end)

it("is ended by one signal while a function of the app computes without end", function()
  local app = process.file("spin.lua", [[
    local web = require "luaweb"
    return web.app { web.get("/spin", function()
      print "begun"
      io.flush()
      while true do end
    end) }
  ]])
  local child = process.start("check", app)
  child:expect "^begun$"
  child:signal "TERM"
  assert.equal(130, (child:wait()))
end)
