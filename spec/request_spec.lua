-- SPDX-License-Identifier: MIT
-- Requests as handlers see them (lua/luaweb/request.lua): lazy views, and what is left
-- of a request when it has ended: an error.
local abi = require "luaweb.abi"
local test = require "luaweb.test"
local web = require "luaweb"

local ENDED = "this request has ended"

-- Each test gives its handler.
local handler
local client = test.app(web.app {
  web.any("/", function(req) return handler(req) end),
  web.any("/p/{a}{/b}", function(req) return handler(req) end),
})

--- Sends a request, and gives what `fn` made of it in the handler.
local function within(target, options, fn)
  local result
  handler = function(req)
    result = fn(req)
    return 204
  end
  local res = client:request(options.method or "GET", target,
    { headers = options.headers, body = options.body })
  assert.equal(204, res.status)
  return result
end

describe("a request", function()
  it("has method, target and path as they came", function()
    local facts = within("/p/a%20b?q=%41", { method = "M-SEARCH" }, function(req)
      return { req.method, req.target, req.path }
    end)
    assert.same({ "M-SEARCH", "/p/a%20b?q=%41", "/p/a%20b" }, facts)
  end)

  it("has the version that the client speaks", function()
    handler = function(req) return req.version end
    assert.equal("1.1", client:get("/").body)
    local conn = client:raw "GET / HTTP/1.0\r\n\r\n"
    assert.matches("\r\n\r\n1.0$", conn:receive(5))
    conn:close()
  end)

  it("has scheme and host of the Host header", function()
    assert.same({ "http", "example.com:8080" },
      within("/", { headers = { Host = "example.com:8080" } }, function(req)
        return { req.scheme, req.host }
      end))
  end)

  it("has scheme and host of an absolute target", function()
    assert.same({ "http", "other.example", "/p/x" },
      within("HTTP://other.example/p/x", { headers = { Host = "localhost" } },
        function(req) return { req.scheme, req.host, req.path } end))
  end)

  it("has the address of the client", function()
    handler = function(req) return req.peer end
    assert.equal("127.0.0.1", client:over_socket():get("/").body)
    assert.equal("unix:", client:get("/").body)
  end)

  it("has an id of its own, always the same", function()
    local seen = {}
    for _ = 1, 5 do
      local ids = within("/", {}, function(req) return { req.id, req.id } end)
      assert.equal(ids[1], ids[2])
      assert.is_nil(seen[ids[1]])
      seen[ids[1]] = true
    end
  end)

  it("has a state for the app, empty for each request", function()
    for _ = 1, 2 do
      assert.same({ nil, 1 }, within("/", {}, function(req)
        local before = req.state.count
        req.state.count = 1
        return { before, req.state.count }
      end))
    end
  end)

  it("makes each view once", function()
    assert.is_true(within("/?q=1", {}, function(req)
      return req.headers == req.headers and req.query == req.query
        and req.cookies == req.cookies and req.params == req.params
        and req.state == req.state and req.trailers == req.trailers
    end))
  end)

  it("has nothing else", function()
    assert.is_nil(within("/", {}, function(req) return req.colour end))
  end)
end)

describe("params", function()
  it("are decoded once", function()
    assert.same({ a = "a/b%41 +", b = "ü" }, within("/p/a%2Fb%2541%20+/%C3%BC", {},
      function(req) return req.params end))
  end)

  it("are not there where the template captured nothing", function()
    assert.same({}, within("/p/", {}, function(req) return req.params end))
    assert.same({}, within("/", {}, function(req) return req.params end))
  end)
end)

