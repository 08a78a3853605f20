-- SPDX-License-Identifier: MIT
-- The Cookie header (core/http/cookie.h): RFC 6265 §4.2, §5.4, the corpus, the edges.
local ffi = require "ffi"
local pure = require "spec.support.pure"

local C = pure.load "http/cookie"

--- Appends the pairs of one Cookie line to `list`.
local function read_line(line, list)
  local rest = ffi.new("struct luaweb_slice[1]", { { line, #line } })
  local pair = ffi.new "struct luaweb_field[1]"
  while C.lw_cookie_next(rest, pair) do
    list[#list + 1] = { pure.string(pair[0].name), pure.string(pair[0].value) }
  end
  assert.equal(0, tonumber(rest[0].size))
  assert.is_true(rest[0].data == ffi.cast("const char *", line) + #line)
  return list
end

--- The field lines of a case: a list of strings is several, all else is one.
local function lines_of(header)
  if type(header) ~= "table" or type(header[1]) ~= "string" then
    return { pure.octets(header) }
  end
  local lines = {}
  for i, line in ipairs(header) do lines[i] = pure.octets(line) end
  return lines
end

local function octets_of(cookies)
  local list = {}
  for i, pair in ipairs(cookies) do
    list[i] = { pure.octets(pair[1]), pure.octets(pair[2]) }
  end
  return list
end

--- The accepted result that `found` equals, or else the first one.
local function nearest(case, found)
  local accepted = { octets_of(case.cookies) }
  for _, other in ipairs(case.also or {}) do
    accepted[#accepted + 1] = octets_of(other)
  end
  for _, list in ipairs(accepted) do
    if pcall(assert.same, list, found) then return list end
  end
  return accepted[1]
end

describe("Cookies, the corpus", function()
  for _, case in ipairs(pure.cases "cookie") do
    if case.kind == "parse" then
      it("reads " .. case.id, function()
        local found = {}
        for _, line in ipairs(lines_of(case.header)) do read_line(line, found) end
        assert.same(nearest(case, found), found)
      end)
    end
  end
end)

describe("A Cookie header", function()
  for text, expected in pairs {
    [""]                        = {},
    [";"]                       = {},
    [" ; ;\t;"]                 = {},
    ["a"]                       = {},
    ["="]                       = {},
    [" = v"]                    = {},
    ["a=1;"]                    = { { "a", "1" } },
    ["a=b=c"]                   = { { "a", "b=c" } },
    ["a=;b"]                    = { { "a", "" } },
    ["a = = "]                  = { { "a", "=" } },
    ["a=\"1 2\""]               = { { "a", "\"1 2\"" } },
    ["a=1,b=2"]                 = { { "a", "1,b=2" } },
    ["a=%3B+"]                  = { { "a", "%3B+" } },
    ["a b=c d"]                 = { { "a b", "c d" } },
    ["a=\0;\0=b"]               = { { "a", "\0" }, { "\0", "b" } },
    ["a=\r\n"]                  = { { "a", "\r\n" } },
  } do
    it("reads " .. ("%q"):format(text), function()
      assert.same(expected, read_line(text, {}))
    end)
  end

  it("is read in place", function()
    local text = ffi.new("char[8]", " a = b;c")
    local rest = ffi.new("struct luaweb_slice[1]", { { text, 8 } })
    local pair = ffi.new "struct luaweb_field[1]"
    assert.is_true(C.lw_cookie_next(rest, pair))
    assert.equal(1, tonumber(pair[0].name.data - text))
    assert.equal(5, tonumber(pair[0].value.data - text))
    assert.equal(7, tonumber(rest[0].data - text))
  end)

  it("leaves the pair as it was at the end", function()
    local rest = ffi.new("struct luaweb_slice[1]", { { "x; y", 4 } })
    local pair = ffi.new("struct luaweb_field[1]", { { { "n", 1 }, { "v", 1 } } })
    assert.is_false(C.lw_cookie_next(rest, pair))
    assert.equal("n", pure.string(pair[0].name))
    assert.equal("v", pure.string(pair[0].value))
  end)

  it("is read when it is huge: one value, many pairs, or only separators", function()
    local value = ("x"):rep(2 ^ 20)
    assert.same({ { "a", value } }, read_line("a=" .. value, {}))
    assert.equal(100000, #read_line(("k=v; "):rep(100000), {}))
    assert.same({}, read_line(("; "):rep(2 ^ 19), {}))
  end)
end)
