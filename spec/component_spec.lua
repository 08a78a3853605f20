-- SPDX-License-Identifier: MIT
-- Methods beyond the usual ones, on the wire: QUERY by a component that an app brings,
-- with rows of its own; others by an operation alone.  RFC 9110 §9.1, §9.2.1, §13.1.2,
-- §16.1; draft-ietf-httpbis-safe-method-w-body.
local error_log = require "spec.support.error_log"
local flows = require "spec.support.flows"
local test = require "luaweb.test"
local web = require "luaweb"
local wire = require "spec.support.machine_wire"

local ___ = "___"

-- QUERY is a read with content: it may be cached, and its content must be a query.
local query = {
  web.component { name = "query", in_front_of = "media_type_offered",
    { "query_given", ___, 400, "app", true, "QUERY 2", ask = "QUERY", yes_for = "*" },
  },
  web.component { name = "cached query", in_front_of = "is_cached_read",
    { "no_cached_query", ___, 304, "method", nil, "9.2.1, 13.1.2", no_for = "QUERY",
      yes_for = "*" },
  },
  web.component { name = "query content", in_front_of = "content_valid",
    { "query_understood", ___, 422, "app", true, "QUERY 2", ask = "QUERY",
      yes_for = "*", reads = true },
  },
}

local TASKS = { "wash", "walk", "write" }

