-- SPDX-License-Identifier: MIT
-- What each method gets from a resource that is there, is not, is gone or has moved,
-- on the wire: creation, preconditions, redirects, what comes behind the act.
-- RFC 9110 §9.3, §13, §15; RFC 5789; RFC 6585 §3.
local flows = require "spec.support.flows"
local web = require "luaweb"

local DATE = "Sun, 06 Nov 1994 08:49:37 GMT"
local ABSENT = { exists = false }
local GONE = { exists = false, never_was = false }
local TAGGED = { entity_tag = '"v1"', last_modified = 784111777 }
local BODY = "\n\nabc"
local THERE = { location = "/there" }

local function nothing() end

local function with(keys, more)
  local all = {}
  for key, value in pairs(keys) do all[key] = value end
  for key, value in pairs(more) do all[key] = value end
  return all
end

-- Each flow is played with its keys as they stand, and with functions that wait.
local function play(list)
  for _, flow in ipairs(list) do
    local title = ("%s: %s"):format(flow[1], flow[4])
    it(title, function() assert.is_nil(flows.fault(flow, false)) end)
    it(title .. ", after a wait", function() assert.is_nil(flows.fault(flow, true)) end)
  end
end

local MOVED = with(TAGGED, { stays_for_good = false, location = "/there" })

describe("reading", function()
  play {
    { "what is there", "GET", TAGGED, "200",
      { ETag = '"v1"', ["Last-Modified"] = DATE }, "hello" },
    { "its head", "HEAD", TAGGED, "200", { ETag = '"v1"', ["Content-Length"] = "5" },
      "" },
    { "where nothing is to be said", "GET", { handle_ok = nothing }, "204",
      { ["Content-Length"] = false, ["Content-Type"] = false }, "" },
    { "what is not there", "GET", ABSENT, "404", {}, "404 Not Found\n" },
    { "what is not there, its head", "HEAD", ABSENT, "404",
      { ["Content-Length"] = "14" }, "" },
    { "what is not there, though it may be created", "GET",
      { exists = false, may_create = true }, "404" },
    { "what is gone", "GET", GONE, "410" },
    { "what was gone once, and is here", "GET", { never_was = false }, "200" },
    { "what has several choices", "GET", { single_choice = false, location = "/en" },
      "300", { Location = "/en" } },
    { "what another host has", "GET\nHost: b.example", { hosts = { "a.example" } },
      "421" },
    { "what the host has, whatever the port", "GET\nHost: A.example:81",
      { hosts = { "a.example" } }, "200" },
    { "with content, which nobody judges",
      "GET\nContent-Type: a/b\nContent-Encoding: c\nExpect: d" .. BODY,
      { acceptable_media_types = { "text/plain" }, body_limit = 100,
        length_required = true }, "200" },
    { "what a PUT would want a condition for", "GET",
      { precondition_optional = false }, "200" },
  }
end)

-- A redirect or absence comes before preconditions (13.2.1).
describe("a condition is not tested of what", function()
  for status, keys in pairs {
    [300] = { single_choice = false },
    [302] = { stays_for_now = 302 },
    [303] = { stays_for_now = 303 },
    [307] = { stays_for_now = false },
    [308] = { stays_for_good = false },
    [301] = { stays_for_good = 301 },
    [404] = ABSENT,
    [410] = GONE,
  } do
    for _, line in ipairs { "If-None-Match: *", 'If-None-Match: "v1"',
      'If-Match: "other"', "If-Modified-Since: " .. DATE } do
      local fields = { ETag = false, ["Last-Modified"] = false,
        ["Cache-Control"] = false, Location = status < 400 and "/there" or false }
      play { { ("answers %d (%s)"):format(status, line), "GET\n" .. line,
        with(with(TAGGED, { location = "/there", cache_control = "max-age=9" }), keys),
        tostring(status), fields } }
    end
  end
end)