describe("query", function()
  local function query(text, fn)
    return within("/" .. text, {}, function(req) return fn(req.query) end)
  end

  local function list(text)
    return query(text, function(pairs_)
      local found = {}
      for name, value in pairs_:each() do found[#found + 1] = name .. "=" .. value end
      return table.concat(found, ";")
    end)
  end

  it("gives the first value of a name, decoded", function()
    assert.equal("a b&=%", query("?x=1&q=a+b%26%3D%25&q=2", function(q) return q.q end))
    assert.equal("1", query("?%71=1", function(q) return q.q end))
    assert.equal("", query("?q", function(q) return q.q end))
    assert.is_nil(query("?Q=1", function(q) return q.q end))
    assert.is_nil(query("", function(q) return q.q end))
  end)

  it("keeps duplicates, and all pairs in their order", function()
    local function all(q) return q:all "t" end
    assert.same({ "1", "", "3" }, query("?t=1&u=0&t&t=3", all))
    assert.same({}, query("?u=1", all))
    assert.equal("b=1;a=2;b=;=4;c=5=6", list "?b=1&a=2&&b=&=4&c=5=6&")
    assert.equal("", list "?")
  end)

  it("may have names like its methods", function()
    assert.same({ "x" }, query("?all=x&each=y", function(q) return q:all "all" end))
    assert.equal("all=x;each=y", list "?all=x&each=y")
  end)
end)

describe("headers", function()
  local function headers(lines, fn)
    return within("/", { headers = lines }, function(req) return fn(req.headers) end)
  end

  it("are found in any case", function()
    assert.same({ "v", "v", "v" }, headers({ ["X-Some-Name"] = "v" }, function(h)
      return { h["x-some-name"], h["X-SOME-NAME"], h["X-Some-Name"] }
    end))
    assert.is_nil(headers({}, function(h) return h["x-other"] end))
    assert.is_nil(headers({}, function(h) return h[true] end))
  end)

  it("keep duplicates: joined by a comma, or as a list", function()
    local lines = { Via = { "1.1 a", "", "1.1 b" } }
    assert.equal("1.1 a, , 1.1 b", headers(lines, function(h) return h.via end))
    assert.same({ "1.1 a", "", "1.1 b" }, headers(lines, function(h)
      return h:all "VIA"
    end))
    assert.same({}, headers(lines, function(h) return h:all "x" end))
  end)

  it("come in their order, with names in lower case", function()
    handler = function(req)
      local found = {}
      for name, value in req.headers:each() do
        found[#found + 1] = name .. "=" .. value
      end
      return table.concat(found, ";")
    end
    local conn = client:raw("GET / HTTP/1.1\r\nB: 1\r\nHost: h\r\n"
      .. "a:\t 2 \r\nB:3\r\n\r\n")
    assert.matches("\r\n\r\nb=1;host=h;a=2;b=3$", conn:receive(5))
    conn:close()
  end)
end)

describe("cookies", function()
  local function cookies(value, fn)
    return within("/", { headers = { Cookie = value } }, function(req)
      return fn(req.cookies, req.headers.cookie)
    end)
  end

  it("are found by name, with their case, not decoded", function()
    assert.same({ "a%20b", "2" }, cookies("session=a%20b; Session=2", function(c)
      return { c.session, c.Session }
    end))
    assert.is_nil(cookies("a=1", function(c) return c.b end))
  end)

  it("come from all Cookie lines, in order", function()
    assert.same({ "1", "2", "3" }, cookies({ "a=1; a=2", "a=3" }, function(c)
      return c:all "a"
    end))
    assert.equal("a=1; b=2", cookies({ "a=1", "b=2" }, function(_, line)
      return line
    end))
  end)
end)

describe("when a request has ended", function()
  local kept

  -- Keeps everything of a request; then the same memory serves another one.
  local function keep()
    kept = {}
    handler = function(req)
      kept.req = req
      for _, name in ipairs { "headers", "query", "cookies", "trailers" } do
        kept[name] = req[name]
      end
      kept.next_header, kept.next_pair = req.headers:each(), req.query:each()
      kept.next_chunk = req:chunks()
      kept.form = req:form()
      kept.slot, kept.memory = abi.request_at(req[1]).slot, req[1]
      return web.streaming(function(out) kept.out = out end)
    end
    local target = "/p/mine?q=mine&t=mine"
    local mine = { Cookie = "c=mine", ["X-Mine"] = "mine" }
    mine["Content-Type"] = "application/x-www-form-urlencoded"
    client:post(target, { headers = mine, body = "f=mine" })
  end

  local uses = {
    ["req:bytes()"]        = function() return kept.req:bytes() end,
    ["req:bytes(5)"]       = function() return kept.req:bytes(5) end,
    ["req:text()"]         = function() return kept.req:text() end,
    ["req:json()"]         = function() return kept.req:json() end,
    ["req:form()"]         = function() return kept.req:form() end,
    ["req:chunks()"]       = function() return kept.req:chunks() end,
    ["a kept chunk iterator"]   = function() return kept.next_chunk() end,
    ["a kept header"]           = function() return kept.headers["x-mine"] end,
    ["a kept header list"]      = function() return kept.headers:all "x-mine" end,
    ["a kept header iteration"] = function() return kept.headers:each() end,
    ["a kept header iterator"]  = function() return kept.next_header() end,
    ["a kept trailer"]          = function() return kept.trailers["x"] end,
    ["a kept query value"]      = function() return kept.query.q end,
    ["a kept query list"]       = function() return kept.query:all "t" end,
    ["a kept query iteration"]  = function() return kept.query:each() end,
    ["a kept query iterator"]   = function() return kept.next_pair(kept.query, 0) end,
    ["a kept cookie"]           = function() return kept.cookies.c end,
    ["out:write()"]             = function() return kept.out:write "late" end,
    ["out:write(\"\")"]         = function() return kept.out:write "" end,
    ["out:trailer()"]           = function() return kept.out:trailer("X-Late", "x") end,
  }
  for _, name in ipairs {
    "method", "path", "target", "scheme", "host", "peer", "version", "id", "params",
    "query", "headers", "trailers", "cookies", "state",
  } do
    uses["req." .. name] = function() return kept.req[name] end
  end

  for title, use in pairs(uses) do
    it(title .. " is an error, also while another one has its memory", function()
      keep()
      assert.error_matches(use, ENDED)
      handler = function(req)
        assert.equal(kept.memory, req[1])
        local ok, message = pcall(use)
        return ok and "no error" or message
      end
      local res = client:get("/p/other?q=other", { headers = { Cookie = "c=other" } })
      assert.matches(ENDED, res.body)
      assert.is_nil(res.headers["x-late"])
    end)
  end

  it("the error is placed where it was used", function()
    keep()
    local ok, message = pcall(function() kept.req:bytes() end)
    assert.is_false(ok)
    assert.matches("request_spec.lua:%d+: " .. ENDED, message)
    ok, message = pcall(function() return kept.query.q end)
    assert.is_false(ok)
    assert.matches("request_spec.lua:%d+: " .. ENDED, message)
  end)

  it("a form that it gave is the handler's own", function()
    keep()
    assert.equal("mine", kept.form.f)
  end)
end)
