-- SPDX-License-Identifier: MIT
-- Forwarded as trusted proxies write it (core/http/forwarded.h): RFC 7239.
local forwarded = require "spec.support.forwarded"

local MALFORMED = "Forwarded is malformed"

-- What lines of Forwarded say.
local function read(...) return forwarded.lines("Forwarded", ...) end

describe("Forwarded names the client", function()
  for text, peer in pairs {
    ["for=192.0.2.1"]                        = "192.0.2.1",
    ["For=192.0.2.1"]                        = "192.0.2.1",
    ["for=\"192.0.2.1\""]                    = "192.0.2.1",
    ["for=\"192.0.2.1:47011\""]              = "192.0.2.1",
    ["for=\"192.0.2.1:_port\""]              = "192.0.2.1",
    ["for=\"[2001:db8:cafe::17]:4711\""]     = "2001:db8:cafe::17",
    ["for=\"[2001:DB8::1]\""]                = "2001:db8::1",
    ["for=\"[::ffff:192.0.2.1]\""]           = "192.0.2.1",
    ["for=unknown"]                          = "unknown",
    ["for=UnKnown"]                          = "unknown",
    ["for=\"unknown:80\""]                   = "unknown",
    ["for=_hidden"]                          = "_hidden",
    ["for=_SEVKISEK"]                        = "_SEVKISEK",
    ["for=\"_a.b-c_d:_e\""]                  = "_a.b-c_d",
    ["for=\"_hid\\den\""]                    = "_hidden",
    ["for=\"\\1\\9\\2.0.2.1\""]              = "192.0.2.1",
    ["for=192.0.2.1;by=203.0.113.43"]        = "192.0.2.1",
    ["by=_x;for=192.0.2.1;secret=\"a;,\\\"\""] = "192.0.2.1",
    ["for=192.0.2.1; by=10.0.0.2"]           = "192.0.2.1",
    [" ;for=192.0.2.1 ; ; "]                 = "192.0.2.1",
    [", ,for=192.0.2.1,,"]                   = "192.0.2.1",
    ["for=\"192.0.2.1\"\t"]                  = "192.0.2.1",
  } do
    it("in " .. text, function() assert.same({ peer = peer }, (read(text))) end)
  end
end)

describe("A chain of Forwarded", function()
  it("ends at the first address from the right that is not trusted", function()
    assert.same({ peer = "192.0.2.1" },
      (read "for=6.6.6.6, for=192.0.2.1, for=10.0.0.1, for=\"[fd00::1]\""))
  end)

  it("is one over several lines", function()
    assert.same({ peer = "192.0.2.1" },
      (read("for=6.6.6.6", "for=192.0.2.1, for=10.0.0.1", "for=10.0.0.2")))
  end)

  it("of trusted proxies only was begun by the first of them", function()
    assert.same({ peer = "10.0.0.3" }, (read "for=10.0.0.3, for=10.0.0.2"))
  end)

  it("ends where a proxy does not say for whom it asks", function()
    assert.same({ peer = "unknown" }, (read "for=6.6.6.6, for=unknown, for=10.0.0.1"))
    assert.same({ peer = "_a" }, (read "for=6.6.6.6, for=_a, for=10.0.0.1"))
    assert.same({ peer = "10.0.0.1" }, (read "for=6.6.6.6, by=_x, for=10.0.0.1"))
  end)

  it("says nothing of the client where the last proxy does not", function()
    assert.same({ scheme = "https" }, (read "for=6.6.6.6, proto=https"))
    assert.same({}, (read "for=6.6.6.6, ;"))
  end)

  it("is believed to its end, whatever stands to the left", function()
    assert.same({ peer = "192.0.2.1" }, (read "for=rubbish, for=192.0.2.1"))
    assert.same({ peer = "192.0.2.1" },
      (read "for=1.1.1.1;proto=gopher;host=\"a b\", for=192.0.2.1"))
    assert.same({ peer = "192.0.2.1" }, (read("for=\"", "for=192.0.2.1, for=10.0.0.1")))
    assert.same({ peer = "192.0.2.1" }, (read "what is this?, for=192.0.2.1"))
    assert.same({ peer = "192.0.2.1" }, (read 'for="\\\"";;x="a,b"c, for=192.0.2.1'))
    assert.same({ peer = "192.0.2.1" }, (read "\\\\, for=192.0.2.1"))
  end)

  it("gives scheme and host of the client's own request", function()
    assert.same({ peer = "192.0.2.1", scheme = "https", host = "a.example" },
      (read("for=192.0.2.1;proto=https;host=a.example, "
        .. "for=10.0.0.1;proto=http;host=inner")))
  end)

  it("gives them of the next proxy where the first does not say", function()
    assert.same({ peer = "192.0.2.1", scheme = "https", host = "inner" },
      (read "for=192.0.2.1;proto=https, for=10.0.0.1;proto=http;host=inner"))
  end)

  it("never gives what the client itself has written", function()
    assert.same({ peer = "192.0.2.1" },
      (read "for=10.0.0.1;proto=https;host=evil.example, for=192.0.2.1"))
    assert.same({ peer = "192.0.2.1", scheme = "http" },
      (read("for=192.0.2.1;proto=https;host=evil.example",
        "for=192.0.2.1;proto=http")))
  end)

  it("may be long", function()
    local chain = ("for=10.0.0.1, "):rep(1000)
    assert.same({ peer = "192.0.2.1" }, (read("for=192.0.2.1, " .. chain)))
  end)
end)