describe("OPTIONS", function()
  local EVERYTHING = "OPTIONS\nAccept: image/png\nAccept-Language: xx\n"
    .. "Accept-Charset: yy\nAccept-Encoding: *;q=0\nIf-Match: \"other\"\n"
    .. "If-None-Match: *\nIf-Unmodified-Since: " .. DATE .. "\n"
    .. "If-Modified-Since: " .. DATE .. "\nRange: bytes=0-0\nIf-Range: \"x\"\n"
    .. "Expect: the impossible\nContent-Type: nothing/known\n"
    .. "Content-Encoding: unknown\nContent-Range: bytes 0-2/9" .. BODY
  local ALL = "GET, HEAD, DELETE, PATCH, POST, PUT, OPTIONS"
  play {
    { "tells the methods", "OPTIONS", {}, "204", { Allow = ALL,
      ["Content-Length"] = false } },
    { "does so of what is not there", "OPTIONS", ABSENT, "204", { Allow = ALL } },
    { "does so of what has moved", "OPTIONS", MOVED, "204", { Allow = ALL } },
    { "does so whatever the request has", EVERYTHING, with(TAGGED, {
      available_media_types = { "a/b" }, available_languages = { "en" },
      strict = { "media_type", "language", "charset", "content_coding" },
      available_charsets = { "utf-8" }, body_limit = 1, accept_ranges = true,
      precondition_optional = false, cache_control = "max-age=9",
      acceptable_media_types = { "a/b" }, patch_media_types = { "c/d" } }), "204",
      { Allow = ALL, ["Accept-Patch"] = "c/d", ["Accept-Post"] = "a/b",
        ["Accept-Ranges"] = "bytes", ETag = false, ["Cache-Control"] = false,
        Vary = false } },
    { "is asked who it is", "OPTIONS", { authorized = false, challenge = { "Basic" } },
      "401", { Allow = false } },
    { "is asked what it may", "OPTIONS", { allowed = false }, "403" },
    { "is told more by a handler", "OPTIONS", { handle_options = "help" }, "200",
      { Allow = ALL, ["Content-Type"] = "text/plain; charset=utf-8" }, "help" },
  }
end)

describe("PUT", function()
  play {
    { "creates", "PUT" .. BODY, ABSENT, "201 done", { ["Content-Length"] = "0" } },
    { "creates what is gone", "PUT" .. BODY, GONE, "201 done" },
    { "may not create", "PUT" .. BODY, { exists = false, may_create = false }, "404" },
    { "may not create again", "PUT" .. BODY,
      { exists = false, never_was = false, may_recreate = false }, "410" },
    { "has nothing that If-Match could match: *", "PUT\nIf-Match: *" .. BODY, ABSENT,
      "412" },
    { "has nothing that If-Match could match: a tag", 'PUT\nIf-Match: "v1"' .. BODY,
      with(TAGGED, ABSENT), "412" },
    { "creates, and would do nothing else", "PUT\nIf-None-Match: *" .. BODY, ABSENT,
      "201 done" },
    { "would only create, and there is one without a tag",
      "PUT\nIf-None-Match: *" .. BODY, {}, "412" },
    { "would only create, and there is one with a tag",
      "PUT\nIf-None-Match: *" .. BODY, TAGGED, "412", { ["Last-Modified"] = false } },
    { "wants a condition to create", "PUT" .. BODY,
      { exists = false, precondition_optional = false }, "428" },
    { "wants a condition to change", "PUT" .. BODY,
      with(TAGGED, { precondition_optional = false }), "428",
      { ETag = false, ["Cache-Control"] = false } },
    { "has the condition that it wants", 'PUT\nIf-Match: "v1"' .. BODY,
      with(TAGGED, { precondition_optional = false }), "200 done" },
    { "has a date for the condition", "PUT\nIf-Unmodified-Since: " .. DATE .. BODY,
      with(TAGGED, { precondition_optional = false }), "200 done" },
    { "has a date, and nothing has one here",
      "PUT\nIf-Unmodified-Since: " .. DATE .. BODY, { precondition_optional = false },
      "428" },
    { "has another tag", 'PUT\nIf-Match: "v2"' .. BODY, TAGGED, "412" },
    { "has a list, and nothing has a tag here", 'PUT\nIf-Match: "v1"' .. BODY, {},
      "412" },
    { "changes, and nobody speaks", "PUT" .. BODY, { handle_ok = nothing },
      "204 done", { ["Content-Location"] = false } },
    { "changes, and the new state is shown", "PUT /x?a=1" .. BODY, TAGGED, "200 done",
      { ["Content-Location"] = "/x?a=1", ETag = false, ["Last-Modified"] = false },
      "hello" },
    { "changes, and the operation speaks", "PUT" .. BODY,
      with(TAGGED, { do_put = function() return "stored" end }), "200 done",
      { ["Content-Location"] = false, ETag = false }, "stored" },
    { "is not done yet", "PUT" .. BODY, with(THERE, { completed = false }),
      "202 done", { Location = "/there" } },
    { "is not sent elsewhere behind the act", "PUT" .. BODY,
      with(THERE, { see_other = true }), "200 done", { Location = false } },
    { "has moved, and has another If-Match", 'PUT\nIf-Match: "other"' .. BODY, MOVED,
      "308", { Location = "/there" } },
    { "has moved, and has too much content", "PUT" .. BODY,
      with(MOVED, { body_limit = 1 }), "308" },
    { "has moved for now, and has an unknown type", "PUT\nContent-Type: a/b" .. BODY,
      { stays_for_now = false, location = "/there", retry_after = 5,
        acceptable_media_types = { "c/d" } }, "307", { ["Retry-After"] = "5" } },
    { "has moved, as 301", "PUT" .. BODY, with(THERE, { stays_for_good = 301 }),
      "301" },
    { "brings a part", "PUT\nContent-Range: bytes 0-2/9" .. BODY, {}, "400" },
    { "brings a part, which it knows", "PUT\nContent-Range: bytes 0-2/9" .. BODY,
      { partial_put = true }, "200 done" },
    { "brings what is in conflict", "PUT" .. BODY, { conflict_free = false }, "409" },
    { "has lost a race", "PUT" .. BODY, { do_put = function() return 412 end },
      "412 done" },
    { "has no content, which nobody judges", "PUT\nContent-Type: a/b",
      { acceptable_media_types = { "c/d" }, length_required = true }, "200 done" },
  }
end)

