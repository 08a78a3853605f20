-- SPDX-License-Identifier: MIT
-- Queries and forms (core/http/query.h): WHATWG URL §5, the corpus and the edges.
local ffi = require "ffi"
local pure = require "spec.support.pure"

local C = pure.load "http/query"
pure.load "http/percent"

local function decode(raw)
  local out = ffi.new("char[?]", tonumber(raw.size) + 1)
  return ffi.string(out, C.lw_percent_decode_form(raw, out))
end

local function encode(text)
  local out = ffi.new("char[?]", #text * 3 + 1)
  local slice = ffi.new("struct luaweb_slice", text, #text)
  return ffi.string(out, C.lw_percent_encode_form(slice, out))
end

--- All pairs of `text`, each name and value gone through `read`.
local function pairs_of(text, read)
  local rest = ffi.new("struct luaweb_slice[1]", { { text, #text } })
  local pair = ffi.new "struct luaweb_field[1]"
  local list = {}
  while C.lw_query_next(rest, pair) do
    list[#list + 1] = { read(pair[0].name), read(pair[0].value) }
  end
  assert.equal(0, tonumber(rest[0].size))
  assert.is_true(rest[0].data == ffi.cast("const char *", text) + #text)
  return list
end

local function octets_of(list)
  local result = {}
  for i, pair in ipairs(list) do
    result[i] = { pure.octets(pair[1]), pure.octets(pair[2]) }
  end
  return result
end

describe("Forms, the corpus", function()
  for _, case in ipairs(pure.cases "form") do
    local list = octets_of(case.pairs)
    if case.kind == "decode" then
      it("decodes " .. case.id, function()
        assert.same(list, pairs_of(pure.octets(case.input), decode))
      end)
    else
      it("encodes " .. case.id, function()
        local parts = {}
        for i, pair in ipairs(list) do
          parts[i] = encode(pair[1]) .. "=" .. encode(pair[2])
        end
        assert.equal(pure.octets(case.output), table.concat(parts, "&"))
      end)
    end
  end
end)

describe("A query", function()
  for text, expected in pairs {
    [""]                        = {},
    ["&"]                       = {},
    ["&&&"]                     = {},
    ["="]                       = { { "", "" } },
    ["a"]                       = { { "a", "" } },
    ["a="]                      = { { "a", "" } },
    ["a=b=c"]                   = { { "a", "b=c" } },
    ["a=="]                     = { { "a", "=" } },
    ["a=1&"]                    = { { "a", "1" } },
    ["&a=1&&b=2&"]              = { { "a", "1" }, { "b", "2" } },
    ["a=se%l%e%ct%20*"]         = { { "a", "se%l%e%ct *" } },
    ["p=%3B123&q=%2B1"]         = { { "p", ";123" }, { "q", "+1" } },
    ["a=%26b=c&%3D=d"]          = { { "a", "&b=c" }, { "=", "d" } },
    ["a=%&b=2"]                 = { { "a", "%" }, { "b", "2" } },
    ["a=%4&1=b"]                = { { "a", "%4" }, { "1", "b" } },
    ["a\0b=\0&\0"]              = { { "a\0b", "\0" }, { "\0", "" } },
    ["?a=1"]                    = { { "?a", "1" } },
    ["a[]=1&a[]=2"]             = { { "a[]", "1" }, { "a[]", "2" } },
  } do
    it("reads " .. ("%q"):format(text), function()
      assert.same(expected, pairs_of(text, decode))
    end)
  end

  it("is read raw and in place, empty values included", function()
    assert.same({ { "a+b", "%20" } }, pairs_of("a+b=%20", pure.string))

    local text = ffi.new("char[5]", "ab&c=")
    local rest = ffi.new("struct luaweb_slice[1]", { { text, 5 } })
    local pair = ffi.new "struct luaweb_field[1]"
    local places = {}
    while C.lw_query_next(rest, pair) do
      places[#places + 1] = tonumber(pair[0].name.data - text)
      places[#places + 1] = tonumber(pair[0].value.data - text)
    end
    assert.same({ 0, 2, 3, 5 }, places)
  end)

  it("leaves the pair as it was at the end", function()
    local rest = ffi.new("struct luaweb_slice[1]")
    local pair = ffi.new("struct luaweb_field[1]", { { { "n", 1 }, { "v", 1 } } })
    assert.is_false(C.lw_query_next(rest, pair))
    assert.equal("n", pure.string(pair[0].name))
    assert.equal("v", pure.string(pair[0].value))
  end)

  it("is read when it is huge: one value, many pairs, or only separators", function()
    local value = ("x"):rep(2 ^ 20)
    assert.same({ { "a", value } }, pairs_of("a=" .. value, decode))
    assert.equal(100000, #pairs_of(("k=v&"):rep(100000), decode))
    assert.same({}, pairs_of(("&"):rep(2 ^ 20), decode))
  end)
end)
