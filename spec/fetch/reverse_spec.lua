-- SPDX-License-Identifier: MIT
-- web.proxy: what goes on to another server and back, and what does not.
local faulty = require "spec.support.faulty_server"
local pool = require "luaweb.fetch.pool"
local test = require "luaweb.test"
local web = require "luaweb"

after_each(function()
  pool.close_idle()
  faulty.clean()
end)

-- An app whose /api is another server, and that server, which answers with these.
local function proxying(answer, base, options)
  local server = faulty.answering(answer)
  local app = web.app {
    web.any("/api{/path*}", web.proxy(server.url .. (base or ""), options)),
  }
  return test.app(app):over_socket(), server
end

-- The head of what went on.
local function passed(method, target, options, base)
  local client, server = proxying(faulty.ok "fine", base, options and options.proxy)
  options = options or {}
  local res = client:request(method, target, { headers = options.headers,
    body = options.body })
  return server.requests[1], res, server
end

local function line_of(request)
  return request.head:match "^[^\r]*"
end

describe("the target of a proxied request", function()
  local function target(path, base)
    return line_of((passed("GET", path, nil, base))):match " (.*) HTTP"
  end

  it("is the path of the proxy's URL, then what `path` captured, then the query",
    function()
      assert.equal("/a/b?x=1&y", target "/api/a/b?x=1&y")
      assert.equal("/v1/a/b", target("/api/a/b", "/v1"))
      assert.equal("/v1/a/b", target("/api/a/b", "/v1/"))
      assert.equal("/v1/a?k=1&x", target("/api/a?x", "/v1?k=1"))
    end)

  it("is the proxy's URL where nothing was captured", function()
    assert.equal("/", target "/api")
    assert.equal("/v1", target("/api", "/v1"))
    assert.equal("/v1/", target("/api", "/v1/"))
    assert.equal("/v1/", target("/api/", "/v1"))
  end)

  it("keeps every octet: escapes, empty segments, a slash at the end", function()
    assert.equal("/a%2Fb/%41/%C3%A9/", target "/api/a%2Fb/%41/%C3%A9/")
    assert.equal("/a//b", target "/api/a//b")
    assert.equal("/api/api", target "/api/api/api")
    assert.equal("/x?a=%20+&&=", target "/api/x?a=%20+&&=")
  end)

  it("may not lead upwards, in no writing", function()
    for _, path in ipairs { "/../x", "/a/../../x", "/%2e%2e/x", "/.%2E", "/a/.",
      "/..%2Fx", "/%2e%2e%5cx", "/..%5Cx", "/..;/x", "/..;a=b%2Fx", "/%252e%252e/x",
      "/%25252e%25252e%25252fx", "/a%252525252fb", "/..%00/x", "/..%20/x" } do
      local request, res = passed("GET", "/api" .. path, nil, "/v1")
      assert.is_nil(request, path)
      assert(res.status == 400 or res.status == 404, path .. ": " .. res.status)
    end
    assert.equal("/v1/..a/b..;c/%252f", target("/api/..a/b..;c/%252f", "/v1"))
  end)

  it("is never another server's, whatever the request says", function()
    local server = faulty.answering(faulty.ok "fine")
    local client = test.app(web.app {
      web.any("/api{/path*}", web.proxy(server.url)),
    })
    for _, target_form in ipairs { "http://evil.test/api/x", "/api//evil.test/x",
      "/api/http://evil.test/", "/api/@evil.test/" } do
      client:get(target_form, { headers = { Host = "evil.test" } })
    end
    for _, request in ipairs(server.requests) do
      assert.matches("\r\nHost: 127%.0%.0%.1:" .. server.port .. "\r\n", request.head)
      assert.matches("^GET /", request.head)
    end
    assert(#server.requests >= 3)
  end)
end)

describe("a proxied request", function()
  it("goes on with its fields but those of its connection", function()
    local request = passed("GET", "/api/x", { headers = {
      Connection = "close, X-Mine, keep-alive", ["X-Mine"] = "1", ["X-Other"] = "2",
      ["Keep-Alive"] = "timeout=5", TE = "trailers", Upgrade = "h2c",
      ["Proxy-Authorization"] = "secret", ["Proxy-Connection"] = "x",
      Trailer = "y", Cookie = "a=b", ["Accept-Encoding"] = "br",
      Authorization = "Basic x" } })
    for _, name in ipairs { "connection", "x-mine", "keep-alive", "te", "upgrade",
      "proxy-", "trailer", "user-agent" } do
      assert.is_nil(request.head:lower():find("\r\n" .. name, 1, true), name)
    end
    for _, line in ipairs { "x-other: 2", "cookie: a=b", "accept-encoding: br",
      "authorization: Basic x" } do
      assert.is_truthy(request.head:find("\r\n" .. line .. "\r\n", 1, true), line)
    end
  end)

  it("says who has asked, for what, and through whom", function()
    local request = passed("GET", "/api/x", { headers = { Host = "front.test:80",
      Via = "1.0 fred", Forwarded = "for=1.2.3.4", ["X-Forwarded-For"] = "forged",
      ["X-Forwarded-Proto"] = "https", ["X-Forwarded-Host"] = "forged" } })
    local head = request.head
    assert.matches("\r\nVia: 1.0 fred, 1.1 luaweb\r\n", head)
    for _, name in ipairs { "via", "forwarded", "x-forwarded-for" } do
      local _, lines = head:lower():gsub("\r\n" .. name:gsub("%-", "%%-") .. ":", "")
      assert.equal(1, lines, name)
    end
    assert.matches("\r\nForwarded: for=1.2.3.4, for=127.0.0.1;"
      .. 'host="front.test:80";proto=http\r\n', head)
    assert.matches("\r\nX%-Forwarded%-For: 127.0.0.1\r\n", head)
    assert.matches("\r\nX%-Forwarded%-Host: front.test:80\r\n", head)
    assert.matches("\r\nX%-Forwarded%-Proto: http\r\n", head)
    assert.not_matches("forged", head)
  end)

  it("can't hide that by a quote that it does not end", function()
    local function forwarded(given)
      local request = passed("GET", "/api/x", { headers = { Forwarded = given } })
      return request.head:match "\r\nForwarded: (.-)for=127.0.0.1;[^\r]*\r\n"
    end
    assert.equal('for="a\\"b",for=c, ', forwarded 'for="a\\"b",for=c')
    for _, given in ipairs { 'for="a', 'for="a\\"', 'for=a\\"', 'for="a",for="' } do
      assert.equal("", forwarded(given), given)
    end
  end)

  it("keeps its Host only where it is preserved", function()
    local headers = { Host = "front.test" }
    local request, _, server = passed("GET", "/api/x", { headers = headers })
    assert.matches("\r\nHost: 127%.0%.0%.1:" .. server.port, request.head)
    request = passed("GET", "/api/x", { headers = headers,
      proxy = { preserve_host = true } })
    assert.matches("\r\nHost: front.test\r\n", request.head)
  end)

  it("gets the fields that the app gives, instead of its own", function()
    local request = passed("GET", "/api/x", { headers = { ["X-Key"] = "client's" },
      proxy = { headers = { ["X-Key"] = "ours" } } })
    assert.matches("\r\nX%-Key: ours\r\n", request.head)
    assert.not_matches("client's", request.head)
  end)

  it("can't give fields of these names in another writing", function()
    local request = passed("PUT", "/api/x", { body = "hello", headers = {
      X_Key = "forged", Content_Length = "7", X_Forwarded_For = "forged",
      Transfer_Encoding = "chunked", Proxy = "forged", X_Other = "fine" },
      proxy = { headers = { ["X-Key"] = "ours" } } })
    assert.not_matches("forged", request.head)
    for _, name in ipairs { "content_length", "transfer_encoding", "proxy" } do
      assert.is_nil(request.head:lower():find("\r\n" .. name .. ":", 1, true), name)
    end
    assert.matches("\r\nx_other: fine\r\n", request.head)
  end)

  it("can't give them behind its content, nor who asks or what it is", function()
    local request = passed("PUT", "/api/x", { headers = {
      ["Transfer-Encoding"] = "chunked" }, body = "5\r\nhello\r\n0\r\n"
      .. "X-Key: forged\r\nX_Key: forged\r\nAuthorization: x\r\nCookie: x\r\n"
      .. "Content-Type: x\r\nX-Forwarded-Port: 1\r\nIf-Match: *\r\nRange: x\r\n"
      .. "Content-Digest: x\r\nETag: y\r\n\r\n",
      proxy = { headers = { ["X-Key"] = "ours" } } })
    assert.equal("5\r\nhello\r\n0\r\ncontent-digest: x\r\netag: y\r\n\r\n",
      request.content)
  end)

  it("keeps its method and content, of known length or not", function()
    local request = passed("PUT", "/api/x", { body = "hello" })
    assert.equal("PUT /x HTTP/1.1", line_of(request))
    assert.matches("\r\nContent%-Length: 5\r\n", request.head)
    assert.equal("hello", request.content)
    request = passed("M-SEARCH", "/api/x", {
      body = "5\r\nhello\r\n0\r\nX-T: 1\r\nTE: x\r\nHost: y\r\n\r\n",
      headers = { ["Transfer-Encoding"] = "chunked" } })
    assert.equal("M-SEARCH /x HTTP/1.1", line_of(request))
    assert.equal("5\r\nhello\r\n0\r\nx-t: 1\r\n\r\n", request.content)
    assert.not_matches("Content%-Length", (passed("GET", "/api/x")).head)
  end)
end)

describe("web.proxy raises", function()
  local function refused(pattern, ...)
    local arguments = { ... }
    assert.error_matches(function()
      return web.proxy(arguments[1], arguments[2]) and nil
    end, pattern)
  end

  it("the programmer's mistakes", function()
    refused("web.proxy wants a URL first, not a nil")
    refused("web.proxy: .*ftp is neither http nor https", "ftp://h/")
    refused("web.proxy wants a table of options second", "http://h/", 1)
    refused("web.proxy: there is no option redirects", "http://h/", { redirects = 1 })
    refused("web.proxy: timeout: wants seconds", "http://h/", { timeout = 0 })
    refused("web.proxy: preserve_host wants a boolean", "http://h/",
      { preserve_host = 1 })
    refused("web.proxy: headers: X has a value with a line end", "http://h/",
      { headers = { X = "a\r\nb" } })
  end)
end)
