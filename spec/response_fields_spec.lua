-- SPDX-License-Identifier: MIT
-- The fields of a response by row and status, on the wire: what it must have, and what
-- it must not.  Each machine has all that a machine can say.  RFC 9110 §8.8, §9.3.7,
-- §10.2, §12.5.5, §15; RFC 9111; RFC 5789 §3.1.
local flows = require "spec.support.flows"
local web = require "luaweb"
local wire = require "spec.support.machine_wire"

local DATE, LATER = "Sun, 06 Nov 1994 08:49:37 GMT", "Sun, 06 Nov 1994 08:49:38 GMT"
local METHODS = "GET, HEAD, DELETE, PATCH, POST, PUT, OPTIONS"

-- Date, Content-Length and Connection are not the machine's.
local NOT_OURS = { date = true, connection = true, ["content-length"] = true }

local function nothing() end

-- All that a machine can say.
local ALL = {
  entity_tag = '"v1"', last_modified = 784111777, cache_control = "max-age=9",
  expires = 784111778, location = "/there", retry_after = 7, accept_ranges = true,
  challenge = { 'Basic realm="a"' }, vary = { "X-A" },
  available_media_types = { "text/csv", "text/html" },
  available_languages = { "en", "de" }, available_charsets = { "utf-8", "latin1" },
  available_content_codings = { "br" }, acceptable_media_types = { "a/b" },
  acceptable_content_codings = { "gzip" }, patch_media_types = { "c/d" },
  hosts = { "localhost" }, body_limit = 9, length_required = true,
}

local function client_of(keys, is_slow)
  local said = wire.with(ALL, keys)
  return wire.client(wire.with({ handle_ok = function() return "hello" end,
    do_post = nothing, do_put = nothing, do_patch = nothing, do_delete = nothing },
    is_slow and flows.slowed(said) or said))
end

local VARY = "Accept, Accept-Language, Accept-Charset, Accept-Encoding, X-A"
local CACHED = { ["cache-control"] = "max-age=9", expires = LATER, etag = '"v1"',
  vary = VARY }
local SHOWN = { ["content-type"] = "text/html; charset=latin1",
  ["content-language"] = "de", ["content-encoding"] = "br" }
local READ = wire.with(CACHED, SHOWN, { ["last-modified"] = DATE,
  ["accept-ranges"] = "bytes" })
local WRITTEN = wire.with(SHOWN, { vary = VARY })

-- A body that says no more than the status, in a form that was accepted.
local PROBLEM = { ["content-type"] = "text/html; charset=utf-8", vary = "Accept" }

local ACCEPT = "\nAccept: text/html\nAccept-Language: de\nAccept-Charset: latin1\n"
  .. "Accept-Encoding: br"
local CONTENT = "\nContent-Type: a/b\n\nx"

local function problem(fields) return wire.with(PROBLEM, fields or {}) end

-- title, request, keys, status, fields
local RESPONSES = {
  { "a read", "GET" .. ACCEPT, {}, 200, READ },
  { "a read of the head", "HEAD" .. ACCEPT, {}, 200, READ },
  { "a read where nothing is to be said", "GET" .. ACCEPT, { handle_ok = nothing }, 204,
    { ["cache-control"] = "max-age=9", expires = LATER, vary = VARY } },
  { "what has not changed", "GET" .. ACCEPT .. "\nIf-None-Match: *", {}, 304, CACHED },
  { "a part", "GET" .. ACCEPT .. "\nRange: bytes=1-2", {}, 206,
    wire.with(READ, { ["content-range"] = "bytes 1-2/5" }) },
  { "a part for who has the rest",
    "GET" .. ACCEPT .. '\nRange: bytes=1-2\nIf-Range: "v1"', {}, 206,
    wire.with(CACHED, { ["content-range"] = "bytes 1-2/5",
      ["accept-ranges"] = "bytes" }) },
  { "no such part", "GET" .. ACCEPT .. "\nRange: bytes=9-", {}, 416,
    problem { ["content-range"] = "bytes */5", ["accept-ranges"] = "bytes" } },
  { "what may be sent", "OPTIONS" .. ACCEPT, {}, 204, { allow = METHODS,
    ["accept-patch"] = "c/d", ["accept-post"] = "a/b", ["accept-ranges"] = "bytes" } },

  { "a write", "PUT" .. ACCEPT .. CONTENT, { handle_ok = nothing }, 204,
    { vary = VARY } },
  { "a write that shows the new state", "PUT" .. ACCEPT .. CONTENT, {}, 200,
    wire.with(WRITTEN, { ["content-location"] = "/x" }) },
  { "a write that says something", "POST" .. ACCEPT .. CONTENT,
    { do_post = function() return "done" end }, 200, WRITTEN },
  { "a write that tells the tag of what it stored", "PUT" .. ACCEPT .. CONTENT,
    { do_put = function() return web.bytes("a/b", "s"):header("ETag", '"v2"') end },
    200, wire.with(WRITTEN, { ["content-type"] = "a/b", etag = '"v2"' }) },
  { "a creation", "PUT" .. ACCEPT .. CONTENT, { exists = false }, 201,
    { location = "/there", vary = VARY } },
  { "what is not done yet", "DELETE" .. ACCEPT, { completed = false }, 202,
    { location = "/there", vary = VARY } },
  { "a deletion", "DELETE" .. ACCEPT, {}, 204, { vary = VARY } },
  { "a write that is sent elsewhere", "POST" .. ACCEPT .. CONTENT,
    { see_other = true }, 303, problem { location = "/there", ["retry-after"] = "7" } },

  { "several choices", "GET" .. ACCEPT, { single_choice = false }, 300,
    problem { location = "/there" } },
  { "what moved for good", "GET" .. ACCEPT, { stays_for_good = false }, 308,
    problem { location = "/there", ["retry-after"] = "7" } },
  { "what moved for now", "GET" .. ACCEPT, { stays_for_now = 302 }, 302,
    problem { location = "/there", ["retry-after"] = "7" } },

  { "who is not known", "GET" .. ACCEPT, { authorized = false }, 401,
    problem { ["www-authenticate"] = 'Basic realm="a"' } },
  { "another method", "BREW" .. ACCEPT, {}, 501, problem() },
  { "what is not offered", "GET\nAccept: none/such", {}, 406,
    { ["content-type"] = "text/plain; charset=utf-8", vary = VARY } },
  { "another type", "POST" .. ACCEPT .. "\nContent-Type: e/f\n\nx", {}, 415,
    problem { accept = "a/b", ["accept-post"] = "a/b" } },
  { "another type of PUT", "PUT" .. ACCEPT .. "\nContent-Type: e/f\n\nx", {}, 415,
    problem { accept = "a/b" } },
  { "another type of patch", "PATCH" .. ACCEPT .. "\nContent-Type: a/b\n\nx", {}, 415,
    problem { ["accept-patch"] = "c/d" } },
  { "another coding", "PUT" .. ACCEPT .. "\nContent-Encoding: br" .. CONTENT, {}, 415,
    problem { ["accept-encoding"] = "gzip" } },
  { "too much", "PUT" .. ACCEPT .. "\nContent-Type: a/b\n\n0123456789", {}, 413,
    problem { ["retry-after"] = "7" } },
  { "too often", "GET" .. ACCEPT, { within_rate = false }, 429,
    problem { ["retry-after"] = "7" } },
  { "no service", "GET" .. ACCEPT, { service_available = false }, 503,
    problem { ["retry-after"] = "7" } },
}

