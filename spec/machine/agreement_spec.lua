-- SPDX-License-Identifier: MIT
-- What compiled programs and the reference walk once did not agree on: machines and
-- requests that random_spec.lua has found, made smaller, and what is right.
local agreement = require "spec.support.agreement"
local error_log = require "spec.support.error_log"

--- The answer to a request, which the program and the reference agree on.
local function answer(keys, request, is_unmatched)
  local message
  error_log.of(function()
    local host = request:gsub("^[^\n]*", "%0\nHost: a.example", 1)
    message = agreement.agree(keys, host, is_unmatched)
  end)
  return message
end

-- title, keys, request, status, fields (false: absent), content, is_unmatched
local function play(cases)
  for _, case in ipairs(cases) do
    local title, keys, request, status, fields, body, is_unmatched = unpack(case, 1, 7)
    it(title, function()
      local message = answer("{ " .. keys .. " }", request, is_unmatched)
      assert.equal(status, message.status)
      for name, value in pairs(fields or {}) do
        assert.equal(value or nil, message:header(name), name)
      end
      if body then assert.equal(body, message.body) end
    end)
  end
end

local GET, PUT, POST = "GET 1.1 /r1", "PUT 1.1 /r1", "POST 1.1 /r1"
local OPTIONS, MISSING = "OPTIONS 1.1 /r1", "GET 1.1 /missing"
local PREFLIGHT = "\nOrigin: http://a.example\nAccess-Control-Request-Method: PUT"

describe("what an app says instead of the graph", function()
  play {
    { "a status in its place is no representation: it has no validators",
      [[handle_ok = "all", entity_tag = '"v1"', cache_control = "max-age=9",
        allowed = pick("allowed", { n = 1, 200 })]], GET, 200,
      { etag = false, ["cache-control"] = false }, "" },
    { "a literal one does not let handle_ok speak either",
      [[handle_ok = "all", allowed = 200]], GET, 200, { etag = false }, "" },
    { "204 tells nothing of OPTIONS", [[handle_ok = "all", allowed = 204]], OPTIONS,
      204, { allow = false } },
    { "a number is the row's own no, and carries the same",
      [[do_put = pick("do_put", { n = 1, nil }), acceptable_media_types = { "a/b" },
        media_type_taken = pick("media_type_taken", { n = 1, 415 })]],
      PUT .. "\nContent-Type: c/d\nContent-Length: 1\n\nx", 415, { accept = "a/b" } },
    { "a redirect without a place is a fault, and says nothing more",
      [[handle_ok = "all", retry_after = 5, cors_origins = { "http://a.example" },
        exists = pick("exists", { n = 1, web.status(302) })]],
      GET .. "\nOrigin: http://a.example", 500, { ["retry-after"] = false,
        ["access-control-allow-origin"] = "http://a.example" } },
    { "so is a response of 401 without a challenge",
      [[handle_ok = "all", exists = pick("exists",
        { n = 1, web.text("who?"):status(401) })]], GET, 500,
      { ["www-authenticate"] = false } },
    { "where it ends the walk after the work, what the operation said is not sent",
      [[do_post = pick("do_post", { n = 1, web.text("done"):header("ETag", '"new"') }),
        see_other = pick("see_other", { n = 1, 308 }), location = "/there"]],
      POST, 308, { etag = false, location = "/there" } },
    { "nothing is here where it says so: not even for its own 304",
      [[handle_ok = "all", entity_tag = '"v1"', exists = false,
        never_was = pick("never_was", { n = 1, 304 })]], GET, 304, { etag = false } },
  }
end)

describe("questions whose answers lead to the same place", function()
  play {
    { "are asked of the app, which may end the walk there",
      [[do_put = pick("do_put", { n = 1, nil }), exists = false,
        never_was = pick("never_was", { n = 1, 403 })]], PUT, 403 },
    { "are ended by a response that is always the same",
      [[do_put = pick("do_put", { n = 1, nil }), exists = false,
        never_was = web.status(403)]], PUT, 403 },
  }
end)

describe("has_reply", function()
  play {
    { "goes on at a 200 of handle_ok, so that ranges count",
      [[accept_ranges = true, handle_ok = pick("handle_ok",
        { n = 1, web.text("0123456789"):status(200) })]],
      GET .. "\nRange: bytes=0-2", 206, { ["content-range"] = "bytes 0-2/10" }, "012" },
    { "likewise where none of them fits",
      [[accept_ranges = true, handle_ok = pick("handle_ok",
        { n = 1, web.text("0123456789"):status(200) })]],
      GET .. "\nRange: bytes=10-", 416, { ["content-range"] = "bytes */10" } },
    { "is empty at the number 200, and no constant speaks there",
      [[entity_tag = '"v1"', handle_ok = pick("handle_ok", { n = 1, 200 })]], GET, 200,
      { etag = '"v1"' }, "" },
    { "asks the app first, also for content that an operation has left",
      [[do_post = pick("do_post", { n = 1, "done" }),
        has_reply = pick("has_reply", { n = 1, false })]], POST, 204 },
    { "and for OPTIONS, where a yes needs somebody who speaks",
      [[handle_ok = "all", has_reply = pick("has_reply", { n = 1, true })]], OPTIONS,
      204 },
    { "is no question of handle_ok for OPTIONS", [[handle_ok = "all"]], OPTIONS, 204 },
    { "names what a constant is after a write", [[handle_ok = "all",
        do_post = pick("do_post", { n = 1, nil })]], POST, 200,
      { ["content-location"] = "/r1" }, "all" },
    { "has no type without content", [[has_reply = false, do_post = pick("do_post",
        { n = 1, web.streaming(function(out) out:write("s") end) })]], POST, 204,
      { ["content-type"] = false } },
  }
end)

