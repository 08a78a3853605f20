-- SPDX-License-Identifier: MIT
-- The compiler (core/machine/plan.h): what becomes of the decision graph for one method
-- of a machine, and which questions are left.
local graph = require "luaweb.graph"
local pure_app = require "spec.support.pure_app"

local cors, patch = graph.components.cors, graph.components.patch
local FN = { 9 } -- what a machine says with a function

local METHODS = { { "GET", 0, 1 }, { "HEAD", 0, 1 }, { "OPTIONS" } }
local WRITES = { { "GET", 0, 1 }, { "HEAD", 0, 1 }, { "PUT", 2, 1 }, { "POST", 3, 1 },
  { "PATCH", 4, 1 }, { "DELETE", 5 }, { "BREW", 6, 1 }, { "OPTIONS" } }

--- The program of a method of a machine.
local function plan(method, machine)
  local app = pure_app.new()
  local number = app:machine { methods = machine.methods or WRITES,
    components = machine.components, says = machine.says, has = machine.has,
    handlers = machine.handlers }
  app:resource("/x", number)
  app:build()
  return app:plan(number, method)
end

--- The names of the rows that are asked.
local function asked(method, machine)
  local names, steps = {}, plan(method, machine).steps
  for i, step in ipairs(steps) do names[i] = step:match "^[^:]+" end
  return table.concat(names, " ")
end

