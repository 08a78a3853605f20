-- SPDX-License-Identifier: MIT
-- Walks that the app ends, on the wire: with a number, with a response, by raising one;
-- what it may not give; error bodies.  RFC 9110 §11.6.1, §15; RFC 9457.
local error_log = require "spec.support.error_log"
local flows = require "spec.support.flows"
local test = require "luaweb.test"
local web = require "luaweb"
local wire = require "spec.support.machine_wire"
local without_id = require "spec.support.without_id"

local function shown() return "shown" end

local function client_of(keys)
  return wire.client(wire.with({ handle_ok = shown, do_put = shown, do_post = shown },
    keys))
end

--- The response, and what went to the log.
local function answer(keys, text)
  local res
  local client = client_of(keys)
  local log = error_log.of(function() res = flows.ask(client, text or "GET") end)
  return res, log
end

-- Where an app may end a walk: the key, and a request that comes there.
local MOVES, NONE = { location = "/there" }, { exists = false }
local PLACES = {
  { "service_available", "GET" }, { "within_rate", "GET" }, { "well_formed", "GET" },
  { "allowed", "GET" }, { "stays_for_now", "GET", MOVES }, { "exists", "GET" },
  { "never_was", "GET", NONE }, { "single_choice", "GET" },
  { "may_create", "PUT\n\nx", NONE }, { "expectation_met", "PUT\n\nx" },
  { "content_fits", "PUT\n\nx" }, { "content_whole", "PUT\n\nx" },
  { "content_coding_known", "PUT\n\nx" }, { "media_type_taken", "PUT\n\nx" },
  { "media_type_offered", "GET" }, { "language_offered", "GET" },
  { "charset_offered", "GET" }, { "coding_offered", "GET" },
  { "precondition_optional", "PUT\n\nx" }, { "content_well_formed", "PUT\n\nx" },
  { "content_valid", "PUT\n\nx" }, { "conflict_free", "PUT\n\nx" },
  { "do_put", "PUT\n\nx" }, { "completed", "PUT\n\nx" },
  { "see_other", "POST\n\nx", MOVES }, { "created", "POST\n\nx" },
  { "has_reply", "GET" }, { "handle_ok", "GET" },
  -- properties, which can but raise
  { "entity_tag", "GET", nil, "raised" }, { "body_limit", "PUT\n\nx", nil, "raised" },
  { "cache_control", "GET", nil, "raised" },
  { "location", "PUT\n\nx", NONE, "raised" },
}

local WAYS = {
  ["a number"]            = { function() return 402 end, "402 Payment Required\n" },
  ["a response"]          = { function()
    return web.status(402):text "pay":header("X-A", "a")
  end, "pay", "a" },
  ["a response that says no more"] = { function()
    return web.status(402):header("X-A", "a")
  end, "402 Payment Required\n", "a" },
  ["a number raised"]     = { function() error(402) end, "402 Payment Required\n",
    nil, "raised" },
  ["a response raised"]   = { function()
    error(web.status(402):text "pay":header("X-A", "a"))
  end, "pay", "a", "raised" },
}

describe("a response that is a part of something", function()
  it("is sent as the app has made it", function()
    local app = test.app(web.app { web.get("/", function()
      return web.bytes("text/x-part", "abc"):status(206)
        :header("Content-Range", "bytes 0-2/10")
    end) })
    local res = app:get "/"
    assert.same({ 206, "abc", "text/x-part", "bytes 0-2/10" }, { res.status, res.body,
      res.headers["content-type"], res.headers["content-range"] })
  end)
end)

describe("a walk is ended", function()
  local CORS = web.cors { origins = { "http://a.example" } }

  for _, place in ipairs(PLACES) do
    local key, text, keys, only = unpack(place, 1, 4)
    for title, way in pairs(WAYS) do
      if not only or only == way[4] then
        it(("at %s by %s"):format(key, title), function()
          local res, log = answer(wire.with({ CORS }, keys or {}, { [key] = way[1] }),
            (text:gsub("^%u+", "%0\nOrigin: http://a.example")))
          assert.same({ 402, way[2], "" }, { res.status, res.body, log })
          assert.equal(way[3], res.headers["x-a"])
          assert.equal("http://a.example", res.headers["access-control-allow-origin"])
          assert(wire.has(wire.members(res.headers.vary), "origin"))
        end)
      end
    end
  end

  it("by a response that says where to, which needs no more", function()
    local res = answer { exists = function() return web.redirect "/there" end }
    assert.same({ 303, "/there" }, { res.status, res.headers.location })
    res = answer { exists = function() return web.redirect("/there"):status(308) end }
    assert.same({ 308, "/there" }, { res.status, res.headers.location })
  end)

  it("by a response whose type is not that of what speaks in its place", function()
    local function typed()
      return web.status(404):header("Content-Type", "image/png")
    end
    for text, keys in pairs { ["404 Not Found\n"] = {},
      ["none"] = { handle_not_found = "none" } } do
      local res = answer(wire.with({ exists = typed }, keys))
      local media_type = res.headers["content-type"]
      assert.same({ 404, text, "text/plain; charset=utf-8" },
        { res.status, res.body, media_type })
    end
  end)

  it("by a success, at once", function()
    local res = answer { exists = function() return web.text "cached" end }
    assert.same({ 200, "cached" }, { res.status, res.body })
    res = answer({ conflict_free = function() return 204 end,
      do_put = function() error "ran" end }, "PUT\n\nx")
    assert.equal(204, res.status)
  end)

  it("by 304 where the app itself knows that nothing has changed", function()
    local res = answer({ entity_tag = '"v1"', cache_control = "max-age=9",
      handle_ok = function() return 304 end })
    assert.same({ 304, '"v1"', "max-age=9" },
      { res.status, res.headers.etag, res.headers["cache-control"] })
  end)
end)

