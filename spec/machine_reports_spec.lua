-- SPDX-License-Identifier: MIT
-- What users have reported of other servers and decision graphs, tried on the wire:
-- each promise here was broken somewhere, in public.  Negotiation, caching, conditional
-- requests, ranges, CORS, authentication, early ends.
local byteranges = require "spec.support.byteranges"
local error_log = require "spec.support.error_log"
local flows = require "spec.support.flows"
local test = require "luaweb.test"
local web = require "luaweb"
local wire = require "spec.support.machine_wire"
local without_id = require "spec.support.without_id"

local DATE, LATER = "Sun, 06 Nov 1994 08:49:37 GMT", "Sun, 06 Nov 1994 08:49:38 GMT"

local function nothing() end

local function ask(keys, text)
  return flows.ask(wire.client(wire.with({ handle_ok = function() return "x" end,
    do_put = nothing, do_delete = nothing, do_post = nothing }, keys)), text)
end

local function status(keys, text) return ask(keys, text).status end

describe("a tag", function()
  local STRONG, WEAK = { entity_tag = '"abc"' }, { entity_tag = 'W/"abc"' }

  it("is found though something on the way has made it weak", function()
    assert.equal(304, status(STRONG, 'GET\nIf-None-Match: W/"abc"'))
    assert.equal(304, status(WEAK, 'GET\nIf-None-Match: "abc"'))
  end)

  it("is found wherever it stands in a list, or on a later line", function()
    local lists = { '"x", "y", "abc"', '"abc", "x", "y"', '"x","abc","y"',
      '"x"\nIf-None-Match: "y"\nIf-None-Match: "abc"' }
    for _, list in ipairs(lists) do
      assert.equal(304, status(STRONG, "GET\nIf-None-Match: " .. list))
      assert.equal(list:find "\n" and 412 or 204, status(wire.with(STRONG,
        { handle_ok = nothing }), "PUT\nIf-Match: " .. list .. "\n\nx"))
    end
  end)

  it("is another one for each coding, and only the chosen one is not modified",
    function()
      local client = wire.client { available_content_codings = { "gzip" },
        entity_tag = function(req)
          return req.accepted.content_coding and '"coded"' or '"plain"'
        end, handle_ok = function() return "x" end }
      local coded = flows.ask(client, "GET\nAccept-Encoding: gzip")
      assert.same({ '"coded"', "gzip", "Accept-Encoding" }, { coded.headers.etag,
        coded.headers["content-encoding"], coded.headers.vary })
      local res = flows.ask(client, 'GET\nIf-None-Match: "coded"')
      assert.same({ 200, '"plain"' }, { res.status, res.headers.etag })
      res = flows.ask(client, 'GET\nIf-None-Match: "coded"\nAccept-Encoding: gzip')
      assert.same({ 304, '"coded"', "Accept-Encoding" },
        { res.status, res.headers.etag, res.headers.vary })
    end)

  it("that is not there matches nothing, and that is no refusal", function()
    assert.equal(200, status({}, 'GET\nIf-None-Match: "abc"'))
    assert.equal(200, status({}, 'PUT\nIf-None-Match: "abc"\n\nx'))
  end)

  it("in a list that did not match leaves the date out of it", function()
    local keys = { entity_tag = '"abc"', last_modified = 784111777 }
    assert.equal(200, status(keys,
      'GET\nIf-None-Match: "x"\nIf-Modified-Since: ' .. DATE))
    assert.equal(200, status(keys, 'PUT\nIf-Match: "abc"\n'
      .. "If-Unmodified-Since: Sat, 05 Nov 1994 08:49:37 GMT\n\nx"))
    assert.equal(200, status(keys, "PUT\nIf-Match: *\n"
      .. "If-Unmodified-Since: Sat, 05 Nov 1994 08:49:37 GMT\n\nx"))
  end)
end)

