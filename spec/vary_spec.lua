-- SPDX-License-Identifier: MIT
-- What a response says it depends on, on the wire: a cache that believes it must never
-- give one client what was made for another.  RFC 9110 §12.5.5; RFC 9111 §4.1.
local flows = require "spec.support.flows"
local http_reader = require "luaweb.client.http_reader"
local test = require "luaweb.test"
local web = require "luaweb"
local wire = require "spec.support.machine_wire"

local function nothing() end

local function vary_of(keys, text)
  local res = flows.ask(wire.client(wire.with({ handle_ok = function() return "x" end,
    do_put = nothing, do_post = nothing }, keys)), text or "GET")
  return wire.members(res.headers.vary), res
end

local OFFERS = {
  accept              = { "available_media_types", { "text/html", "text/csv" } },
  ["accept-language"] = { "available_languages", { "en", "de" } },
  ["accept-charset"]  = { "available_charsets", { "utf-8", "latin1" } },
  ["accept-encoding"] = { "available_content_codings", { "gzip" } },
}

describe("Vary", function()
  for field, offer in pairs(OFFERS) do
    for title, value in pairs { known = offer[2], asked = flows.slow(offer[2]) } do
      it(("names %s where it chooses, %s"):format(field, title), function()
        local keys = { [offer[1]] = value, entity_tag = '"v1"', accept_ranges = true }
        for text, status in pairs { GET = 200, HEAD = 200, ["PUT\n\nx"] = 200,
          ["GET\nIf-None-Match: *"] = 304, ["GET\nRange: bytes=0-0"] = 206 } do
          local members, res = vary_of(keys, text)
          assert.same({ status, { field } }, { res.status, members })
        end
      end)
    end

    it(("does not name %s where it has one to offer"):format(field), function()
      local only = field == "accept-encoding" and "identity" or offer[2][1]
      assert.same({}, (vary_of { [offer[1]] = { only } }))
    end)

    it(("names %s whatever the request says of it"):format(field), function()
      local keys = { [offer[1]] = offer[2], strict = {} }
      for _, value in ipairs { "", "*", "none/such", ";;;", offer[2][1] } do
        assert.same({ field }, (vary_of(keys, ("GET\n%s: %s"):format(field, value))))
      end
    end)
  end

  it("is the same, whatever was chosen", function()
    local keys = {}
    for _, offer in pairs(OFFERS) do keys[offer[1]] = offer[2] end
    local wanted = { "accept", "accept-language", "accept-charset", "accept-encoding" }
    for _, text in ipairs { "GET", "GET\nAccept: text/csv\nAccept-Encoding: gzip",
      "GET\nAccept-Language: de", "GET\nAccept-Charset: latin1" } do
      assert.same(wanted, (vary_of(keys, text)))
    end
  end)

  it("has what the app names, always or for this request", function()
    assert.same({ "cookie", "x-a" }, (vary_of { vary = { "Cookie", "X-A" } }))
    local keys = { vary = function(req) return { req.query.by } end,
      available_languages = { "en", "de" } }
    assert.same({ "accept-language", "x-a" }, (vary_of(keys, "GET /x?by=X-A")))
    assert.same({ "accept-language" }, (vary_of(keys, "GET /x")))
  end)

  it("has all that the app names, and nothing twice", function()
    local names = { "Accept-Language", "Origin" }
    for i = 3, 60 do names[i] = ("X-Header-Number-%d"):format(i) end
    local members = vary_of { vary = names, available_languages = { "en", "de" },
      web.cors { origins = { "http://a.example" } } }
    assert.same(wire.members(table.concat(names, ",")), members)
  end)

  it("has what the handler adds", function()
    local members = vary_of { vary = { "X-A" }, handle_ok = function()
      return web.text("x"):header("Vary", "X-B"):header("Vary", "X-C")
    end }
    table.sort(members)
    assert.same({ "x-a", "x-b", "x-c" }, members)
  end)

  it("names Origin on every response of a policy that is not open to all", function()
    local policy = web.cors { origins = { "http://a" } }
    local client = test.app(web.app { includes = { policy },
      web.resource("/x", web.machine { handle_ok = "x", do_put = nothing }),
      web.resource("/no", web.machine { handle_ok = "x", allowed = false }),
    })
    for _, text in ipairs { "GET", "HEAD", "PUT\n\nx", "OPTIONS", "DELETE", "BREW",
      "GET /no", "GET /missing", "OPTIONS /missing" } do
      for _, origin in ipairs { "", "\nOrigin: http://a", "\nOrigin: http://b" } do
        local head, content = text:match "^([^\n]*)(.*)$"
        local res = flows.ask(client, head .. origin .. content)
        assert(wire.has(wire.members(res.headers.vary), "origin"), text)
      end
    end
  end)

  it("names Accept on an error, whose form depends on it", function()
    for _, keys in ipairs { { exists = false }, { allowed = function() return 403 end },
      { handle_ok = function() return 404 end } } do
      assert.same({ "accept" }, (vary_of(keys)))
    end
    assert.same({}, (vary_of { exists = false, handle_not_found = "always so" }))
  end)

  it("names what an error or a redirect was chosen by", function()
    local function language(req) return req.accepted.language end
    for status, keys in pairs {
      [308] = { stays_for_good = false,
        location = function(req) return "/" .. language(req) end,
        handle_permanent_redirect = "there" },
      [403] = { allowed = function(req) return language(req) == "fr" end,
        handle_forbidden = "no" },
      [404] = { exists = false, handle_not_found = language },
      [410] = { exists = false, never_was = false, handle_gone = language },
    } do
      for _, offers in ipairs { { "en", "de" }, { "en" } } do
        local members, res = vary_of(wire.with({ available_languages = offers }, keys))
        assert.equal(status, res.status)
        assert.same(offers[2] and { "accept-language" } or {}, members)
      end
    end
    assert.same({}, (vary_of { available_languages = { "en", "de" }, exists = false,
      handle_not_found = "always so" }))
  end)

  it("names nothing where nothing varies", function()
    for _, text in ipairs { "GET", "HEAD", "PUT\n\nx", "OPTIONS",
      "GET\nAccept: text/html\nAccept-Encoding: gzip\nOrigin: http://a" } do
      assert.same({}, (vary_of({}, text)))
    end
  end)
end)

