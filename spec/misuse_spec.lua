-- SPDX-License-Identifier: MIT
-- What the functions of an app can't do by mistake: break out of a field, let in who
-- was to be turned away, or take what belongs to another question, machine or request.
local error_log = require "spec.support.error_log"
local job = require "luaweb.job"
local now = require("system").monotime
local process = require "spec.support.process"
local test = require "luaweb.test"
local web = require "luaweb"
local wire = require "spec.support.machine_wire"
local without_id = require "spec.support.without_id"

local function head(path, language)
  return ("GET %s HTTP/1.1\r\nHost: h\r\nAccept-Language: %s\r\n\r\n"):format(path,
    language)
end

-- What a client gets, and the error log.
local function logged(fn)
  local log, result = error_log.of(fn)
  return result, log
end

describe("the function of a property", function()
  -- Texts that would begin a line of their own.
  local TEXTS = { "a\nX-Evil: 1", "a\r\nX-Evil: 1", "a\rX-Evil: 1", "a%zb" }
  local properties = {
    cache_control = function(text) return text end,
    challenge = function(text) return { "Basic " .. text } end,
    entity_tag = function(text) return '"' .. text .. '"' end,
    location = function(text) return text end,
    retry_after = function(text) return text end,
    vary = function(text) return { text } end,
    available_languages = function(text) return { text } end,
    available_charsets = function(text) return { text } end,
    available_media_types = function(text) return { "text/" .. text } end,
  }
  -- What leads to the property, where a 200 does not.
  local leads = { challenge = { authorized = false }, retry_after = {
    service_available = false }, location = { stays_for_good = false } }

  for name, make in pairs(properties) do
    it("can't end its field: " .. name, function()
      for _, text in ipairs(TEXTS) do
        local value = make((text:gsub("%%z", "\0")))
        local client = wire.client(wire.with({ handle_ok = function() return "x" end,
          [name] = function() return value end }, leads[name] or {}))
        local res = logged(function()
          return client:get("/x", { headers = { ["Accept-Language"] = "de" } })
        end)
        assert.equal(500, res.status)
        assert.is_nil(res.headers["x-evil"])
      end
    end)
  end

  it("is answered for itself, whatever it asks of negotiation", function()
    local client = wire.client { stays_for_good = false, handle_ok = "x",
      available_languages = function() return { "en", "de" } end,
      location = function(req) return "/to/" .. tostring(req.accepted.language) end }
    local res = client:get("/x", { headers = { ["Accept-Language"] = "de" } })
    assert.same({ 308, "/to/nil" }, { res.status, res.headers.location })
  end)

  it("that fails for every answer leaves the client a 500", function()
    local client = wire.client { web.cors { origins = "*",
      expose = function() error "no" end }, handle_ok = "x" }
    local res, log = logged(function()
      return client:get("/x", { headers = { Origin = "http://a.example" } })
    end)
    assert.same({ 500, "500 Internal Server Error\n" },
      { res.status, without_id(res.body) })
    assert.matches("misuse_spec.lua:%d+: no", log)
  end)

  it("that raises an answer for which it is asked again is said to", function()
    local client = wire.client { handle_ok = "x",
      entity_tag = function() error(web.text "no") end }
    local res, log = logged(function() return client:get "/x" end)
    assert.equal(500, res.status)
    assert.matches("the answer that was raised has raised another one\n", log)
  end)

  it("may offer more than a few hundred", function()
    local languages = {}
    for i = 1, 600 do languages[i] = ("aa-b%d"):format(i) end
    local client = wire.client { available_languages = function() return languages end,
      strict = { "language" },
      handle_ok = function(req) return req.accepted.language end }
    for _, i in ipairs { 1, 127, 128, 129, 255, 256, 257, 300, 511, 512, 513, 600 } do
      local wanted = languages[i]
      local res = client:get("/x", { headers = { ["Accept-Language"] = wanted } })
      assert.same({ 200, wanted, wanted }, { res.status, res.body,
        res.headers["content-language"] })
    end
  end)
end)

