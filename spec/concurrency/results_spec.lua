-- SPDX-License-Identifier: MIT
-- What job.all and its like give: lists in which any member may be nil (job.lua), as
-- JSON and as answers.
local job = require "luaweb.job"
local json = require "luaweb.json"
local merge = require("luaweb.json.merge").merge
local stream = require "luaweb.stream"
local test = require "luaweb.test"
local web = require "luaweb"

local function one() return 1 end
local function none() end

describe("results of several jobs", function()
  it("are arrays in JSON, in which nil is null", function()
    assert.equal("[1,null]", json.encode(job.all { one, none }))
    assert.equal("[null,1]", json.encode(job.all_fast { none, one }))
    assert.equal("[null]", json.encode(job.seq { none }))
    assert.equal("[2,null,6]", json.encode(job.map_all({ 1, 2, 3 }, function(n)
      return n ~= 2 and n * 2 or nil
    end)))
    assert.equal("[]", json.encode(job.all {}))
  end)

  it("say in n how many there are", function()
    local results = job.all { one, none, none }
    assert.equal(3, results.n)
    assert.equal(1, #job.all { one })
  end)

  it("are answers of handlers", function()
    local client = test.app(web.app {
      web.get("/all", function() return job.all { one, none } end),
      web.get("/map", function()
        return { items = web.array(job.map_all({ 1, 2 }, one, { max = 1 })) }
      end),
    })
    local res = client:get "/all"
    assert.equal(200, res.status)
    assert.equal("application/json", res.headers["content-type"])
    assert.equal("[1,null]", res.body)
    assert.equal('{"items":[1,1]}', client:get("/map").body)
  end)

  it("are so where a stream is collected, or cut into chunks", function()
    assert.equal("[1,null,3]", json.encode(stream.of(1, nil, 3):collect()))
    assert.equal("[[1,2],[3]]", json.encode(stream.of(1, 2, 3):chunks(2):collect()))
  end)

  it("may be added to", function()
    local results = job.all { one }
    results[2] = 2
    assert.equal("[1,2]", json.encode(results))
  end)

  it("are refused as JSON where they have other keys", function()
    local results = job.all { one }
    results.total = 7
    assert.error_matches(function() json.encode(results) end,
      "json.encode: value is an array, but has the key .total", 1, true)
  end)

  it("are arrays where JSON is merged", function()
    local merged = merge({}, { a = job.all { one, none } })
    assert.equal('{"a":[1,null]}', json.encode(merged))
  end)

  it("are refused by map_all with a number in place of options", function()
    local ok, message = pcall(function() job.map_all({ 1 }, one, 10) end)
    assert.is_false(ok)
    assert.matches("results_spec.lua:%d+: job.map_all wants options third, "
      .. "e.g. { max = 10 }, not a number", message)
  end)
end)
