-- SPDX-License-Identifier: MIT
-- What each method gets from a machine, told on the reference walk: creation, absence,
-- moves, content, preconditions, ends that the app wants.  A line of a table is a
-- request, a machine and the terminal: "status row".
local graph_machine = require "spec.support.graph_machine"
local http = require "spec.support.reference_http"
local reference = require "spec.support.reference_walk"
local response = require "luaweb.response"

local nothing, walk = graph_machine.nothing, graph_machine.walk

local function play(flows)
  for _, flow in ipairs(flows) do
    local title, text, keys, answer = unpack(flow)
    it(title .. ": " .. answer, function()
      local walked = walk(keys, text)
      assert.equal(answer, walked.status .. " " .. walked.row)
    end)
  end
end

local ABSENT = { exists = false }
local GONE = { exists = false, never_was = false }
local TAGGED = { entity_tag = '"v1"' }
local BODY = "\nContent-Length: 3"

describe("reading", function()
  play {
    { "what is there",            "GET",     {},     "200 range_wanted" },
    { "its head",                 "HEAD",    {},     "200 range_wanted" },
    { "nothing to say",           "GET",     { handle_ok = nothing }, "204 has_reply" },
    { "what is not there",        "GET",     ABSENT, "404 may_create" },
    { "though it may be created", "GET",     { exists = false, may_create = true },
      "404 may_create" },
    { "what is gone",             "GET",     GONE,   "410 may_recreate" },
    { "what is here, gone before or not", "GET", { never_was = false },
      "200 range_wanted" },
    { "several choices",          "GET",     { single_choice = false },
      "300 single_choice" },
    { "a handler that says 404",  "GET",     { handle_ok = function() return 404 end },
      "404 has_reply" },
    { "a handler that fails",     "GET",     { handle_ok = function() error "x" end },
      "500 has_reply" },
    { "content of a GET is not judged", "GET\nContent-Length: 9\nContent-Type: a/b",
      { acceptable_media_types = { "text/plain" }, body_limit = 1 },
      "200 range_wanted" },
  }
end)

describe("a condition", function()
  local OUTCOMES = {
    [300] = { single_choice = false },
    [302] = { stays_for_now = 302 },
    [303] = { stays_for_now = 303 },
    [308] = { stays_for_good = false },
    [404] = ABSENT,
    [410] = GONE,
  }
  for status, keys in pairs(OUTCOMES) do
    for _, line in ipairs { "If-None-Match: *", 'If-None-Match: "v1"',
                            'If-Match: "other"' } do
      it(("is not tested where the answer is %d: %s"):format(status, line), function()
        local all = { entity_tag = '"v1"', location = "/there" }
        for key, value in pairs(keys) do all[key] = value end
        assert.equal(status, walk(all, "GET\n" .. line).status)
      end)
    end
  end

  play {
    { "a list, without a tag", 'GET\nIf-Match: "v1"', {}, "412 if_match_holds" },
    { "a star, without a tag", "GET\nIf-None-Match: *", {}, "304 is_cached_read" },
    { "a list beside a date",
      'GET\nIf-None-Match: "v2"\nIf-Modified-Since: Sun, 06 Nov 1994 08:49:37 GMT',
      { entity_tag = '"v1"', last_modified = 0 }, "200 range_wanted" },
  }
end)

