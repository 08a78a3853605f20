-- SPDX-License-Identifier: MIT
-- Paths in normal form (core/route/path.h): RFC 3986 §6.2.2, RFC 3629 §4.
local ffi = require "ffi"
local pure = require "spec.support.pure"
local templates = require "spec.route.templates"

local C, normalise = templates.C, templates.normalise

describe("the normal form of a path", function()
  for text, normal in pairs {
    [""]                = "",
    ["/a/b"]            = "/a/b",
    ["/%41%7e%2D%5f"]   = "/A~-_",
    ["/caf%c3%a9"]      = "/café",
    ["/café"]           = "/café",
    ["/a%2fb"]          = "/a%2Fb",
    ["/%3a%40%2b%2c"]   = "/%3A%40%2B%2C",
    ["/%2525"]          = "/%2525",
    ["/%20%22%00"]      = "/ \"\0",
    ["/%F0%9F%98%80"]   = "/\240\159\152\128",
  } do
    it(("of %q is %q"):format(text, normal), function()
      assert.equal(normal, normalise(text))
    end)
  end

  it("is its own normal form", function()
    for octet = 0, 127 do
      local normal = normalise(("%%%02x"):format(octet))
      assert.equal(normal, normalise(normal))
    end
  end)

  it("keeps escapes of what is reserved, and of nothing else", function()
    for octet = 0, 127 do
      local char = string.char(octet)
      local is_kept = (":/?#[]@!$&'()*+,;=%"):find(char, 1, true) ~= nil
      local wanted = is_kept and ("%%%02X"):format(octet) or char
      assert.equal(wanted, normalise(("%%%02x"):format(octet)))
    end
  end)

  for _, text in ipairs { "%", "%2", "/a%zz", "/%%41", "/%4", "/%g1", "/%1g" } do
    it(("is not there for the broken escape of %q"):format(text), function()
      assert.is_nil(normalise(text))
    end)
  end

  for _, text in ipairs {
    "%ff", "%c3", "%c3(", "%80", "\255", "%c0%80", "%e0%80%80", "%ed%a0%80", "%e2%82",
    "%f0%80%80%80", "%f4%90%80%80", "%f8%88%80%80%80", "%c3%c3",
  } do
    it(("is not there for %s, which is not UTF-8"):format(text), function()
      assert.is_nil(normalise(text))
    end)
  end

  it("is told at once where nothing is to be done", function()
    assert.is_true(C.lw_path_is_normal(templates.slice "/a/b-c_d.e~f:@!$&'()*+,;="))
    assert.is_true(C.lw_path_is_normal(templates.slice ""))
    assert.is_false(C.lw_path_is_normal(templates.slice "/a%41"))
    assert.is_false(C.lw_path_is_normal(templates.slice "/é"))
  end)
end)

describe("cutting", function()
  local function cut(text)
    local rest = ffi.new("struct luaweb_slice[1]", { templates.slice(text) })
    local list = {}
    repeat
      list[#list + 1] = pure.string(C.lw_path_cut(rest, 44))
    until rest[0].data == nil
    return list
  end

  it("gives what is between separators, empty items too", function()
    assert.same({ "a", "b" }, cut "a,b")
    assert.same({ "" }, cut "")
    assert.same({ "", "" }, cut ",")
    assert.same({ "a", "", "b", "" }, cut "a,,b,")
  end)
end)
