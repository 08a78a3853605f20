-- SPDX-License-Identifier: MIT
-- Components of the decision graph: where ours and an app's own go in, and what is said
-- of one that breaks a law, when it is declared or when it is built in.
local graph = require "luaweb.graph"
local graph_paths = require "spec.support.graph_paths"

local ___ = "___"
local graphs = graph_paths.graphs()

local function names_of(built)
  local names = {}
  for i, row in ipairs(built.rows) do names[i] = row.name end
  return names
end

describe("a component", function()
  it("goes in front of a row: every arrow into it enters the component", function()
    local built = graphs.patch
    local first = built.index.patch_given
    assert.equal(built.index.media_type_offered, first + 2)
    assert.equal(first, built.rows[built.index.has_content].no)
    assert.equal(first, built.rows[built.index.media_type_taken].yes)
  end)

  it("keeps its own arrows to that row", function()
    local built = graphs.cors
    local row = built.index.service_available
    assert.equal(row, built.rows[built.index.origin_given].no)
    assert.equal(row, built.rows[built.index.cors_enabled].no)
    assert.equal(row, built.rows[built.index.not_preflight].yes)
  end)

  it("of an app may name custom methods", function()
    local query = graph.component {
      name = "query", in_front_of = "is_read",
      { "is_query", "has_reply", ___, "method", nil, "9.2.1", yes_for = "QUERY",
        no_for = "*" },
    }
    local built = graph.build { query }
    local row = built.rows[built.index.is_query]
    assert.is_true(graph.fixed(row, "QUERY"))
    assert.is_false(graph.fixed(row, "GET"))
    assert.equal(built.index.is_query,
      built.rows[built.index.precondition_optional].yes)
    assert.equal(built.index.is_query,
      built.rows[built.index.if_modified_since_holds].yes)
    assert.equal(49, #graph.build().rows)
  end)

  it("that is declared later stands nearer to the row", function()
    local function component(name)
      return graph.component { name = name, in_front_of = "allowed",
        { name, "allowed", 403, "app", true, "15.5.4" } }
    end
    local first, second = component "first", component "second"
    local built = graph.build { second, first }
    local at = built.index.first
    assert.same({ "authorized", "first", "second", "allowed" },
      { unpack(names_of(built), at - 1, at + 2) })
    assert.equal(built.index.second, built.rows[at].yes)
  end)

  it("takes a copy of its rows", function()
    local spec = { name = "copied", in_front_of = "allowed",
      { "copied", ___, 403, "app", true, "15.5.4" } }
    local component = graph.component(spec)
    spec[1][3] = 404
    assert.equal(-403, graph.build({ component }).rows[11].no)
  end)

  local ROW = { "mine", ___, 403, "app", true, "15.5.4" }
  local FAULTS = {
    { "wants a table with a name", { in_front_of = "allowed", ROW } },
    { "wants a table with a name", "cors" },
    { "in_front_of wants", { name = "mine", ROW } },
    { "no rows", { name = "mine", in_front_of = "allowed" } },
    { "before is no field", { name = "mine", in_front_of = "allowed", before = 1,
      ROW } },
    { "first value is its name", { name = "mine", in_front_of = "allowed", "row" } },
    { "row mine: C has no answer", { name = "mine", in_front_of = "allowed",
      { "mine", ___, 403, "core", nil, "15.5.4" } } },
    { "row mine: C has no answer", { name = "mine", in_front_of = "allowed",
      { "mine", ___, 403, "core/app", nil, "15.5.4" } } },
    { "row mine: it names no source", { name = "mine", in_front_of = "allowed",
      { "mine", ___, 403, "app", true } } },
    { 'row mine: no wants a status or the name of a row ("___" is the next one)',
      { name = "mine", in_front_of = "allowed",
      { "mine", ___, nil, "app", true, "15.5.4" } } },
  }
  for _, fault in ipairs(FAULTS) do
    it("is refused where it was declared: " .. fault[1], function()
      local ok, message = pcall(graph.component, fault[2])
      assert.is_false(ok)
      assert.is_truthy(message:find("^[^:]*graph_component_spec%.lua:%d+: "), message)
      assert.is_truthy(message:find(fault[1], 1, true), message)
    end)
  end

  it("may use a question that C has an answer for", function()
    local own = graph.component { name = "own_cors", in_front_of = "allowed",
      { "origin_given", ___, 403, "core", nil, "15.5.4" } }
    assert.equal(50, #graph.build({ own }).rows)
  end)

  -- What only shows in the graph.
  local BREAKS = {
    { "there is no row nowhere to go in front of", "nowhere", ROW },
    { "row mine: yes leads to well_formed, which does not lie below: arrows only point "
      .. "down", "allowed",
      { "mine", "well_formed", 403, "app", true, "15.5.4" } },
    { "row mine: no leads to nowhere, which is no row", "allowed",
      { "mine", ___, "nowhere", "app", true, "15.5.4" } },
    { "row allowed: there are two of that name", "allowed",
      { "allowed", ___, 403, "app", true, "15.5.4" } },
    { "row mine: its yes refuses: turn the question around, so that yes goes on",
      "allowed",
      { "mine", 403, ___, "app", true, "15.5.4" } },
    { "row mine: its yes ends and it is no exit: turn the question around, or give it "
      .. "exit = true below operation", "allowed",
      { "mine", 204, ___, "app", true, "15.5.4" } },
    { "row mine: an exit lies below operation", "allowed",
      { "mine", 204, ___, "app", true, "15.5.4", exit = true } },
    { "row mine: its arrows meet: give it keep = true, or answers that lead to two "
      .. "places", "allowed",
      { "mine", ___, "allowed", "app", true, "15.5.4" } },
    { "row mine: it reads above is_read: put it in_front_of a row below is_read",
      "allowed",
      { "mine", ___, 403, "app", true, "15.5.4", reads = true } },
    { "row allowed: no arrow leads to it: those of the component mine at PLACE go past "
      .. "it", "allowed",
      { "mine", "legally_available", 403, "app", true, "15.5.4" } },
  }
  for _, case in ipairs(BREAKS) do
    it("that breaks a law is refused when it is built in: " .. case[1], function()
      local own = graph.component { name = "mine", in_front_of = case[2], case[3] }
      local line = debug.getinfo(1, "l").currentline - 1
      local place = "spec/machine/graph_component_spec.lua:" .. line
      local ok, message = pcall(graph.build, { own })
      assert.is_false(ok)
      local fault = case[1]:gsub("PLACE", place)
      if not case[1]:find "^row allowed: no" then
        fault = ("component mine at %s: %s"):format(place, fault)
      end
      assert.equal(fault, message)
    end)
  end
end)