describe("OPTIONS", function()
  local EVERYTHING = [[OPTIONS
    Accept: image/png
    If-Match: "other"
    If-None-Match: *
    If-Unmodified-Since: Sun, 06 Nov 1994 08:49:37 GMT
    If-Modified-Since: Sun, 06 Nov 1994 08:49:37 GMT
    Range: bytes=0-0
    Expect: the impossible
    Content-Length: 99999999
    Content-Type: nothing/known
    Content-Encoding: unknown]]
  play {
    { "what there is",            "OPTIONS", {},      "204 has_reply" },
    { "of what is not there",     "OPTIONS", ABSENT,  "204 has_reply" },
    { "with every request field", EVERYTHING, TAGGED, "204 has_reply" },
    { "with a handler",           "OPTIONS", { handle_options = "help" },
      "200 range_wanted" },
    { "behind authentication",    "OPTIONS",
      { authorized = false, challenge = "Basic" }, "401 authorized" },
  }

  it("names the methods, and what PATCH and POST take", function()
    local fields = walk({ patch_media_types = { "application/json-patch+json" },
      acceptable_media_types = { "text/plain" }, accept_ranges = true },
      "OPTIONS").fields
    assert.same({ allow = "GET, HEAD, DELETE, PATCH, POST, PUT, OPTIONS",
      ["accept-patch"] = "application/json-patch+json", ["accept-post"] = "text/plain",
      ["accept-ranges"] = "bytes" }, fields)
  end)

  it("says nothing of PATCH where it is not allowed", function()
    local walked = reference.machine_walk({ handle_ok = "x", methods = { "GET" },
      patch_media_types = { "a/b" } }, http.request "OPTIONS")
    assert.same({ allow = "GET, HEAD, OPTIONS" }, walked.fields)
  end)
end)

describe("PUT", function()
  local MOVED = { stays_for_good = false, location = "/there" }
  play {
    { "creates",                    "PUT" .. BODY, ABSENT, "201 created" },
    { "creates, whatever the operation returns", "PUT" .. BODY,
      { exists = false, do_put = function() return "made" end }, "201 created" },
    { "creates again what is gone", "PUT" .. BODY, GONE, "201 created" },
    { "may not create",             "PUT" .. BODY,
      { exists = false, may_create = false }, "404 may_create" },
    { "may not create again",       "PUT" .. BODY,
      { exists = false, never_was = false, may_recreate = false }, "410 may_recreate" },
    { "creates with If-Match",      "PUT\nIf-Match: *", ABSENT, "412 if_match_holds" },
    { "creates with a list",        'PUT\nIf-Match: "v1"', ABSENT,
      "412 if_match_holds" },
    { "creates, and only that",     "PUT\nIf-None-Match: *", ABSENT, "201 created" },
    { "only creates, but it is there", "PUT\nIf-None-Match: *", {},
      "412 is_cached_read" },
    { "wants a condition to create", "PUT", { exists = false,
      precondition_optional = false }, "428 precondition_optional" },
    { "wants a condition to change", "PUT", { precondition_optional = false },
      "428 precondition_optional" },
    { "has the condition",          'PUT\nIf-Match: "v1"', { entity_tag = '"v1"',
      precondition_optional = false }, "200 range_wanted" },
    { "a date is none where nothing has a date",
      "PUT\nIf-Unmodified-Since: Sun, 06 Nov 1994 08:49:37 GMT",
      { precondition_optional = false }, "428 precondition_optional" },
    { "another tag",                'PUT\nIf-Match: "v2"', TAGGED,
      "412 if_match_holds" },
    { "a list, without a tag",      'PUT\nIf-Match: "v1"', {}, "412 if_match_holds" },
    { "changes, and nobody speaks", "PUT", { handle_ok = nothing }, "204 has_reply" },
    { "changes, and handle_ok speaks", "PUT", {}, "200 range_wanted" },
    { "not yet done",               "PUT", { completed = false }, "202 completed" },
    { "is never sent elsewhere behind the act", "PUT", { see_other = true,
      location = "/there" }, "200 range_wanted" },
    { "moved, with another If-Match", 'PUT\nIf-Match: "other"', MOVED,
      "308 stays_for_good" },
    { "moved, with content too large", "PUT\nContent-Length: 99999999", MOVED,
      "308 stays_for_good" },
    { "moved, with an unknown type", "PUT\nContent-Type: a/b" .. BODY,
      { stays_for_now = false, location = "/there",
        acceptable_media_types = { "c/d" } }, "307 stays_for_now" },
    { "moved, as 301",              "PUT",
      { stays_for_good = 301, location = "/there" }, "301 stays_for_good" },
    { "part of the content",        "PUT\nContent-Range: bytes 0-2/9" .. BODY, {},
      "400 content_whole" },
    { "part, which it knows",       "PUT\nContent-Range: bytes 0-2/9" .. BODY,
      { partial_put = true }, "200 range_wanted" },
    { "a conflict",                 "PUT" .. BODY, { conflict_free = false },
      "409 conflict_free" },
    { "a lost race",                "PUT", { do_put = function() return 412 end },
      "412 operation" },
    { "an operation that fails",    "PUT", { do_put = function() return false end },
      "500 operation" },
  }
end)

