-- SPDX-License-Identifier: MIT
-- Programs of machines as apps declare them, and the walks of requests through them,
-- seen through the border that explains (core/base/abi_explain.h).
local explained = require "spec.support.explained"
local test = require "luaweb.test"
local web = require "luaweb"

local function nothing() end
local function yes() return true end

local function client_of(keys, ...)
  return test.app(web.app { web.resource("/x{/name}", web.machine(keys)), ... })
end

local function program(keys, method)
  return explained.program(client_of(keys).capp, 0, method)
end

--- How many rows there are, and how many the program asks.
local function figures(keys, method)
  local found = program(keys, method)
  return { found.row_count, found.counts.asked }
end

local HELLO = { methods = { "GET", "HEAD", "OPTIONS" },
  handle_ok = function(req) return "Hello, " .. (req.params.name or "World") end }

local GREETER = {
  web.auth { web.basic { realm = "demo", verify = yes } },
  web.cors { origins = { "http://example.com" } },
  allowed = yes, entity_tag = function() return '"v1"' end, handle_ok = nothing,
  available_media_types = { "text/html", "text/plain" },
  available_languages = { "en", "de" }, available_charsets = { "utf-8", "utf-16" },
  available_content_codings = { "gzip" },
}

local ITEM = {
  exists = yes, entity_tag = function() return '"v1"' end,
  handle_ok = { ["application/json"] = nothing }, do_put = nothing, do_patch = nothing,
  do_delete = nothing, acceptable_media_types = { "application/json" },
  patch_media_types = { "application/merge-patch+json" },
}

describe("the program of hello", function()
  it("asks 4 of 49 rows for GET: one field test and the function in the usual case",
    function()
      local get = program(HELLO, "GET")
      assert.same({ 49, 8, 31, 0, 6, 4 }, { get.row_count, get.counts.fixed,
        get.counts.literal, get.counts.unary, get.counts.unreachable,
        get.counts.asked })
      assert.same({
        "precondition_given (core): yes if_match_holds, no has_reply",
        "if_match_holds (core): yes if_none_match_holds, no 412 if_match_holds",
        "if_none_match_holds (core): yes has_reply, no 304 is_cached_read",
        "has_reply (core): yes 200 range_wanted, no 204 has_reply",
      }, get.steps)
    end)

  it("is the same for HEAD, and of another such machine", function()
    local client = client_of(HELLO, web.get("/y", nothing))
    local number = explained.program(client.capp, 0, "GET").number
    assert.equal(number, explained.program(client.capp, 0, "HEAD").number)
    assert.equal(number, explained.program(client.capp, 1, "GET").number)
    assert.is_not_equal(number, explained.program(client.capp, 0, "PUT").number)
  end)

  it("is the end already for all other methods", function()
    for method, ending in pairs { OPTIONS = "204 has_reply", PUT = "405 method_allowed",
      TRACE = "501 method_implemented", BREW = "501 method_implemented" } do
      local found = program(HELLO, method)
      assert.same({ ending, 0 }, { found.start, found.counts.asked })
    end
  end)
end)

describe("programs of larger machines", function()
  it("ask what the machine has: the greeter 12 of 53 rows", function()
    assert.same({ 53, 12 }, figures(GREETER, "GET"))
    assert.same({ 53, 5 }, figures(GREETER, "OPTIONS"))
    assert.same({ 53, 2 }, figures(GREETER, "POST")) -- whose origin counts for the 405
  end)

  it("ask what the method needs: an item of a list up to 14 of 51 rows", function()
    assert.same({ 51, 6 }, figures(ITEM, "GET"))
    assert.same({ 51, 14 }, figures(ITEM, "PUT"))
    assert.same({ 51, 14 }, figures(ITEM, "PATCH"))
    assert.same({ 51, 7 }, figures(ITEM, "DELETE"))
  end)

  it("tell who answers", function()
    local steps = table.concat(program(ITEM, "PUT").steps, "\n")
    assert.matches("exists (app): ", steps, 1, true)
    assert.matches("has_content (core): ", steps, 1, true)
    assert.matches("operation (operation): ", steps, 1, true)
  end)
end)

