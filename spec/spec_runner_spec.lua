-- SPDX-License-Identifier: MIT
-- What `luaweb test` promises (lua/luaweb/test/runner.lua): it runs as a process of its
-- own over spec files written here.
local program = require("spec.support.process").binary

describe("luaweb test", function()
  local dir

  before_each(function()
    dir = os.tmpname()
    os.remove(dir)
    assert(os.execute("mkdir " .. dir) == 0)
  end)

  after_each(function() os.execute("rm -r " .. dir) end)

  local function write(name, text)
    local file = assert(io.open(dir .. "/" .. name, "wb"))
    file:write(text)
    file:close()
  end

  --- Runs it over the folder; gives what it printed and its exit code.
  local function run(words)
    local command = ("%s test %s 2>&1; echo $?"):format(program, words or dir)
    local pipe = assert(io.popen(command))
    local text = pipe:read "*a"
    pipe:close()
    local output, code = text:match "^(.*)\n(%d+)\n$"
    return output, tonumber(code)
  end

  it("ends with the sums and exit code 0 when everything passed", function()
    write("a_spec.lua", "it('a', function() end) it('b', function() end)")
    local output, code = run()
    assert.matches("\n2 passed, 0 failed$", output)
    assert.equal(0, code)
  end)

  it("names the place and message of a failure", function()
    write("a_spec.lua", "describe('x', function()\nit('y', function()\n"
      .. "assert.equal(1, 2) end) end)")
    local output, code = run()
    assert.matches("FAILED " .. dir .. "/a_spec.lua:2 x y\n", output, 1, true)
    assert.matches("a_spec.lua:3: Expected objects to be equal", output, 1, true)
    assert.matches("\n0 passed, 1 failed$", output)
    assert.equal(4, code)
  end)

  it("names file and line of a spec that isn't Lua, and runs the rest", function()
    write("a_spec.lua", "\nlocal x = = 1")
    write("b_spec.lua", "it('a', function() end)")
    local output, code = run()
    assert.matches("a_spec.lua:2: unexpected symbol", output, 1, true)
    assert.matches("\n1 passed, 1 failed$", output)
    assert.equal(4, code)
  end)

  it("counts a pending case as failed", function()
    write("a_spec.lua", "pending('later')\nit('b', function() pending('why') end)")
    local output, code = run()
    assert.matches("\n0 passed, 2 failed$", output)
    assert.equal(4, code)
  end)

  it("counts a file without a test as failed", function()
    write("a_spec.lua", "for _ in ipairs {} do it('a', function() end) end")
    local output, code = run()
    assert.matches("The file has no test.\n\n0 passed, 1 failed$", output)
    assert.equal(4, code)
  end)

  it("counts what fails around the tests", function()
    write("a_spec.lua", "setup(function() error 'no' end) it('a', function() end)")
    assert.matches("\n0 passed, 1 failed$", (run()))
  end)

  it("counts a test once, however often it fails", function()
    write("a_spec.lua", "it('a', function() finally(error) error 'x' end)")
    assert.matches("\n0 passed, 1 failed$", (run()))
  end)

  it("refuses a folder without specs and a path that does not exist", function()
    local output, code = run()
    assert.matches("no spec found in " .. dir, output, 1, true)
    assert.not_equal(0, code)
    output, code = run(dir .. "/nowhere")
    assert.matches("no spec found in " .. dir .. "/nowhere", output, 1, true)
    assert.not_equal(0, code)
  end)

  it("runs only what --filter matches, and refuses one that matches nothing", function()
    write("a_spec.lua", "it('a', function() end) it('b', error)")
    local output, code = run(dir .. " --filter=^a$")
    assert.matches("\n1 passed, 0 failed$", output)
    assert.equal(0, code)
    output, code = run(dir .. " --filter=zzz")
    assert.matches("no test matches --filter=zzz", output, 1, true)
    assert.not_equal(0, code)
  end)

  it("loads a module once for all files", function()
    write("a_spec.lua", "it('a', function() package.loaded['x.y'] = 7 end)")
    write("b_spec.lua", "it('b', function() assert.equal(7, require 'x.y') end)")
    assert.matches("\n2 passed, 0 failed$", (run()))
  end)

  it("keeps the globals of a file to itself", function()
    write("a_spec.lua", "leaked = 1 it('a', function() end)")
    write("b_spec.lua", "it('b', function() assert.is_nil(leaked) end)")
    assert.matches("\n2 passed, 0 failed$", (run()))
  end)

  it("fails what takes longer than --timeout, says where it waits, and goes on",
  function()
    write("a_spec.lua", "local web = require 'luaweb'\nit('waits', function()\n"
      .. "require('luaweb.chan').new():take() end)\n"
      .. "it('swallows', function() pcall(web.sleep, 100) end)\n"
      .. "it('is quick', function() web.sleep(0.01) end)")
    write("b_spec.lua", "setup(function() require('luaweb').sleep(100) end)\n"
      .. "it('is never tried', function() end)")
    write("c_spec.lua", "require('luaweb').sleep(100) it('x', function() end)")
    local output, code = run(dir .. " --timeout 0.3")
    assert.equal(4, code)
    assert.matches("ERROR " .. dir .. "/a_spec.lua:2 waits\n  not over within 0.3 s "
      .. "(--timeout); what there is:\n", output, 1, true)
    assert.matches("parked for chan:take\n", output, 1, true)
    assert.matches("a_spec.lua:3: in function", output, 1, true)
    assert.matches("a_spec.lua:4 swallows\n  not over within 0.3 s", output, 1, true)
    assert.matches("b_spec.lua:1 .-\n  not over within 0.3 s", output)
    assert.matches("c_spec.lua.-\n  not over within 0.3 s", output)
    assert.matches("\n1 passed, 4 failed$", output)
  end)

  it("refuses a --timeout that is no time", function()
    write("a_spec.lua", "it('a', function() end)")
    local output, code = run(dir .. " --timeout soon")
    assert.matches("--timeout soon: want seconds, 0 or more", output, 1, true)
    assert.equal(2, code)
    assert.matches("\n1 passed, 0 failed$", (run(dir .. " --timeout 0")))
  end)
end)
