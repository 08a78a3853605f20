-- SPDX-License-Identifier: MIT
-- Which proxy the environment names, and for what it names none.
local environment = require "luaweb.fetch.environment"
local uri = require "luaweb.fetch.uri"

local function proxy_for(url, variables)
  local proxy, message = environment.proxy(assert(uri.parse(url)), function(name)
    return variables[name]
  end)
  return proxy and uri.text(proxy, true), message
end

describe("the environment", function()
  it("names a proxy by the scheme of what is asked", function()
    local variables = { http_proxy = "http://a:1", https_proxy = "http://b:2" }
    assert.equal("http://a:1/", proxy_for("http://example.com/", variables))
    assert.equal("http://b:2/", proxy_for("https://example.com/", variables))
    assert.is_nil(proxy_for("https://example.com/", { http_proxy = "http://a:1" }))
  end)

  it("may write https_proxy and all_proxy in upper case, the lower case wins",
    function()
      assert.equal("http://b:2/", proxy_for("https://x.example/",
        { HTTPS_PROXY = "http://b:2" }))
      assert.equal("http://c:3/", proxy_for("https://x.example/",
        { HTTPS_PROXY = "http://b:2", https_proxy = "http://c:3" }))
      assert.equal("http://d:4/", proxy_for("http://x.example/",
        { ALL_PROXY = "http://d:4" }))
      assert.equal("http://e:5/", proxy_for("http://x.example/",
        { ALL_PROXY = "http://d:4", all_proxy = "http://e:5" }))
      assert.equal("http://a:1/", proxy_for("http://x.example/",
        { all_proxy = "http://d:4", http_proxy = "http://a:1" }))
    end)

  it("is not believed about HTTP_PROXY, which a CGI client could set", function()
    assert.is_nil(proxy_for("http://example.com/", { HTTP_PROXY = "http://a:1" }))
  end)

  it("may leave the scheme out, and an empty value names none", function()
    assert.equal("http://a:1/", proxy_for("http://x.example/", { http_proxy = "a:1" }))
    assert.is_nil(proxy_for("http://x.example/", { http_proxy = "" }))
    assert.equal("http://d:4/", proxy_for("http://x.example/",
      { http_proxy = "", ALL_PROXY = "d:4" }))
  end)

  it("that names nonsense is told of, with the variable", function()
    local proxy, message = proxy_for("http://x.example/", { http_proxy = "socks5://a" })
    assert.is_nil(proxy)
    assert.matches("^http_proxy: .*socks5 is neither http nor https", message)
  end)

  it("is not asked for this machine itself", function()
    local variables = { all_proxy = "http://a:1" }
    for _, host in ipairs { "localhost", "127.0.0.1", "127.9.9.9", "[::1]",
      "app.localhost" } do
      assert.is_nil(proxy_for("http://" .. host .. "/", variables), host)
    end
    assert.equal("http://a:1/", proxy_for("http://localhost.example/", variables))
  end)
end)

describe("no_proxy", function()
  local function is_excluded(list, url)
    return environment.is_excluded(list, assert(uri.parse(url)))
  end

  it("has a name and all below it, or with a dot in front all below it", function()
    assert.is_true(is_excluded("example.com", "http://example.com/"))
    assert.is_true(is_excluded("example.com", "http://a.b.example.com/"))
    assert.is_false(is_excluded("example.com", "http://badexample.com/"))
    assert.is_false(is_excluded("example.com", "http://example.com.bad/"))
    assert.is_true(is_excluded(".example.com", "http://a.example.com/"))
    assert.is_false(is_excluded(".example.com", "http://example.com/"))
    assert.is_true(is_excluded("*.example.com", "http://a.example.com/"))
    assert.is_true(is_excluded("EXAMPLE.com", "http://example.COM/"))
  end)

  it("is a list with commas or spaces, and * is all", function()
    assert.is_true(is_excluded("a.example, b.example", "http://b.example/"))
    assert.is_true(is_excluded("a.example b.example", "http://b.example/"))
    assert.is_true(is_excluded("*", "http://anything/"))
    assert.is_false(is_excluded(" , ", "http://anything/"))
  end)

  it("may have a port", function()
    assert.is_true(is_excluded("h:8080", "http://h:8080/"))
    assert.is_false(is_excluded("h:8080", "http://h/"))
    assert.is_true(is_excluded("h:443", "https://h/"))
    assert.is_true(is_excluded("[2001:db8::1]:80", "http://[2001:db8::1]/"))
    assert.is_false(is_excluded("[2001:db8::1]:81", "http://[2001:db8::1]/"))
  end)

  it("has addresses and networks of IPv4", function()
    assert.is_true(is_excluded("10.1.2.3", "http://10.1.2.3/"))
    assert.is_true(is_excluded("10.0.0.0/8", "http://10.1.2.3/"))
    assert.is_false(is_excluded("10.0.0.0/8", "http://11.1.2.3/"))
    assert.is_true(is_excluded("192.168.4.0/22", "http://192.168.7.255/"))
    assert.is_false(is_excluded("192.168.4.0/22", "http://192.168.8.0/"))
    assert.is_true(is_excluded("0.0.0.0/0", "http://1.2.3.4/"))
    assert.is_false(is_excluded("10.0.0.0/8", "http://example.com/"))
    assert.is_true(is_excluded("2001:db8::1", "http://[2001:db8::1]/"))
  end)
end)
