-- SPDX-License-Identifier: MIT
-- The keys of machines (lua/luaweb/machine/keys.lua): which there are, what each may
-- hold (values.lua and representation.lua there), and how it is said to C.
local graph = require "luaweb.graph"
local keys = require "luaweb.machine.keys"
local test = require "luaweb.test"
local web = require "luaweb"

local function nothing() end

local function is_right(name, value)
  assert.is_nil(keys.fault(name, value))
end

local function is_wrong(name, value)
  assert.is_string(keys.fault(name, value))
end

describe("decisions", function()
  it("are the rows that an app may answer, those of components included", function()
    local rows = { graph.rows, graph.components.cors, graph.components.patch }
    for _, list in ipairs(rows) do
      for _, row in ipairs(list) do
        local key = keys.find(row[1])
        local is_asked = row[4]:find "app" ~= nil and row[1] ~= "operation"
        assert.equal(is_asked and "decision" or nil, key and key.kind, row[1])
      end
    end
  end)

  for _, value in ipairs { true, false, 200, 404, 599, nothing, web.status(403),
    web.text "no" } do
    it("may be " .. tostring(value), function() is_right("allowed", value) end)
  end

  for _, value in ipairs { "no", {}, 99, 199, 600, 404.5, 0 / 0, 206, 416 } do
    it("may not be " .. tostring(value), function() is_wrong("allowed", value) end)
  end

  it("say why a number is refused", function()
    assert.equal("206 is a status that no app gives: it follows from Range",
      keys.fault("allowed", 206))
    assert.equal("a status is a whole number from 200 to 599",
      keys.fault("allowed", 102))
  end)
end)

-- What each property may hold, and what not.
local properties = {
  available_media_types = {
    right = { { "text/html" }, { "text/html; charset=utf-8", "a/b+json" } },
    wrong = { "text/html", {}, { "text" }, { "text/*" }, { "*/*" }, { "text/html", 5 },
      { "text/html; x" }, { "text/html", x = 1 } },
  },
  acceptable_media_types = {
    right = { { "text/*" }, { "*/*" }, { "application/json" } },
    wrong = { { "*/json" }, { "te*t/html" }, { "text/h*" }, { "" } },
  },
  patch_media_types = { right = { { "application/merge-patch+json" } },
    wrong = { { "json" } } },
  available_languages = {
    right = { { "en" }, { "de-CH-1996", "zh-Hant", "x-own" } },
    wrong = { { "*" }, { "en_US" }, { "en-" }, { "e--n" }, { "abcdefghi" }, { "1a" } },
  },
  available_charsets = { right = { { "utf-8" } }, wrong = { { "*" }, { "utf 8" } } },
  available_content_codings = { right = { { "gzip", "br" } },
    wrong = { { "*" }, {} } },
  acceptable_content_codings = { right = { { "gzip" } }, wrong = { { "gzip," } } },
  strict = { right = { {}, { "media_type", "language", "charset", "content_coding" } },
    wrong = { { "type" }, "media_type" } },
  hosts = { right = { { "example.com", "example.com:8080", "[::1]" } },
    wrong = { { "http://example.com" }, { "" }, { "a b" }, { "a,b" } } },
  vary = { right = { { "Accept", "*" } }, wrong = { "Accept", { "a b" }, {} } },
  entity_tag = {
    right = { '"a"', 'W/"a"', '""', '"\195\164"' },
    wrong = { "a", '"a', 'a"', '"', "", 'w/"a"', '"a"b"', '"a b"', '"a\n"', 'W/a"', 5 },
  },
  last_modified = { right = { 0, 1.5, 253402300799 },
    wrong = { -1, 0 / 0, math.huge, "Sun, 06 Nov 1994 08:49:37 GMT", 253402300800 } },
  expires = { right = { 0 }, wrong = { "0", true } },
  location = { right = { "/a%20b?x#y", "http://example.com/" },
    wrong = { "", "a b", "/\195\164", "/<x>", "/a\r\n" } },
  cache_control = { right = { "no-store", "max-age=5, public" },
    wrong = { "", "a\nb", 5 } },
  retry_after = { right = { 0, 120, "120", "Sun, 06 Nov 1994 08:49:37 GMT" },
    wrong = { -1, "soon", "", true } },
  challenge = { right = { { 'Basic realm="x"', "Negotiate" } },
    wrong = { 'Basic realm="x"', { "" }, { "a,b" }, { "Basic \n" } } },
  body_limit = { right = { 0, 5, math.huge }, wrong = { -1, 0 / 0, "8m" } },
  length_required = { right = { true, false }, wrong = { 1, "yes" } },
  accept_ranges = { right = { true }, wrong = { "bytes" } },
  partial_put = { right = { false }, wrong = { {} } },
  cors_origins = {
    right = { "*", {}, { "http://a.example", "https://b:8443", "null", "app.x://y" } },
    wrong = { "http://a", { "*" }, { "http://a/" }, { "a.example" },
      { "HTTP://a" }, { "http://A" }, { "http://u@h" } },
  },
  cors_methods = { right = { "*", { "GET", "BREW" } }, wrong = { { "*" }, "GET" } },
  cors_headers = { right = { "*", {}, { "X-A" } }, wrong = { { "a b" } } },
  cors_expose = { right = { "*", {}, { "X-A" } }, wrong = { { "*" } } },
  cors_credentials = { right = { true }, wrong = { "include" } },
  cors_max_age = { right = { 0, 600 }, wrong = { -1 } },
  cors_private_network = { right = { true }, wrong = { 1 } },
}

