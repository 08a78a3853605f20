-- SPDX-License-Identifier: MIT
-- Pages of other origins, on the wire: the corpus against an app for each policy,
-- judged as a browser does.  Fetch, CORS protocol.
local browser = require "spec.support.browser"
local pure = require "spec.support.pure"
local test = require "luaweb.test"
local web = require "luaweb"
local wire = require "spec.support.machine_wire"

local given = wire.given

local ran -- how often a function of the machine ran

local function done()
  ran = ran + 1
  return 204
end

local function shown()
  ran = ran + 1
  return "shown"
end

-- The corpus --------------------------------------------------------------------------

local function resource(policy)
  return { handle_ok = shown, do_post = done, do_put = done, do_delete = done,
    entity_tag = given(policy.resource_etag) }
end

-- The corpus has a star as the only item of a list.
local function list(items)
  return items[1] == "*" and "*" or items
end

local function included(policy)
  return web.cors { origins = list(policy.origins), methods = list(policy.methods),
    headers = list(policy.headers), expose = list(policy.expose),
    credentials = policy.credentials, max_age = given(policy.max_age) }
end

local client_of = wire.kept(function(policy)
  return test.app(web.app { includes = { included(policy) },
    web.resource("/x", web.machine(resource(policy))) })
end)
local plain_client_of = wire.kept(function(policy)
  return wire.client(resource(policy))
end)

local function send(client, case)
  local request = browser.request(case.request)
  ran = 0
  return client:request(request.method, case.request.target or "/x",
    { headers = request.headers }), request
end

local function without_cors(res)
  local headers = wire.with(res.headers)
  headers.date, headers.vary = nil, nil
  return { res.status, res.body, headers }
end

-- What an expectation wants of a response.
local checks = {
  browser = function(verdict, res, request)
    assert.equal(verdict == "allow", browser.allows(request, res))
  end,
  browser_any_of = function(verdicts, res, request)
    local verdict = browser.allows(request, res) and "allow" or "deny"
    assert(wire.has(verdicts, verdict), verdict)
  end,
  headers = function(wanted, res)
    for name, value in pairs(wanted) do assert.equal(value, res.headers[name]) end
  end,
  header_any_of = function(wanted, res)
    for name, values in pairs(wanted) do
      assert(wire.has(values, res.headers[name]), name)
    end
  end,
  absent = function(names, res)
    for _, name in ipairs(names) do assert.is_nil(res.headers[name], name) end
  end,
  must_not = function(unwanted, res)
    for name, values in pairs(unwanted) do
      for _, value in ipairs(values) do
        assert.not_equal(pure.octets(value), res.headers[name])
      end
    end
  end,
  list_lacks = function(unwanted, res)
    for name, values in pairs(unwanted) do
      local members = wire.members(res.headers[name])
      for _, value in ipairs(values) do assert.is_false(wire.has(members, value)) end
    end
  end,
  vary = function(names, res)
    local members = wire.members(res.headers.vary)
    for _, name in ipairs(names) do assert(wire.has(members, name), name) end
  end,
  status_any_of = function(statuses, res)
    assert(wire.has(statuses, res.status), res.status)
  end,
  status_class = function(class, res)
    assert.equal(class, math.floor(res.status / 100))
  end,
  same_as_without_cors = function(_, res, _, case)
    local plain = send(plain_client_of(case.policy), case)
    assert.same(without_cors(plain), without_cors(res))
  end,
  handler_not_run = function() assert.equal(0, ran) end,
}

-- A NUL is refused by the parser, which knows no policy (RFC 9110 §5.5).
local function is_no_field(request)
  for _, lines in pairs(request.headers) do
    for _, line in ipairs(lines) do
      if line:find "%z" then return true end
    end
  end
  return false
end

local function play(case)
  if case.expect.or_config_error then
    local ok, message = pcall(client_of, case.policy)
    local why = "does not go with cors_credentials"
    if not ok then return assert.is_truthy(message:find(why, 1, true)) end
  end
  local res, request = send(client_of(case.policy), case)
  if is_no_field(request) then assert.equal(400, res.status) end
  for name, wanted in pairs(case.expect) do
    if name ~= "or_config_error" then checks[name](wanted, res, request, case) end
  end
end

describe("a page of another origin", function()
  for _, case in ipairs(pure.cases "cors") do
    it(("%s: %s"):format(case.id, case.title), function() play(case) end)
  end
end)
