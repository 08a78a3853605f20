-- SPDX-License-Identifier: MIT
-- The method table of a machine (core/machine/machine.h): RFC 9110 §9.1, §10.2.1.
local ffi = require "ffi"
local pure = require "spec.support.pure"

local C = pure.load "machine/machine"

local function slice(text)
  return ffi.new("struct luaweb_slice", text, #text)
end

--- A machine, or nil and why not.
local function construct(lines, body_limit)
  local machine, why = ffi.new "struct lw_machine", ffi.new "const char *[1]"
  if not C.lw_machine_construct(machine, slice(lines), body_limit or 0, why) then
    assert.is_true(machine.text == nil)
    return nil, ffi.string(why[0])
  end
  return ffi.gc(machine, C.lw_machine_destruct)
end

--- The number of the function for a method, or nil.
local function find(machine, method)
  local found = ffi.new "uint32_t[1]"
  if C.lw_machine_find(machine, slice(method), found) then return found[0] end
end

local function allow(lines)
  local machine = assert(construct(lines))
  return ffi.string(machine.allow)
end

describe("a method table", function()
  it("wants an index on each line", function()
    assert.is_nil((construct "GET "))
    assert.is_nil((construct "GET"))
  end)

  it("takes methods of 64 octets and no longer ones", function()
    assert.truthy((construct(("M"):rep(64) .. " 1")))
    assert.is_nil((construct(("M"):rep(65) .. " 1")))
  end)

  it("names all of 32 methods in Allow, however long", function()
    local lines, names = {}, {}
    for i = 1, 32 do
      names[i] = ("M"):rep(62) .. ("%02d"):format(i)
      lines[i] = names[i] .. " 1"
    end
    names[33] = "OPTIONS"
    assert.equal(table.concat(names, ", "), allow(table.concat(lines, "\n")))
  end)

  it("gives the function of each method", function()
    local machine = construct "GET 7\nHEAD 7\nPOST 0\nM-SEARCH 4294967295"
    assert.equal(7, find(machine, "GET"))
    assert.equal(7, find(machine, "HEAD"))
    assert.equal(0, find(machine, "POST"))
    assert.equal(4294967295, find(machine, "M-SEARCH"))
  end)

  it("compares methods with their case, and whole", function()
    local machine = construct "GET 1"
    for _, method in ipairs { "get", "Get", "GE", "GETT", "", "*" } do
      assert.is_nil(find(machine, method))
    end
  end)

  it("gives * every method that it does not name but TRACE, CONNECT and OPTIONS",
    function()
      local machine = construct "GET 1\n* 2"
      assert.equal(1, find(machine, "GET"))
      assert.equal(2, find(machine, "POST"))
      assert.equal(2, find(machine, "get"))
      for _, method in ipairs { "TRACE", "CONNECT", "OPTIONS" } do
        assert.is_nil(find(machine, method))
      end
    end)

  it("may name OPTIONS", function()
    assert.equal(3, find(construct "OPTIONS 3", "OPTIONS"))
    assert.equal(3, find(construct "OPTIONS 3\n* 4", "OPTIONS"))
  end)

  it("is copied", function()
    local text = ffi.new("char[6]", "GET 5")
    local machine, why = ffi.new "struct lw_machine", ffi.new "const char *[1]"
    local given = ffi.new("struct luaweb_slice", text, 5)
    assert.is_true(C.lw_machine_construct(machine, given, 0, why))
    ffi.fill(text, 6, 0x78)
    assert.equal(5, find(machine, "GET"))
    C.lw_machine_destruct(machine)
  end)

  it("keeps the limit of the content", function()
    assert.equal(8388608, tonumber(construct("GET 1", 8388608).body_limit))
  end)

  it("may be empty: then OPTIONS is all there is", function()
    assert.is_nil(find(construct "", "GET"))
    assert.equal("OPTIONS", allow "")
  end)

  for text, why in pairs {
    ["GET"]            = "a line of the method table is not METHOD index",
    [" 1"]             = "a line of the method table is not METHOD index",
    ["GET x"]          = "a line of the method table is not METHOD index",
    ["GET 1x"]         = "a line of the method table is not METHOD index",
    ["GET 1 2"]        = "a line of the method table is not METHOD index",
    ["GET 4294967296"] = "a line of the method table is not METHOD index",
    ["GET 1\n\nPUT 2"] = "a line of the method table is not METHOD index",
    ["GET -1"]         = "a line of the method table is not METHOD index",
    ["TRACE 1"]        = "TRACE and CONNECT are never served",
    ["CONNECT 1"]      = "TRACE and CONNECT are never served",
  } do
    it(("is not %q: %s"):format(text, why), function()
      local machine, reason = construct(text)
      assert.is_nil(machine)
      assert.equal(why, reason)
    end)
  end

  it("has 32 methods at most", function()
    local lines = {}
    for i = 1, 32 do lines[i] = ("M%d %d"):format(i, i) end
    assert.equal(32, find(construct(table.concat(lines, "\n")), "M32"))
    lines[33] = "M33 33"
    assert.equal("more than 32 methods",
      select(2, construct(table.concat(lines, "\n"))))
  end)
end)

describe("Allow", function()
  it("lists the methods in the order given, and OPTIONS, which is implied", function()
    assert.equal("GET, HEAD, OPTIONS", allow "GET 1\nHEAD 1")
    assert.equal("POST, GET, OPTIONS", allow "POST 1\nGET 2")
  end)

  it("names OPTIONS once", function()
    assert.equal("GET, OPTIONS", allow "OPTIONS 1\nGET 2")
  end)

  it("names the usual methods where any is taken", function()
    assert.equal("GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS", allow "* 1")
    assert.equal("BREW, PUT, GET, HEAD, POST, PATCH, DELETE, OPTIONS",
      allow "BREW 1\nPUT 2\n* 3")
  end)
end)
