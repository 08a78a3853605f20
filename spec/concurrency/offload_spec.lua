-- SPDX-License-Identifier: MIT
-- Offloaded functions: what is copied, what they may raise, and what the states that
-- they run in know.
local folder = require "spec.support.folder"
local job = require "luaweb.job"
local json = require "luaweb.json"
local test = require "luaweb.test"
local web = require "luaweb"

local SIDE = [[
local M = { count = 0 }
function M.echo(...) return ... end
function M.count_of(...) return select("#", ...) end
function M.kind(value) return type(value), value end
function M.change(list) list[1] = "changed"; return list end
function M.both(list) return list[1] ~= list[2] end
function M.next() M.count = M.count + 1; return M.count end
function M.fail(raised, level) error(raised, level) end
function M.bad() return 1, { a = { print } } end
function M.deep() local function f() return 1 + f() end return f() end
function M.exit() os.exit(3) end
function M.many(n) return ("x"):rep(n) end
function M.need(name) return require(name) ~= nil end
function M.encode(value) return require("luaweb.json").encode(value) end
M.number = 5
return M
]]

local made, before

setup(function()
  made, before = folder.new(), package.path
  made:write("side.lua", SIDE)
  made:write("no_table.lua", "")
  made:write("broken.lua", "local x = nil\nreturn x.y")
  made:write("syntax.lua", "return return")
  package.path = made.path .. "/?.lua;" .. package.path
end)

teardown(function()
  package.path = before
  made:remove()
end)

local function fault_of(...)
  local ok, raised = pcall(job.offload, ...)
  assert.is_false(ok)
  return raised
end

describe("job.offload", function()
  it("gives what the function returned", function()
    assert.same({ 1, "two", true, { 3, { four = 5 } } },
      { job.offload("side", "echo", 1, "two", true, { 3, { four = 5 } }) })
  end)

  it("counts nils, in the middle and at the end", function()
    assert.equal(3, job.offload("side", "count_of", nil, false, nil))
    assert.equal(3, select("#", job.offload("side", "echo", nil, 1, nil)))
    assert.equal(0, select("#", job.offload("side", "echo")))
  end)

  it("copies every octet, every number and every key", function()
    local values = { "a\0\255\r\n", -0.5, 1e308, 1 / 0, 5000000000, [true] = "yes",
      [1.5] = "half", [""] = "empty", [1e9] = "sparse" }
    assert.same(values, (job.offload("side", "echo", values)))
    local large = ("x"):rep(3000000)
    assert.is_true(job.offload("side", "echo", large) == large)
  end)

  it("copies 64-bit integers", function()
    local kind, value = job.offload("side", "kind", -9007199254740993LL)
    assert.equal("cdata", kind)
    assert.is_true(value == -9007199254740993LL)
    assert.is_true((job.offload("side", "echo", 2ULL ^ 63)) == 2ULL ^ 63)
  end)

  it("lets results of several jobs stay such", function()
    local results = job.all { function() return 1 end, function() end }
    assert.equal("[1,null]", job.offload("side", "encode", results))
    assert.equal("[1,null]", json.encode((job.offload("side", "echo", results))))
  end)

  it("lets JSON arrays stay arrays", function()
    assert.equal("[]", job.offload("side", "encode", json.array {}))
    assert.equal("[]", json.encode((job.offload("side", "echo", json.array {}))))
  end)

  it("shares nothing: what is changed there stays the same here", function()
    local list = { "first" }
    assert.same({ "changed" }, job.offload("side", "change", list))
    assert.same({ "first" }, list)
    assert.is_true(job.offload("side", "both", { list, list }))
  end)

  it("works in a handler", function()
    local client = test.app(web.app { web.get("/{word}", function(req)
      return (job.offload("side", "echo", req.params.word))
    end) })
    assert.equal("hello", client:get("/hello").body)
  end)

  it("loads the module there, once for each state, and not here", function()
    local first = job.offload("side", "next")
    assert.equal(first + 1, job.offload("side", "next"))
    assert.is_nil(package.loaded.side)
  end)

  it("finds modules where `require` does at the time of the call", function()
    local other, path = folder.new(), package.path
    other:write("elsewhere.lua", "return { here = function() return 'there' end }")
    assert.matches("module 'elsewhere' not found",
      fault_of("elsewhere", "here"))
    package.path = other.path .. "/?.lua;" .. path
    assert.equal("there", job.offload("elsewhere", "here"))
    package.path = path
    other:remove()
  end)

  it("can't be called where nothing can wait, and names itself", function()
    local ok, message = pcall(table.sort, { 2, 1 }, function()
      job.offload("side", "echo")
    end)
    assert.is_false(ok)
    assert.matches("offload_spec.lua:%d+: job.offload can't wait here", message)
  end)
end)