describe("POST", function()
  play {
    { "is sent to what is not there", "POST" .. BODY, ABSENT, "404" },
    { "may create, and has not", "POST" .. BODY,
      { exists = false, may_create = true, created = false }, "200 done" },
    { "has created", "POST" .. BODY, with(THERE, { created = true }), "201 done",
      { Location = "/there", ETag = false } },
    { "has created and is sent elsewhere", "POST" .. BODY,
      with(THERE, { created = true, see_other = true }), "303 done",
      { Location = "/there" } },
    { "has created, says the operation", "POST" .. BODY,
      { do_post = function() return web.created("/1", "made") end }, "201 done",
      { Location = "/1" }, "made" },
    { "is taken, says the operation", "POST" .. BODY,
      { do_post = function() return web.accepted "/jobs/1" end }, "202 done",
      { Location = "/jobs/1" } },
    { "is sent elsewhere, says the operation", "POST" .. BODY,
      { do_post = function() return web.redirect "/1" end }, "303 done",
      { Location = "/1" } },
    { "is not done yet", "POST" .. BODY, with(THERE, { completed = false }),
      "202 done", { Location = "/there" } },
    { "has an equal tag in If-None-Match", 'POST\nIf-None-Match: "v1"' .. BODY, TAGGED,
      "412" },
    { "wants a condition", "POST" .. BODY, { precondition_optional = false }, "428" },
    { "is wrong in what it says", "POST" .. BODY, { content_valid = false }, "422" },
    { "is broken", "POST" .. BODY, { content_well_formed = false }, "400" },
  }
end)

describe("PATCH", function()
  local JSON_PATCH = { patch_media_types = { "application/json-patch+json" } }
  local PATCH = "PATCH\nContent-Type: application/json-patch+json"
  play {
    { "of what is not there", PATCH .. '\nIf-Match: "v1"' .. BODY, ABSENT, "404" },
    { "of what is gone", PATCH .. BODY, GONE, "410" },
    { "that creates", PATCH .. BODY, { exists = false, may_create = true },
      "201 done" },
    { "without content", PATCH, {}, "400" },
    { "without a type", "PATCH" .. BODY, JSON_PATCH, "415",
      { ["Accept-Patch"] = "application/json-patch+json",
        ["Accept-Encoding"] = false } },
    { "of another type", "PATCH\nContent-Type: a/b" .. BODY, JSON_PATCH, "415" },
    { "of its type", PATCH .. "; charset=utf-8" .. BODY, JSON_PATCH, "200 done" },
    { "of what has moved", "PATCH" .. BODY, MOVED, "308" },
    { "of another state", PATCH .. '\nIf-Match: "v2"' .. BODY, TAGGED, "412" },
  }
end)

describe("DELETE", function()
  play {
    { "of what is not there", 'DELETE\nIf-Match: "v1"', ABSENT, "404" },
    { "of what may be created", "DELETE", { exists = false, may_create = true },
      "404" },
    { "of what is gone", "DELETE", GONE, "410" },
    { "of what has moved", "DELETE", MOVED, "308" },
    { "that is done", "DELETE", TAGGED, "204 done", { ETag = false } },
    { "that is done, with a reply", "DELETE", { do_delete = function()
      return "bye"
    end }, "200 done", { ["Content-Location"] = false }, "bye" },
    { "that is not done yet", "DELETE", { completed = false }, "202 done" },
    { "that is sent elsewhere", "DELETE", with(THERE, { see_other = true }),
      "303 done" },
    { "that is in conflict", "DELETE", { conflict_free = false }, "409" },
    { "of another state", 'DELETE\nIf-Match: "v2"', TAGGED, "412" },
    { "that wants a condition", "DELETE", { precondition_optional = false }, "428" },
  }
end)
