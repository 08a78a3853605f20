-- SPDX-License-Identifier: MIT
-- The laws of the decision graph (lua/luaweb/graph.lua): of the table alone and with
-- our components; and that it is found out when a row breaks one.
local graph = require "luaweb.graph"
local graph_paths = require "spec.support.graph_paths"
local laws = require "luaweb.graph.laws"
local reference = require "spec.support.reference_walk"

local ___ = "___"
local graphs = graph_paths.graphs()

local function rows_of(list)
  local rows = {}
  for i, raw in ipairs(list) do rows[i] = laws.entry(raw) end
  return rows
end

-- Resolves the table with one change to one of its rows.
local function mutate(i, change)
  local rows = rows_of(graph.rows)
  change(rows[i], rows)
  return pcall(laws.resolve, rows)
end

local function assert_refused(name, law, ok, message)
  assert.is_false(ok, name)
  assert.is_truthy(message:find("row " .. name .. ":", 1, true), message)
  assert.is_truthy(message:find(law, 1, true), message)
end

describe("the decision graph", function()
  local SIZES = { base = 49, cors = 53, patch = 51, ["cors and patch"] = 55 }
  for name, size in pairs(SIZES) do
    local built = graphs[name]

    it(("has %d rows, each of its own name: %s"):format(size, name), function()
      local seen = {}
      for i, row in ipairs(built.rows) do
        assert.is_nil(seen[row.name])
        seen[row.name] = true
        assert.equal(i, built.index[row.name])
      end
      assert.equal(size, #built.rows)
    end)

    it("has arrows that point down, to rows that are there: " .. name, function()
      for i, row in ipairs(built.rows) do
        for _, arrow in ipairs { row.yes, row.no } do
          if arrow > 0 then assert.is_true(arrow > i and arrow <= size) end
          if arrow < 0 then assert.is_true(arrow <= -200 and arrow >= -599) end
        end
      end
    end)

    it("says for every row where it comes from: " .. name, function()
      for _, row in ipairs(built.rows) do
        assert.is_true(row.source:find "%d" ~= nil or row.source:find "^Fetch" ~= nil)
      end
    end)

    it("ends a walk by yes at an exit, or where no ends it too: " .. name, function()
      local ends = {}
      for _, row in ipairs(built.rows) do
        if row.yes < 0 then ends[#ends + 1] = row.name .. " " .. -row.yes end
      end
      assert.same({ "is_cached_read 304", "see_other 303", "created 201",
        "range_fits 206" }, ends)
    end)

    it("has no row whose arrows meet as they are drawn: " .. name, function()
      for _, row in ipairs(built.rows) do assert.not_equal(row.yes, row.no) end
    end)

    it("fixes answers as the table says, one by one: " .. name, function()
      for _, row in ipairs(built.rows) do
        for _, method in ipairs(graph_paths.METHODS) do
          assert.equal(reference.fixed(row, method), graph.fixed(row, method))
        end
        if row.who == "method" then
          assert.is_boolean(graph.fixed(row, "ANY-OTHER"))
        end
      end
    end)
  end

  -- what is marked, and where
  local MARKS = {
    { "the answers that are used later", "keep",
      "origin_allowed exists media_type_offered language_offered charset_offered "
      .. "coding_offered" },
    { "the rows that may read content", "reads",
      "content_well_formed content_valid conflict_free operation" },
    { "the rows that run the app's work", "acts", "operation has_reply" },
    { "the rows where yes ends and no goes on", "exit", "see_other created" },
    { "the statuses that an app may want instead", "also",
      "stays_for_good:301 stays_for_now:302 303" },
    { "what is no unless the app says so", "default", "see_other:false created:false" },
  }
  for _, mark in ipairs(MARKS) do
    it("marks " .. mark[1], function()
      local marked = {}
      for _, row in ipairs(graphs["cors and patch"].rows) do
        local value = row[mark[2]]
        if value == true and mark[2] ~= "default" then
          marked[#marked + 1] = row.name
        elseif value ~= nil and value ~= true then
          marked[#marked + 1] = row.name .. ":" .. tostring(value)
        end
      end
      assert.equal(mark[3], table.concat(marked, " "))
    end)
  end

  it("has a default for whatever only an app knows, but for the operation", function()
    for _, row in ipairs(graphs["cors and patch"].rows) do
      if row.who == "app" and row.name ~= "operation" then
        assert.is_boolean(row.default)
      end
    end
  end)

  it("is built once for a set of components, in whatever order they come", function()
    local cors, patch = graph.components.cors, graph.components.patch
    assert.equal(graph.build { cors, patch }, graph.build { patch, cors, patch })
    assert.equal(graph.build(), graph.build {})
    assert.not_equal(graph.build { cors }, graph.build { patch })
  end)
end)

describe("a mutation of any row", function()
  -- what changes, what is said of it
  local MUTATIONS = {
    { "yes leads up", "does not lie below", function(row, rows)
      row.yes = rows[1].name
    end },
    { "no leads to itself", "does not lie below", function(row) row.no = row.name end },
    { "yes leads nowhere", "which is no row", function(row) row.yes = "nowhere" end },
    { "no leads nowhere", "which is no row", function(row) row.no = "nowhere" end },
    { "yes refuses", "its yes refuses", function(row) row.yes = 499 end },
    { "its arrows meet", "its arrows meet", function(row)
      row.yes, row.no, row.keep = 204, 204, nil
    end },
    { "it ends where it should go on", "ends", function(row)
      row.yes, row.no, row.exit = 200, ___, nil
    end },
    { "an exit goes on", "at an exit", function(row)
      row.yes, row.no, row.exit = 200, 404, true
    end },
  }
  for i, raw in ipairs(graph.rows) do
    local name = raw[1]
    for _, mutation in ipairs(MUTATIONS) do
      it(("is found: %s: %s"):format(name, mutation[1]), function()
        -- The last row has no next one, which is found before the answer's law.
        local law = i == #graph.rows and mutation[1]:find "^it ends" and "no row"
          or mutation[2]
        assert_refused(name, law, mutate(i, mutation[3]))
      end)
    end

    it(("is found: %s: no source"):format(name), function()
      for _, source in ipairs { false, "" } do
        local copy = {}
        for key, value in pairs(raw) do copy[key] = value end
        copy[6] = source or nil
        assert_refused(name, "it names no source", pcall(laws.entry, copy))
      end
    end)

    if i > 1 then
      it(("is found: %s: as the name of two rows"):format(name), function()
        local ok, message = mutate(i, function(row, rows) row.name = rows[1].name end)
        assert_refused(graph.rows[1][1], "two of that name", ok, message)
      end)

      it(("is found: %s: no arrow leads to it"):format(name), function()
        local next_row = graph.rows[i + 1]
        local ok, message = mutate(i, function(_, rows)
          for k, row in ipairs(rows) do
            for _, title in ipairs { "yes", "no" } do
              local is_here = row[title] == name or (row[title] == ___ and k == i - 1)
              if is_here then row[title] = next_row and next_row[1] or 204 end
            end
            row.keep = true -- arrows that meet now are not what is looked for
          end
        end)
        assert_refused(name, "no arrow leads to it", ok, message)
      end)
    end

    if raw.exit then
      it(("is found: %s: no exit any more"):format(name), function()
        assert_refused(name, "it is no exit", mutate(i, function(row)
          row.exit = nil
        end))
      end)
    end

    if i < graphs.base.index.is_read then
      it(("is found: %s: it reads content"):format(name), function()
        assert_refused(name, "it reads above is_read", mutate(i, function(row)
          row.reads = true
        end))
      end)
    end
  end
end)

describe("a row", function()
  local function with(change)
    local raw = { "question", ___, 404, "app", true, "15.5.5" }
    change(raw)
    return raw
  end
  local FAULTS = {
    { "no field of a row", function(raw) raw.keeps = true end },
    { "no field of a row", function(raw) raw[7] = "more" end },
    { "keep wants a boolean", function(raw) raw.keep = "yes" end },
    { "ask wants a string", function(raw) raw.ask = { "GET" } end },
    { "yes wants a status or the name of a row", function(raw) raw[2] = true end },
    { "no wants a status or the name of a row", function(raw) raw[3] = 99 end },
    { "no wants a status or the name of a row", function(raw) raw[3] = 404.5 end },
    { "who answers", function(raw) raw[4] = "me" end },
    { "default wants", function(raw) raw[5] = "yes" end },
    { "default wants", function(raw) raw[4] = "core" end },
    { "names GET twice", function(raw) raw.yes_for, raw.no_for = "GET", "PUT GET" end },
    { "names * twice", function(raw) raw.yes_for, raw.no_for = "*", "*" end },
    { "ask wants a *", function(raw) raw.ask = "GET" end },
    { "have to name every method", function(raw)
      raw[4], raw[5], raw.yes_for = "method", nil, "GET"
    end },
  }
  for _, fault in ipairs(FAULTS) do
    it("is refused: " .. fault[1], function()
      assert_refused("question", fault[1], pcall(laws.entry, with(fault[2])))
    end)
  end

  it("without a name is refused", function()
    for _, raw in ipairs { {}, { "Question" }, { "two words" }, "question" } do
      local ok, message = pcall(laws.entry, raw)
      assert.is_false(ok)
      assert.is_truthy(message:find "whose first value is its name")
    end
  end)
end)