describe("params", function()
  it("let nobody in when their pattern fails", function()
    local client = test.app(web.app {
      web.resource("/{id}", web.machine { params = { id = ("a?"):rep(250) },
        handle_ok = "let in" }),
    })
    assert.equal(404, client:get("/b").status)
    local res, log = logged(function() return client:get("/" .. ("a"):rep(250)) end)
    assert.equal(500, res.status)
    assert.matches("pattern too complex", log)
  end)

  it("leave nothing of what was chosen for the resource to unmatched paths", function()
    local function language(req) return tostring(req.accepted.language) end
    local client = test.app(web.app {
      includes = { web.machine { available_languages = { "en" } } },
      not_found = web.machine { handle_not_found = language },
      web.resource("/{id}", web.machine { params = { id = "%a+" },
        available_languages = { "fr", "de", "it", "es" }, handle_ok = language }),
    })
    local conn = client:connect()
    local got = ""
    for _, path in ipairs { "/a", "/a", "/1", "/1", "/a" } do
      conn:send(head(path, "es"))
      got = got .. assert(conn:receive(5))
    end
    conn:close()
    local bodies = {}
    for body in got:gmatch "\r\n\r\n(%l%l)" do bodies[#bodies + 1] = body end
    assert.same({ "es", "es", "en", "en", "es" }, bodies)
  end)
end)

describe("a handler's coroutine", function()
  it("goes on when its wait is over, whoever resumes it before", function()
    local order, thief = {}, nil
    local client = test.app(web.app {
      web.get("/", function()
        local me = coroutine.running()
        thief = job.spawn(function()
          for _ = 1, 3 do coroutine.resume(me) end
          order[#order + 1] = "resumed"
        end)
        web.sleep(0.05)
        order[#order + 1] = "slept"
        return "x"
      end),
      web.get("/other", function()
        web.sleep(0.01)
        return "other"
      end),
    })
    assert.equal("x", client:get("/").body)
    thief:join()
    assert.same({ "resumed", "slept" }, order)
    for _ = 1, 20 do assert.equal("other", client:get("/other").body) end
  end)

  it("sleeps its time, though one that is at rest was resumed", function()
    local rested
    local function slept()
      local start = now()
      web.sleep(0.03)
      return now() - start >= 0.029 and "slept" or "woken"
    end
    local client = test.app(web.app {
      web.get("/rest", function()
        rested = coroutine.running()
        return slept()
      end),
      web.get("/resume", function()
        for _ = 1, 3 do coroutine.resume(rested) end
        return slept()
      end),
    })
    for _ = 1, 5 do
      for _, path in ipairs { "/rest", "/resume", "/rest", "/rest" } do
        assert.equal("slept", client:get(path).body)
      end
    end
  end)
end)

describe("a function whose request was ended for it", function()
  after_each(process.clean)

  it("takes nothing of the one that has its place when it fails", function()
    local child = process.serve(process.file("app.lua", [[
      local job = require "luaweb.job"
      local web = require "luaweb"
      return web.app {
        web.get("/late", function()
          job.shield(web.sleep, 0.5)
          error "too late"
        end),
        web.resource("/next", web.machine {
          allowed = function(req)
            req.user = "somebody"
            web.sleep(0.2)
            error(403)
          end,
          handle_forbidden = function(req) return "no, " .. tostring(req.user) end,
          handle_ok = "x",
        }),
      }
    ]]), "--request-timeout", "0.4")
    local conn = child:connect()
    assert.equal(503, child:ask(process.get "/late", conn).status)
    local res = child:ask(process.get "/next", conn) -- 0.4 s: the other fails meanwhile
    assert.same({ 403, "no, somebody" }, { res.status, res.body })
    conn:close()
    assert.matches("too late", child:errors())
  end)
end)

describe("a call of web.* with the wrong value", function()
  it("is an error at the caller's line, also from within a call of ours", function()
    for _, call in ipairs {
      function() local made = web.streaming "x" return made end,
      function() local made = web.html(5) return made end,
      function() local made = web.text("x"):status(99) return made end,
      function() local made = web.bytes("no type", "x") return made end,
    } do
      local ok, message = pcall(call)
      assert.is_false(ok)
      assert.matches("^spec/misuse_spec.lua:%d+: ", message)
    end
  end)

  it("has no place of ours where a tail call has taken the caller's away", function()
    local client = test.app(web.app {
      web.get("/", function() return web.streaming "x" end),
    })
    local _, log = logged(function() return client:get "/" end)
    assert.matches("GET /: web.streaming wants a function, not a string\n", log)
    assert.matches("spec/misuse_spec.lua:%d+: the handler", log)
  end)
end)
