-- SPDX-License-Identifier: MIT
-- The corpus of URI templates: what matches, which values, what is no template, which
-- route is chosen (RFC 6570; the reading rule of the corpus).
local pure = require "spec.support.pure"
local templates = require "spec.route.templates"

local MATCHING = { level1 = true, level2 = true, level3 = true, level4 = true,
  route = true, ["no-match"] = true }

local function is_equal(a, b)
  if type(a) ~= "table" or type(b) ~= "table" then return a == b end
  for key, value in pairs(a) do
    if not is_equal(value, b[key]) then return false end
  end
  for key in pairs(b) do
    if a[key] == nil then return false end
  end
  return true
end

-- Where a case allows both, a value that is empty may also be unset.
local function without_empty(vars)
  local rest = {}
  for name, value in pairs(vars) do rest[name] = value ~= "" and value or nil end
  return rest
end

local function is_accepted(case, vars)
  if is_equal(vars, case.vars) then return true end
  for _, other in ipairs(case.also or {}) do
    if is_equal(vars, other) then return true end
  end
  return case.either and is_equal(vars, without_empty(case.vars))
end

local run = {}

function run.match(case)
  it(("%s: %s and %s"):format(case.id, case.template, case.path), function()
    local vars = templates.match(case.template, case.path)
    if vars == nil then return assert.is_true(case.either or not case.match) end
    assert.is_true(case.match or case.either)
    if case.vars and not is_accepted(case, vars) then assert.same(case.vars, vars) end
  end)
end

run["invalid-template"] = function(case)
  it(("%s: %s is none"):format(case.id, case.template), function()
    assert.is_nil((templates.template(case.template)))
    assert.is_nil((templates.router():add(case.template)))
  end)
end

-- A contradiction of the routes is as good as the first of them.
local function router_of(routes)
  local router = templates.router()
  for _, route in ipairs(routes) do
    if not router:add(route) then return nil end
  end
  return router:build() and router
end

function run.router(case)
  it(("%s: %d routes and %s"):format(case.id, #case.routes, case.path), function()
    local router = router_of(case.routes)
    if not router then return assert.matches("registration error", case.note) end
    local template, vars = router:find(case.path)
    assert.equal(case.chosen, template)
    assert.same(case.vars, vars)
  end)
end

describe("the corpus of templates", function()
  for _, case in ipairs(pure.cases "uri-template-match") do
    local kind = MATCHING[case.kind] and "match" or case.kind
    if run[kind] then run[kind](case) end
  end
end)
