-- SPDX-License-Identifier: MIT
-- All paths of the decision graph.  They are counted with both answers of every row,
-- from the first row to a terminal, whatever a method would fix: so 303 for the table
-- alone, 1,258 with both components.  Of the 36 statuses arrows name 34; the others are
-- the 301 and 302 that an app may want in place of 308 and 307 (`also`).
local graph_paths = require "spec.support.graph_paths"
local reference = require "spec.support.reference_walk"

local METHODS = graph_paths.METHODS
local graphs = graph_paths.graphs()
local base, full = graphs.base, graphs["cors and patch"]

-- Replays a path in the reference walk: asked rows answer what the path says.
local function replay(built, method, path)
  local answers = {}
  for _, step in ipairs(path.trace) do answers[step[1]] = step[2] end
  return reference.walk(built, method, function(name) return answers[name] end)
end

describe("paths of the decision graph", function()
  local COUNTS = { base = 303, cors = 1210, patch = 315, ["cors and patch"] = 1258 }
  for name, count in pairs(COUNTS) do
    it(("are %d: %s"):format(count, name), function()
      assert.equal(count, #graph_paths.of(graphs[name]))
    end)
  end

  it("end in 34 statuses, and in 36 with those that an app may ask for", function()
    local statuses = graph_paths.statuses(graph_paths.of(base))
    assert.same({ 200, 201, 202, 204, 206, 300, 303, 304, 307, 308, 400, 401, 403, 404,
      405, 406, 409, 410, 411, 412, 413, 414, 415, 416, 417, 421, 422, 428, 429, 451,
      500, 501, 503, 505 }, statuses)
    local is_known, count = {}, #statuses
    for _, status in ipairs(statuses) do is_known[status] = true end
    for _, row in ipairs(base.rows) do
      for status in (row.also or ""):gmatch "%d+" do
        if not is_known[tonumber(status)] then count = count + 1 end
      end
    end
    assert.equal(36, count)
  end)

  it("end in no other statuses with the components", function()
    assert.same(graph_paths.statuses(graph_paths.of(base)),
      graph_paths.statuses(graph_paths.of(full)))
  end)

  it("end in 44 terminals, which are rows and statuses, and in 47 with components",
    function()
      for built, wanted in pairs { [base] = 44, [full] = 47 } do
        local seen, count = {}, 0
        for _, path in ipairs(graph_paths.of(built)) do
          local terminal = path.row .. " " .. path.status
          if not seen[terminal] then count = count + 1 end
          seen[terminal] = true
        end
        assert.equal(wanted, count)
      end
    end)

  it("pass no row twice, and rows in the order of the table", function()
    for _, path in ipairs(graph_paths.of(full)) do
      local last = 0
      for _, step in ipairs(path.trace) do
        assert.is_true(full.index[step[1]] > last)
        last = full.index[step[1]]
      end
    end
  end)

  it("take every arrow for some method", function()
    local is_taken = {}
    for _, method in ipairs(METHODS) do
      for _, path in ipairs(graph_paths.of(full, method)) do
        for _, step in ipairs(path.trace) do
          is_taken[step[1] .. " " .. tostring(step[2])] = true
        end
      end
    end
    for _, row in ipairs(full.rows) do
      assert.is_true(is_taken[row.name .. " true"], row.name)
      assert.is_true(is_taken[row.name .. " false"], row.name)
    end
  end)
end)

describe("a usual walk", function()
  -- Where an answer other than yes is the usual one.
  local UNUSUAL = { precondition_given = true, see_other = true, created = true,
                    range_wanted = true, origin_given = true }

  local function passes(method)
    local walked = reference.walk(full, method, function(name)
      return not UNUSUAL[name]
    end)
    local names = {}
    for i, step in ipairs(walked.trace) do names[i] = step[1] end
    return table.concat(names, " ")
  end

  local HEAD = "authority_served origin_given service_available http_version_supported "
    .. "method_implemented uri_fits method_allowed within_rate well_formed authorized "
    .. "allowed legally_available not_options "
  local HERE = "stays_for_good stays_for_now exists single_choice has_content "
  local TAKEN = "expectation_met length_known content_fits content_whole "
    .. "content_coding_known media_type_taken patch_given patch_type_taken "
  local OFFERS = "media_type_offered language_offered charset_offered coding_offered "
  local DONE = "content_well_formed content_valid conflict_free operation completed "
    .. "see_other created "

  it("of GET is this", function()
    assert.equal(HEAD .. HERE .. "patch_given patch_type_taken " .. OFFERS
      .. "precondition_given precondition_optional is_read has_reply range_wanted",
      passes "GET")
  end)

  it("of PATCH is this", function()
    assert.equal(HEAD .. HERE .. TAKEN .. OFFERS .. "precondition_given "
      .. "precondition_optional is_read " .. DONE .. "has_reply range_wanted",
      passes "PATCH")
  end)

  it("of OPTIONS is this", function()
    assert.equal(HEAD .. "has_reply range_wanted", passes "OPTIONS")
  end)

  it("of a read with every condition is this", function()
    local walked = reference.walk(full, "GET", function(name)
      return name ~= "origin_given" and name ~= "cors_enabled"
    end)
    local names = {}
    for _, step in ipairs(walked.trace) do
      if full.index[step[1]] >= full.index.precondition_given then
        names[#names + 1] = step[1]
      end
    end
    assert.equal("precondition_given if_match_holds if_unmodified_since_holds "
      .. "if_none_match_holds if_modified_since_holds is_read has_reply range_wanted "
      .. "if_range_holds range_fits", table.concat(names, " "))
    assert.equal(206, walked.status)
  end)
end)

describe("paths of a method", function()
  -- method    alone  with both components  rows that it fixes, of 49
  local TABLE = {
    { "GET",      34,   133,   8 },
    { "HEAD",     28,   109,   9 },
    { "POST",    187,   745,   6 },
    { "PUT",     178,   709,   6 },
    { "PATCH",   184,   781,   7 },
    { "DELETE",   36,   141,  12 },
    { "OPTIONS",  13,    50,   6 },
    { "QUERY",   187,   745,   6 },
  }
  for _, line in ipairs(TABLE) do
    local method, alone, with_both, fixed = unpack(line)

    it(("%s: %d, and %d with both components"):format(method, alone, with_both),
      function()
        assert.equal(alone, #graph_paths.of(base, method))
        assert.equal(with_both, #graph_paths.of(full, method))
      end)

    it(("%s fixes %d rows"):format(method, fixed), function()
      local count = 0
      for _, row in ipairs(base.rows) do
        if reference.fixed(row, method) ~= nil then count = count + 1 end
      end
      assert.equal(fixed, count)
    end)

    for name, built in pairs(graphs) do
      it(("%s are walked as they are drawn: %s"):format(method, name), function()
        for _, path in ipairs(graph_paths.of(built, method)) do
          assert.same(path, replay(built, method, path))
        end
      end)
    end

    it(method .. ": a number ends the walk at every row that is asked", function()
      for _, path in ipairs(graph_paths.of(full, method)) do
        local last = path.trace[#path.trace][1]
        if reference.fixed(full.rows[full.index[last]], method) == nil then
          path.trace[#path.trace][2] = 418
          local walked = replay(full, method, path)
          assert.same({ row = last, status = 418, trace = path.trace }, walked)
        end
      end
    end)
  end
end)
