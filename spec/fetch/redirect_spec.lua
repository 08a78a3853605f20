-- SPDX-License-Identifier: MIT
-- Where web.fetch follows a redirect, with what, and where it does not.
local faulty = require "spec.support.faulty_server"
local pool = require "luaweb.fetch.pool"
local redirect = require "luaweb.fetch.redirect"
local uri = require "luaweb.fetch.uri"
local web = require "luaweb"

after_each(function()
  pool.close_idle()
  faulty.clean()
end)

local function to(location, status, lines)
  return ("HTTP/1.1 %d X\r\nLocation: %s\r\nContent-Length: 4\r\n%s\r\ngone"):format(
    status or 302, location, lines or "")
end

-- A server that redirects /from, and tells what it was asked for elsewhere.
local function redirecting(location, status)
  return faulty.answering(function(head, content)
    local method, target = head:match "^(%S+) (%S+)"
    if target == "/from" then return to(location, status) end
    return faulty.ok(("%s %s %s"):format(method, target, content))
  end)
end

local function follow(location, status, options)
  local server = redirecting(location, status)
  return web.fetch(server.url .. "/from", options), server
end

describe("a redirect", function()
  it("is followed, relative to what was asked; res.url is where it led", function()
    local res, server = follow "to/../there?x=1"
    assert.equal("GET /there?x=1 ", res.body)
    assert.equal(server.url .. "/there?x=1", res.url)
  end)

  it("keeps the fragment, and its connection", function()
    local server = redirecting "/there"
    assert.equal(server.url .. "/there#part",
      assert(web.fetch(server.url .. "/from#part")).url)
    assert.equal(1, #server.conns)
  end)

  it("is the answer with redirects = 0, without Location, and with other statuses",
    function()
      local res = follow("/there", 302, { redirects = 0 })
      assert.equal(302, res.status)
      assert.equal("/there", res.headers.location)
      assert.equal("gone", res.body)
      for _, status in ipairs { 300, 304, 305, 306 } do
        assert.equal(status, (follow("/there", status)).status)
      end
      local server = faulty.answering "HTTP/1.1 302 X\r\nContent-Length: 0\r\n\r\n"
      assert.equal(302, assert(web.fetch(server.url)).status)
    end)

  it("is followed as often as `redirects` says, 5 times by default", function()
    local server = faulty.answering(function(head)
      local n = tonumber(head:match "^%S+ /(%d+)")
      return n == 0 and faulty.ok "end" or to("/" .. n - 1)
    end)
    assert.equal("end", assert(web.fetch(server.url .. "/5")).body)
    local res, message, kind = web.fetch(server.url .. "/6")
    assert.is_nil(res)
    assert.matches("more than 5 redirects", message)
    assert.equal("redirect", kind)
    assert.equal("end", assert(web.fetch(server.url .. "/9", { redirects = 9 })).body)
  end)

  it("in a circle ends", function()
    local server = faulty.answering(to "/")
    assert.equal("redirect", select(3, web.fetch(server.url)))
    assert.equal(6, #server.requests)
  end)

  it("with a content that does not come is followed all the same", function()
    local server = faulty.answering(function(head)
      if head:find "^GET /end " then return faulty.ok "end" end
      return "HTTP/1.1 302 X\r\nLocation: /end\r\nContent-Length: 1000\r\n\r\n..."
    end)
    assert.equal("end", assert(web.fetch(server.url)).body)
    assert.equal(2, #server.conns)
  end)
end)

describe("the method after a redirect", function()
  local function asked(status, options)
    return assert((follow("/there", status, options))).body
  end

  it("is GET, without content, after a POST and 301 or 302", function()
    for _, status in ipairs { 301, 302, 303 } do
      assert.equal("GET /there ", asked(status, { body = "x" }))
    end
    local _, server = follow("/there", 302, { json = {}, headers = { ["X-A"] = "1" } })
    assert.not_matches("Content%-", server.requests[2].head)
    assert.matches("\r\nX%-A: 1\r\n", server.requests[2].head)
  end)

  it("stays otherwise, with the content", function()
    assert.equal("POST /there x", asked(307, { body = "x" }))
    assert.equal("POST /there x", asked(308, { body = "x" }))
    assert.equal("PUT /there x", asked(301, { method = "PUT", body = "x" }))
    assert.equal("DELETE /there ", asked(302, { method = "DELETE" }))
  end)

  it("is GET after 303, but HEAD stays", function()
    assert.equal("GET /there ", asked(303, { method = "PUT", body = "x" }))
    local _, server = follow("/there", 303, { method = "HEAD" })
    assert.matches("^HEAD /there", server.requests[2].head)
  end)

  it("can't be one whose content was a function", function()
    local function body()
      local given
      return function()
        local piece = not given and "x" or nil
        given = true
        return piece
      end
    end
    local url = redirecting("/there", 307).url .. "/from"
    local res, message, kind = web.fetch(url, { body = body() })
    assert.is_nil(res)
    assert.equal("redirect", kind)
    assert.matches("it redirects, and a body that is a function can't be sent twice",
      message)
    assert.equal("GET /there ", asked(303, { body = body() }))
  end)
end)

describe("credentials", function()
  local SECRETS = { Authorization = "a", Cookie = "b", ["Proxy-Authorization"] = "c",
    ["X-Other"] = "d", Host = "given.example" }

  local function second_head(location_of, options, url_of)
    local there = faulty.answering(faulty.ok "end")
    local server = redirecting(location_of(there))
    local url = url_of and url_of(server) or server.url .. "/from"
    assert(web.fetch(url, options))
    return (there.requests[1] or server.requests[2]).head
  end

  local function elsewhere(there) return there.url .. "/there" end

  it("stay with the origin", function()
    local head = second_head(function() return "/there" end, { headers = SECRETS })
    for name, value in pairs(SECRETS) do
      assert.is_truthy(head:find(name .. ": " .. value .. "\r\n", 1, true), name)
    end
  end)

  it("do not go to another port, nor does Host", function()
    local head = second_head(elsewhere, { headers = SECRETS })
    assert.not_matches("uthorization", head)
    assert.not_matches("Cookie", head)
    assert.matches("^GET /there HTTP/1.1\r\nHost: 127", head)
    assert.matches("\r\nX%-Other: d\r\n", head)
  end)

  it("of the URL stay with the origin, too", function()
    local function with_password(server)
      return ("http://u:p@127.0.0.1:%d/from"):format(server.port)
    end
    assert.matches("\r\nAuthorization: Basic dTpw\r\n",
      second_head(function() return "/there" end, nil, with_password))
    assert.not_matches("Authorization", second_head(elsewhere, nil, with_password))
  end)

  it("are not taken from a Location", function()
    local function with_password(there)
      return ("http://u:p@127.0.0.1:%d/there"):format(there.port)
    end
    assert.not_matches("Authorization", second_head(with_password))
  end)

  it("never become a Referer", function()
    assert.not_matches("Referer", second_head(function() return "/there" end))
  end)
end)

describe("a redirect that may not be followed", function()
  local function refused(location, pattern, options)
    local server = redirecting(location)
    local res, message, kind = web.fetch(server.url .. "/from", options)
    assert.is_nil(res)
    assert.equal("redirect", kind)
    assert.matches(pattern, message)
    assert.equal(1, #server.requests)
  end

  it("leads to what is no web server", function()
    refused("file:///etc/passwd", "file is neither http nor https")
    refused("javascript:alert(1)", "javascript is neither http nor https")
    refused("http://", "names no host")
    refused("http://a@b@c/", "not escaped")
  end)

  it("leads to two places", function()
    local server = faulty.answering(to("/a", 302, "Location: /b\r\n"))
    local _, message, kind = web.fetch(server.url)
    assert.matches("it redirects to two places", message)
    assert.equal("redirect", kind)
  end)

  it("leads from https to http, unless that is allowed", function()
    local call = { uri = uri.parse "https://h/x", method = "GET", headers = {},
      body = false }
    local _, message, kind = redirect.follow(call, 302, { "http://h/y" })
    assert.matches("from https to http://h/y, and downgrade is not allowed", message)
    assert.equal("redirect", kind)
    call.downgrade = true
    assert.equal("http", redirect.follow(call, 302, { "http://h/y" }).uri.scheme)
    assert.equal("https", redirect.follow(call, 302, { "//h/y" }).uri.scheme)
  end)
end)