local function chosen(text)
  local found = web.array {}
  for _, task in ipairs(TASKS) do
    if task:find(text, 1, true) then found[#found + 1] = task end
  end
  return found
end

local changed -- whether PUT ran

local tasks = {
  query[1], query[2], query[3],
  methods = { "GET", "QUERY", "PUT" }, entity_tag = '"v1"', cache_control = "max-age=9",
  acceptable_media_types = { "text/plain" },
  query_given = function(req) return req.headers["content-type"] ~= nil end,
  query_understood = function(req) return #req:text() <= 3 end,
  handle_ok = function() return TASKS end,
  do_put = function() changed = true end,
  do_query = function(req)
    return web.json(chosen(req:text())):header("ETag", '"v1"')
  end,
}

local client = wire.client(tasks)
local QUERY = "QUERY\nContent-Type: text/plain"

describe("QUERY of a component", function()
  it("is answered with what was asked for", function()
    local res = flows.ask(client, QUERY .. "\n\nwa")
    assert.same({ 200, '["wash","walk"]', "application/json", '"v1"' }, { res.status,
      res.body, res.headers["content-type"], res.headers.etag })
    assert.is_nil(res.headers["content-location"])
    assert.equal('["write"]', flows.ask(client,
      QUERY .. "\nTransfer-Encoding: chunked\n\nwri").body)
  end)

  for title, case in pairs {
    ["a query that nobody understands"] = { QUERY .. "\n\nlong", 422 },
    ["a query without a type"]          = { "QUERY\n\nwa", 400 },
    ["a query of another type"]         = { "QUERY\nContent-Type: a/b\n\nwa", 415 },
    ["what it has already"]             =
      { QUERY .. '\nIf-None-Match: "v1"\n\nwa', 304 },
    ["what has changed"]                = { QUERY .. '\nIf-Match: "v0"\n\nwa', 412 },
    ["what it would take if it had changed"] =
      { QUERY .. '\nIf-None-Match: "v0"\n\nwa', 200 },
    ["a part, which it does not have"]  = { QUERY .. "\nRange: bytes=0-1\n\nwa", 200 },
  } do
    it(("answers %s with %d"):format(title, case[2]), function()
      assert.equal(case[2], flows.ask(client, case[1]).status)
    end)
  end

  it("has the fields of a read where nothing has changed", function()
    local res = flows.ask(client, QUERY .. '\nIf-None-Match: "v1"\n\nwa')
    assert.same({ 304, '"v1"', "max-age=9", "" },
      { res.status, res.headers.etag, res.headers["cache-control"], res.body })
  end)

  it("gets its content when it is wanted: 100 comes behind all that refuses", function()
    local head = "QUERY /x HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\n"
      .. "Content-Length: 2\r\nContent-Type: %s\r\n\r\n"
    local refused = wire.exchange(client, head:format "a/b")
    assert.same({ 415, {} }, { refused.status, refused.interim })
    local conn = client:raw(head:format "text/plain")
    assert.equal("HTTP/1.1 100 Continue\r\n\r\n", conn:receive(5))
    conn:send "wa"
    assert.matches("^HTTP/1.1 200 OK\r\n", conn:receive(5))
    conn:close()
  end)

  it("is listed, and changes nothing for the other methods", function()
    assert.equal("GET, HEAD, QUERY, PUT, OPTIONS", client:options("/x").headers.allow)
    assert.equal(304, client:get("/x",
      { headers = { ["If-None-Match"] = '"v1"' } }).status)
    changed = false
    assert.equal(412, client:put("/x",
      { headers = { ["If-None-Match"] = '"v1"' } }).status)
    assert.is_false(changed)
    assert.equal(200, flows.ask(client, "PUT\nContent-Type: text/plain\n\nlong").status)
    assert.is_true(changed)
  end)

  it("is asked by an app's own functions where they are", function()
    local asked = {}
    local function note(name, answer)
      return function(req)
        asked[#asked + 1] = name
        web.sleep(0.0001)
        req:text()
        return answer
      end
    end
    local own = wire.client(wire.with(tasks, { query_understood = note("row", true),
      content_valid = note("valid", true), do_query = note("operation", "found") }))
    assert.equal("found", flows.ask(own, QUERY .. "\n\nwa").body)
    assert.same({ "row", "valid", "operation" }, asked)
    local log = error_log.of(function()
      own = wire.client(wire.with(tasks, { query_given = note("early", true) }))
      assert.equal(500, flows.ask(own, QUERY .. "\n\nwa").status)
    end)
    assert.matches("query_given is asked before that", log)
  end)

  it("may be refused to a whole app, and let in by one resource", function()
    local app = test.app(web.app {
      includes = { web.machine { query[1], query[2], query[3] } },
      web.resource("/closed", web.machine { handle_ok = "x", query_given = false }),
      web.resource("/open", web.machine { handle_ok = "x", do_query = function()
        return "open"
      end }),
    })
    assert.equal("open", flows.ask(app, "QUERY /open\n\nx").body)
    assert.equal(405, flows.ask(app, "QUERY /closed\n\nx").status)
    assert.equal(404, flows.ask(app, "QUERY /missing\n\nx").status)
  end)
end)

describe("a row that acts", function()
  local find = web.component { name = "find", in_front_of = "content_well_formed",
    { "is_find", ___, "content_well_formed", "method", nil, "9.1", yes_for = "FIND",
      no_for = "*" },
    { "found", "has_reply", 404, "app", nil, "9.1", acts = true, reads = true },
  }

  local function found(answer, keys)
    local own = wire.client(wire.with({ find, methods = { "GET", "FIND" },
      handle_ok = "all", found = answer }, keys or {}))
    local res = flows.ask(own, "FIND\n\nwa")
    return { res.status, res.body }
  end

  it("does what an operation does, in its place", function()
    assert.same({ 200, "found wa" }, found(function(req)
      return "found " .. req:text()
    end))
    assert.same({ 200, '{"a":1}' }, found(function() return { a = 1 } end))
    assert.same({ 207, "many" }, found(function()
      return web.status(207):text "many"
    end))
    assert.same({ 404, "404 Not Found\n" }, found(function() return false end))
    assert.same({ 200, "all" }, found(function() end))
    assert.same({ 200, "all" }, found(true))
  end)

  it("must be there where the component has no default for it", function()
    assert.error_matches(function() found(nil) end,
      "found: the component find has no default for it")
  end)
end)

describe("a method without a component", function()
  local pot = { do_brew = function(req) return "brewed " .. req:text() end,
    entity_tag = '"v1"', accept_ranges = true }

  -- It walks as a write with content does.
  for title, case in pairs {
    ["is done"]                    = { "BREW\n\ntea", 200 },
    ["of what is not there"]       = { "BREW\n\ntea", 404, { exists = false } },
    ["that creates"]               = { "BREW\n\ntea", 201,
      { exists = false, may_create = true, created = true } },
    ["with too much"]              = { "BREW\n\ntea", 413, { body_limit = 2 } },
    ["with an equal tag"]          = { 'BREW\nIf-None-Match: "v1"\n\ntea', 412 },
    ["with another tag"]           = { 'BREW\nIf-Match: "v2"\n\ntea', 412 },
    ["whatever the date"]          = {
      "BREW\nIf-Modified-Since: Fri, 01 Jan 2100 00:00:00 GMT\n\ntea", 200,
      { last_modified = 0 } },
    ["without a condition"]        = { "BREW\n\ntea", 428,
      { precondition_optional = false } },
    ["in part"]                    = { "BREW\nRange: bytes=0-1\n\ntea", 200 },
    ["that is not acceptable"]     = { "BREW\nAccept: c/d\n\ntea", 406,
      { available_media_types = { "a/b" } } },
    ["that is not valid"]          = { "BREW\n\ntea", 422, { content_valid = false } },
    ["in conflict"]                = { "BREW\n\ntea", 409, { conflict_free = false } },
    ["that is sent elsewhere"]     = { "BREW\n\ntea", 303,
      { see_other = true, location = "/there" } },
    ["that is not done yet"]       = { "BREW\n\ntea", 202, { completed = false } },
  } do
    it(("%s: %d"):format(title, case[2]), function()
      local own = wire.client(wire.with(pot, case[3] or {}))
      assert.equal(case[2], flows.ask(own, case[1]).status)
    end)
  end

  it("may be any token where a machine takes all: of that machine alone", function()
    local app = test.app(web.app {
      web.resource("/all", web.machine { methods = "*", handle_ok = "got",
        handle_options = "help", do_any = function(req)
          return req.method .. " " .. req:text()
        end }),
      web.resource("/some", web.machine { handle_ok = "x" }),
    })
    for _, method in ipairs { "POST", "PUT", "DELETE", "BREW", "brew", "M-SEARCH" } do
      assert.equal(method .. " tea", flows.ask(app, method .. " /all\n\ntea").body)
    end
    assert.equal("PATCH tea",
      flows.ask(app, "PATCH /all\nContent-Type: a/b\n\ntea").body)
    assert.equal("got", flows.ask(app, "GET /all").body)
    assert.equal("help", flows.ask(app, "OPTIONS /all").body)
    assert.equal(501, flows.ask(app, "TRACE /all").status)
    assert.equal(405, flows.ask(app, "POST /some\n\ntea").status)
    assert.equal(501, flows.ask(app, "BREW /some\n\ntea").status)
  end)
end)