describe("a condition", function()
  it("on what is not there is not tested before that is said", function()
    for line, result in pairs { ["If-Match: *"] = 404, ['If-Match: "x"'] = 404,
      ["If-None-Match: *"] = 404, ["If-Unmodified-Since: " .. DATE] = 404 } do
      assert.equal(result, status({ exists = false }, "GET\n" .. line))
      assert.equal(result, status({ exists = false }, "DELETE\n" .. line))
    end
  end)

  it("on what is not there keeps a PUT from creating", function()
    assert.equal(412, status({ exists = false }, 'PUT\nIf-Match: "x"\n\nx'))
    assert.equal(412, status({ exists = false }, "PUT\nIf-Match: *\n\nx"))
  end)

  it("that nothing be there fails where something is, with a tag or without", function()
    for _, keys in ipairs { {}, { entity_tag = '"x"' } } do
      assert.equal(412, status(keys, "PUT\nIf-None-Match: *\n\nx"))
      assert.equal(304, status(keys, "GET\nIf-None-Match: *"))
    end
  end)

  it("by the date of a copy is for reads alone", function()
    for _, method in ipairs { "PUT", "POST", "DELETE" } do
      assert(status({ last_modified = 0 },
        method .. "\nIf-Modified-Since: " .. DATE) < 300)
    end
  end)

  it("by date is in whole seconds, as dates are sent", function()
    local keys = { last_modified = 784111777.9 }
    assert.equal(200, status(keys, "PUT\nIf-Unmodified-Since: " .. DATE .. "\n\nx"))
    assert.equal(304, status(keys, "GET\nIf-Modified-Since: " .. DATE))
    assert.equal(DATE, ask(keys, "GET").headers["last-modified"])
  end)

  it("by a date in the future is one like others", function()
    local line = "GET\nIf-Modified-Since: Fri, 01 Jan 2100 00:00:00 GMT"
    assert.equal(304, status({ last_modified = 784111777 }, line))
  end)

  it("by date never has one in the future to go by", function()
    for _, make in ipairs { function(date) return date end,
      function(date) return function() return date end end } do
      local headers = ask({ last_modified = make(os.time() + 1000) }, "GET").headers
      assert.equal(headers.date, headers["last-modified"])
    end
  end)

  it("that holds leaves what a 304 would have had", function()
    local res = ask({ entity_tag = '"x"', cache_control = "max-age=9", vary = { "X-A" },
      expires = 784111778 }, 'GET\nIf-None-Match: "x"')
    assert.same({ 304, '"x"', "max-age=9", "X-A", LATER }, { res.status,
      res.headers.etag, res.headers["cache-control"], res.headers.vary,
      res.headers.expires })
  end)
end)

describe("negotiation", function()
  it("has a client that says nothing take anything", function()
    for _, key in ipairs { "available_media_types", "available_charsets",
      "available_content_codings" } do
      assert.equal(200, status({ [key] = { key:find "media" and "a/b" or "gzip" } },
        "GET"))
    end
  end)

  it("takes content of its type with a charset, in any case, or without a type",
    function()
      local keys = { acceptable_media_types = { "application/json" } }
      for _, line in ipairs { "\nContent-Type: application/json; charset=utf-8",
        "\nContent-Type: Application/JSON", "" } do
        assert.equal(200, status(keys, "PUT" .. line .. "\n\n{}"))
      end
    end)

  it("has content without a coding for who asks for it, or for others only", function()
    local keys = { available_content_codings = { "gzip" },
      strict = { "content_coding" } }
    for _, line in ipairs { "identity", "br", "br, identity;q=0.5", "" } do
      local res = ask(keys, "GET\nAccept-Encoding: " .. line)
      assert.equal(200, res.status)
      assert.is_nil(res.headers["content-encoding"])
    end
    assert.equal(406, status(keys, "GET\nAccept-Encoding: br, *;q=0"))
  end)

  it("sees a field however many stand in front of it", function()
    local lines = {}
    for i = 1, 120 do lines[i] = ("X-%d: %d"):format(i, i) end
    local many = "GET\n" .. table.concat(lines, "\n")
    local keys = { available_media_types = { "a/b", "c/d" }, entity_tag = '"x"',
      web.cors { origins = { "http://a" } } }
    local res = ask(keys, many .. "\nAccept: c/d\nOrigin: http://a")
    assert.same({ "c/d", "http://a" }, { res.headers["content-type"],
      res.headers["access-control-allow-origin"] })
    assert.equal(304, status(keys, many .. '\nIf-None-Match: "x"'))
  end)
end)

