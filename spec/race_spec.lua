-- SPDX-License-Identifier: MIT
-- Two writers race, on the wire: both were let through by the rows, content takes its
-- time, and the operation asks again where it writes (request/precondition.lua).
-- RFC 9110 §13.1, §13.2.1.
local flows = require "spec.support.flows"
local job = require "luaweb.job"
local web = require "luaweb"
local wire = require "spec.support.machine_wire"

-- A store of one thing, whose tag counts its versions.
local store

local function tag() return store.content and ('"v%d"'):format(store.version) end

local function put(content)
  store.content, store.version = content, store.version + 1
end

-- What asks again, and then does it, without a wait in between.
local function guarded(act)
  return function(req)
    local content = req:text()
    web.sleep(0.001)
    if not req.precondition:holds(tag()) then return 412 end
    act(content)
  end
end

local client = wire.client {
  exists = function() return store.content ~= nil end,
  entity_tag = tag,
  may_create = true,
  handle_ok = function() return store.content end,
  has_reply = function(req) return req.method == "GET" end,
  do_put = guarded(put), do_post = guarded(put), do_patch = guarded(put),
  do_delete = guarded(function() store.content = nil end),
}

before_each(function() store = { content = "old", version = 1 } end)

local function head(method, field)
  return ("%s /x HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nConnection: close\r\n"
    .. "Content-Type: text/plain\r\nContent-Length: 5\r\n%s\r\n\r\n"):format(method,
    field)
end

-- A writer whose request has passed all that is asked before content is read.
local function let_in(method, field, of)
  local conn = (of or client):raw(head(method, field))
  assert.equal("HTTP/1.1 100 Continue\r\n\r\n", conn:receive(5))
  return conn
end

-- The status that it gets when it has sent its content.
local function finish(conn, content)
  conn:send(content)
  local octets = assert(conn:receive(5))
  conn:close()
  return tonumber(octets:match "^HTTP/1.1 (%d+)")
end

describe("of two writers that were let in", function()
  for _, method in ipairs { "PUT", "POST", "PATCH", "DELETE" } do
    it("by one tag, the second is refused: " .. method, function()
      local first = let_in("PUT", 'If-Match: "v1"')
      local second = let_in(method, 'If-Match: "v1"')
      assert.equal(204, finish(first, "first"))
      assert.equal(412, finish(second, "other"))
      assert.same({ content = "first", version = 2 }, store)
    end)
  end

  it("in whatever order their content comes", function()
    local first = let_in("PUT", 'If-Match: "v1"')
    local second = let_in("PUT", 'If-Match: "v1"')
    assert.equal(204, finish(second, "other"))
    assert.equal(412, finish(first, "first"))
    assert.equal("other", store.content)
  end)

  it("to create, the second is refused", function()
    store.content = nil
    local first = let_in("PUT", "If-None-Match: *")
    local second = let_in("PUT", "If-None-Match: *")
    assert.equal(201, finish(first, "first"))
    assert.equal(412, finish(second, "other"))
    assert.equal("first", store.content)
  end)

  it("by one date, the second is refused", function()
    local date = 784111777
    local own = wire.client { last_modified = function() return date end,
      do_put = function(req)
        req:text()
        if not req.precondition:holds('"any"', date) then return 412 end
        date = date + 60
      end }
    local field = "If-Unmodified-Since: Sun, 06 Nov 1994 08:49:37 GMT"
    local first, second = let_in("PUT", field, own), let_in("PUT", field, own)
    assert.equal(204, finish(first, "first"))
    assert.equal(412, finish(second, "other"))
  end)

  it("to change what is there, the second is refused when the first deletes", function()
    local first = let_in("DELETE", "If-Match: *")
    local second = let_in("PUT", "If-Match: *")
    assert.equal(204, finish(first, "-----"))
    assert.equal(412, finish(second, "other"))
    assert.is_nil(store.content)
  end)

  it("as long as it is not that one, the second is refused when it has become it",
    function()
      local first = let_in("PUT", 'If-Match: "v1"')
      local second = let_in("PUT", 'If-None-Match: W/"v2"')
      assert.equal(204, finish(first, "first"))
      assert.equal(412, finish(second, "other"))
      assert.equal("first", store.content)
    end)

  it("whatever is there, both are done", function()
    local first, second = let_in("PUT", "X-A: a"), let_in("PUT", "X-A: a")
    assert.equal(204, finish(first, "first"))
    assert.equal(204, finish(second, "other"))
    assert.same({ content = "other", version = 3 }, store)
  end)

  it("by many at once, one is done", function()
    local done, refused = 0, 0
    local jobs = {}
    for i = 1, 20 do
      jobs[i] = job.spawn(function()
        local status = flows.ask(client, 'PUT\nIf-Match: "v1"\n\nnew').status
        done = done + (status == 204 and 1 or 0)
        refused = refused + (status == 412 and 1 or 0)
      end)
    end
    for _, one in ipairs(jobs) do one:join() end
    assert.same({ 1, 19 }, { done, refused })
  end)
end)