describe("a cache that keys by Vary", function()
  -- Each representation says what it is.
  local client = wire.client {
    available_media_types = { "text/html", "application/json" },
    available_languages = { "en", "de" }, available_content_codings = { "gzip" },
    entity_tag = function(req)
      local chosen = req.accepted
      return web.etag(table.concat({ chosen.media_type, chosen.language,
        chosen.content_coding or "" }, " "))
    end,
    handle_ok = function(req)
      local chosen = req.accepted
      return web.bytes(chosen.media_type, table.concat({ chosen.media_type,
        chosen.language, chosen.content_coding or "plain" }, " "))
    end,
  }

  local REQUESTS = {}
  for _, media_type in ipairs { "text/html", "application/json" } do
    for _, language in ipairs { "en", "de" } do
      for _, coding in ipairs { "gzip", "identity" } do
        REQUESTS[#REQUESTS + 1] = { Accept = media_type, ["Accept-Language"] = language,
          ["Accept-Encoding"] = coding }
      end
    end
  end

  local function ask(headers, more)
    return client:get("/x", { headers = wire.with(headers, more or {}) })
  end

  it("gives each client what the server would have given it", function()
    local cache = {}
    for _, headers in ipairs(REQUESTS) do
      local res, key = ask(headers), {}
      for i, name in ipairs(wire.members(res.headers.vary)) do
        for given, value in pairs(headers) do
          if given:lower() == name then key[i] = value end
        end
      end
      key = table.concat(key, "|")
      assert.is_nil(cache[key])
      cache[key] = res.body
    end
  end)

  it("revalidates each by a tag of its own", function()
    local tags = {}
    for _, headers in ipairs(REQUESTS) do
      local tag = ask(headers).headers.etag
      assert.is_nil(tags[tag])
      tags[tag] = true
      for _, other in ipairs(REQUESTS) do
        local res = ask(other, { ["If-None-Match"] = tag })
        assert.equal(other == headers and 304 or 200, res.status)
        assert.is_string(res.headers.vary)
      end
    end
  end)
end)

