-- SPDX-License-Identifier: MIT
-- The program as a whole: what it prints, and the codes that it exits with.
local json = require "luaweb.json"
local process = require "spec.support.process"

local run = process.run

local function lines_of(text)
  local list = {}
  for line in text:gmatch "[^\n]+" do list[#list + 1] = line end
  return list
end

local function contains(text, part)
  assert(text:find(part, 1, true), ("%q is not in %q"):format(part, text))
end

after_each(process.clean)

describe("a broken app", function()
  local function breaks(name, text, message)
    it("ends with code 1 and one message: " .. name, function()
      local path = process.file("broken.lua", text)
      local ended = run(path)
      assert.equal(1, ended.code)
      assert.equal("luaweb: " .. message:gsub("FILE", path) .. "\n", ended.errors)
      assert.equal("", ended.output)
    end)
  end

  breaks("a syntax error", "return {\n  1 2\n}\n",
    "FILE:2: '}' expected (to close '{' at line 1) near '2'")
  breaks("a runtime error", "local x\n\nreturn x.y\n",
    "FILE:3: attempt to index local 'x' (a nil value)")
  breaks("an error of its own", 'error "no database"\n', "FILE:1: no database")
  breaks("an error that is no text", "\nerror(42 == 42)\n",
    "FILE:2: raised a boolean: true")
  breaks("one that returns nothing", "local _ = 1\n",
    "FILE: the script must return web.app { ... }")
  breaks("one that returns something else", "return {}\n",
    "FILE: the script must return web.app { ... }")
  breaks("an unknown key of a machine", [[
local web = require "luaweb"
local hello = web.machine {
  handle_okay = "hello",
}
return web.app { web.resource("/", hello) }
]], "FILE:2: /: handle_okay: no machine has this key (did you mean handle_ok?)")
  breaks("an unknown key of the app", [[
local web = require "luaweb"
return web.app { colour = "blue", web.get("/", function() end) }
]], "FILE:2: web.app: no app has the key colour")
  breaks("a template that is none", [[
local web = require "luaweb"
local app = web.app { web.get("/{name", function() end) }
return app
]], 'FILE:2: the template "/{name" has a { without its }')
  breaks("two handlers for one", [[
local web = require "luaweb"
local app = web.app {
  web.get("/", function() return "a" end),
  web.get("/", function() return "b" end),
}
return app
]], 'FILE:4: handle_ok: "/" has handle_ok already, declared at FILE:3')
  breaks("an on_start that fails", [[
local web = require "luaweb"
local app = web.app {
  on_start = function() error "no database" end,
}
return app
]], "FILE:3: no database")

  it("ends with code 1 and one message: a recursion without end", function()
    local path = process.file("broken.lua", "local function f() return f() + 1 end\n"
      .. "f()\n")
    local ended = run(path)
    assert.equal(1, ended.code)
    assert.equal(1, #lines_of(ended.errors), ended.errors)
    contains(ended.errors, "luaweb: " .. path .. ":")
    contains(ended.errors, "stack overflow")
  end)

  it("is named when there is none", function()
    local path = process.path "missing.lua"
    local ended = run(path)
    assert.equal(1, ended.code)
    assert.equal(("luaweb: cannot open %s: No such file or directory\n"):format(path),
      ended.errors)
  end)

  it("is a folder", function()
    local ended = run "spec"
    assert.equal(1, ended.code)
    assert.equal("luaweb: cannot read spec: Is a directory\n", ended.errors)
  end)

  it("ends where it yields by itself, since nobody would resume it", function()
    local path = process.file("yields.lua", "coroutine.yield()\n")
    local ended = run("routes", path)
    assert.equal(1, ended.code)
    contains(ended.errors, "coroutine.yield can't be called here")
  end)

  it("names the module that it lacks, and where it asks for it", function()
    local path = process.file("lacks.lua", '\nrequire "no_such_module"\n')
    local ended = run(path)
    assert.equal(1, ended.code)
    local lines = lines_of(ended.errors)
    assert.equal(("luaweb: %s:2: module 'no_such_module' not found:"):format(path),
      lines[1])
    contains(ended.errors, ("no file '%s'"):format(process.path "no_such_module.lua"))
  end)

  it("names the file and line of a module that is broken", function()
    local module = process.file("broken_module.lua", "\nreturn +\n")
    local ended = run(process.file("asks.lua", 'require "broken_module"\n'))
    assert.equal(1, ended.code)
    contains(ended.errors, module .. ":2: unexpected symbol near")
    assert.is_nil(ended.errors:find "stack traceback")
  end)

  it("is broken for `luaweb routes` too", function()
    local ended = run("routes", process.file("broken.lua", "return {\n"))
    assert.equal(1, ended.code)
    contains(ended.errors, "broken.lua:2: ")
  end)
end)

describe("wrong usage", function()
  local hello = "apps/hello.lua"

  local function is_refused(message, ...)
    local words = { ... }
    it(("ends with code 2: luaweb %s"):format(table.concat(words, " ")), function()
      local ended = run(unpack(words))
      assert.equal(2, ended.code)
      assert.equal(("luaweb: %s\nTry: luaweb --help\n"):format(message), ended.errors)
      assert.equal("", ended.output)
    end)
  end

  local ONE_APP = "want one app, e.g.: luaweb apps/hello.lua"
  is_refused(ONE_APP)
  is_refused(ONE_APP, hello, hello)
  is_refused(ONE_APP, "routes")
  is_refused(ONE_APP, "routes", hello, hello)
  is_refused("unknown option: --colour", hello, "--colour", "blue")
  is_refused("unknown option: -p", hello, "-p")
  is_refused("unknown option: --max-bodyguard=1", hello, "--max-bodyguard=1")
  is_refused("unknown option: --colour", "test", "--colour")
  is_refused("this option needs a value: --listen", hello, "--listen")
  is_refused("this option needs a value: --max-body", hello, "--max-body")
  is_refused("this option takes no value: --json=1", "routes", hello, "--json=1")
  is_refused("--json is no option of `luaweb serve`", hello, "--json")
  is_refused("--filter is no option of `luaweb serve`", hello, "--filter=x")
  is_refused("--listen is no option of `luaweb routes`", "routes", hello,
    "--listen=127.0.0.1:1")

  local function is_no_value(wanted, flag, ...)
    for _, value in ipairs { ... } do
      is_refused(("%s %s: want %s"):format(flag, value, wanted), hello, flag, value)
    end
  end

  is_no_value("octets, e.g. 65536, 64k or 8m", "--max-body", "x", "-1", "0x10", "1e3",
    "1.5", "64K", "64kk", "k", ".", "inf", "nan", "1000000g")
  is_no_value("a whole number up to 4294967295", "--max-headers", "x", "1.5", "1k",
    "4294967296")
  is_no_value("seconds, e.g. 30 or 0.5", "--idle-timeout", "soon", "1m", "1.2.3", "-1")
  is_no_value("host:port, [address]:port or unix:/path", "--listen", "8080",
    "localhost", ":8080", "127.0.0.1:", "127.0.0.1:65536", "127.0.0.1:http", "::1:80",
    "[::1]", "[::1:80", "unix:")
end)

describe("luaweb --help", function()
  it("shows how to call it, with examples, on standard output", function()
    local ended = run "--help"
    assert.equal(0, ended.code)
    assert.equal("", ended.errors)
    for _, call in ipairs { "luaweb app.lua", "luaweb test [", "luaweb routes app.lua" }
    do
      contains(ended.output, "\n  " .. call)
    end
    contains(ended.output, "\n  luaweb apps/hello.lua --listen 0.0.0.0:80")
    contains(ended.output, "Exit codes: 0 done; 1 the app is wrong; 2 wrong usage; "
      .. "3 can't listen;")
  end)

  for flag, default in pairs {
    ["--listen"] = "127.0.0.1:8080", ["--json"] = "", ["--filter"] = "",
    ["--verbose"] = "", ["--timeout"] = "60",
    ["--access-log"] = "off", ["--log-level"] = "info",
    ["--max-connections"] = "16384", ["--max-requests"] = "none",
    ["--max-read-ahead"] = "64k", ["--lua-memory"] = "1g", ["--body-rate"] = "240",
    ["--request-timeout"] = "none",
    ["--max-target"] = "8k", ["--max-header-size"] = "32k", ["--max-headers"] = "128",
    ["--max-body"] = "8m", ["--max-chunk-extensions"] = "4k",
    ["--max-trailers"] = "8k", ["--header-timeout"] = "10 s",
    ["--body-timeout"] = "60 s", ["--idle-timeout"] = "75 s",
    ["--write-timeout"] = "60 s", ["--drain-timeout"] = "30 s", ["--version"] = "",
    ["--help"] = "",
  } do
    it("tells what " .. flag .. " does, and its default", function()
      local line = run("--help").output:match("\n  (" .. flag:gsub("%-", "%%-")
        .. " [^\n]*)")
      assert(line, "no line on " .. flag)
      if default ~= "" then contains(line, ("(default %s)"):format(default)) end
    end)
  end

  it("is meant wherever it stands", function()
    local ended = run("apps/hello.lua", "--help")
    assert.equal(0, ended.code)
    contains(ended.output, "Options")
  end)

  it("after `test` tells how to run specs", function()
    local ended = run("test", "--help")
    assert.equal(0, ended.code)
    for _, text in ipairs { "luaweb test [dir|file ...]", "--filter pattern",
        "--timeout seconds", "--verbose", "_spec.lua", "Exit codes:" } do
      contains(ended.output, text)
    end
  end)
end)

describe("luaweb --version", function()
  it("prints the name and the version", function()
    local ended = run "--version"
    assert.equal(0, ended.code)
    assert.matches("^luaweb %d+%.%d+%.%d+\n$", ended.output)
  end)
end)

describe("luaweb routes", function()
  local app = [[
local web = require "luaweb"
return web.app {
  web.get("/", function() return "hello" end),
  web.any("/any{/a}", function() return "any" end),
}
]]

  it("lists templates, methods and places", function()
    local path = process.file("routes.lua", app)
    local ended = run("routes", path)
    assert.equal(0, ended.code)
    assert.equal(("  /         GET, HEAD, OPTIONS  %s:3\n"
      .. "  /any{/a}  (any)               %s:4\n"):format(path, path), ended.output)
  end)

  it("lists them as JSON with --json", function()
    local path = process.file("routes.lua", app)
    local ended = run("routes", path, "--json")
    assert.equal(0, ended.code)
    assert.same({
      { template = "/", methods = { "GET", "HEAD", "OPTIONS" }, place = path .. ":3" },
      { template = "/any{/a}", methods = { "*" }, place = path .. ":4" },
    }, json.decode(ended.output))
  end)

  it("gives an empty list for an app without resources", function()
    local path = process.file("empty.lua", 'return require("luaweb").app {}\n')
    assert.equal("[]\n", run("routes", path, "--json").output)
  end)
end)

describe("luaweb test", function()
  it("ends with code 0 when every spec passes", function()
    local ended = run("test", process.file("good_spec.lua",
      'it("adds", function() assert.equal(2, 1 + 1) end)\n'))
    assert.equal(0, ended.code)
    assert.matches("\n1 passed, 0 failed\n$", ended.output)
  end)

  it("ends with code 4 when a spec fails, and says where", function()
    local path = process.file("bad_spec.lua",
      'it("adds", function() assert.equal(3, 1 + 1) end)\n')
    local ended = run("test", path)
    assert.equal(4, ended.code)
    contains(ended.output, ("FAILED %s:1 adds"):format(path))
    assert.matches("\n0 passed, 1 failed\n$", ended.output)
  end)

  it("runs the specs whose name has the pattern of --filter", function()
    local path = process.file("two_spec.lua", [[
it("adds", function() assert.equal(2, 1 + 1) end)
it("takes away", function() assert.equal(3, 1 - 1) end)
]])
    assert.equal(0, run("test", path, "--filter", "^adds").code)
    assert.equal(4, run("test", path, "--filter=away").code)
  end)

  it("ends with code 1 when nothing can run", function()
    local ended = run("test", process.path "nothing")
    assert.equal(1, ended.code)
    contains(ended.errors, "there is no such file or directory")
  end)
end)