describe("what a request depends on", function()
  -- What the operation is told, and whether it holds of some tags.
  local function told(fields, resource, current)
    local known
    local own = wire.client(wire.with({ entity_tag = '"v1"', last_modified = 0,
      do_put = function(req)
        known = req.precondition
        known.verdict = known:holds(current)
      end }, resource or {}))
    local res = flows.ask(own, "PUT" .. fields .. "\n\nx")
    assert(res.status < 300, res.status)
    return known
  end

  it("is nothing where it says nothing", function()
    local known = told ""
    assert.same({ exists = false, create_only = false, verdict = true },
      wire.with(known))
    assert.is_true(told("", nil, '"any"').verdict)
  end)

  it("is what its fields say, several lines too", function()
    local known = told '\nIf-Match: "v0", W/"v1"\nIf-Match: "v1"'
    assert.same({ '"v0"', 'W/"v1"', '"v1"' }, known.tags)
    assert.is_false(known.exists)
    assert.is_true(told("\nIf-Match: *").exists)
    assert.same({ '"v0"', 'W/"v2"' }, told('\nIf-None-Match: "v0",,W/"v2"').none_of)
  end)

  it("is a date, where that counts", function()
    local line = "\nIf-Unmodified-Since: Sun, 06 Nov 1994 08:49:37 GMT"
    assert.equal(784111777, told(line).unmodified_since)
    assert.is_nil(told('\nIf-Match: "v1"' .. line).unmodified_since)
    assert.is_nil(told(line .. line).unmodified_since)
    assert.is_nil(told("\nIf-Unmodified-Since: yesterday").unmodified_since)
    local known = told(line)
    assert.same({ true, true, false, true }, { known:holds('"v1"', 784111777),
      known:holds('"v1"', 784111777.9), known:holds('"v1"', 784111778),
      known:holds('"v1"') })
  end)

  it("is to create, where that is what the walk found to be done", function()
    assert.is_true(told("", { exists = false }).create_only)
    assert.is_true(told("\nIf-None-Match: *", { exists = false }).create_only)
    assert.is_false(told("", { exists = true }).create_only)
    assert.is_false(told("", { exists = false }, '"v1"').verdict)
    assert.is_true(told("", { exists = false }, nil).verdict)
  end)

  -- fields, the tag of what is there now, whether they hold
  for _, case in ipairs {
    { 'If-Match: "v1"',              '"v1"',   true },
    { 'If-Match: "v1"',              'W/"v1"', false },
    { 'If-Match: "v1"',              '"V1"',   false },
    { 'If-Match: "v1"',              nil,      false },
    { 'If-Match: "a,b", "v1"',       '"a,b"',  true },
    { 'If-Match: "a,b", "v1"',       '"a"',    false },
    { "If-Match: *",                 'W/"x"',  true },
    { "If-Match: *",                 nil,      false },
    { 'If-None-Match: "v2"',         '"v2"',   false },
    { 'If-None-Match: W/"v2"',       '"v2"',   false },
    { 'If-None-Match: "v2"',         'W/"v2"', false },
    { 'If-None-Match: "v2"',         '"v1"',   true },
    { 'If-None-Match: "v2"',         nil,      true },
    { 'If-None-Match: ,"v0",, "v2"', '"v2"',   false },
    -- What is no list of tags matches nothing, for the walk as for the operation.
    { 'If-None-Match: w/"v2"',       '"v2"',   true },
    { 'If-None-Match: W/ "v2"',      '"v2"',   true },
    { 'If-None-Match: v"v2"',        '"v2"',   true },
    { 'If-None-Match: "v2"x',        '"v2"',   true },
    { 'If-None-Match: "v 2", "v2"',  '"v2"',   false },
    { 'If-None-Match: "v2", *',      '"v2"',   true },
    { 'If-None-Match: *x',           '"v2"',   true },
    { "If-None-Match: v2",           '"v2"',   true },
  } do
    local field, current, holds = unpack(case, 1, 3)
    it(("%s is %s of %s"):format(field, holds and "right" or "wrong", current),
      function() assert.equal(holds, told("\n" .. field, nil, current).verdict) end)
  end
end)