describe("a program that is looked at", function()
  local client = client_of(ITEM)

  it("may be that where no resource matches", function()
    assert.equal("404 may_create", explained.program(client.capp, -1, "PUT").start)
  end)

  it("must be of a resource", function()
    assert.is_nil(explained.program(client.capp, 1, "GET"))
    assert.is_nil(explained.program(client.capp, -2, "GET"))
  end)

  it("says what is known of a row", function()
    local found = program({ handle_ok = nothing, allowed = 404, exists = false }, "GET")
    assert.same({ "literal", 404 }, { found.fates.allowed, found.answers.allowed })
    assert.same({ "literal", 0 }, { found.fates.exists, found.answers.exists })
    assert.same({ "fixed", 1 }, { found.fates.not_options, found.answers.not_options })
  end)
end)

describe("a walk that is looked at", function()
  local function walk(client, method, target, headers)
    explained.trace(true)
    local res = client:request(method, target, { headers = headers })
    local seen = explained.walk()
    explained.trace(false)
    local answers = {}
    for i, step in ipairs(seen.answers) do
      answers[i] = step.row .. " " .. step.answer
    end
    return { res.status, seen.status, seen.resource, table.concat(answers, ", ") }
  end

  it("tells each answer, and where it has ended", function()
    local client = client_of(ITEM)
    assert.same({ 204, 204, 0, "exists 1, media_type_offered 1, precondition_given 0, "
      .. "has_reply 0" }, walk(client, "GET", "/x"))
    assert.same({ 412, 412, 0, "exists 1, media_type_offered 1, precondition_given 1, "
      .. "if_match_holds 0" }, walk(client, "GET", "/x", { ["If-Match"] = '"v0"' }))
    assert.same({ 405, 405, 0, "" }, walk(client, "POST", "/x"))
  end)

  it("tells the status by which an app has ended it, and where", function()
    for _, answer in ipairs { 403, web.status(403), web.text("no"):status(403) } do
      local client = client_of { handle_ok = nothing,
        allowed = function() return answer end }
      assert.same({ 403, 403, 0, "allowed 403" }, walk(client, "GET", "/x"))
    end
    local client = client_of { handle_ok = function() return web.status(418) end }
    assert.same({ 418, 418, 0, "precondition_given 0, has_reply 418" },
      walk(client, "GET", "/x"))
  end)

  it("tells that an operation has left content", function()
    local client = client_of { do_post = function() return "done" end }
    local seen = walk(client, "POST", "/x")
    assert.same({ 200, 200 }, { seen[1], seen[2] })
    assert.matches("operation 2, has_reply 1$", seen[4])
  end)

  it("tells that no resource matched, and why the first one did not", function()
    local client = client_of { handle_ok = nothing, params = { name = "%l+" } }
    assert.same({ 404, 404, -1, "" }, walk(client, "GET", "/missing/a"))
    assert.same({ 404, 404, -1, "" }, walk(client, "GET", "/x/123"))
    assert.equal(0, walk(client, "GET", "/x/abc")[3])
  end)

  it("tells that an answer lacked what its status needs", function()
    local client = client_of { handle_ok = nothing,
      exists = function() return 302 end }
    require("spec.support.error_log").of(function()
      assert.same({ 500, 500, 0, "exists 302" }, walk(client, "GET", "/x"))
    end)
  end)

  it("is that of the request that came last", function()
    local client, seen = nil, nil
    client = client_of({ handle_ok = function()
      client:get "/y"
      seen = explained.walk()
    end }, web.get("/y", function() return "y" end))
    explained.trace(true)
    client:get "/x"
    local after = explained.walk()
    explained.trace(false)
    assert.same({ 1, 200, 2 }, { seen.resource, seen.status, #seen.answers })
    assert.same(seen, after)
  end)

  it("is nothing where nobody looks", function()
    explained.trace(true)
    explained.trace(false)
    client_of(HELLO):get "/x"
    assert.same({ answers = {}, status = 0, row = 0, resource = -1 }, explained.walk())
  end)
end)
