-- SPDX-License-Identifier: MIT
-- Conditional requests on the wire: the corpus, against an app for each state that a
-- resource has, once as literals that C knows and once as functions that wait.
-- RFC 9110 §13, §15.4.5.
local http = require "spec.support.reference_http"
local pure = require "spec.support.pure"
local values = require "luaweb.machine.values"
local web = require "luaweb"
local wire = require "spec.support.machine_wire"

local given = wire.given

local STATUSES = {
  perform                   = { 200, 201, 204 },
  full                      = { 200 },
  partial                   = { 206 },
  ["not-modified"]          = { 304 },
  ["bad-request"]           = { 400 },
  ["not-found"]             = { 404 },
  ["precondition-failed"]   = { 412 },
  ["range-not-satisfiable"] = { 416 },
}
local IS_WRITE = { POST = true, PUT = true, PATCH = true, DELETE = true }
local DIGITS = ("0123456789"):rep(10)

local ran -- how often an operation ran

local function operation() ran = ran + 1 end

local function nothing() end

-- A function that takes its time to give this.
local function slow(value)
  return function()
    web.sleep(0.0001)
    return value
  end
end

-- A tag that is none can't be the machine's: the handler sends it by itself.
local function shown(state, tag)
  local content = web.text(DIGITS:sub(1, state.size))
  return tag and not values.entity_tag(tag) and content:header("ETag", tag) or content
end

local client_of = wire.kept(function(state)
  local as = state.is_slow and slow or function(value) return value end
  local tag, date = given(state.etag), given(state.last_modified)
  tag = tag and pure.octets(tag)
  local is_tag = tag and values.entity_tag(tag)
  return wire.client {
    exists = as(state.exists),
    entity_tag = is_tag and as(tag) or nothing,
    last_modified = date and as(http.date(date, 0)) or nothing,
    accept_ranges = as(true),
    handle_ok = as(shown(state, tag)),
    do_post = operation, do_put = operation, do_delete = operation,
    do_patch = operation,
  }
end)

local function ask(case, is_slow)
  local is = case.resource
  local client = client_of { exists = is.exists, etag = is.etag, is_slow = is_slow,
    last_modified = is.last_modified, size = case.body_size or 10 }
  local headers = wire.headers(case.headers)
  local is_patch = case.method == "PATCH"
  if is_patch then headers["Content-Type"] = "text/plain" end
  ran = 0
  return client:request(case.method, "/x",
    { headers = headers, body = is_patch and "x" or nil })
end

local function allowed(case)
  local list = {}
  for _, outcome in ipairs(case.expect) do
    for _, status in ipairs(STATUSES[outcome]) do list[#list + 1] = status end
  end
  return list
end

-- Fields that a response must have whatever the case says.
local function check_fields(case, res)
  local tag = given(case.resource.etag)
  for _, name in ipairs(case.response_must_have or {}) do
    assert.is_string(res.headers[name], name)
  end
  if res.status == 304 then
    assert.equal("", res.body)
    assert.is_nil(res.headers["content-length"])
    assert.equal(tag and pure.octets(tag), res.headers.etag)
  elseif res.status == 206 then
    assert.equal(DIGITS:sub(1, 2), res.body)
    assert.equal("bytes 0-1/10", res.headers["content-range"])
  elseif res.status == 200 and case.method == "GET" then
    assert.equal(DIGITS:sub(1, case.body_size or 10), res.body)
  elseif res.status >= 400 then
    assert.is_nil(res.headers["last-modified"])
  end
end

local function play(case, is_slow)
  local res = ask(case, is_slow)
  assert(wire.has(allowed(case), res.status), "answered " .. res.status)
  local is_done = IS_WRITE[case.method] and res.status < 300
  assert.equal(is_done and 1 or 0, ran)
  check_fields(case, res)
end

describe("a conditional request", function()
  for _, case in ipairs(pure.cases "conditional") do
    local title = ("%s: %s"):format(case.id, case.title)
    it("of a resource that is known, " .. title, function() play(case, false) end)
    it("of a resource that is asked, " .. title, function() play(case, true) end)
  end
end)

describe("a tag that is none", function()
  it("is refused where a machine is declared", function()
    assert.error_matches(function()
      wire.client { handle_ok = "x", entity_tag = '"v 1"' }
    end, "entity_tag: wants an entity tag")
  end)
end)