describe("POST", function()
  play {
    { "to what is not there",    "POST", ABSENT, "404 may_create" },
    { "that may create",         "POST", { exists = false, may_create = true },
      "200 range_wanted" },
    { "that created",            "POST", { created = true, location = "/1" },
      "201 created" },
    { "sent elsewhere",          "POST", { see_other = true, created = true,
      location = "/1" }, "303 see_other" },
    { "that says where",         "POST", { do_post = function()
      return response.created "/1"
    end }, "201 operation" },
    { "with a reply",            "POST", { do_post = function() return "done" end },
      "200 range_wanted" },
    { "with an unknown type",    "POST\nContent-Type: a/b" .. BODY,
      { acceptable_media_types = { "c/d" } }, "415 media_type_taken" },
    { "without a type",          "POST" .. BODY,
      { acceptable_media_types = { "c/d" } }, "200 range_wanted" },
    { "without content",         "POST\nContent-Type: a/b",
      { acceptable_media_types = { "c/d" } }, "200 range_wanted" },
    { "with a coding",           "POST\nContent-Encoding: br" .. BODY, {},
      "415 content_coding_known" },
    { "too large",               "POST\nContent-Length: 4", { body_limit = 3 },
      "413 content_fits" },
    { "of unknown length",       "POST\nTransfer-Encoding: chunked",
      { length_required = true }, "411 length_known" },
    { "that expects too much",   "POST\nExpect: magic" .. BODY, {},
      "417 expectation_met" },
    { "that expects too much in HTTP/1.0", "POST 1.0\nExpect: magic" .. BODY, {},
      "200 range_wanted" },
    { "whose content is broken", "POST" .. BODY, { content_well_formed = false },
      "400 content_well_formed" },
    { "whose content is wrong",  "POST" .. BODY, { content_valid = false },
      "422 content_valid" },
  }
end)

describe("PATCH", function()
  local JSON_PATCH = { patch_media_types = { "application/json-patch+json" } }
  play {
    { "to what is not there", 'PATCH\nIf-Match: "v1"\nContent-Type: a/b' .. BODY,
      ABSENT, "404 may_create" },
    { "that creates",         "PATCH\nContent-Type: a/b" .. BODY,
      { exists = false, may_create = true }, "201 created" },
    { "without content",      "PATCH", {}, "400 patch_given" },
    { "without a type",       "PATCH" .. BODY, {}, "415 patch_type_taken" },
    { "of another type",      "PATCH\nContent-Type: a/b" .. BODY, JSON_PATCH,
      "415 patch_type_taken" },
    { "of the type",
      "PATCH\nContent-Type: application/json-patch+json" .. BODY, JSON_PATCH,
      "200 range_wanted" },
  }
end)

describe("DELETE", function()
  play {
    { "of what is not there", 'DELETE\nIf-Match: "v1"', ABSENT, "404 may_create" },
    { "of what is gone",      "DELETE", GONE, "410 may_recreate" },
    { "done",                 "DELETE", {}, "204 has_reply" },
    { "done, with a reply",   "DELETE", { do_delete = function() return "bye" end },
      "200 range_wanted" },
    { "not yet done",         "DELETE", { completed = false }, "202 completed" },
    { "sent elsewhere",       "DELETE", { see_other = true, location = "/" },
      "303 see_other" },
    { "in conflict",          "DELETE", { conflict_free = false },
      "409 conflict_free" },
    { "of another state",     'DELETE\nIf-Match: "v2"', TAGGED, "412 if_match_holds" },
  }
end)
