-- SPDX-License-Identifier: MIT
-- Media types (core/http/media_type.h): RFC 9110 §8.3.1, the corpus and the edges.
local ffi = require "ffi"
local pure = require "spec.support.pure"

local C = pure.load "http/media_type"

-- Slices point into the texts that were parsed, which therefore stay.
local texts = {}

local function parse(text)
  texts[#texts + 1] = text
  local media = ffi.new "struct lw_media_type[1]"
  local slice = ffi.new("struct luaweb_slice", text, #text)
  if C.lw_media_type_parse(slice, media) then return media end
  assert.is_true(media[0].name.data == nil)
  return nil
end

local function unquote(raw)
  local size = tonumber(raw.size)
  local out = ffi.new("char[?]", size + 1)
  out[size] = 42
  local written = C.lw_media_type_unquote(raw, out)
  assert.equal(42, out[size])
  return ffi.string(out, written)
end

--- Name to value, names in lower case; the first of a name counts.
local function parameters_of(media)
  local rest = ffi.new("struct luaweb_slice[1]", { media[0].parameters })
  local field = ffi.new "struct luaweb_field[1]"
  local found = {}
  while C.lw_media_type_next(rest, field) do
    local name = pure.string(field[0].name):lower()
    found[name] = found[name] or unquote(field[0].value)
  end
  assert.equal(0, tonumber(rest[0].size))
  return found
end

local function matches(text, pattern)
  local media, wanted = parse(text), parse(pattern)
  return media ~= nil and wanted ~= nil and C.lw_media_type_match(media, wanted)
end

local run = {}

function run.parse(case)
  it("reads " .. case.id, function()
    local text = pure.octets(case.input)
    local media = assert(parse(text))
    local expected = {}
    for name, value in pairs(case.parameters) do
      expected[pure.octets(name)] = pure.octets(value)
    end
    assert.equal(pure.octets(case.type), pure.string(media[0].name):lower())
    assert.same(expected, parameters_of(media))
  end)
end

-- A best effort that we make leaves nothing out: no half passes for the whole.
function run.malformed(case)
  it("refuses, or reads whole, " .. case.id, function()
    local text = pure.octets(case.input)
    local media = parse(text)
    local outcome = media and "best-effort" or "error"
    local is_accepted = false
    for _, accepted in ipairs(case.accept) do
      is_accepted = is_accepted or accepted == outcome
    end
    assert.is_true(is_accepted)
    if not media then return end
    parameters_of(media)
    local whole = pure.string(media[0].name) .. pure.string(media[0].parameters)
    assert.equal(text:match "^[ \t]*(.-)[ \t]*$", whole)
  end)
end

function run.match(case)
  it("matches " .. case.id, function()
    local text, first = pure.octets(case.input), nil
    for _, pattern in ipairs(case.patterns) do
      if not first and matches(text, pattern) then first = pattern end
    end
    assert.equal(case.first, first)
  end)
end

describe("Media types, the corpus", function()
  for _, case in ipairs(pure.cases "media-type") do run[case.kind](case) end
end)

describe("A media type", function()
  it("has a type, a subtype and what follows", function()
    local text = "Text/HTML ; Charset=x"
    local media = assert(parse(text))
    assert.equal("Text/HTML", pure.string(media[0].name))
    assert.equal("Text", pure.string(media[0].type))
    assert.equal("HTML", pure.string(media[0].subtype))
    assert.equal(" ; Charset=x", pure.string(media[0].parameters))
  end)

  for _, text in ipairs {
    "", " ", "/", "text", "text/", "/html", "text//html", "text/html/x", "text /html",
    "text/ html", "text/html x", "text/html, text/plain", "text/html\0", "te\0xt/html",
    "text/html\r\n", "t\195\169xt/html", "text/html; charset", "text/html; charset=",
    "text/html; charset =x", "text/html; charset= x", "text/html; =x",
    "text/html; a=b c", "text/html; a=b, c", "text/html; a=\0", "text/html; a=\"b",
    "text/html; a=\"b\\", "text/html; a=\"b\\\"", "text/html; a=\"\0\"",
    "text/html; a=\"\\\0\"", "text/html; a=\"\127\"", "text/html; a=\"b\"c",
    "text/html; a=b\"c\"", "text/html; \"a\"=b", "text/html; a=b; c",
    "text/html; a=\"\r\n\"",
  } do
    it("is refused when it is " .. ("%q"):format(text), function()
      assert.is_nil(parse(text))
    end)
  end

  for text, expected in pairs {
    ["a/b"]                         = {},
    ["a/b;"]                        = {},
    ["a/b ; ;;\t; "]                = {},
    ["\ta/b;c=d\t"]                 = { c = "d" },
    ["a/b;c=d\t;\te=f"]             = { c = "d", e = "f" },
    ["a/b;c=\"\""]                  = { c = "" },
    ["a/b;c=\"\\\"\""]              = { c = "\"" },
    ["a/b;c=\"\\\\\""]              = { c = "\\" },
    ["a/b;c=\"\\a\\b\""]            = { c = "ab" },
    ["a/b;c=\"; d=e\""]             = { c = "; d=e" },
    ["a/b;c=\"\t \195\169\255\""]   = { c = "\t \195\169\255" },
    ["a/b;!#$%&'*+-.^_`|~=1"]       = { ["!#$%&'*+-.^_`|~"] = "1" },
    ["a/b;C=1;c=2"]                 = { c = "1" },
  } do
    it("has the parameters of " .. ("%q"):format(text), function()
      assert.same(expected, parameters_of(assert(parse(text))))
    end)
  end

  it("is unquoted in place", function()
    local raw = ffi.new("char[6]", "\"\\a\\b\"")
    local slice = ffi.new("struct luaweb_slice", raw, 6)
    assert.equal("ab", ffi.string(raw, C.lw_media_type_unquote(slice, raw)))
  end)

  it("keeps the octets of a token as they are", function()
    assert.equal("a'b", unquote(ffi.new("struct luaweb_slice", "a'b", 3)))
  end)

  for raw, expected in pairs {
    ["\""] = "\"", ["\"a"] = "\"a", ["a\\"] = "a\\", ["\"\\\""] = "\\", ["\"\""] = "",
  } do
    it("is unquoted within its octets when it is " .. raw, function()
      assert.equal(expected, unquote(ffi.new("struct luaweb_slice", raw, #raw)))
    end)
  end

  it("leaves the parameter as it was where none can be read", function()
    for _, text in ipairs { "", ";", ";x", "x=1", ";x=\"", ";=1" } do
      local rest = ffi.new("struct luaweb_slice[1]", { { text, #text } })
      local field = ffi.new("struct luaweb_field[1]", { { { "n", 1 }, { "v", 1 } } })
      assert.is_false(C.lw_media_type_next(rest, field))
      assert.equal("n", pure.string(field[0].name))
      assert.equal("v", pure.string(field[0].value))
      assert.equal(text == "" or text == ";", rest[0].size == 0)
    end
  end)

  it("is read when it is huge: a name, a value, many parameters, or none", function()
    local long = ("x"):rep(2 ^ 20)
    assert.equal(long .. "/b", pure.string(assert(parse(long .. "/b"))[0].name))
    assert.same({ c = long }, parameters_of(assert(parse("a/b;c=\"" .. long .. "\""))))
    assert.same({ c = "1" }, parameters_of(assert(parse("a/b" .. (";c=1"):rep(1e5)))))
    assert.same({}, parameters_of(assert(parse("a/b" .. (";"):rep(2 ^ 20)))))
  end)
end)

describe("A pattern", function()
  for _, row in ipairs {
    -- media type                        pattern                      matches
    { "text/html",                       "text/html",                 true },
    { "Text/HTML",                       "tEXT/html",                 true },
    { "text/html; charset=utf-8",        "*/*",                       true },
    { "text/html",                       "text/htm",                  false },
    { "text/htm",                        "text/html",                 false },
    { "text/html",                       "*/html",                    false },
    { "text/html",                       "text/h*",                   false },
    { "text/*",                          "text/*",                    false },
    { "*/*",                             "*/*",                       false },
    { "text/html",                       "text",                      false },
    { "text/html",                       "text/*; level=1",           false },
    { "text/html; level=1",              "text/*; level=1",           true },
    { "text/html; level=\"\\1\"",        "text/html;LEVEL=1",         true },
    { "text/html; level=1; a=b",         "text/html; a=\"b\"",        true },
    { "text/html; level=1; a=b",         "text/html; a=b; level=1",   true },
    { "text/html; level=1",              "text/html; level=11",       false },
    { "text/html; level=11",             "text/html; level=1",        false },
    { "text/html; level=1; level=2",     "text/html; level=2",        false },
    { "text/html; a=B",                  "text/html; a=b",            false },
    { "text/html; charset=UTF-8",        "text/html; charset=utf-8",  true },
    { "text/html; charset=\"UTF-8\"",    "text/html; Charset=utf-8",  true },
  } do
    local text, pattern, expected = row[1], row[2], row[3]
    it(("%s %s %s"):format(pattern, expected and "takes" or "leaves", text), function()
      assert.equal(expected, matches(text, pattern))
    end)
  end
end)
