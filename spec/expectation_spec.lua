-- SPDX-License-Identifier: MIT
-- A client that asks before it sends content, on the wire: every refusal comes without
-- 100, and 100 comes when the content may be read, once.  Content that is refused by
-- its head.  RFC 9110 §8, §10.1.1, §14.5, §15.5; RFC 5789 §2.2.
local error_log = require "spec.support.error_log"
local flows = require "spec.support.flows"
local wire = require "spec.support.machine_wire"

local function nothing() end

local function read_it(req) return req:text() end

-- A machine that has every method; what it does reads the content.
local function client_of(keys)
  return wire.client(wire.with({ handle_ok = function() return "hello" end,
    do_post = read_it, do_put = read_it, do_patch = read_it, do_delete = read_it,
    do_brew = read_it }, keys or {}))
end

local function head(method, lines, version)
  return ("%s /x HTTP/%s\r\nHost: a.example\r\n%s\r\n\r\n"):format(method,
    version or "1.1", table.concat(lines, "\r\n"))
end

local CONTENT = { "Expect: 100-continue", "Content-Type: text/plain",
  "Content-Length: 3" }
local CHUNKED = { "Expect: 100-continue", "Content-Type: text/plain",
  "Transfer-Encoding: chunked" }

local function lines_with(lines, more)
  local all = { unpack(lines) }
  for _, line in ipairs(more or {}) do all[#all + 1] = line end
  return all
end

describe("a refusal comes without 100", function()
  -- status, what the machine has, method (PUT), fields
  local REFUSALS = {
    { 421, { hosts = { "b.example" } } },
    { 503, { service_available = false } },
    { 505, { http_version_supported = false } },
    { 501, {}, "BREWS", { "X-A: a" } },
    { 414, { uri_fits = false } },
    { 429, { within_rate = false } },
    { 400, { well_formed = false } },
    { 401, { authorized = false, challenge = { "Basic" } } },
    { 403, { allowed = false } },
    { 451, { legally_available = false } },
    { 308, { stays_for_good = false, location = "/there" } },
    { 307, { stays_for_now = false, location = "/there" } },
    { 404, { exists = false, may_create = false } },
    { 410, { exists = false, never_was = false, may_recreate = false } },
    { 300, { single_choice = false } },
    { 417, {}, "PUT", { "Expect: more" } },
    { 417, {}, "PUT", { "Expect: 100-continue, more" } },
    { 413, { body_limit = 2 } },
    { 400, {}, "PUT", { "Content-Range: bytes 0-2/9" } },
    { 415, {}, "PUT", { "Content-Encoding: br" } },
    { 415, { acceptable_media_types = { "a/b" } } },
    { 415, { patch_media_types = { "a/b" } }, "PATCH" },
    { 406, { available_media_types = { "a/b" } }, "PUT", { "Accept: c/d" } },
    { 406, { available_languages = { "en" }, strict = { "language" } }, "PUT",
      { "Accept-Language: de" } },
    { 428, { precondition_optional = false } },
    { 412, {}, "PUT", { 'If-Match: "v1"' } },
    { 412, {}, "PUT", { "If-None-Match: *" } },
    { 402, { allowed = 402 } },
  }
  for _, case in ipairs(REFUSALS) do
    local status, keys, method, lines = unpack(case, 1, 4)
    local octets = head(method or "PUT", lines_with(CONTENT, lines))
    for title, slow in pairs { ["at once"] = false, ["after a wait"] = true } do
      it(("%d %s: %s"):format(status, title, next(keys) or lines[1]), function()
        local all = client_of(slow and flows.slowed(keys) or keys)
        local got = wire.exchange(all, octets)
        assert.same({ status, {} }, { got.status, got.interim })
      end)
    end
  end

  it("411, where the length is not known", function()
    local client = client_of { length_required = true }
    local got = wire.exchange(client, head("PUT", CHUNKED))
    assert.same({ 411, {} }, { got.status, got.interim })
  end)

  it("of a method that the machine does not have, whatever its content", function()
    local client = wire.client { handle_ok = "x" }
    local got = wire.exchange(client, head("PUT", CONTENT))
    assert.same({ 405, "GET, HEAD, OPTIONS", {} },
      { got.status, got:header "allow", got.interim })
  end)

  it("where only constants are left to say", function()
    local client = wire.client { do_put = nothing, exists = false, may_create = false,
      handle_not_found = "nothing" }
    local got = wire.exchange(client, head("PUT", CONTENT))
    assert.same({ 404, "nothing", {} }, { got.status, got.body, got.interim })
  end)
end)

describe("100 comes", function()
  -- The status line, and what follows when the content is sent.
  local function play(client, lines, content, method)
    local conn = client:raw(head(method or "PUT", lines_with(lines,
      { "Connection: close" })))
    local first = conn:receive(5)
    conn:send(content)
    local rest = ""
    repeat
      local piece = conn:receive(5)
      rest = rest .. (piece or "")
    until not piece
    conn:close()
    return first, rest
  end

  for title, case in pairs {
    ["content of a known length"] = { CONTENT, "abc" },
    ["chunked content"] = { CHUNKED, "3\r\nabc\r\n0\r\n\r\n" },
  } do
    for _, method in ipairs { "POST", "PUT", "PATCH", "DELETE", "BREW" } do
      it(("when %s may be read of %s, once"):format(title, method), function()
        local first, rest = play(client_of(), case[1], case[2], method)
        assert.equal("HTTP/1.1 100 Continue\r\n\r\n", first)
        assert.matches("^HTTP/1.1 200 OK\r\n", rest)
        assert.matches("\r\n\r\nabc$", rest)
      end)
    end
  end

  for _, row in ipairs { "content_well_formed", "content_valid", "conflict_free" } do
    it(("when %s is asked, which may read: what it refuses is behind it"):format(row),
      function()
        local first, rest = play(client_of { [row] = function(req)
          return req:text() ~= "abc"
        end }, CONTENT, "abc")
        assert.equal("HTTP/1.1 100 Continue\r\n\r\n", first)
        assert.matches("^HTTP/1.1 4%d%d ", rest)
      end)
  end

  it("when a handler of GET reads content, which nobody asked for else", function()
    local got = wire.exchange(client_of(), head("GET", CONTENT))
    assert.same({ 200, {} }, { got.status, got.interim })
    local first = play(client_of { handle_ok = read_it }, CONTENT, "abc", "GET")
    assert.equal("HTTP/1.1 100 Continue\r\n\r\n", first)
  end)

  it("to nobody whose content is there already, or who sends none", function()
    for _, octets in ipairs { head("PUT", CONTENT) .. "abc",
      head("PUT", { "Expect: 100-continue", "Content-Length: 0" }),
      head("PUT", { "Expect: 100-continue" }) } do
      local got = wire.exchange(client_of(), octets)
      assert.same({ 200, {} }, { got.status, got.interim })
    end
  end)

  it("to nobody who speaks HTTP/1.0, where Expect means nothing", function()
    local got = wire.exchange(client_of(), head("PUT", CONTENT, "1.0") .. "abc")
    assert.same({ 200, "abc", {} }, { got.status, got.body, got.interim })
    got = wire.exchange(client_of(), head("PUT", { "Expect: more",
      "Content-Length: 3" }, "1.0") .. "abc")
    assert.same({ 200, {} }, { got.status, got.interim })
  end)

  it("to nobody whose content is refused whatever it is", function()
    local client = client_of { content_valid = false,
      handle_unprocessable_content = function() return "never" end }
    local got = wire.exchange(client, head("PUT", CONTENT))
    assert.same({ 422, "never", {} }, { got.status, got.body, got.interim })
  end)

  it("not twice where two rows read", function()
    local client = client_of { content_valid = function(req)
      return req:text() == "abc"
    end }
    local first, rest = play(client, CONTENT, "abc")
    assert.equal("HTTP/1.1 100 Continue\r\n\r\n", first)
    assert.matches("^HTTP/1.1 200 OK\r\n", rest)
  end)
end)

describe("content is refused", function()
  local function ask(keys, text) return flows.ask(client_of(keys), text) end
  local function fields(res, ...)
    local list = { res.status }
    for _, name in ipairs { ... } do list[#list + 1] = res.headers[name] or "none" end
    return list
  end

  it("by its type: what would be taken is told, and nothing of codings", function()
    local keys = { acceptable_media_types = { "text/*", "application/json" } }
    assert.same({ 415, "text/*, application/json", "none", "none" },
      fields(ask(keys, "PUT\nContent-Type: image/png\n\nx"), "accept",
        "accept-encoding", "accept-post"))
    assert.same({ 415, "text/*, application/json", "text/*, application/json" },
      fields(ask(keys, "POST\nContent-Type: image/png\n\nx"), "accept", "accept-post"))
    for _, taken in ipairs { "text/plain", "TEXT/CSV; charset=UTF-8; x=y",
      "application/json" } do
      assert.equal(200, ask(keys, "PUT\nContent-Type: " .. taken .. "\n\nx").status)
    end
    assert.equal(200, ask(keys, "PUT\n\nx").status)
  end)

  it("by its coding: what would be taken is told, and nothing of types", function()
    assert.same({ 415, "identity", "none" },
      fields(ask({}, "PUT\nContent-Encoding: gzip\n\nx"), "accept-encoding", "accept"))
    local keys = { acceptable_content_codings = { "gzip", "br" },
      acceptable_media_types = { "a/b" } }
    assert.same({ 415, "gzip, br", "none" }, fields(ask(keys,
      "PUT\nContent-Encoding: gzip, zstd\nContent-Type: c/d\n\nx"), "accept-encoding",
      "accept"))
    assert.equal(200, ask({ acceptable_content_codings = { "gzip" } },
      "PUT\nContent-Encoding: X-GZIP, identity\n\nx").status)
  end)

  it("by its size, and the connection ends: nobody reads the rest", function()
    local res = ask({ body_limit = 3, retry_after = 60 },
      "PUT\nConnection: keep-alive\n\nlong")
    assert.same({ 413, "60", "close" }, fields(res, "retry-after", "connection"))
    assert.equal(200, ask({ body_limit = 4 }, "PUT\n\nlong").status)
    assert.equal(413, ask({ body_limit = function(req) return #req.path end },
      "PUT\n\nlong").status)
  end)

  it("while it is read, where nobody said its size", function()
    assert.equal(413, ask({ body_limit = 3 },
      "PUT\nTransfer-Encoding: chunked\n\nlong").status)
    assert.equal(411, ask({ length_required = true },
      "PUT\nTransfer-Encoding: chunked\n\nlong").status)
  end)

  it("by a type of patch, and a patch without content is none", function()
    local keys = { patch_media_types = { "application/merge-patch+json" } }
    assert.same({ 415, "application/merge-patch+json", "none" }, fields(ask(keys,
      "PATCH\nContent-Type: application/json\n\n{}"), "accept-patch", "accept"))
    assert.same({ 415, "application/merge-patch+json" },
      fields(ask(keys, "PATCH\n\n{}"), "accept-patch"))
    assert.equal(400, ask(keys, "PATCH\nContent-Type: application/json").status)
  end)
end)

describe("a decision above the first that may read", function()
  for _, row in ipairs { "well_formed", "allowed", "exists", "content_fits",
    "media_type_offered", "precondition_optional" } do
    it(("may not: %s is told so in the log"):format(row), function()
      local log = error_log.of(function()
        local res = flows.ask(client_of { [row] = read_it }, "PUT\n\nx")
        assert.equal(500, res.status)
      end)
      assert.matches("%] PUT /x: req:text: nothing of the content may be read", log)
      assert.is_truthy(log:find(row .. " is asked before that", 1, true), log)
    end)
  end

  it("nor may what such a row wants to know", function()
    local log = error_log.of(function()
      local client = client_of { entity_tag = read_it }
      assert.equal(500, flows.ask(client, 'PUT\nIf-Match: "v1"\n\nx').status)
    end)
    assert.matches("if_match_holds is asked before that", log)
  end)
end)
