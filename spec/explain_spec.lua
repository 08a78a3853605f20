-- SPDX-License-Identifier: MIT
-- `luaweb explain`: what it shows of a request, in all its forms.
local json = require "luaweb.json"
local process = require "spec.support.process"

local HELLO, APP = "apps/hello.lua", "spec/apps/explained.lua"

after_each(process.clean)

-- What it prints.
local function explain(...)
  local ended = process.run("explain", ...)
  assert(ended.code == 0, ended.errors)
  return ended.output
end

local function contains(text, part)
  assert(text:find(part, 1, true), ("%q is not in:\n%s"):format(part, text))
end

local function lacks(text, part)
  assert(not text:find(part, 1, true), ("%q is in:\n%s"):format(part, text))
end

-- The line of a row in the walk, its white space made single.
local function row_of(text, name)
  local walk = text:match "\nThe walk (.-)\n\n"
  for line in walk:gmatch "[^\n]+" do
    if line:match "^ +%d+  ([%w_]+) " == name then
      return (line:gsub("^ +%d+ +", ""):gsub(" +", " "))
    end
  end
  error(("the walk does not pass %s:\n%s"):format(name, text), 2)
end

-- The line of a field of the response, likewise.
local function field_of(text, name)
  local line = text:match("\n  (" .. name:gsub("%-", "%%-") .. ": [^\n]*)")
  assert(line, name .. " is not there:\n" .. text)
  return (line:gsub(" +", " "))
end

-- Without the date.
local function undated(text)
  return (text:gsub("Date: %a%a%a, [^\n]- GMT", "Date: now"))
end

describe("the page on GET /hello", function()
  local text

  before_each(function() text = text or explain(HELLO, "GET", "/hello") end)

  it("names the resource and where it is declared", function()
    contains(text, "\nResource\n  /hello{/name}  apps/hello.lua:13\n"
      .. "  methods: GET, HEAD, OPTIONS\n")
  end)

  it("counts what each pass has removed", function()
    contains(text, "\n  49 rows: 8 fixed by the method, 31 literal, 10 asked\n")
    contains(text, "\n  literal elimination  49 -> 10 rows\n")
    contains(text, "\n  unary elimination    10 -> 10 rows: nothing to remove\n")
    contains(text, "\n  subgraph elimination 10 ->  4 rows\n"
      .. "    nobody comes there: expectation_met, content_fits, content_coding_known, "
      .. "operation,\n")
    contains(text, "\n    fixed by GET, no: may_create, may_recreate, has_content\n")
    contains(text, "\n    known at load, yes: authority_served, ")
  end)

  it("shows the program that is left", function()
    contains(text, [[

Program for GET
   0  precondition_given   yes: step 1   no: step 3   C
   1  if_match_holds       yes: step 2   no: 412      C
   2  if_none_match_holds  yes: step 3   no: 304      C
   3  has_reply            yes: 200      no: 204      handle_ok at apps/hello.lua:7
]])
  end)

  it("walks the whole table, with a reason for each row", function()
    contains(text, "\nThe walk of this request: 26 of 49 rows, 2 asked\n")
    assert.equal("authority_served yes no hosts: any authority is served",
      row_of(text, "authority_served"))
    assert.equal("service_available yes default", row_of(text, "service_available"))
    assert.equal("method_allowed yes one of its methods: GET, HEAD, OPTIONS",
      row_of(text, "method_allowed"))
    assert.equal("exists yes default -> single_choice", row_of(text, "exists"))
    assert.equal("has_content no fixed: GET -> media_type_offered",
      row_of(text, "has_content"))
    assert.equal("precondition_given no step 0 there is none",
      row_of(text, "precondition_given"))
    assert.equal("has_reply yes step 3 handle_ok at apps/hello.lua:7 gave content",
      row_of(text, "has_reply"))
    contains(text, "\n  ends at range_wanted with 200\n")
  end)

  it("shows the response, and where its fields come from", function()
    contains(undated(text), [[

Response
  HTTP/1.1 200 OK
  Date: now      the clock
  Content-Type: text/plain; charset=utf-8  handle_ok at apps/hello.lua:7
  Content-Length: 13                       the content
  Connection: close                        the connection
  13 octets of content
]])
  end)

  it("is that of a request without a method too, and has no colours here", function()
    assert.equal(undated(text), undated(explain(HELLO, "/hello")))
    lacks(text, "\27")
  end)
end)