describe("what an app may not give is its fault:", function()
  local function is_fault(why, keys, text)
    local res, log = answer(keys, text)
    assert.same({ 500, "500 Internal Server Error\n" },
      { res.status, without_id(res.body) })
    assert.is_truthy(log:find(why, 1, true), log)
  end

  for _, number in ipairs { 99, 100, 101, 199, 206, 416, 600, 200.5, 0 / 0, 1 / 0 } do
    for _, place in ipairs { { "allowed", "GET" }, { "do_put", "PUT\n\nx" },
      { "handle_ok", "GET" }, { "handle_not_found", "GET", { exists = false } } } do
      it(("%s as the answer of %s"):format(number, place[1]), function()
        is_fault("returned the status " .. tostring(number), wire.with(place[3] or {},
          { [place[1]] = function() return number end }), place[2])
      end)
    end
  end

  for _, key in ipairs { "allowed", "conflict_free", "do_put" } do
    it("304 as the answer of " .. key .. " to a write", function()
      is_fault("304 is for reads", { [key] = function() return 304 end }, "PUT\n\nx")
      is_fault("304 is for reads", { [key] = function() error(304) end }, "PUT\n\nx")
      is_fault("304 is for reads", { [key] = function()
        return web.status(304)
      end }, "PUT\n\nx")
    end)
  end

  for title, value in pairs { ["a text"] = "yes", ["a table"] = { 1 },
    ["a function"] = print } do
    it(title .. " as the answer of a decision, which the log names", function()
      is_fault("the decision allowed gave a " .. type(value), { allowed = function()
        return value
      end })
    end)
  end

  for title, keys in pairs {
    ["by a number"]    = { allowed = function() return 401 end },
    ["raised"]         = { allowed = function() error(401) end },
    ["by a handler"]   = { handle_ok = function() return 401 end },
    ["by a response"]  = { allowed = function() return web.status(401) end },
    ["by a response with content"] = { allowed = function()
      return web.status(401):text "who?"
    end },
    ["at the end of a walk"] = { authorized = function() return false end,
      challenge = function() return nil end },
    ["where a handler speaks"] = { authorized = function() return false end,
      challenge = function() return nil end, handle_unauthorized = shown },
  } do
    it("401 without a challenge, " .. title, function()
      is_fault("led to a 401 without a challenge", keys)
    end)
  end

  for _, status in ipairs { 301, 302, 303, 307, 308 } do
    it(status .. " without a location", function()
      is_fault(("led to a %d without a location"):format(status),
        { exists = function() return status end })
      is_fault(("led to a %d without a location"):format(status),
        { do_put = function() return web.status(status):text "there" end }, "PUT\n\nx")
    end)
  end

  it("a property that is none", function()
    is_fault("entity tag", { entity_tag = function() return "no quotes" end })
    for _, octets in ipairs { "a\r\nb", "a\nX-Injected: 1", "a\0b" } do
      is_fault("a control octet", { cache_control = function() return octets end })
    end
    is_fault("location wants a URI", { exists = false, location = function()
      return "a b"
    end, do_put = shown }, "PUT\n\nx")
  end)

  it("content of an operation is not what an error behind it says", function()
    for _, key in ipairs { "completed", "created", "see_other" } do
      is_fault("late", { location = "/there", [key] = function() error "late" end,
        do_post = function() return "done" end }, "POST\n\nx")
    end
    local res = answer({ created = function() return 409 end }, "POST\n\nx")
    assert.same({ 409, "409 Conflict\n" }, { res.status, res.body })
  end)

  it("false of an operation, which the log tells", function()
    local res, log = answer({ do_put = function() return false end }, "PUT\n\nx")
    assert.same({ 500, "500 Internal Server Error\n" },
      { res.status, without_id(res.body) })
    assert.matches("PUT /x: its operation answered false", log)
  end)
end)

describe("an error", function()
  local HTML, TEXT = "text/html; charset=utf-8", "text/plain; charset=utf-8"
  local PROBLEM = "application/problem+json"
  local FORMS = {
    ["text/html"]                = { HTML, "<h1>404 Not Found</h1>" },
    ["application/problem+json"] = { PROBLEM, '"status":404' },
    ["application/json"]         = { PROBLEM, '"title":"Not Found"' },
    ["text/*, text/html;q=0.5"]  = { TEXT, "404 Not Found\n" },
    ["image/png"]                = { TEXT, "404 Not Found\n" },
  }
  for accept, form in pairs(FORMS) do
    for title, keys in pairs { ["of a walk"] = { exists = false },
      ["of a handler"] = { handle_ok = function() return 404 end },
      ["that was raised"] = { exists = function() error(404) end } } do
      it(("%s is told in a form that is accepted: %s"):format(title, accept), function()
        local res = answer(keys, "GET\nAccept: " .. accept)
        assert.same({ 404, form[1] }, { res.status, res.headers["content-type"] })
        assert.is_truthy(res.body:find(form[2], 1, true), res.body)
        assert(wire.has(wire.members(res.headers.vary), "accept"))
      end)
    end
  end
end)