describe("what an offloaded function raises", function()
  it("is raised here, with its place and a traceback of the other state", function()
    local message = fault_of("side", "fail", "boom")
    assert.matches("^job.offload: side.fail: .-/side.lua:8: boom\nstack traceback:\n",
      message)
    assert.matches("/side.lua:8: in function", message)
    assert.is_nil(message:find "offload_state")
  end)

  it("is the same number or table, where it is one", function()
    assert.equal(404, fault_of("side", "fail", 404, 0))
    assert.same({ code = 7 }, fault_of("side", "fail", { code = 7 }))
  end)

  it("says that a module is missing, and where it was looked for", function()
    local message = fault_of("nowhere", "f")
    assert.matches("^job.offload: nowhere.f: module 'nowhere' not found:", message)
    assert.matches("no file '[^\n]*/nowhere.lua'", message)
  end)

  it("says that a function is missing, and what is there", function()
    assert.equal("job.offload: side.nope: module 'side' has no function 'nope': "
      .. "that is a nil", fault_of("side", "nope"))
    assert.matches("no function 'number': that is a number$",
      fault_of("side", "number"))
    assert.matches("no function 'f': it gave no table, but a boolean$",
      fault_of("no_table", "f"))
  end)

  it("says why a module doesn't load, each time", function()
    for _ = 1, 2 do
      assert.matches("/broken.lua:2: attempt to index local 'x'",
        fault_of("broken", "f"))
      assert.matches("/syntax.lua:1:", fault_of("syntax", "f"))
    end
  end)

  it("says that it has no luaweb, each time", function()
    for _ = 1, 2 do
      for _, name in ipairs { "luaweb", "luaweb.job", "luaweb.chan" } do
        assert.matches("luaweb can't be used in an offloaded function: there is no "
          .. "loop and no request %(luaweb.json and the like can%)",
          fault_of("side", "need", name))
      end
    end
    assert.is_true(job.offload("side", "need", "luaweb.json"))
  end)

  it("is a result that can't be copied, by its path", function()
    assert.matches("^job.offload: side.bad: result 2.a%[1%] is a function: only nil, "
      .. "booleans, numbers, strings and tables of these can be copied",
      fault_of("side", "bad"))
  end)

  it("is a stack overflow amid large results, of which no memory is lost", function()
    for _ = 1, 40 do -- what is lost is told by a build with LUAWEB_SANITIZE, at its end
      assert.equal(100000, #job.offload("side", "many", 100000))
      assert.matches("stack overflow", fault_of("side", "deep"))
    end
  end)

  it("is a stack overflow, after which things go on", function()
    assert.matches("stack overflow", fault_of("side", "deep"))
    assert.equal(1, job.offload("side", "echo", 1))
  end)

  it("is os.exit, which would end the process from aside", function()
    assert.matches("/side.lua:11: os.exit can't be called in an offloaded function",
      fault_of("side", "exit"))
  end)
end)

describe("an argument that can't be copied", function()
  local function nested(depth)
    return depth > 1 and { nested(depth - 1) } or {}
  end
  local circle = {}
  circle.a = { circle }

  for fault, value in pairs {
    ["is a function"]         = print,
    ["is a thread"]           = coroutine.create(print),
    ["is a userdata"]         = io.stdout,
    ["is JSON's null"]        = json.null,
    ["is a cdata"]            = require("ffi").new "int[1]",
    ["has a metatable"]       = setmetatable({}, {}),
    ["has a key that is a table"] = { [{}] = 1 },
    [".a[1] contains itself"] = circle,
  } do
    it(fault:gsub("^%S*%s", "") .. ": an error that names where", function()
      local ok, message = pcall(function()
        job.offload("side", "echo", 1, value)
      end)
      assert.is_false(ok)
      local pattern = fault:gsub("[%[%]]", "%%%0")
      if not fault:find "^%." then pattern = " " .. pattern end
      assert.matches("offload_spec.lua:%d+: job.offload: argument 2" .. pattern
        .. ": only nil", message)
      assert.matches("argument 1%.list%[3%]%[\"a b\"%]", fault_of("side", "echo",
        { list = { 1, 2, { ["a b"] = value } } }))
    end)
  end

  it("is nested deeper than 100 tables; 100 are copied", function()
    assert.same(nested(100), (job.offload("side", "echo", nested(100))))
    assert.matches("argument 1%[1%].*%[1%] is nested deeper than 100 tables",
      fault_of("side", "echo", nested(101)))
  end)

  it("is no name where the name of a module and a function belong", function()
    for _, names in ipairs { { 1, "f" }, { "side" }, { {}, {} } } do
      assert.matches("job.offload wants the name of a module and that of a function",
        fault_of(names[1], names[2]))
    end
  end)
end)
