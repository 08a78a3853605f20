-- SPDX-License-Identifier: MIT
-- The walk that `luaweb explain` shows: every row of the graph that a request passes,
-- though its program has asked only some of them.
local agreement = require "spec.support.agreement"
local error_log = require "spec.support.error_log"
local graph = require "luaweb.graph"
local probe = require "luaweb.probe"
local random = require "spec.support.random"
local random_machine = require "spec.support.random_machine"
local random_request = require "spec.support.random_request"
local reference = require "spec.support.reference_walk"
local walks = require "luaweb.explain.walk"
local web = require "luaweb"

-- By hand -----------------------------------------------------------------------------

-- Rows: name, yes, no (rows from 1, or minus a status), fate, answer.
local function graph_of(rows)
  local built, program = { rows = {} }, { rows = {}, steps = {} }
  for i, row in ipairs(rows) do
    built.rows[i] = { name = row[1], yes = row[2], no = row[3] }
    program.rows[i] = { name = row[1], fate = row[4], answer = row[5] }
  end
  return built, program
end

local function words(built, walked)
  local list = {}
  for i, passed in ipairs(walked.passed) do
    local answer = passed.answer
    if answer == nil then answer = "-" end
    list[i] = ("%s %s"):format(built.rows[passed.row].name, tostring(answer))
  end
  return table.concat(list, ", ")
end

describe("the walk through the whole graph", function()
  it("has the rows between two questions, with their answers", function()
    local built, program = graph_of {
      { "a", 2, -503, "literal", true },
      { "b", 3, 4, "asked" },
      { "c", 4, -404, "literal", true },
      { "d", -200, 5, "fixed", false },
      { "e", -200, -204, "asked" },
    }
    program.start = { step = 0 }
    program.steps = {
      { row = 2, yes = { step = 1 }, no = { step = 1 } },
      { row = 5, yes = { row = 5, status = 200 }, no = { row = 5, status = 204 } },
    }
    local function walk(first, second)
      return walks.of(built, program, { row = 5, status = second and 200 or 204,
        answers = { { row = 2, answer = first }, { row = 5, answer = second } } })
    end
    local walked = walk(true, true)
    assert.equal("a true, b true, c true, d false, e true", words(built, walked))
    assert.equal("a true, b false, d false, e false", words(built, walk(false, false)))
    assert.same({ "literal", "asked", "literal", "fixed", "asked" },
      { walked.passed[1].how, walked.passed[2].how, walked.passed[3].how,
        walked.passed[4].how, walked.passed[5].how })
    assert.same({ nil, 0, nil, nil, 1 }, { walked.passed[1].step, walked.passed[2].step,
      walked.passed[3].step, walked.passed[4].step, walked.passed[5].step })
    assert.same({ 4, nil }, { walk(false, false).passed[2].to, walked.passed[5].to })
  end)

  it("ends below the last question where a literal ends it", function()
    local built, program = graph_of {
      { "a", 2, -400, "asked" },
      { "b", 3, -406, "literal", true },
      { "c", -200, -204, "literal", false },
    }
    program.start = { step = 0 }
    program.steps[1] = { row = 1, yes = { row = 3, status = 204 },
      no = { row = 1, status = 400 } }
    local function walk(answer, row, status)
      return walks.of(built, program, { row = row, status = status,
        answers = { { row = 1, answer = answer } } })
    end
    assert.equal("a true, b true, c false", words(built, walk(true, 3, 204)))
    assert.equal("a false", words(built, walk(false, 1, 400)))
  end)

  it("asks nothing where the program has no question", function()
    local built, program = graph_of {
      { "a", 2, -503, "literal", true },
      { "b", 3, -405, "literal", false },
      { "c", -200, -204, "unreachable" },
    }
    program.start = { row = 2, status = 405 }
    local walked = walks.of(built, program, { row = 2, status = 405, answers = {} })
    assert.equal("a true, b false", words(built, walked))
    assert.equal(405, walked.status)
  end)

  it("goes on behind a no that refuses, where the machine is lenient", function()
    local built, program = graph_of {
      { "a", 2, -406, "asked" },
      { "b", 3, -406, "literal", false },
      { "c", -200, -204, "asked" },
    }
    program.start = { step = 0 }
    program.steps = {
      { row = 1, yes = { step = 1 }, no = { step = 1 } },
      { row = 3, yes = { row = 3, status = 200 }, no = { row = 3, status = 204 } },
    }
    local walked = walks.of(built, program, { row = 3, status = 200,
      answers = { { row = 1, answer = false }, { row = 3, answer = true } } })
    assert.equal("a false, b false, c true", words(built, walked))
  end)

  it("leaves a row whose answers meet for the row where they do", function()
    local built, program = graph_of {
      { "a", 2, 4, "unary" },
      { "b", 3, 4, "literal", true },
      { "c", 4, -400, "literal", true },
      { "d", 5, -503, "literal", true },
      { "e", -200, -204, "asked" },
    }
    program.start = { step = 0 }
    program.steps[1] = { row = 5, yes = { row = 5, status = 200 },
      no = { row = 5, status = 204 } }
    local walked = walks.of(built, program, { row = 5, status = 200,
      answers = { { row = 5, answer = true } } })
    assert.equal("a -, d true, e true", words(built, walked))
    assert.same({ "unary", 4 }, { walked.passed[1].how, walked.passed[1].to })
  end)

  local function one_question(trace)
    local built, program = graph_of {
      { "a", 2, -403, "asked" }, { "b", -200, -204, "asked" },
    }
    program.start = { step = 0 }
    program.steps = {
      { row = 1, yes = { step = 1 }, no = { row = 1, status = 403 } },
      { row = 2, yes = { row = 2, status = 200 }, no = { row = 2, status = 204 } },
    }
    return built, walks.of(built, program, trace)
  end

  it("ends with the status that the app has answered", function()
    local built, walked = one_question { row = 1, status = 404,
      answers = { { row = 1, answer = 404 } } }
    assert.equal("a 404", words(built, walked))
    assert.equal(404, walked.status)
  end)

  it("ends where the app gave a response instead of an answer", function()
    local built, walked = one_question { row = 2, status = 418,
      answers = { { row = 1, answer = true } } }
    assert.equal("a true, b -", words(built, walked))
    assert.equal(418, walked.status)
  end)

  it("stands at the question that nobody has answered yet", function()
    local built, walked = one_question { row = 1, status = 0,
      answers = { { row = 1, answer = true } } }
    assert.equal("a true, b -", words(built, walked))
    assert.same({ 2, nil }, { walked.row, walked.status })
  end)

  it("tells that an operation gave content", function()
    local _, walked = one_question { row = 2, status = 200, answers = {
      { row = 1, answer = true, is_kept = true }, { row = 2, answer = true } } }
    assert.is_true(walked.passed[1].is_kept)
    assert.is_nil(walked.passed[2].is_kept)
  end)
end)

