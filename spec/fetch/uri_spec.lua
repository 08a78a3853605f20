-- SPDX-License-Identifier: MIT
-- URLs as web.fetch reads them: strict about who is asked, lenient about the rest.
local random_of = require "spec.support.random"
local uri = require "luaweb.fetch.uri"
local web = require "luaweb"

local function text(given)
  local read, message = uri.parse(given)
  return read and uri.text(read), message
end

local function why_not(given)
  local read, message = uri.parse(given)
  assert.is_nil(read, given .. " is read")
  return message
end

describe("a URL", function()
  it("is read into its parts", function()
    local read = uri.parse "HTTP://User:p%40ss@Example.COM:8080/a/b?x=1&y#top"
    assert.same({ scheme = "http", host = "example.com", port = 8080, path = "/a/b",
      query = "x=1&y", fragment = "top", userinfo = "User:p%40ss" }, read)
  end)

  it("has a path and the usual port of its scheme", function()
    assert.equal("http://example.com/", text "http://example.com")
    assert.equal("https://example.com/", text "https://example.com:443")
    assert.equal("http://example.com:443/?q", text "http://example.com:443?q")
    assert.equal(443, uri.parse("https://example.com:").port)
  end)

  it("may name an IPv6 address in brackets", function()
    local read = uri.parse "http://[::1]:8080/x"
    assert.equal("::1", read.host)
    assert.equal(8080, read.port)
    assert.equal("[::1]:8080", uri.authority(read))
    assert.equal("[2001:db8::1]:80", uri.authority(uri.parse "http://[2001:DB8::1]/",
      true))
  end)

  it("gets escapes for what may not stand in it, and keeps those it has", function()
    assert.equal("http://h/a%20b/%C3%A9?q=%22a%22%7B%7D",
      text "http://h/a b/é?q=\"a\"{}")
    assert.equal("http://h/a%2Fb%zz", text "http://h/a%2Fb%zz")
  end)

  it("loses its dot segments, escaped ones too", function()
    assert.equal("http://h/a/c", text "http://h/a/b/../c")
    assert.equal("http://h/c", text "http://h/a/%2e%2E/../../c")
    assert.equal("http://h/a/", text "http://h/a/b/..")
    assert.equal("http://h/a/", text "http://h/a/.")
    assert.equal("http://h/a//b/...", text "http://h/a//b/...")
  end)

  it("is refused, and the message says why", function()
    assert.matches("no scheme", why_not "example.com/x")
    assert.matches("no scheme", why_not "")
    assert.matches("file is neither http nor https", why_not "file:///etc/passwd")
    assert.matches("names no host", why_not "http:///x")
    assert.matches("names no host", why_not "http:x")
    assert.matches("names no host", why_not "http://:80/")
    assert.matches("port is not 1 to 65535", why_not "http://h:0/")
    assert.matches("port is not 1 to 65535", why_not "http://h:65536/")
    assert.matches("not a name or address", why_not "http://h:8x/")
    assert.matches("not a name or address", why_not "http://h ost/")
    assert.matches("not a name or address", why_not "http://bücher.example/")
    assert.matches("not a name or address", why_not "http://[::1/")
    assert.matches("not a name or address", why_not "http://[127.0.0.1]/")
    assert.matches("not a name or address", why_not "http://a%2eb/")
    assert.matches("control octet", why_not "http://h/\r\nX: y")
    assert.matches("control octet", why_not "http://h/\0")
    assert.matches("longer than 64 KiB", why_not("http://h/" .. ("x"):rep(65536)))
  end)

  it("is refused without a word of its password", function()
    assert.equal("the URL \"ftp://...@h/\" can't be asked: ftp is neither http nor "
      .. "https", why_not "ftp://user:pass@h/")
    assert.not_matches("pass", why_not "http://user:pa@ss@h/")
  end)

  it("that two programs could read as two hosts is refused", function()
    assert.matches("is not escaped", why_not "http://good.example\\@bad.example/")
    assert.matches("is not escaped", why_not "http://a@b@c/")
    assert.matches("not a name", why_not "http://good.example\\.bad.example/")
  end)
end)

