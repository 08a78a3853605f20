-- SPDX-License-Identifier: MIT
-- What the decision graph may answer to which method: laws of HTTP, held against every
-- path that a method can take through the table and its components.  QUERY stands for
-- all custom methods.  RFC 9110 §9.3, §13, §15.
local graph_paths = require "spec.support.graph_paths"

local METHODS = graph_paths.METHODS

-- Every path of every method, with and without components: { method, path, built }.
local walks = {}
for _, built in pairs(graph_paths.graphs()) do
  for _, method in ipairs(METHODS) do
    for _, path in ipairs(graph_paths.of(built, method)) do
      walks[#walks + 1] = { method = method, path = path, built = built }
    end
  end
end

local function set_of(words)
  local set = {}
  for word in words:gmatch "%S+" do set[tonumber(word) or word] = true end
  return set
end

local function shown(walk)
  local steps = {}
  for i, step in ipairs(walk.path.trace) do
    steps[i] = step[1] .. (step[2] and "" or " (no)")
  end
  return ("%s: %s: %d"):format(walk.method, table.concat(steps, ", "), walk.path.status)
end

-- The answer of a row on a path; nil: it was not passed.
local function answer_of(path, name)
  for _, step in ipairs(path.trace) do
    if step[1] == name then return step[2] end
  end
end

-- Fails with the first path that a law forbids; there must be some that it speaks of.
local function assert_never(speaks_of, is_wrong)
  local count = 0
  for _, walk in ipairs(walks) do
    if speaks_of(walk) then
      count = count + 1
      if is_wrong(walk.path, walk) then error(shown(walk), 2) end
    end
  end
  assert.is_true(count > 0)
end

local function of(methods)
  local set = set_of(methods)
  return function(walk) return set[walk.method] end
end

local function but(methods)
  local is_of = of(methods)
  return function(walk) return not is_of(walk) end
end

local function ends_in(statuses)
  local set = set_of(statuses)
  return function(path) return set[path.status] end
end

describe("the decision graph", function()
  it("refuses nothing once the operation has been done", function()
    assert_never(function(walk) return answer_of(walk.path, "operation") end,
      function(path) return path.status >= 400 end)
  end)

  it("answers 500 by the operation alone", function()
    assert_never(function(walk) return walk.path.status == 500 end,
      function(path) return path.row ~= "operation" end)
  end)

  it("never reads content before a redirect, absence, negotiation or a precondition",
    function()
      local is_above = set_of "300 301 302 304 307 308 404 406 410 412 428"
      local has_read = function(walk)
        for _, row in ipairs(walk.built.rows) do
          if row.reads and answer_of(walk.path, row.name) ~= nil then return true end
        end
        return false
      end
      assert_never(has_read, function(path) return is_above[path.status] end)
    end)

  it("never reads content before it refuses the head", function()
    local is_early = set_of "401 403 405 411 413 414 415 417 421 429 451 501 503 505"
    assert_never(function(walk)
      return answer_of(walk.path, "content_well_formed") ~= nil
    end, function(path) return is_early[path.status] end)
  end)

  it("answers 304 to GET and HEAD only", function()
    assert_never(but "GET HEAD", ends_in "304")
  end)

  it("answers 206 and 416 to GET only", function()
    assert_never(but "GET", ends_in "206 416")
  end)

  it("never answers 201 to DELETE", function()
    assert_never(of "DELETE", ends_in "201")
  end)

  it("never answers 303 to PUT of its own accord", function()
    assert_never(of "PUT", ends_in "303")
  end)

  it("answers 200, 204, or a refusal of parts 1 and 2, to OPTIONS", function()
    local allowed = set_of "200 204 421 503 505 501 414 405 429 400 401 403 451"
    assert_never(of "OPTIONS", function(path) return not allowed[path.status] end)
  end)

  it("never answers to a read what follows from content or from an operation",
    function()
      assert_never(of "GET HEAD OPTIONS",
        ends_in "201 202 409 411 413 415 417 422 428 500")
    end)

  it("never runs an operation for GET, HEAD or OPTIONS", function()
    assert_never(of "GET HEAD OPTIONS", function(path)
      return answer_of(path, "operation") ~= nil
    end)
  end)

  it("looks at no content of GET, HEAD, DELETE or OPTIONS", function()
    local content = { "expectation_met", "length_known", "content_fits",
      "content_whole", "content_coding_known", "media_type_taken" }
    assert_never(of "GET HEAD DELETE OPTIONS", function(path)
      for _, name in ipairs(content) do
        if answer_of(path, name) ~= nil then return true end
      end
      return answer_of(path, "has_content") == true
    end)
  end)

  it("asks nothing about content, offers and preconditions of OPTIONS", function()
    assert_never(of "OPTIONS", function(path, walk)
      local index = walk.built.index
      for _, step in ipairs(path.trace) do
        local at = index[step[1]]
        if at > index.not_options and at < index.has_reply then return true end
      end
    end)
  end)

  it("creates nothing by GET, HEAD or DELETE", function()
    assert_never(of "GET HEAD DELETE", function(path)
      return answer_of(path, "may_create") or answer_of(path, "may_recreate")
    end)
  end)

  it("tests no precondition where the answer would be neither 2xx nor 412", function()
    local before = set_of "300 307 308 400 401 403 404 405 406 410 411 413 414 415 417"
    assert_never(function(walk)
      return answer_of(walk.path, "precondition_given") ~= nil
        and answer_of(walk.path, "content_well_formed") ~= false
    end, function(path) return before[path.status] end)
  end)

  it("tests If-None-Match where If-Match holds, and no date where a list was wrong",
    function()
      assert_never(function(walk) return answer_of(walk.path, "if_match_holds") end,
        function(path)
          local goes_on = answer_of(path, "if_unmodified_since_holds")
          return goes_on and answer_of(path, "if_none_match_holds") == nil
        end)
      assert_never(function(walk)
        return answer_of(walk.path, "if_none_match_holds") == false
      end, function(path) return answer_of(path, "if_modified_since_holds") ~= nil end)
    end)

  it("asks for a precondition of whoever writes without one", function()
    assert_never(but "GET HEAD OPTIONS", function(path)
      local optional = answer_of(path, "precondition_optional")
      return answer_of(path, "operation") ~= nil and optional == nil
        and answer_of(path, "precondition_given") == false
    end)
  end)

  it("lets nothing but 421 stand before the fields of CORS", function()
    assert_never(function(walk)
      return walk.built.index.origin_given
        and answer_of(walk.path, "origin_given") == nil
    end, function(path) return path.status ~= 421 end)
  end)

  it("answers a preflight 204, before anything else is asked", function()
    assert_never(function(walk)
      return answer_of(walk.path, "not_preflight") == false
    end, function(path, walk)
      return walk.method ~= "OPTIONS" or path.status ~= 204 or #path.trace ~= 5
    end)
  end)

  it("refuses nobody for an origin", function()
    assert_never(function(walk) return walk.built.index.origin_given end, function(path)
      return path.status >= 400 and (path.row:find "^origin" or path.row:find "^cors")
    end)
  end)
end)

describe("the statuses of a method", function()
  -- Refusals of parts 1 and 2, which every method meets, are left out.
  local TABLE = {
    GET     = "200 204 206 300 304 307 308 404 406 410 412 416",
    HEAD    = "200 204 300 304 307 308 404 406 410 412",
    POST    = "200 201 202 204 300 303 307 308 404 406 409 410 411 412 413 415 417 422"
           .. " 428 500",
    PUT     = "200 201 202 204 300 307 308 404 406 409 410 411 412 413 415 417 422 428"
           .. " 500",
    PATCH   = "200 201 202 204 300 303 307 308 404 406 409 410 411 412 413 415 417 422"
           .. " 428 500",
    DELETE  = "200 202 204 300 303 307 308 404 406 409 410 412 428 500",
    OPTIONS = "200 204",
    QUERY   = "200 201 202 204 300 303 307 308 404 406 409 410 411 412 413 415 417 422"
           .. " 428 500",
  }
  local EVERYWHERE = set_of "400 401 403 405 414 421 429 451 501 503 505"

  for _, method in ipairs(METHODS) do
    it("are those: " .. method, function()
      local paths = graph_paths.of(graph_paths.graphs().base, method)
      local own, everywhere = {}, 0
      for _, status in ipairs(graph_paths.statuses(paths)) do
        if EVERYWHERE[status] then
          everywhere = everywhere + 1
        else
          own[#own + 1] = status
        end
      end
      assert.equal(TABLE[method], table.concat(own, " "))
      assert.equal(11, everywhere)
    end)
  end
end)