describe("the hello machine", function()
  local HELLO = { methods = METHODS }

  it("asks 4 of 49 rows for GET: three, and what makes the content", function()
    local get = plan("GET", HELLO)
    assert.equal("precondition_given", get.start)
    assert.same({
      "precondition_given: yes if_match_holds, no has_reply",
      "if_match_holds: yes if_none_match_holds, no 412 if_match_holds",
      "if_none_match_holds: yes has_reply, no 304 is_cached_read",
      "has_reply: yes 200 range_wanted, no 204 has_reply",
    }, get.steps)
  end)

  it("loses its rows pass by pass: 49, 10 asked, 10, 4", function()
    local counts = plan("GET", HELLO).counts
    assert.same({ fixed = 8, literal = 31, unary = 0, unreachable = 6, asked = 4 },
      counts)
  end)

  it("asks the same for HEAD", function()
    assert.same(plan("GET", HELLO).steps, plan("HEAD", HELLO).steps)
  end)

  it("asks nothing for any other method", function()
    local ENDS = { OPTIONS = "204 has_reply", POST = "405 method_allowed",
      PUT = "405 method_allowed", PATCH = "405 method_allowed",
      DELETE = "405 method_allowed", TRACE = "501 method_implemented",
      CONNECT = "501 method_implemented", BREW = "501 method_implemented" }
    for method, ending in pairs(ENDS) do
      local found = plan(method, HELLO)
      assert.same({ ending, 0 }, { found.start, #found.steps })
    end
  end)

  it("needs nobody for a constant, but If-Match and If-None-Match count", function()
    assert.equal("precondition_given if_match_holds if_none_match_holds",
      asked("GET", { methods = { { "GET" } }, handlers = { [200] = "hello" } }))
  end)
end)

describe("a literal", function()
  it("yes leads on, no and a number end: its row is gone", function()
    assert.equal(asked("GET", {}), asked("GET", { says = { allowed = true } }))
    assert.equal("403 allowed", plan("GET", { says = { allowed = false } }).start)
    assert.equal("404 allowed", plan("GET", { says = { allowed = 404 } }).start)
  end)

  it("leaves what is above it, and nothing below", function()
    local found = plan("GET", { says = { within_rate = FN, allowed = false } })
    assert.same({ "within_rate: yes 403 allowed, no 429 within_rate" }, found.steps)
    assert.equal("unreachable", found.fates.has_reply)
  end)

  it("presets what other rows want to know", function()
    assert.equal("exists", plan("PUT", { says = { exists = true } }).facts)
    assert.equal("exists", plan("PUT", {}).facts)
    assert.equal("missing", plan("PUT", { says = { exists = false } }).facts)
    assert.equal("", plan("PUT", { says = { exists = FN } }).facts)
  end)

  it("is what a method fixes, whatever the machine says", function()
    assert.equal("fixed", plan("GET", { says = { may_create = FN } }).fates.may_create)
    assert.equal("fixed", plan("DELETE", { says = { created = true } }).fates.created)
  end)
end)

describe("a question", function()
  it("whose answers lead to the same place goes", function()
    local fates = plan("GET", { components = { cors },
      says = { cors_enabled = true } }).fates
    assert.equal("unary", fates.origin_given) -- no origin is let in
  end)

  it("stays though they do, where its answer is used later", function()
    local lenient = { available_languages = "de", strict = "charset" }
    local found = plan("GET", { has = lenient })
    assert.equal("language_offered: yes precondition_given, no precondition_given",
      found.steps[1])
  end)

  it("stays though they do, where work is done", function()
    local fates = plan("POST", {}).fates
    assert.same({ "asked", "asked" }, { fates.operation, fates.has_reply })
  end)

  it("stays though they do, where the app may end the walk", function()
    local found = plan("PUT", { says = { exists = false, never_was = FN } })
    assert.equal("never_was: yes has_content, no has_content", found.steps[1])
  end)

  it("of the app stays wherever it is reached", function()
    assert.equal("asked", plan("GET", { says = { allowed = FN } }).fates.allowed)
    assert.equal("unreachable",
      plan("GET", { says = { allowed = FN, within_rate = false } }).fates.allowed)
  end)

  it("refuses nothing where the machine is not strict about it", function()
    local lenient = { has = { available_media_types = "a/b", strict = "language" } }
    assert.equal("media_type_offered: yes precondition_given, no precondition_given",
      plan("GET", lenient).steps[1])
    local strict = { has = { available_media_types = "a/b" } }
    assert.equal(
      "media_type_offered: yes precondition_given, no 406 media_type_offered",
      plan("GET", strict).steps[1])
  end)
end)

describe("C's own answers", function()
  it("are known where a property is missing", function()
    local fates = plan("PUT", {}).fates
    for _, name in ipairs { "authority_served", "length_known", "media_type_taken",
      "media_type_offered", "language_offered", "charset_offered", "coding_offered",
      "if_unmodified_since_holds", "range_wanted" } do
      assert.is_not_equal("asked", fates[name], name)
    end
  end)

  for row, property in pairs { authority_served = "hosts",
    length_known = "length_required", media_type_taken = "acceptable_media_types",
    media_type_offered = "available_media_types", coding_offered =
    "available_content_codings", if_unmodified_since_holds = "last_modified" } do
    it(("are found out where there is %s: %s"):format(property, row), function()
      assert.equal("asked", plan("PUT", { has = { [property] = 1 } }).fates[row])
      assert.equal("asked", plan("PUT", { has = { [property] = FN } }).fates[row])
    end)
  end

  it("give ranges only where the machine has them", function()
    local RANGES = " range_wanted if_range_holds range_fits"
    assert.equal(asked("GET", {}) .. RANGES,
      asked("GET", { has = { accept_ranges = 1 } }))
    assert.equal(asked("GET", {}), asked("GET", { has = { accept_ranges = 0 } }))
    assert.equal(asked("HEAD", {}), asked("HEAD", { has = { accept_ranges = 1 } }))
  end)

  it("let PUT create, and no other method", function()
    local MISSING = { says = { exists = false } }
    assert.equal("has_content", plan("PUT", MISSING).start)
    for _, method in ipairs { "GET", "POST", "PATCH", "DELETE", "BREW" } do
      assert.equal("404 may_create", plan(method, MISSING).start)
    end
  end)

  it("tell what PUT and PATCH have created: the app is not asked", function()
    for _, method in ipairs { "PUT", "PATCH" } do
      local found = plan(method, { says = { created = false } })
      assert.matches("created: yes 201 created", table.concat(found.steps, "\n"))
    end
    assert.equal("literal", plan("POST", { says = { created = false } }).fates.created)
    assert.equal("asked", plan("POST", { says = { created = FN } }).fates.created)
  end)
end)

describe("origins", function()
  local function of(says, has)
    return plan("GET", { components = { cors }, says = says, has = has })
  end

  it("are no question where all are let in", function()
    local found = of({}, { cors_origins = "*" })
    assert.same({ "exists origin_allowed", "precondition_given" },
      { found.facts, found.start })
  end)

  it("are one where some are, or the app decides", function()
    for _, found in ipairs { of({}, { cors_origins = "http://a.example" }),
      of({ origin_allowed = true }, {}), of({ origin_allowed = FN }, {}),
      of({}, { cors_origins = "*", cors_credentials = FN }),
      of({ cors_enabled = FN }, { cors_origins = "*" }) } do
      assert.same({ "exists", "origin_given" }, { found.facts, found.start })
      assert.equal("asked", found.fates.origin_allowed)
    end
  end)

  it("are asked of OPTIONS anyway: a preflight is not the OPTIONS of a resource",
    function()
      assert.equal("origin_given not_preflight", asked("OPTIONS",
        { components = { cors }, has = { cors_origins = "*" } }))
    end)
end)

describe("terminals", function()
  it("of one status stay apart by their rows", function()
    local steps = table.concat(plan("PATCH", { components = { patch }, has = {
      acceptable_content_codings = "gzip", patch_media_types = "a/b" } }).steps, "\n")
    assert.matches("no 415 content_coding_known", steps, 1, true)
    assert.matches("no 415 patch_type_taken", steps, 1, true)
    assert.matches("no 400 patch_given", steps, 1, true)
  end)
end)

describe("programs", function()
  local C = pure_app.C

  local function app_of(machines)
    local app = pure_app.new()
    for i, machine in ipairs(machines) do
      machine.methods = machine.methods or METHODS
      app:resource("/" .. i, app:machine(machine))
    end
    app:build()
    return app
  end

  local function count(machines) return app_of(machines).app.program_count end

  it("that are equal are one, of methods and of machines", function()
    local one = count { {} }
    assert.equal(one, count { {}, {}, {} })
    assert.equal(one + 2, count { {}, { says = { allowed = FN } } }) -- reads, OPTIONS
  end)

  it("that differ in what they preset are two", function()
    local app = app_of { { says = { exists = true } } }
    local a = app:plan(0, "GET").plan
    local b = app_of({ { says = { exists = FN } } }):plan(0, "GET").plan
    assert.is_true(C.lw_plan_equal(a, a))
    assert.is_false(C.lw_plan_equal(a, b))
  end)

  it("have their steps in the order of the graph, and lead down", function()
    local found = plan("PUT", { components = { cors, patch }, says = { exists = FN,
      never_was = FN, allowed = FN, conflict_free = FN, completed = FN },
      has = { cors_origins = "http://a.example", accept_ranges = 1, last_modified = FN,
        entity_tag = FN, available_media_types = "a/b", hosts = "a.example" } })
    local steps = found.plan.steps
    for i = 0, found.plan.step_count - 1 do
      for _, arrow in ipairs { steps[i].yes, steps[i].no } do
        assert.is_true(arrow > i)
        if arrow < 32768 then assert.is_true(steps[arrow].row > steps[i].row) end
      end
    end
    assert.is_true(found.plan.step_count > 20)
  end)
end)