describe("any text", function()
  local PARTS = { "http", "https", ":", "//", "/", "?", "#", "@", "[", "]", "::1", "h",
    ".", "..", "%2e", "%", "\\", " ", "\t", "é", "\255", "80", "65536", "a", ";", "&",
    "127.0.0.1", "\r", "\n", "\0", "{", "|", "\"", "*", "," }

  it("is refused, or read as a URL that is read the same again", function()
    local random, count = random_of.new(7), 0
    for _ = 1, 20000 do
      local parts = { "http://h" }
      for _ = 1, random:number(8) do parts[#parts + 1] = random:pick(PARTS) end
      local given = table.concat(parts)
      local written = text(given)
      if written then
        count = count + 1
        assert.equal(written, text(written))
        assert.not_matches("[%z\1-\32\127-\255\\]", (written:gsub("#.*", "")))
        local read = uri.resolve(assert(uri.parse(given)), parts[#parts])
        assert(not read or uri.parse(uri.text(read)), given)
      end
    end
    assert(count > 2000, count)
  end)
end)

describe("a relative reference", function()
  local function resolved(base, reference)
    local read, message = uri.resolve(assert(uri.parse(base)), reference)
    return read and uri.text(read), message
  end

  it("is resolved as RFC 3986 §5.4 has it", function()
    local base = "http://a/b/c/d;p?q"
    local examples = {
      ["g"] = "http://a/b/c/g", ["./g"] = "http://a/b/c/g", ["g/"] = "http://a/b/c/g/",
      ["/g"] = "http://a/g", ["//g"] = "http://g/", ["?y"] = "http://a/b/c/d;p?y",
      ["g?y"] = "http://a/b/c/g?y", ["#s"] = "http://a/b/c/d;p?q#s",
      ["g#s"] = "http://a/b/c/g#s", [";x"] = "http://a/b/c/;x",
      [""] = "http://a/b/c/d;p?q", ["."] = "http://a/b/c/", [".."] = "http://a/b/",
      ["../g"] = "http://a/b/g", ["../.."] = "http://a/", ["../../g"] = "http://a/g",
      ["../../../g"] = "http://a/g", ["/./g"] = "http://a/g", ["/../g"] = "http://a/g",
      ["g."] = "http://a/b/c/g.", ["..g"] = "http://a/b/c/..g",
      ["./g/."] = "http://a/b/c/g/", ["g;x=1/../y"] = "http://a/b/c/y",
      ["g?y/../x"] = "http://a/b/c/g?y/../x", ["g#s/../x"] = "http://a/b/c/g#s/../x",
      ["https://x/y"] = "https://x/y",
    }
    for reference, wanted in pairs(examples) do
      assert.equal(wanted, resolved(base, reference), reference)
    end
  end)

  it("takes over the fragment where it has none", function()
    assert.equal("http://a/y#f", resolved("http://a/x#f", "/y"))
    assert.equal("http://a/y#g", resolved("http://a/x#f", "/y#g"))
    assert.equal("http://b/#f", resolved("http://a/x#f", "//b"))
  end)

  it("loses white space around it", function()
    assert.equal("http://a/y", resolved("http://a/x", " /y\t"))
    assert.equal("http://a/x", resolved("http://a/x", (" "):rep(60000)))
  end)

  it("is read in no time, whatever 64 KiB it has", function()
    local started = os.clock()
    for _, many in ipairs { " ", "\t", "../", "%2e/", ":", "@", "?", "#", "\255" } do
      many = many:rep(math.floor(60000 / #many))
      resolved("http://a/x", "x" .. many .. "x")
      resolved("http://a/x", "//x" .. many .. "x")
    end
    assert(os.clock() - started < 3) -- it took 10 s for blanks alone
  end)

  it("may be refused as a URL is", function()
    assert.matches("neither http nor https",
      select(2, resolved("http://a/", "javascript:alert(1)")))
    assert.matches("names no host", select(2, resolved("http://a/", "http:///x")))
  end)
end)

describe("names and values in a query", function()
  local function written(map) return uri.encode_pairs(map, "q") end

  it("are escaped and sorted by name; lists repeat it", function()
    assert.equal("a=1&b=x%20%26y&c=1&c=2&d=true&e=1.5",
      written { b = "x &y", a = 1, c = { 1, 2 }, d = true, e = 1.5 })
    assert.equal("%C3%A9=%2B~", written { ["é"] = "+~" })
    assert.equal("", written { a = {}, b = web.null })
  end)

  it("have numbers in full", function()
    assert.equal("n=9007199254740992", written { n = 2 ^ 53 })
    assert.equal("n=0.30000000000000004", written { n = 0.1 + 0.2 })
    assert.equal("n=0", written { n = -0 })
  end)

  it("must have a text", function()
    local function refused(map)
      local ok, message = pcall(written, map)
      return not ok and message
    end
    assert.equal("q: n: nan has no text", refused { n = 0 / 0 })
    assert.equal("q: f: a function has no text", refused { f = print })
    assert.equal("q: l: a table has no text", refused { l = { {} } })
    assert.equal("q: m: a table with names has no text", refused { m = { a = 1 } })
    assert.equal("q: a name is a string, not a number", refused { "a" })
  end)
end)