describe("on one connection", function()
  local function head(path, headers, ending)
    local lines = {}
    for name, value in pairs(headers) do lines[#lines + 1] = name .. ": " .. value end
    table.sort(lines)
    return ("GET %s HTTP/1.1\r\nHost: a\r\n%s\r\n%s\r\n"):format(path,
      table.concat(lines, "\r\n"), ending or "")
  end

  -- What comes for each of some requests that are sent at once.
  local function answers(client, requests)
    local conn, all = client:raw(table.concat(requests)), ""
    repeat
      local octets = conn:receive(5)
      all = all .. (octets or "")
    until not octets
    conn:close()
    local messages, rest = http_reader.read(all, {}, true)
    assert.same({ #requests, "" }, { #messages, rest })
    return messages
  end

  local CLOSE = "Connection: close\r\n"

  it("each request is negotiated by its own fields", function()
    local client = wire.client { available_media_types = { "text/html", "text/csv" },
      available_languages = { "en", "de" }, handle_ok = function(req)
        return req.accepted.media_type .. " " .. req.accepted.language
      end }
    local requests, wanted = {}, {}
    local kinds = { { "text/html", "en" }, { "text/csv", "de" }, { "text/csv", "en" } }
    for i, at in ipairs { 1, 1, 2, 1, 3, 3, 2, 2, 1 } do
      local kind = kinds[at]
      requests[i] = head("/x", { Accept = kind[1], ["Accept-Language"] = kind[2] },
        i == 9 and CLOSE or "")
      wanted[i] = table.concat(kind, " ")
    end
    for i, message in ipairs(answers(client, requests)) do
      assert.equal(wanted[i], message.body)
    end
  end)

  it("each request is negotiated with its own machine, by what that wants", function()
    local function shown(req) return tostring(req.accepted.media_type) end
    local client = test.app(web.app {
      web.resource("/a", web.machine { available_media_types = { "a/b", "c/d" },
        handle_ok = shown }),
      web.resource("/b", web.machine { available_media_types = { "c/d", "a/b" },
        handle_ok = shown }),
      web.resource("/c", web.machine { available_media_types = { "e/f" },
        strict = function(req) return req.query.strict and { "media_type" } or {} end,
        handle_ok = shown }),
      web.resource("/d", web.machine { available_media_types = function(req)
        return { req.query.only }
      end, handle_ok = shown }),
      web.resource("/e", web.machine { available_media_types = { "e/f" },
        media_type_offered = function(req) return req.query.yes ~= nil end,
        handle_ok = shown }),
    })
    local requests = {}
    local refused = "406 Not Acceptable: the media types are e/f\n"
    local wanted = { ["/a"] = "a/b", ["/b"] = "c/d", ["/c"] = "e/f",
      ["/c?strict"] = refused, ["/d?only=a/b"] = "a/b",
      ["/d?only=c/d"] = "c/d", ["/e?yes"] = "e/f", ["/e"] = refused }
    local order = { "/a", "/b", "/a", "/a", "/c", "/c?strict", "/c", "/d?only=a/b",
      "/d?only=c/d", "/b", "/e", "/e?yes", "/e", "/e?yes" }
    for i, path in ipairs(order) do
      requests[i] = head(path, { Accept = "a/b, c/d" }, i == #order and CLOSE or "")
    end
    for i, message in ipairs(answers(client, requests)) do
      assert.equal(wanted[order[i]], message.body, order[i])
    end
  end)
end)
