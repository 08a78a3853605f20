-- SPDX-License-Identifier: MIT
-- What speaks at the end of a walk, on the wire: a handler for each status, as a
-- function, a text, a response and a table; what functions of one request share.
-- RFC 9110 §15.
local error_log = require "spec.support.error_log"
local flows = require "spec.support.flows"
local web = require "luaweb"
local wire = require "spec.support.machine_wire"
local without_id = require "spec.support.without_id"

local TEXT = "text/plain; charset=utf-8"

local function nothing() end

local BODY = "\n\nx"

-- handler, status, request, keys
local ENDS = {
  { "handle_created",               201, "PUT" .. BODY, { exists = false } },
  { "handle_accepted",              202, "PUT" .. BODY, { completed = false } },
  { "handle_multiple_choices",      300, "GET", { single_choice = false } },
  { "handle_moved_permanently",     301, "GET", { stays_for_good = 301 } },
  { "handle_found",                 302, "GET", { stays_for_now = 302 } },
  { "handle_see_other",             303, "POST" .. BODY, { see_other = true } },
  { "handle_temporary_redirect",    307, "GET", { stays_for_now = false } },
  { "handle_permanent_redirect",    308, "GET", { stays_for_good = false } },
  { "handle_bad_request",           400, "GET", { well_formed = false } },
  { "handle_unauthorized",          401, "GET", { authorized = false } },
  { "handle_forbidden",             403, "GET", { allowed = false } },
  { "handle_not_found",             404, "GET", { exists = false } },
  { "handle_method_not_allowed",    405, "DELETE" },
  { "handle_not_acceptable",        406, "GET\nAccept: a/b" },
  { "handle_conflict",              409, "PUT" .. BODY, { conflict_free = false } },
  { "handle_gone",                  410, "GET", { exists = false, never_was = false } },
  { "handle_length_required",       411, "PUT\nTransfer-Encoding: chunked" .. BODY,
    { length_required = true } },
  { "handle_precondition_failed",   412, 'PUT\nIf-Match: "v0"' .. BODY },
  { "handle_content_too_large",     413, "PUT" .. BODY, { body_limit = 0 } },
  { "handle_uri_too_long",          414, "GET", { uri_fits = false } },
  { "handle_unsupported_media_type", 415, "PUT\nContent-Type: a/b" .. BODY,
    { acceptable_media_types = { "c/d" } } },
  { "handle_range_not_satisfiable", 416, "GET\nRange: bytes=99-" },
  { "handle_expectation_failed",    417, "PUT\nExpect: x" .. BODY },
  { "handle_misdirected_request",   421, "GET", { hosts = { "b.example" } } },
  { "handle_unprocessable_content", 422, "PUT" .. BODY, { content_valid = false } },
  { "handle_precondition_required", 428, "PUT" .. BODY,
    { precondition_optional = false } },
  { "handle_too_many_requests",     429, "GET", { within_rate = false } },
  { "handle_unavailable_for_legal_reasons", 451, "GET",
    { legally_available = false } },
  { "handle_internal_server_error", 500, "PUT" .. BODY, { do_put = function()
    return false
  end } },
  { "handle_not_implemented",       501, "BREW" },
  { "handle_service_unavailable",   503, "GET", { service_available = false } },
  { "handle_http_version_not_supported", 505, "GET",
    { http_version_supported = false } },
}

local function client_of(keys, more)
  return wire.client(wire.with({ handle_ok = web.bytes("text/html", "<p>"),
    do_post = nothing, do_put = nothing, available_media_types = { "text/html" },
    location = "/there", challenge = { "Basic" }, accept_ranges = true }, keys or {},
    more))
end

for _, case in ipairs(ENDS) do
  local key, status, text, keys = unpack(case, 1, 4)

  describe(key, function()
    local function speak(value)
      local res = flows.ask(client_of(keys, { [key] = value }), text)
      assert.equal(status, res.status)
      return { res.body, res.headers["content-type"] }
    end

    it("speaks at " .. status .. " as a text, which is plain", function()
      local media_type = status < 300 and "text/html; charset=utf-8" or TEXT
      assert.same({ "it is so", media_type }, speak "it is so")
    end)

    it("speaks as a response, or a table as JSON", function()
      assert.same({ "<b>", "text/html; charset=utf-8" }, speak(web.html "<b>"))
      assert.same({ '{"why":"so"}', "application/json" }, speak { why = "so" })
    end)

    it("speaks as a function, which may wait", function()
      assert.same({ "it is " .. status, TEXT }, speak(function()
        web.sleep(0.0001)
        return web.text("it is " .. status)
      end))
    end)

    it("may have nothing to say", function()
      assert.equal("", speak(nothing)[1])
      assert.equal("", speak "" [1])
    end)

    it("has nothing to say where it just says yes: the status stays", function()
      local yes = { [key] = function() return true end }
      assert.equal(status, flows.ask(client_of(keys, yes), text).status)
      if status < 400 then return end
      yes.service_available = function() return web.status(status) end
      assert.equal(status, flows.ask(client_of(keys, yes), "GET").status)
    end)

    it("may say that it is something else", function()
      local client = client_of(keys, { [key] = function() return 418 end })
      assert.equal(418, flows.ask(client, text).status)
      client = client_of(keys, { [key] = function()
        error(web.status(418):text "tea")
      end })
      assert.equal("tea", flows.ask(client, text).body)
    end)

    it("that fails is a 500, and is not asked again", function()
      local count, res = 0, nil
      local client = client_of(keys, { [key] = function()
        count = count + 1
        error "broken"
      end })
      local log = error_log.of(function() res = flows.ask(client, text) end)
      assert.same({ 500, "500 Internal Server Error\n", 1 },
        { res.status, without_id(res.body), count })
      assert.matches("handlers_spec.lua:%d+: broken", log)
    end)
  end)