describe("the type of content", function()
  local OFFERS = [[available_media_types = { "application/json" }, ]]
  play {
    { "is not negotiated for OPTIONS", OFFERS .. [[handle_ok = "{}",
        handle_options = "help"]], OPTIONS, 200,
      { ["content-type"] = "text/plain; charset=utf-8" } },
    { "nor of a message", OFFERS .. [[{ handle_not_found = pick("handle_not_found",
        { n = 1, "not here" }) }, handle_ok = "{}", exists = false]], GET, 404,
      { ["content-type"] = "text/plain; charset=utf-8" }, "not here" },
    { "nor of what is said before there is a choice", OFFERS .. [[
        { handle_accepted = pick("handle_accepted", { n = 1, "wait" }) },
        handle_ok = "{}", allowed = pick("allowed", { n = 1, 202 })]], GET, 202,
      { ["content-type"] = "text/plain; charset=utf-8" } },
    { "is that of what was done, where it is sent elsewhere",
      [[available_media_types = pick("available_media_types",
        { n = 1, { "text/html" } }), do_post = pick("do_post", { n = 1, "<p>" }),
        see_other = true, location = "/there"]], POST, 303,
      { ["content-type"] = "text/html; charset=utf-8" }, "<p>" },
    { "of a table is JSON, whatever it is offered as",
      [[handle_ok = { ["text/html"] = { 1, 2 } }]], GET, 200,
      { ["content-type"] = "application/json" }, "[1,2]" },
  }
end)

describe("negotiation", function()
  play {
    { "without Accept-Encoding gives no coding", [[handle_ok = "all",
        available_content_codings = { "gzip" }]], GET, 200,
      { ["content-encoding"] = false, vary = "Accept-Encoding" } },
    { "gives the first coding where nothing is acceptable, and that is no 406",
      [[handle_ok = "all", available_content_codings = { "gzip" }]],
      GET .. "\nAccept-Encoding: identity;q=0", 200,
      { ["content-encoding"] = "gzip" } },
    { "that the app has answered gives the first offer",
      [[available_languages = { "de", "en" }, strict = { "language" },
        language_offered = true, handle_ok = "all"]], GET .. "\nAccept-Language: fr",
      200, { ["content-language"] = "de" } },
    { "is strict about nothing where a function says nothing",
      [[available_media_types = { "a/b" }, strict = pick("strict", { n = 1, nil }),
        handle_ok = "all"]], GET .. "\nAccept: c/d", 200 },
  }
end)

describe("If-Range", function()
  play { { "that is there twice does not hold", [[accept_ranges = true,
      entity_tag = '"v1"', handle_ok = "0123456789"]], GET
      .. '\nRange: bytes=0-2\nIf-Range: "v1"\nIf-Range: "v1"', 200 } }
end)

describe("origins", function()
  local ORIGIN = "\nOrigin: http://a.example"
  local ALLOW = "access-control-allow-origin"
  play {
    { "are not all let in with credentials, not even by a function",
      [[handle_ok = "all", cors_credentials = true,
        cors_origins = pick("cors_origins", { n = 1, "*" })]], GET .. ORIGIN, 200,
      { [ALLOW] = false, vary = "Origin" } },
    { "are let in where there are some",
      [[handle_ok = "all", cors_expose = { "ETag" }, origin_allowed = true]], GET, 200,
      { ["access-control-expose-headers"] = false, [ALLOW] = false, vary = "Origin" } },
    { "are not let in where CORS is off, whoever is allowed",
      [[handle_ok = "all", origin_allowed = true,
        cors_enabled = pick("cors_enabled", { n = 1, false })]], GET .. ORIGIN, 200,
      { [ALLOW] = false } },
    { "make responses differ where the app decides, though all may be let in",
      [[handle_ok = "all", cors_origins = "*",
        origin_allowed = pick("origin_allowed", { n = 1, true })]], GET .. ORIGIN, 200,
      { [ALLOW] = "http://a.example", vary = "Origin" } },
    { "make no difference where nobody is let in",
      [[handle_ok = "all", cors_origins = "*", origin_allowed = false]], GET, 200,
      { vary = false } },
    { "may be told of all methods where nothing is",
      [[cors_origins = "*", exists = false, may_create = false, may_recreate = false]],
      "OPTIONS 1.1 /missing" .. PREFLIGHT, 204, { ["access-control-allow-methods"] =
        "GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS" }, nil, true },
  }
end)

describe("paths without a resource", function()
  local NOTHING = "exists = false, may_create = false, may_recreate = false"
  play {
    { "are 404 for TRACE too", NOTHING, "TRACE 1.1 /missing", 404, {}, nil, true },
    { "may be ended by the app above that", NOTHING .. ", within_rate = 405", MISSING,
      405, { allow = "GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS" }, nil, true },
  }
end)

describe("retries and places", function()
  play {
    { "a choice says nothing of when to come back",
      [[handle_ok = "all", single_choice = false, retry_after = 5]], GET, 300,
      { ["retry-after"] = false } },
    { "a part of a second counts as a whole one",
      [[handle_ok = "all", within_rate = false, retry_after = 1.5]], GET, 429,
      { ["retry-after"] = "2" } },
  }
end)