describe("a range", function()
  local whole = ("0123456789abcdefghijklmno"):gsub(".", "<%0>")
  local client = wire.client { handle_ok = function() return whole end,
    accept_ranges = true }

  it("has exactly its octets, and the connection stays in step", function()
    local conn = client:raw("GET /x HTTP/1.1\r\nHost: a\r\nRange: bytes=5-9\r\n\r\n"
      .. "GET /x HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
    local all = ""
    repeat
      local octets = conn:receive(5)
      all = all .. (octets or "")
    until not octets
    conn:close()
    local first, second = all:match "^(HTTP/1.1 206 .-\r\n\r\n.....)(HTTP/1.1 200 .*)$"
    assert.equal(whole:sub(6, 10), first:sub(-5))
    assert.equal(whole, second:sub(-#whole))
  end)

  it("that is malformed does no harm", function()
    for _, range in ipairs { "bytes=abc", "bytes=-", "bytes=9-1", "bytes", "=", "" } do
      local res = flows.ask(client, "GET\nRange: " .. range)
      assert.same({ 200, whole }, { res.status, res.body })
    end
  end)

  it("does not make more of what is there than there is", function()
    local ranges = ("0-,"):rep(1000) .. "0-"
    local res = flows.ask(client, "GET\nRange: bytes=" .. ranges)
    assert(#res.body <= 2 * #whole, #res.body)
    if res.status == 206 then byteranges.read(res, whole) end
  end)
end)

describe("what C answers alone", function()
  it("is octet for octet what Lua would have answered", function()
    for _, request in ipairs { "GET", "HEAD", "GET\nRange: bytes=1-2",
      "GET\nRange: bytes=1-1,3-3", "GET\nRange: bytes=99-", "GET\nIf-None-Match: *",
      'GET\nIf-Match: "v0"', "OPTIONS", "DELETE", "GET\nAccept: none/such" } do
      local seen = {}
      for i, shown in ipairs { "a text", function() return "a text" end } do
        local res = flows.ask(wire.client { handle_ok = shown, entity_tag = '"v1"',
          accept_ranges = true, cache_control = "max-age=9", vary = { "X-A" },
          available_media_types = { "text/css" } }, request)
        local lines = {}
        for j, line in ipairs(res.lines) do
          lines[j] = line[1]:lower() == "date" and "date" or table.concat(line, ": ")
        end
        local text = table.concat(lines, "\n") .. "\n\n" .. res.body
        seen[i] = res.status .. "\n" .. text:gsub("%x+", function(digits)
          return #digits == 32 and "boundary" or nil
        end)
      end
      assert.equal(seen[1], seen[2])
    end
  end)
end)

describe("a page of another origin", function()
  it("may ask before it asks where one has to log in", function()
    local login = web.machine { web.auth { web.basic { realm = "r",
      verify = nothing } } }
    local client = test.app(web.app { includes = { login,
      web.cors { origins = { "http://a" }, methods = { "PUT" } } },
      web.resource("/x", web.machine { handle_ok = "x", do_put = nothing }) })
    local res = flows.ask(client, "OPTIONS\nOrigin: http://a\n"
      .. "Access-Control-Request-Method: PUT")
    assert.same({ 204, "http://a" },
      { res.status, res.headers["access-control-allow-origin"] })
    res = flows.ask(client, "GET\nOrigin: http://a")
    assert.same({ 401, "http://a" },
      { res.status, res.headers["access-control-allow-origin"] })
  end)
end)

describe("a function that gives what it may not", function()
  -- the key, what it gives, a request that asks it
  for _, case in ipairs {
    { "exists",              "yes",   "GET" },
    { "allowed",             { true }, "GET" },
    { "entity_tag",          5,       "GET" },
    { "last_modified",       DATE,    "GET" },
    { "cache_control",       true,    "GET" },
    { "available_languages", "en",    "GET" },
    { "body_limit",          "8m",    "PUT\n\nx" },
    { "do_put",              print,   "PUT\n\nx" },
    { "handle_ok",           print,   "GET" },
  } do
    it("is a 500 in place of its answer, never behind it: " .. case[1], function()
      local res
      local log = error_log.of(function()
        res = ask({ [case[1]] = function() return case[2] end }, case[3])
      end)
      assert.same({ 500, "500 Internal Server Error\n" },
        { res.status, without_id(res.body) })
      assert.matches("error %[.-%] %u+ /x: ", log)
    end)
  end
end)