describe("Scheme and host in Forwarded", function()
  for text, expected in pairs {
    ["proto=HTTPS"]               = { scheme = "https" },
    ["proto=\"http\""]            = { scheme = "http" },
    ["host=a.example"]            = { host = "a.example" },
    ["host=\"a.example:8443\""]   = { host = "a.example:8443" },
    ["host=\"[::1]:80\""]         = { host = "[::1]:80" },
    ["host=\"a\\.example\\:1\""]  = { host = "a.example:1" },
  } do
    it("may be " .. text, function() assert.same(expected, (read(text))) end)
  end
end)

describe("Forwarded is malformed with", function()
  for text, what in pairs {
    ["for"]                           = "no value",
    ["for="]                          = "an empty value",
    ["=192.0.2.1"]                    = "no name",
    ["for =192.0.2.1"]                = "a space before the equals sign",
    ["for= 192.0.2.1"]                = "a space behind it",
    ["for=192.0.2.1 by=_x"]           = "a space for a semicolon",
    ["for=192.0.2.1:80"]              = "a colon without quotes",
    ["for=[::1]"]                     = "brackets without quotes",
    ["for=\"::1\""]                   = "IPv6 without brackets",
    ["for=\"[192.0.2.1]\""]           = "IPv4 in brackets",
    ["for=\"[::1\""]                  = "a bracket that does not close",
    ["for=\"[::1]80\""]               = "a port without its colon",
    ["for=\"[fe80::1%eth0]\""]        = "a zone",
    ["for=\"192.0.2.1:\""]            = "an empty port",
    ["for=\"192.0.2.1:123456\""]      = "a port too long",
    ["for=\"192.0.2.1:http\""]        = "a port that is a name",
    ["for=\"192.0.2.1:_\""]           = "an empty hidden port",
    ["for=192.0.2.256"]               = "an address that is none",
    ["for=192.0.2.01"]                = "a zero in front",
    ["for=client.example"]            = "a name",
    ["for=_"]                         = "an empty hidden name",
    ["for=\"_a b\""]                  = "a space in a hidden name",
    ["for=unknowns"]                  = "more than unknown",
    ["for=\"\""]                      = "an empty text",
    ["for=\"192.0.2.1"]               = "a quote that does not end",
    ["for=\"192.0.2.1\\"]             = "a backslash at the end",
    ["for=\"192.0.2.1\\\""]           = "an escaped quote at the end",
    ["for=192.0.2.1\""]               = "a quote behind",
    ["for=\"192.0.2.1\"x"]            = "text behind a quote",
    ["for=192.0.2.1;for=192.0.2.1"]   = "a parameter twice",
    ["For=192.0.2.1;fOR=192.0.2.2"]   = "a parameter twice in other letters",
    ["for=192.0.2.1;by=_a;by=_b"]     = "two proxies",
    ["for=192.0.2.1;proto=ftp"]       = "another scheme",
    ["for=192.0.2.1;proto=\"\""]      = "no scheme",
    ["for=192.0.2.1;host=\"\""]       = "an empty host",
    ["for=192.0.2.1;host=\"a b\""]    = "a host with a space",
    ["for=192.0.2.1;host=\"a/b\""]    = "a host with a path",
    ["for=192.0.2.1;host=\"u@a\""]    = "a host with a user",
    ["for=192.0.2.1;host=\"a:99999\""] = "a host with a bad port",
    ["192.0.2.1"]                     = "an address alone",
    ["for=192.0.2.1\0"]               = "a NUL",
  } do
    it(what .. ": nothing of it is taken", function()
      local found, why, result = read(text)
      assert.same({ MALFORMED, -1 }, { why, result })
      assert.is_nil(found)
    end)

    it(what .. " behind a good element, too", function()
      assert.equal(MALFORMED, select(2, read("for=192.0.2.7, " .. text)))
      assert.equal(MALFORMED, select(2, read("for=192.0.2.7", text)))
    end)
  end

  it("a scheme of a trusted proxy that is none", function()
    assert.equal(MALFORMED, select(2, read "for=192.0.2.1, for=10.0.0.1;proto=gopher"))
  end)

  it("a quote of the client's that takes in what the proxy adds", function()
    for _, text in ipairs { 'for="6.6.6.6', '"', 'for="\\"', 'x="";y="', 'a"b' } do
      for _, behind in ipairs { "", ';host="a.example"', ';x="\\"";y=""' } do
        assert.equal(MALFORMED, select(2, read(text .. ", for=192.0.2.1" .. behind)))
      end
    end
  end)
end)

describe("Where no proxy says anything", function()
  it("nothing is said", function()
    assert.same({}, (forwarded.read {}))
    assert.same({}, (forwarded.read { { "Host", "a" }, { "X-Forwarded", "a" } }))
    assert.same({}, (read ""))
    assert.same({}, (read " , ,"))
  end)
end)