describe("properties", function()
  for name, case in pairs(properties) do
    for _, value in ipairs(case.right) do
      it(("%s may be %s"):format(name, tostring(value)), function()
        is_right(name, value)
      end)
    end
    for i, value in ipairs(case.wrong) do
      it(("%s may not be %s (%d)"):format(name, tostring(value), i), function()
        is_wrong(name, value)
      end)
    end
    it(name .. " may be a function", function() is_right(name, nothing) end)
  end

  it("are said to C as a text and a number", function()
    local function said(name, value) return { keys.find(name).read(value) } end
    assert.same({ "gzip\nbr", 0 }, said("available_content_codings", { "gzip", "br" }))
    assert.same({ "*", 0 }, said("cors_origins", "*"))
    assert.same({ 'W/"a"', 0 }, said("entity_tag", 'W/"a"'))
    assert.same({ "1", 7 }, said("last_modified", 7.9))
    assert.same({ "2", 2 }, said("retry_after", 1.5))
    assert.same({ "1", 1 }, said("accept_ranges", true))
    assert.same({ "0", 0 }, said("accept_ranges", false))
  end)

  it("that a function has returned may be nothing", function()
    assert.same({ [2] = 0 }, { keys.find("entity_tag").convert(nil) })
    assert.same({ [2] = 0 }, { keys.find("entity_tag").convert(false) })
    assert.same({ [2] = 0 }, { keys.find("cors_origins").convert {} })
    assert.same({ "0", 0 }, { keys.find("accept_ranges").convert(false) })
  end)

  it("that a function has returned wrongly are an error that names the key", function()
    assert.error_matches(function() keys.find("entity_tag").convert(7) end,
      "^entity_tag wants an entity tag$")
    assert.error_matches(function() keys.find("vary").convert { "a b" } end,
      "^vary wants a list of header names: a b is none$")
  end)
end)

describe("a function of a property", function()
  local given
  local client = test.app(web.app {
    web.resource("/tag", web.machine { entity_tag = function() return given end,
      handle_ok = "x" }),
    web.resource("/cache", web.machine { cache_control = function() return given end,
      handle_ok = function() return "x" end }),
  })

  it("that gives no entity tag, or octets that no field has, is a 500", function()
    for _, path in ipairs { "/tag", "/cache" } do
      given = 'a"\r\nX-Evil: 1'
      local res = client:get(path)
      assert.equal(500, res.status)
      assert.is_nil(res.headers["x-evil"])
    end
    given = "a"
    assert.equal(500, client:get("/tag").status)
    given = '"a"'
    assert.equal('"a"', client:get("/tag").headers.etag)
  end)
end)