describe("the reasons", function()
  local function because(row, reason, ...)
    local words = { ... }
    it(("%s: %s"):format(row, reason), function()
      local line = row_of(explain(APP, unpack(words)), row)
      assert.equal(("%s %s"):format(row, reason), line)
    end)
  end

  local ALLOWED = "the function at spec/apps/explained.lua:9"
  because("legally_available", "yes literal, spec/apps/explained.lua:7", "/notes/1")
  because("allowed", "yes step 0 " .. ALLOWED .. " answered true", "/notes/1")
  because("allowed", "no step 0 " .. ALLOWED .. " answered false",
    "/notes/1?as=nobody")
  because("allowed", "404 step 0 " .. ALLOWED .. " answered 404", "/notes/1?as=status")
  because("allowed", "403 step 0 " .. ALLOWED .. " answered 403",
    "/notes/1?as=response")
  because("allowed", "500 step 0 allowed at spec/apps/explained.lua:9 failed: "
    .. "spec/apps/explained.lua:12: boom", "/notes/1?as=fault")
  because("exists", "no step 1 the function at spec/apps/explained.lua:15 answered "
    .. "false", "/notes/2")
  because("exists", "no no resource is here", "/nowhere")
  because("exists", "no no resource is here", "/notes/no-number")
  because("authorized", "no step 2 no credentials for web.basic at "
    .. "spec/apps/explained.lua:29", "/page")
  because("origin_given", "no step 0 there is no Origin -> service_available", "/page")
  because("origin_allowed", "yes step 1 http://a.example is in cors_origins", "/page",
    "-H", "Origin: http://a.example")
  because("origin_allowed", "no step 1 http://b.example is not in cors_origins "
    .. "-> service_available", "/page", "-H", "Origin: http://b.example")
  because("not_preflight", "no step 2 a preflight: Access-Control-Request-Method is "
    .. "PUT", "OPTIONS", "/page", "-H", "Origin: http://a.example", "-H",
    "Access-Control-Request-Method: PUT")
  because("media_type_offered", "no step 3 none of available_media_types goes with "
    .. "image/png", "/page", "-H", "Accept: image/png", "-H",
    "Authorization: Basic bWU6")
  because("if_match_holds", 'no step 3 "x" does not have the current tag', "/notes/1",
    "-H", 'If-Match: "x"')
  because("if_none_match_holds", 'no step 4 "v1" has the current tag -> is_cached_read',
    "/notes/1", "-H", 'If-None-Match: "v1"')
  because("if_none_match_holds", "no step 4 If-None-Match is *: something is here "
    .. "-> is_cached_read", "/notes/1", "-H", "If-None-Match: *")
  because("precondition_given", "no step 2 If-Modified-Since does not count here",
    "/notes/1", "-H", "If-Modified-Since: Sun, 06 Nov 1994 08:49:37 GMT")
  because("media_type_taken", "no step 7 text/html is not in acceptable_media_types",
    "PUT", "/notes/1", "-d", "x", "-H", "Content-Type: text/html")
  because("operation", "yes step 11 do_put at spec/apps/explained.lua:21 has done it",
    "PUT", "/notes/1", "-d", "x")
  because("created", "yes step 12 nothing was there before", "PUT", "/notes/3", "-d",
    "x")
  because("operation", "yes step 5 do_delete at spec/apps/explained.lua:24 has done "
    .. "it, and gave content", "DELETE", "/notes/1")
  because("has_reply", "yes step 6 the operation gave content", "DELETE", "/notes/1")
  because("has_reply", "yes handle_ok at spec/apps/explained.lua:42 is a constant",
    "/constant")
  because("range_wanted", "yes step 3 bytes=0-1 is wanted", "/constant", "-H",
    "Range: bytes=0-1")
  because("range_fits", "no step 5 bytes=90- lies behind the end", "/constant", "-H",
    "Range: bytes=90-")
  because("method_implemented", "no no resource of the app lists it", "BREW", "/page")
  because("method_allowed", "no its methods are GET, HEAD, OPTIONS", "POST", "/page")
end)

