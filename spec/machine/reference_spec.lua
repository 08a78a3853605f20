-- SPDX-License-Identifier: MIT
-- The reference walk itself, held against the corpora: it judges the compiled programs,
-- so it has to be right on its own.
local accept = require "spec.support.reference_accept"
local cjson = require "cjson"
local http = require "spec.support.reference_http"
local pure = require "spec.support.pure"
local reference = require "spec.support.reference_walk"

local NOW = 1767225600 -- of the corpora

-- A value of a case, or nil where it has null.
local function given(value)
  if value == cjson.null then return nil end
  return value
end

-- A list of names and values, or an object.
local function headers_of(headers)
  local list = {}
  for name, value in pairs(headers) do
    if type(name) == "number" then name, value = value[1], value[2] end
    list[#list + 1] = { name, pure.octets(value) }
  end
  return list
end

local function one_of(wanted, value)
  for _, want in ipairs(wanted) do
    if want == value then return true end
  end
  return false
end

local function nothing() end

describe("dates of the reference", function()
  for _, case in ipairs(pure.cases "http-date") do
    it(case.id, function()
      if case.kind == "format" then
        return assert.equal(case.output, http.format_date(case.epoch))
      end
      assert.equal(given(case.epoch),
        http.date(pure.octets(case.input), case.reference_now))
    end)
  end
end)

describe("negotiation of the reference", function()
  local DIMENSIONS = { media = "media_type", language = "language", charset = "charset",
                       encoding = "content_coding" }
  for _, case in ipairs(pure.cases "negotiation") do
    it(case.id, function()
      local header, lines = given(case.header), {}
      if type(header) == "string" then header = { header } end
      for i, value in ipairs(header or {}) do
        lines[i] = { case.header_name, pure.octets(value) }
      end
      local dimension = DIMENSIONS[case.dimension]
      local chosen = accept.choose({ headers = lines }, dimension, case.offers)
      local may_be_none = case.none_ok or #case.best == 0
      assert.is_true(chosen == nil and may_be_none or one_of(case.best, chosen))
      for offer, weight in pairs(case.q or {}) do
        local weighed = accept.weight({ headers = lines }, dimension, offer)
        assert.is_true(math.abs(weighed - weight * 1000) < 1.5)
      end
    end)
  end
end)

describe("conditions of the reference", function()
  local STATUSES = {
    perform = { 200, 201, 204 }, ["not-modified"] = { 304 }, ["not-found"] = { 404 },
    ["precondition-failed"] = { 412 }, ["bad-request"] = { 400 }, partial = { 206 },
    full = { 200 }, ["range-not-satisfiable"] = { 416 },
  }

  local function walk(case)
    local is, headers = case.resource, headers_of(case.headers)
    local date, tag = given(is.last_modified), given(is.etag)
    local machine = {
      exists = is.exists, entity_tag = tag and pure.octets(tag),
      last_modified = date and http.date(date, NOW), accept_ranges = true,
      handle_ok = ("x"):rep(case.body_size or 10), do_post = nothing, do_put = nothing,
      do_delete = nothing, do_patch = nothing,
    }
    if case.method == "PATCH" then
      headers[#headers + 1] = { "Content-Length", "1" }
      headers[#headers + 1] = { "Content-Type", "text/plain" }
    end
    return reference.machine_walk(machine,
      { method = case.method, target = "/", version = "1.1", headers = headers },
      { now = NOW })
  end

  for _, case in ipairs(pure.cases "conditional") do
    it(case.id .. ": " .. case.title, function()
      local walked, statuses = walk(case), {}
      for _, outcome in ipairs(case.expect) do
        for _, status in ipairs(STATUSES[outcome]) do table.insert(statuses, status) end
      end
      assert.is_true(one_of(statuses, walked.status), walked.status)
      for _, name in ipairs(case.response_must_have or {}) do
        if name ~= "date" then assert.is_string(walked.fields[name]) end
      end
    end)
  end
end)

describe("ranges of the reference", function()
  local function walk(case, headers)
    return reference.machine_walk({ handle_ok = ("x"):rep(case.size),
      accept_ranges = true, do_put = nothing, do_delete = nothing },
      { method = case.method, target = "/", version = "1.1", headers = headers })
  end

  local function fits(outcome, walked, without)
    if outcome.status == "same-as-without-range" then
      return walked.status == without.status
    end
    if outcome.status ~= walked.status then return false end
    if outcome.content_range ~= nil
      and outcome.content_range ~= walked.fields["content-range"] then
      return false
    end
    return not outcome.ranges
      or cjson.encode(outcome.ranges) == cjson.encode(walked.ranges)
  end

  for _, case in ipairs(pure.cases "range") do
    it(case.id, function()
      local lines = type(case.range) == "table" and case.range or { case.range }
      local headers = {}
      for i, value in ipairs(lines) do headers[i] = { "Range", pure.octets(value) } end
      local walked, without = walk(case, headers), walk(case, {})
      local is_right = false
      for _, outcome in ipairs(case.accept) do
        is_right = is_right or fits(outcome, walked, without)
      end
      assert.is_true(is_right, walked.status)
    end)
  end
end)

describe("CORS of the reference", function()
  local function walk(case)
    local policy, request = case.policy, case.request
    local machine = {
      handle_ok = "x", do_post = nothing, do_put = nothing, do_delete = nothing,
      exists = request.target == nil, entity_tag = given(policy.resource_etag),
      cors_origins = policy.origins, cors_methods = policy.methods,
      cors_headers = policy.headers, cors_expose = policy.expose,
      cors_credentials = policy.credentials, cors_max_age = given(policy.max_age),
    }
    return reference.machine_walk(machine, { method = request.method, target = "/",
      version = "1.1", headers = headers_of(request.headers) })
  end

  local function allows(case, fields)
    local origin = fields["access-control-allow-origin"]
    local sent = http.joined({ headers = headers_of(case.request.headers) }, "Origin")
    if not case.request.credentials then
      return origin ~= nil and (origin == "*" or origin == sent)
    end
    return origin ~= nil and origin == sent
      and fields["access-control-allow-credentials"] == "true"
  end

  local function lists(list, name)
    return (", " .. (list or "") .. ","):lower():find(", " .. name .. ",", 1, true)
  end

  for _, case in ipairs(pure.cases "cors") do
    it(case.id .. ": " .. case.title, function()
      local wanted, walked = case.expect, walk(case)
      local fields = walked.fields
      for name, value in pairs(wanted.headers or {}) do
        assert.equal(value, fields[name])
      end
      for _, name in ipairs(wanted.absent or {}) do assert.is_nil(fields[name]) end
      for name, values in pairs(wanted.must_not or {}) do
        assert.is_false(one_of(values, fields[name]))
      end
      for _, name in ipairs(wanted.vary or {}) do
        assert.is_truthy(lists(fields.vary, name))
      end
      if wanted.status_any_of then
        assert.is_true(one_of(wanted.status_any_of, walked.status), walked.status)
      end
      if wanted.browser == "allow" then assert.is_true(allows(case, fields)) end
      -- A preflight may also be refused by what its lists lack.
      if wanted.browser == "deny" and case.request.method ~= "OPTIONS" then
        assert.is_false(allows(case, fields))
      end
    end)
  end
end)