describe("handlers", function()
  it("may be functions, texts, responses and what JSON can say", function()
    for _, value in ipairs { nothing, "", "gone", web.html "<p>", { a = { 1 } },
      web.array {}, web.text("x"):header("X-A", "1") } do
      is_right("handle_gone", value)
    end
  end)

  it("may be nothing else", function()
    for _, value in ipairs { 404, true, { nothing }, { a = 0 / 0 } } do
      is_wrong("handle_gone", value)
    end
  end)

  it("speak at one status each", function()
    for name, status in pairs { handle_ok = 200, handle_see_other = 303,
      handle_not_found = 404, handle_unavailable_for_legal_reasons = 451 } do
      assert.equal(status, keys.find(name).number)
    end
    assert.is_nil(keys.find("handle_options").number)
    assert.is_nil(keys.find("handle_partial_content"))
  end)

  it("of 200 may be one for each media type, in a map or a list", function()
    is_right("handle_ok", { ["text/html"] = nothing, ["application/json"] = { a = 1 } })
    is_right("handle_ok", { { "text/html", nothing }, { "text/plain", "x" } })
  end)

  for why, value in pairs {
    ["is an empty table: what media types are there?"] = {},
    ["texthtml is not a media type, as others there are"] =
      { ["text/html"] = nothing, texthtml = nothing },
    ["text/html is there twice"] = { { "text/html", "a" }, { "text/html", "b" } },
    ["2 is not a media type, as others there are"] = { { "text/html", "a" }, "b" },
    ["text/* is not a media type, as others there are"] = { ["text/*"] = nothing },
  } do
    it("of 200 are refused: " .. why, function()
      assert.equal(why, keys.fault("handle_ok", value))
    end)
  end
end)

describe("a name that is no key", function()
  for name, meant in pairs {
    hanlde_ok = "handle_ok", exist = "exists", entitytag = "entity_tag",
    do_Post = "do_post", avaliable_media_types = "available_media_types",
    handle_notfound = "handle_not_found",
  } do
    it(("may be meant: %s for %s"):format(name, meant), function()
      assert.equal(("no machine has this key (did you mean %s?)"):format(meant),
        keys.fault(name, true))
    end)
  end

  for name, known in pairs {
    resource_exists = "it is called exists here",
    is_authorized = "it is called authorized here",
    content_types_provided = "it is called available_media_types here",
    malformed_request = "it is called well_formed here, which answers the opposite",
    movedPermanently = "it is called stays_for_good here, which answers the opposite",
    ["moved-temporarily?"] =
      "it is called stays_for_now here, which answers the opposite",
    gone = "it is called never_was here, which answers the opposite",
    includes = "a machine lists what it includes in its array part",
  } do
    it("may be known from elsewhere: " .. name, function()
      assert.equal("no machine has this key: " .. known, keys.fault(name, true))
    end)
  end

  it("from elsewhere leads to a key that there is", function()
    for _, name in ipairs { "previously_existed", "moved_temporarily", "uri_too_long",
      "is_conflict", "no_content", "multiple_choices", "forbidden", "etag",
      "process_post", "allowed_methods", "options", "post_is_create", "create_path",
      "content_types_accepted", "languages_provided", "encodings_provided" } do
      local key = keys.fault(name, true):match "it is called ([%l_]+) here"
      assert.is_truthy(keys.find(key), name)
    end
  end)

  it("is only refused where nothing is like it", function()
    assert.equal("no machine has this key", keys.fault("colour_of_sky", true))
    assert.equal("no machine has this key", keys.fault("timeouts_in_ms", true))
  end)

  it("may be that of a row which the app does not answer", function()
    is_wrong("method_allowed", true)
    is_wrong("operation", nothing)
    is_wrong("is_read", true)
  end)
end)

describe("web.component", function()
  it("makes keys of its rows", function()
    is_wrong("keys_spec_row", true)
    web.component { name = "keys_spec", in_front_of = "exists",
      { "keys_spec_row", "___", 404, "app", true, "here" },
      { "keys_spec_fact", "___", 404, "method", nil, "here", yes_for = "*" },
    }
    is_right("keys_spec_row", nothing)
    is_wrong("keys_spec_row", "text")
    is_wrong("keys_spec_fact", true)
  end)
end)