describe("the response", function()
  local function from(name, source, ...)
    local words = { ... }
    it(("has %s of %s"):format(name, source), function()
      local line = field_of(explain(APP, unpack(words)), name)
      assert.equal(source, line:sub(-#source), line)
    end)
  end

  local ME = "Authorization: Basic bWU6"
  from("ETag", '"v1" entity_tag at spec/apps/explained.lua:7', "/notes/1")
  from("Cache-Control", "no-cache cache_control at spec/apps/explained.lua:27", "/page",
    "-H", ME)
  from("Vary", "Accept, Origin available_media_types at spec/apps/explained.lua:41, "
    .. "cors_origins at spec/apps/explained.lua:31", "/page", "-H", ME)
  from("WWW-Authenticate", "challenge at spec/apps/explained.lua:41", "/page")
  from("Allow", "the methods of the resource", "DELETE", "/page")
  from("Content-Type", "handle_forbidden at spec/apps/explained.lua:7",
    "/notes/1?as=nobody")
  from("Content-Type", "do_delete at spec/apps/explained.lua:24", "DELETE", "/notes/1")
  from("Content-Type", "luaweb's explanation", "/notes/9")
  from("Content-Range", "bytes 0-1/6 range_fits", "/constant", "-H", "Range: bytes=0-1")
  from("Set-Cookie", "the app", "/cookie")
end)

describe("luaweb explain", function()
  it("shows no credentials", function()
    local text = explain(APP, "/cookie", "-H", "Authorization: Basic c2VjcmV0LTI=",
      "-H", "Cookie: a=secret-3", "-H", "Proxy-Authorization: secret-4")
    contains(text, "\n  Authorization: Basic (not shown)\n  Cookie: (not shown)\n"
      .. "  Proxy-Authorization: (not shown)\n")
    contains(text, "\n  Set-Cookie: session=(not shown) ")
    local shown = explain(APP, "/cookie", "--json", "-H", "Cookie: a=secret-3")
    for _, secret in ipairs { "secret-1", "c2VjcmV0LTI=", "secret-3", "secret-4" } do
      lacks(text .. shown, secret)
    end
  end)

  it("names what a resource demands of the values in its paths", function()
    contains(explain(APP, "/notes/1"), "\n  methods: GET, HEAD, DELETE, PUT, OPTIONS\n"
      .. "  params: id = int\n")
  end)

  it("says that no resource matches", function()
    local text = explain(HELLO, "/missing")
    contains(text, "\n  none: no template matches the path")
    contains(text, "\n  no question: the answer is always 404, from may_create\n")
  end)

  it("says why the server has refused a request by itself", function()
    local text = explain(HELLO, "/hello", "-H", "Content-Length: one")
    contains(text, "\n  none: the server answers by itself")
    contains(text, "\n  HTTP/1.1 400 Bad Request\n")
    contains(text, "\n  400 Bad Request: ")
    lacks(text, "The walk of this request")
  end)

  it("explains one request to the server itself", function()
    contains(explain(HELLO, "OPTIONS", "*"), "\n  HTTP/1.1 204 No Content\n")
  end)

  it("lists what is asked for each method, where no request is named", function()
    local text = explain(HELLO)
    contains(text, "/hello{/name}  apps/hello.lua:13\n  GET, HEAD: asks 4 of 49 rows: "
      .. "precondition_given, if_match_holds,")
    contains(text, "\n  OPTIONS: always 204\n")
    local list = json.decode(explain(HELLO, "--json"))
    assert.same({ "OPTIONS" }, list[1].programs[2].methods)
    assert.same({ 204, 49 }, { list[1].programs[2].status, list[1].programs[2].rows })
    assert.equal(4, #list[1].programs[1].asked)
  end)
end)