-- At random ---------------------------------------------------------------------------

-- Whether the rows are those of the reference.  What lies between a row whose answers
-- meet and where they do is passed by the reference only.
local function fault_of(rows, walked, trace)
  local at = 1
  for _, passed in ipairs(walked.passed) do
    local name, wanted = rows[passed.row].name, trace[at]
    if not wanted or wanted[1] ~= name then
      return ("%s instead of %s"):format(name, wanted and wanted[1] or "the end")
    end
    if passed.answer ~= nil and passed.answer ~= wanted[2] then
      return ("%s: %s, not %s"):format(name, tostring(passed.answer),
        tostring(wanted[2]))
    end
    at = at + 1
    local meeting = passed.how == "unary" and rows[passed.to].name
    while meeting and trace[at] and trace[at][1] ~= meeting do at = at + 1 end
  end
  return trace[at] and trace[at][1] .. " is missing" or nil
end

local function check(looked, made, text)
  local request = agreement.request(text)
  local wanted = reference.machine_walk(made.keys, request,
    { methods = { "BREW", "M-SEARCH" }, components = made.components, now = os.time() })
  local answer = assert(looked:ask { method = request.method, target = request.target,
    headers = request.headers, body = request.body ~= "" and request.body or nil })
  local built = graph.build(looked.app.machines[1].assembly.components)
  local walked = walks.of(built, looked:program(1, request.method), looked:trace())
  local fault = fault_of(built.rows, walked, wanted.trace)
    or (walked.status ~= answer.status and "another status")
  return fault and ("%s\n%s"):format(fault, text) or nil
end

describe("a walk as it is explained", function()
  local function other() end

  local function looked_at(machine)
    local app = web.app { web.resource("/r1", machine),
      web.resource("/other", web.machine { do_brew = other, do_m_search = other }) }
    return probe.start(app, app:install())
  end

  -- Some requests to a machine: how many there were.
  local function check_machine(r, text)
    local made, count = agreement.machine(text), 0
    local looked = looked_at(made.machine)
    for _ = 1, 10 do
      local wanted = random_request.text(r, "/r1", { "GET", "PUT", "POST", "DELETE" })
      local is_plain = wanted:find "^%S+ 1%.1" and not wanted:find "\nTransfer%-Enc"
      local fault = is_plain and check(looked, made, wanted)
      count = count + (is_plain and 1 or 0)
      if fault then error(fault .. "\n" .. text, 0) end
    end
    looked:stop()
    return count
  end

  it("passes the rows that the table names, for machines at random", function()
    local r, count = random.new(7), 0
    error_log.of(function()
      for _ = 1, 120 do count = count + check_machine(r, random_machine.text(r)) end
    end)
    assert.is_true(count > 300, count)
  end)
end)