end

describe("handle_range_not_satisfiable", function()
  for _, size in ipairs { 10, 200000 } do
    for title, value in pairs { ["a text"] = "too far", ["a function"] = function()
      web.sleep(0.0001)
      return "too far"
    end } do
      it(("as %s speaks of what was made, %d octets"):format(title, size), function()
        local client = wire.client { accept_ranges = true, cache_control = "max-age=9",
          entity_tag = function() return '"v1"' end, handle_ok = function()
            return web.html(("x"):rep(size)):header("X-A", "a")
          end, handle_range_not_satisfiable = value }
        local res = flows.ask(client, "GET\nRange: bytes=999999-")
        local media_type = res.headers["content-type"]
        local range = res.headers["content-range"]
        assert.same({ 416, "too far", TEXT, "bytes */" .. size },
          { res.status, res.body, media_type, range })
        for _, name in ipairs { "x-a", "etag", "cache-control" } do
          assert.is_nil(res.headers[name])
        end
      end)
    end
  end
end)

describe("handle_not_modified", function()
  it("is asked, though a 304 has no content", function()
    local asked
    local function speak()
      asked = true
      return web.text("unseen"):header("X-A", "a")
    end
    local client = client_of(nil, { entity_tag = '"v1"', handle_not_modified = speak })
    local res = flows.ask(client, 'GET\nIf-None-Match: "v1"')
    assert.same({ 304, "", "a", true },
      { res.status, res.body, res.headers["x-a"], asked })
    assert.is_nil(res.headers["content-length"])
  end)
end)

describe("handle_no_content", function()
  it("is asked, though a 204 has no content", function()
    local function noted() return web.text("unseen"):header("X-A", "a") end
    for _, text in ipairs { "GET", "PUT" .. BODY } do
      local client = wire.client { handle_ok = nothing, do_put = nothing,
        handle_no_content = noted }
      local res = flows.ask(client, text)
      assert.same({ 204, "", "a" }, { res.status, res.body, res.headers["x-a"] })
      assert.is_nil(res.headers["content-length"])
    end
  end)
end)

describe("what functions of a request share", function()
  it("is req.state, from the first decision to what speaks", function()
    local function add(word, value)
      return function(req)
        web.sleep(0.0001)
        req.state[#req.state + 1] = word
        return value
      end
    end
    local client = wire.client { service_available = add("a", true),
      allowed = add("b", true), exists = add("c", true),
      entity_tag = add("d", '"v1"'), content_valid = add("e", true),
      do_put = add("f", nil), completed = add("g", true), handle_ok = function(req)
        return table.concat(req.state)
      end }
    for _ = 1, 3 do
      assert.equal("abcdefg", flows.ask(client, 'PUT\nIf-Match: "v1"' .. BODY).body)
    end
  end)

  it("is what was asked of the machine: once, however many want it", function()
    local count = { tag = 0, date = 0, exists = 0 }
    local function counted(name, value)
      return function()
        count[name] = count[name] + 1
        return value
      end
    end
    local client = wire.client { handle_ok = function() return "0123456789" end,
      entity_tag = counted("tag", '"v1"'), last_modified = counted("date", 784111777),
      exists = counted("exists", true), accept_ranges = true }
    local date = "Sun, 06 Nov 1994 08:49:37 GMT"
    local res = flows.ask(client, 'GET\nIf-Match: "v1"\nIf-None-Match: "v2"\n'
      .. 'If-Range: "v1"\nRange: bytes=0-1\nIf-Modified-Since: ' .. date)
    assert.same({ 206, "01", { tag = 1, date = 1, exists = 1 } },
      { res.status, without_id(res.body), count })
  end)

  it("is what negotiation chose, to whoever asks, in front of it too", function()
    local seen
    local function note(name, value)
      return function(req)
        local chosen = req.accepted
        seen[name] = ("%s %s %s %s"):format(chosen.media_type, chosen.language,
          chosen.charset, chosen.content_coding)
        return value
      end
    end
    local client = wire.client { available_media_types = { "text/html", "text/csv" },
      available_languages = { "en", "de" }, available_charsets = { "utf-8", "latin1" },
      available_content_codings = { "br", "gzip" }, exists = note("exists", true),
      entity_tag = note("tag", '"v1"'), handle_ok = note("ok", "x"),
      do_put = note("put", "x") }
    local fields = "\nAccept: text/csv\nAccept-Language: de\nAccept-Charset: latin1\n"
      .. "Accept-Encoding: gzip"
    for method, last in pairs { GET = "ok", PUT = "put" } do
      seen = {}
      local res = flows.ask(client, method .. fields .. '\nIf-Match: "v1"' .. BODY)
      local chosen = "text/csv de latin1 gzip"
      assert.same({ exists = chosen, tag = chosen, [last] = chosen }, seen)
      assert.same({ 200, "text/csv; charset=latin1", "de", "gzip" }, { res.status,
        res.headers["content-type"], res.headers["content-language"],
        res.headers["content-encoding"] })
      assert.same({ "accept", "accept-language", "accept-charset", "accept-encoding" },
        wire.members(res.headers.vary))
    end
  end)

  it("is what negotiation chose, also when the answer has begun", function()
    local client = wire.client { available_languages = { "en", "de" },
      handle_ok = function(req)
        return web.streaming(function(out)
          out:write "in "
          out:write(req.accepted.language)
        end)
      end }
    assert.equal("in de", flows.ask(client, "GET\nAccept-Language: de").body)
  end)
end)
