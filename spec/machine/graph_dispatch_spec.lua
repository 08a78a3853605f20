-- SPDX-License-Identifier: MIT
-- Which methods a machine has, what answers paths that no resource has, and when the
-- functions of a machine are asked, told on the reference walk.
local graph_machine = require "spec.support.graph_machine"
local http = require "spec.support.reference_http"
local reference = require "spec.support.reference_walk"

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

describe("methods", function()
  local PROPFIND = { do_propfind = nothing, entity_tag = '"v1"' }
  play {
    { "TRACE is not implemented",   "TRACE",    { methods = "*", do_any = nothing },
      "501 method_implemented" },
    { "CONNECT is not implemented", "CONNECT",  {}, "501 method_implemented" },
    { "nobody knows this one",      "PROPFIND", {}, "501 method_implemented" },
    { "HEAD comes with GET",        "HEAD",     { methods = { "GET" } },
      "200 range_wanted" },
    { "this machine has none of it", "DELETE",  { methods = { "GET", "PUT" } },
      "405 method_allowed" },
    { "a custom one is a write, after which handle_ok speaks", "PROPFIND", PROPFIND,
      "200 range_wanted" },
    { "a custom one that a tag refuses", 'PROPFIND\nIf-None-Match: "v1"', PROPFIND,
      "412 is_cached_read" },
    { "a custom one has no ranges", "PROPFIND\nRange: bytes=0-0",
      { do_propfind = function() return "all" end, accept_ranges = true },
      "200 range_wanted" },
    { "a custom one creates where the app says so", "PROPFIND",
      { do_propfind = nothing, created = true }, "201 created" },
    { "any token",                  "FLY",      { methods = "*", do_any = nothing },
      "200 range_wanted" },
  }

  it("a read too goes to do_any where there is no handle_ok", function()
    local any = { do_any = function() return "any" end }
    assert.equal(200, reference.machine_walk(any, http.request "GET").status)
  end)

  it("that another machine of the app lists are implemented, though not allowed here",
    function()
      local walked = reference.machine_walk(graph_machine.machine(),
        http.request "PROPFIND", { methods = { "PROPFIND" } })
      assert.equal(405, walked.status)
    end)
end)

describe("a path that no resource has", function()
  local UNMATCHED = { exists = false, may_create = false, may_recreate = false,
                      cors_origins = { "http://a" } }
  local function answer(text)
    local context = { is_unmatched = true }
    return reference.machine_walk(UNMATCHED, http.request(text), context)
  end

  it("is 404 for every method", function()
    for method in ("GET HEAD POST PUT PATCH DELETE OPTIONS FLY"):gmatch "%S+" do
      assert.equal(404, answer(method).status)
    end
  end)

  it("has the fields of CORS, and answers a preflight", function()
    local ORIGIN = "\nOrigin: http://a"
    assert.same({ vary = "Origin", ["access-control-allow-origin"] = "http://a" },
      answer("GET" .. ORIGIN).fields)
    local preflight = "OPTIONS" .. ORIGIN .. "\nAccess-Control-Request-Method: PUT"
    assert.equal(204, answer(preflight).status)
  end)
end)

describe("the functions of a machine", function()
  local function counting(calls, key, answer)
    return function()
      calls[key] = (calls[key] or 0) + 1
      return answer
    end
  end

  it("are asked once, and only where the walk needs them", function()
    local calls = {}
    local keys = {
      exists = counting(calls, "exists", true),
      entity_tag = counting(calls, "entity_tag", '"v1"'),
      last_modified = counting(calls, "last_modified", 784111777),
      precondition_optional = counting(calls, "precondition_optional", true),
    }
    local walked = walk(keys, 'PUT\nIf-Match: "v1"\nIf-None-Match: "v2"')
    assert.equal(200, walked.status)
    assert.same({ exists = 1, entity_tag = 1 }, calls)
    assert.same({ "exists", "entity_tag", "do_put" }, walked.calls)
  end)
end)
