-- SPDX-License-Identifier: MIT
-- Request targets and authorities (core/http/target.h): RFC 9112 §3.2, RFC 3986 §3.2.
local ffi = require "ffi"
local pure = require "spec.support.pure"

local C = pure.load "http/target"

local FORMS = {
  [C.LW_TARGET_ORIGIN] = "origin",
  [C.LW_TARGET_ABSOLUTE] = "absolute",
  [C.LW_TARGET_AUTHORITY] = "authority",
  [C.LW_TARGET_ASTERISK] = "asterisk",
}

--- Text for a title: quoted, with escapes for what does not print.
local function shown(text)
  return (("%q"):format(text):gsub("[^\32-\126]", function(octet)
    return ("\\%d"):format(octet:byte())
  end))
end

local function slice(text)
  return ffi.new("struct luaweb_slice", { text, #text })
end

--- The parts of a target; nil and the sentence when it is refused.
local function parse(method, target)
  local out = ffi.new "struct lw_target[1]"
  local why = ffi.new "const char *[1]"
  local status = C.lw_target_parse(slice(method), slice(target), out, why)
  if status ~= 0 then
    assert.equal(400, status)
    return nil, ffi.string(why[0])
  end
  return {
    form = FORMS[tonumber(out[0].form)],
    scheme = pure.string(out[0].scheme),
    authority = pure.string(out[0].authority),
    path = pure.string(out[0].path),
    query = out[0].has_query and pure.string(out[0].query) or nil,
  }
end

local function origin(path, query)
  return { form = "origin", scheme = "", authority = "", path = path, query = query }
end

local function absolute(scheme, authority, path, query)
  return { form = "absolute", scheme = scheme, authority = authority,
           path = path, query = query }
end

describe("a path as target", function()
  it("ends at the first question mark", function()
    assert.same(origin "/", parse("GET", "/"))
    assert.same(origin("/a/b", "c=d"), parse("GET", "/a/b?c=d"))
    assert.same(origin("/a", "b?c"), parse("GET", "/a?b?c"))
  end)

  it("tells an empty query from none", function()
    assert.same(origin("/a", ""), parse("GET", "/a?"))
    assert.same(origin "/a", parse("GET", "/a"))
  end)

  it("is neither decoded nor normalised", function()
    for _, path in ipairs { "//e", "/%2e%2E/../%zz", "/;p=1,:x~" } do
      assert.same(origin(path), parse("GET", path))
    end
  end)

  it("may have every visible ASCII octet except the number sign", function()
    for octet = 0, 255 do
      local char = string.char(octet)
      local is_allowed = octet > 0x20 and octet < 0x7f and char ~= "#"
      for _, target in ipairs { "/a" .. char, "/a?b" .. char .. "c" } do
        assert.equal(is_allowed, parse("GET", target) ~= nil, "octet " .. octet)
      end
    end
  end)

  it("is taken with any method but CONNECT", function()
    assert.same(origin "/x", parse("OPTIONS", "/x"))
    assert.same(origin "/x", parse("FROBNICATE", "/x"))
    assert.is_nil(parse("CONNECT", "/x"))
  end)
end)

describe("an absolute URI as target", function()
  it("has scheme, authority, path and query", function()
    assert.same(absolute("http", "a.example:80", "/b", "c"),
      parse("GET", "http://a.example:80/b?c"))
    assert.same(absolute("HTTPS", "[::1]", "/", nil), parse("GET", "HTTPS://[::1]/"))
  end)

  it("has the path / when it has none", function()
    assert.same(absolute("http", "a", "/"), parse("GET", "http://a"))
    assert.same(absolute("http", "a", "/", "b=/c"), parse("GET", "http://a?b=/c"))
    assert.same(absolute("http", "a", "/", ""), parse("OPTIONS", "http://a?"))
  end)

  it("means the server itself in OPTIONS when it has neither path nor query", function()
    assert.same({ form = "asterisk", scheme = "http", authority = "a:81", path = "*" },
      parse("OPTIONS", "http://a:81"))
  end)

  it("is refused without a host, with user information or a bad port", function()
    for _, authority in ipairs {
      "", ":80", "u:p@a", "u@a", "a:999999", "a:b", "[::1",
    } do
      assert.is_nil(parse("GET", "http://" .. authority .. "/"), authority)
    end
  end)

  it("is refused with another scheme than http and https", function()
    for _, target in ipairs { "gopher://a/", "ws://a/", "://a/", "httpx://a/" } do
      assert.is_nil(parse("GET", target), target)
    end
  end)

  it("is refused when it is cut short", function()
    for size = 1, #"http://" do
      assert.is_nil(parse("GET", ("http://"):sub(1, size)))
    end
    assert.is_nil(parse("GET", "http:/a"))
    assert.is_nil(parse("GET", "http:a"))
  end)
end)

describe("a target of no known form", function()
  for _, target in ipairs {
    "", "foo/bar", "?q=1", "localhost:80", "a", "**", "*/", ":",
  } do
    it(("%s is refused"):format(shown(target)), function()
      local parts, why = parse("GET", target)
      assert.is_nil(parts)
      assert.matches("target", why)
    end)
  end
end)

describe("the target *", function()
  it("is for OPTIONS", function()
    assert.same({ form = "asterisk", scheme = "", authority = "", path = "*" },
      parse("OPTIONS", "*"))
  end)

  it("is refused with other methods", function()
    for _, method in ipairs { "GET", "options", "CONNECT", "PRI" } do
      assert.is_nil(parse(method, "*"), method)
    end
  end)
end)

describe("the target of CONNECT", function()
  it("is a host and a port", function()
    assert.same({ form = "authority", scheme = "", authority = "a.b:443", path = "" },
      parse("CONNECT", "a.b:443"))
    assert.equal("[::1]:1", parse("CONNECT", "[::1]:1").authority)
  end)

  it("is refused without a port that can be connected to", function()
    for _, target in ipairs {
      "a", "a:", "a:0", "a:000", "a:65536", "a:x", ":80", "80", "[::1]", "u@a:80",
      "http://a:80", "http://a:80/", "a:80/", "a:80?b",
    } do
      assert.is_nil(parse("CONNECT", target), target)
    end
  end)
end)

describe("an authority", function()
  local function valid(text)
    return C.lw_authority_valid(slice(text))
  end

  for _, text in ipairs {
    "localhost", "localhost:8080", "localhost:", "127.0.0.1:80", "a:0", "a:65535",
    "a:00080", "[::1]", "[::1]:8080", "[::1]:", "[2001:DB8::192.0.2.33]",
    "[1:2:3:4:5:6:7:8]", "[v1.fe80::a+en1]", "[V7f.x]", "a.b-c_d~e", "xn--bcher-kva",
    "a%20b", "%C3%BC", "a,b", "!$&'()*+,;=", "1.2.3.4.5", "-", ".",
  } do
    it(("%s is valid"):format(shown(text)), function()
      assert.is_true(valid(text))
    end)
  end

  for _, text in ipairs {
    "", ":", ":80", "a b", "a\tb", " a", "a ", "a\0", "a\1b", "ex\\ample", "a#b", "a/b",
    "a?b", "a@b", "a:b", "a:65536", "a:99999999999999999999", "a:-1", "a:+1", "a:1:2",
    "a:8 ", "\"a\"", "<a>", "a%", "a%2", "a%zz", "a%2g", "a|b", "{a}", "a^b", "a`b",
    "\195\188",
    "[", "]", "[]", "[::1", "::1", "[::1]x", "[::1]8", "[::1]:x", "[::1]]", "[[::1]]",
    "[1:2]", "[::1%25eth0]", "[::1\0]", "[1.2.3.4]", "[::g]", "[:::]", "a[::1]",
    "[1:2:3:4:5:6:7:8:9]", "[v.x]", "[v1.]", "[v1]", "[vg.x]", "[v1.[]", "[v1.@]",
    "[1111:2222:3333:4444:5555:6666:255.255.255.2555]",
  } do
    it(("%s is refused"):format(shown(text)), function()
      assert.is_false(valid(text))
    end)
  end

  it("has only the octets of RFC 3986 in a name", function()
    for octet = 0, 255 do
      local char = string.char(octet)
      local is_allowed = char:find "^[%w%-._~!$&'()*+,;=]$" ~= nil
      assert.equal(is_allowed, valid("a" .. char .. "b"), ("octet %d"):format(octet))
    end
  end)
end)