-- What has no field of its own.
for status, case in pairs {
  [400] = { "GET", { well_formed = false } },
  [403] = { "GET", { allowed = false } },
  [404] = { "GET", { exists = false } },
  [409] = { "PUT", { conflict_free = false } },
  [410] = { "GET", { exists = false, never_was = false } },
  [412] = { "PUT", {}, '\nIf-Match: "v0"' },
  [414] = { "GET", { uri_fits = false } },
  [417] = { "PUT", {}, "\nExpect: more" },
  [421] = { "GET", {}, "\nHost: other" },
  [422] = { "PUT", { content_valid = false } },
  [428] = { "PUT", { precondition_optional = false } },
  [451] = { "GET", { legally_available = false } },
  [500] = { "PUT", { do_put = function() return false end } },
  [505] = { "GET", { http_version_supported = false } },
} do
  local content = case[1] == "PUT" and CONTENT or ""
  RESPONSES[#RESPONSES + 1] = { "an error of its status alone",
    case[1] .. ACCEPT .. (case[3] or "") .. content, case[2], status, problem() }
end

-- What a Vary has more than another one.
local function added(vary, more)
  local members = wire.members(vary)
  for member in more:gmatch "[^, ]+" do
    if not wire.has(members, member:lower()) then vary = vary .. ", " .. member end
  end
  return vary
end

-- The fields, each of them once; only Vary adds up.  What names the request is there in
-- errors of the server.
local function fields_of(res)
  local fields = {}
  for _, line in ipairs(res.lines) do
    local name = line[1]:lower()
    if name == "vary" and fields.vary then
      fields.vary = added(fields.vary, line[2])
    elseif not NOT_OURS[name] then
      assert.is_nil(fields[name], name .. " is there twice")
      fields[name] = line[2]
    end
  end
  if res.status >= 500 then
    assert.matches("^%x+%-%x+$", fields["x-request-id"])
    fields["x-request-id"] = nil
  end
  return fields
end

describe("a response has what it must have, and no more:", function()
  for _, case in ipairs(RESPONSES) do
    local title, text, keys, status, fields = unpack(case)
    for manner, is_slow in pairs { ["known"] = false, ["asked"] = true } do
      it(("%s, %d (%s)"):format(title, status, manner), function()
        local res = flows.ask(client_of(keys, is_slow), text)
        assert.equal(status, res.status)
        assert.same(fields, fields_of(res))
        assert.is_string(res.headers.date)
      end)
    end
  end

  it("405 has the methods, and OPTIONS says nothing of others", function()
    local core = web.machine { patch_media_types = { "c/d" },
      acceptable_media_types = { "a/b" } }
    local client = wire.client { core, handle_ok = "x", do_put = nothing }
    assert.equal("GET, HEAD, PUT, OPTIONS", client:delete("/x").headers.allow)
    assert.same({ allow = "GET, HEAD, PUT, OPTIONS" }, fields_of(client:options "/x"))
  end)

  it("what the app says itself wins, but Vary, which adds up", function()
    local res = flows.ask(client_of { handle_ok = function()
      return web.text("x"):header("ETag", '"own"'):header("Cache-Control", "no-store")
        :header("Content-Language", "fr"):header("Vary", "Cookie")
        :header("Last-Modified", LATER):header("Expires", "0")
    end }, "GET" .. ACCEPT)
    assert.same({ '"own"', "no-store", "fr", LATER, "0" }, { res.headers.etag,
      res.headers["cache-control"], res.headers["content-language"],
      res.headers["last-modified"], res.headers.expires })
    assert(wire.has(wire.members(res.headers.vary), "cookie"))
    assert(wire.has(wire.members(res.headers.vary), "accept-language"))
  end)
end)
