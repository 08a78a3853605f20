-- SPDX-License-Identifier: MIT
-- What `luaweb check` would find in a server that does not do what it must: answers are
-- made up, since ours has none of these faults.
local cases = require "luaweb.check.case"
local graph = require "luaweb.graph"
local methods = require "luaweb.check.methods"
local offers = require "luaweb.check.offers"
local reads = require "luaweb.check.reads"
local web = require "luaweb"

local Answer = {}
Answer.__index = Answer

function Answer:field(name)
  for _, pair in ipairs(self.fields) do
    if pair[1]:lower() == name:lower() then return pair[2] end
  end
end

-- An answer: a status, fields, what follows it.
local function answer(status, fields, rest)
  local list = {}
  for name, value in pairs(fields or {}) do list[#list + 1] = { name, value } end
  return setmetatable({ status = status, fields = list, rest = rest or "", body = "" },
    Answer)
end

-- A resource whose server answers as the functions by method say; what a walk has ended
-- with is a row's name.
local function resource(keys, server, row)
  local built = graph.build()
  keys.handle_ok = keys.handle_ok or "x"
  local has = { GET = true, HEAD = true }
  for name in (keys.also or ""):gmatch "%S+" do has[name] = true end
  keys.also = nil
  local probe = { app = { machines = {} } }
  function probe:ask(request)
    local fields = {}
    for _, pair in ipairs(request.headers) do fields[pair[1]] = pair[2] end
    local give = server[request.method] or server.any
    return give(fields)
  end
  function probe:program()
    return { rows = { [built.index.exists] = { fate = "asked" } } }
  end
  function probe:trace()
    return { resource = 1, row = built.index[row or "has_reply"] }
  end
  return cases.new { probe = probe, number = 1, template = "/x", graph = built,
    machine = web.machine(keys), has = has, path = "/x", headers = {}, findings = {} }
end

local function texts(case)
  local list = {}
  for i, finding in ipairs(case.findings) do
    list[i] = finding.level .. ": " .. finding.what
  end
  return list
end

local function always(...)
  local given = answer(...)
  return function() return given end
end

describe("a server's methods", function()
  local ALLOW = { Allow = "GET, HEAD, OPTIONS" }

  local function check(server, row)
    server.OPTIONS = server.OPTIONS or always(204, ALLOW)
    server.DELETE = server.DELETE or always(405, ALLOW)
    server.any = server.any or always(501)
    local case = resource({}, server, row)
    methods.check(case)
    return texts(case)
  end

  it("are right", function()
    assert.same({}, check {})
    assert.same({}, check { OPTIONS = always(200, { Allow = "OPTIONS,HEAD , GET" }) })
  end)

  it("have an Allow with each 405 and answer to OPTIONS", function()
    assert.same({ "error: the 204 of OPTIONS has no Allow (RFC 9110 §10.2.1)",
      "error: the 405 of DELETE has no Allow (RFC 9110 §10.2.1)" },
      check { OPTIONS = always(204), DELETE = always(405) })
  end)

  it("are those of Allow", function()
    assert.same({ "error: the Allow of DELETE is GET, OPTIONS, but its methods are "
      .. "GET, HEAD, OPTIONS (RFC 9110 §10.2.1)" },
      check { DELETE = always(405, { Allow = "GET, OPTIONS" }) })
  end)

  it("answer to what is not there with 405 or 501", function()
    assert.same({ "error: DELETE answers 200, not 405 (RFC 9110 §15.5.6)",
      "error: LUAWEB-CHECK answers 405, not 501 (RFC 9110 §15.6.2)" },
      check { DELETE = always(200), any = always(405) })
  end)

  it("answer to OPTIONS", function()
    for _, status in ipairs { 405, 404, 500, 501 } do
      assert.same({ ("error: OPTIONS answers %d (RFC 9110 §9.3.7)"):format(status) },
        check { OPTIONS = always(status) })
    end
  end)

  it("are not known where the app has answered before", function()
    local busy = always(503)
    assert.same({ "error: OPTIONS answers 503 (RFC 9110 §9.3.7)",
      "skipped: 405 for DELETE: service_available answers 503",
      "skipped: 501 for LUAWEB-CHECK: service_available answers 503" },
      check({ OPTIONS = busy, DELETE = busy, any = busy }, "service_available"))
  end)
end)

describe("a server's reads", function()
  local function check(server, keys)
    server.HEAD = server.HEAD or server.GET
    local case = resource(keys or {}, server)
    reads.check(case)
    return texts(case)
  end

  it("are right", function()
    assert.same({}, check { GET = always(200, { ["X-A"] = "1", Date = "now" }) })
  end)

  it("have no content in answers to HEAD", function()
    assert.same({ "error: HEAD answers with content (RFC 9110 §9.3.2)" },
      check { GET = always(200), HEAD = always(200, {}, "content") })
  end)

  it("are the same for HEAD: status, fields, length", function()
    local get = always(200, { ["X-A"] = "1", ["Content-Length"] = "3" })
    local function with(...) return check { GET = get, HEAD = always(...) } end
    assert.same({ "error: HEAD answers 404, GET 200 (RFC 9110 §9.3.2)" }, with(404))
    assert.same({ "error: HEAD has no x-a, unlike GET (RFC 9110 §9.3.2)" }, with(200))
    assert.same({ "error: HEAD has another x-a than GET (RFC 9110 §9.3.2)" },
      with(200, { ["X-A"] = "2" }))
    assert.same({ "error: HEAD has x-b, unlike GET (RFC 9110 §9.3.2)" },
      with(200, { ["X-A"] = "1", ["X-B"] = "1" }))
    assert.same({ "error: HEAD has another content-length than GET (RFC 9110 §9.3.2)" },
      with(200, { ["X-A"] = "1", ["Content-Length"] = "4" }))
    assert.same({}, with(200, { ["X-A"] = "1", Date = "later" }))
  end)

  it("challenge with a 401", function()
    local BEHIND = "skipped: what is behind its 401: give -H 'Authorization: ...'"
    assert.same({ "error: its 401 has no WWW-Authenticate (RFC 9110 §15.5.2)", BEHIND },
      check { GET = always(401) })
    assert.same({ BEHIND },
      check { GET = always(401, { ["WWW-Authenticate"] = "Basic" }) })
  end)

  it("say where to, when they lead elsewhere", function()
    assert.same({ "warning: its 302 has no Location (RFC 9110 §15.4)" },
      check { GET = always(302) })
    assert.same({}, check { GET = always(302, { Location = "/y" }) })
    assert.same({}, check { GET = always(304) })
  end)

  it("have in a 304 what they have in a 200", function()
    local function get(lacking)
      return function(fields)
        local all = { ETag = '"v"', Vary = "Accept", Expires = "later" }
        if not fields["If-None-Match"] then return answer(200, all) end
        all[lacking] = nil
        return answer(304, all)
      end
    end
    assert.same({}, check { GET = get "X-None" })
    assert.same({ "error: its 304 lacks ETag, which its 200 has (RFC 9110 §15.4.5): "
      .. "say it by entity_tag" }, check { GET = get "ETag" })
    assert.same({ "error: its 304 lacks Vary, which its 200 has (RFC 9110 §15.4.5): "
      .. "say it by vary" }, check { GET = get "Vary" })
  end)

  it("give 304 for the tag that the app has given", function()
    assert.same({ "error: If-None-Match with its own ETag gets 200, not 304 "
      .. "(RFC 9110 §13.1.2)" }, check({ GET = always(200, { ETag = '"v"' }) },
      { entity_tag = '"v"' }))
  end)

  it("are nothing that could be checked where they are refused", function()
    assert.same({ "skipped: what it gives: GET /x answers 403" },
      check { GET = always(403) })
    assert.same({ "warning: GET /x answers 404" }, check { GET = always(404) })
  end)

  it("tell of connections that are cut, and wait for no end", function()
    local case = resource({}, { GET = function() return nil, "no answer: reset" end })
    reads.check(case)
    assert.same({ "error: GET /x: no answer: reset" }, texts(case))
    case = resource({}, { GET = function() return nil, "no whole answer", true end })
    reads.check(case)
    assert.same({ "skipped: GET /x: no whole answer" }, texts(case))
  end)
end)

describe("a server's choices", function()
  local function check(keys, get)
    local case = resource(keys, { GET = get })
    offers.check(case, { answer = get {}, status = 200 })
    return texts(case)
  end

  local LANGUAGES = { available_languages = { "en", "de" }, strict = { "language" } }

  local function in_language(fields)
    local asked = fields["Accept-Language"]
    if asked == "x-luaweb" then return answer(406) end
    return answer(200, { ["Content-Language"] = asked or "en",
      Vary = "Accept, accept-language" })
  end

  it("are right", function() assert.same({}, check(LANGUAGES, in_language)) end)

  it("name in Vary what they depend on", function()
    assert.same({ "error: with Accept-Language: de it has another Content-Language, "
      .. "but its Vary does not name Accept-Language (RFC 9110 §12.5.5)" },
      check(LANGUAGES, function(fields)
        local given = in_language(fields)
        for _, pair in ipairs(given.fields) do
          if pair[1] == "Vary" then pair[2] = "Accept" end
        end
        return given
      end))
  end)

  it("are 406 where nothing is acceptable and the machine is strict", function()
    local function ignore() return answer(200, { Vary = "*" }) end
    assert.same({ "error: Accept-Language: x-luaweb gets 200, not 406 "
      .. "(RFC 9110 §15.5.7)" }, check(LANGUAGES, ignore))
    assert.same({ "error: Accept: application/x-luaweb-check gets 200, not 406 "
      .. "(RFC 9110 §15.5.7)" }, check({ available_media_types = { "text/html" } },
      ignore))
    assert.same({}, check({ available_languages = { "en", "de" } }, ignore))
    assert.same({}, check({ available_media_types = { "text/html" }, strict = {} },
      ignore))
  end)
end)
