-- SPDX-License-Identifier: MIT
-- Negotiation on the wire: the corpus against an app for each list of offers, strict
-- and lenient; the response says what was chosen.  RFC 9110 §12, §15.5.7; RFC 4647 §3.
local accept = require "spec.support.reference_accept"
local pure = require "spec.support.pure"
local wire = require "spec.support.machine_wire"

local DIMENSIONS = {
  media    = { "media_type", "available_media_types", "content-type" },
  language = { "language", "available_languages", "content-language" },
  charset  = { "charset", "available_charsets", "content-type" },
  encoding = { "content_coding", "available_content_codings", "content-encoding" },
}
local ALL = { "media_type", "language", "charset", "content_coding" }

-- Text has a charset; what is chosen is seen without it.
local shown = {
  media = function(value) return (value:gsub("; charset=utf%-8$", "")) end,
  charset = function(value) return value:match "; charset=(.*)$" end,
}

local client_of = wire.kept(function(state)
  local dimension = DIMENSIONS[state.dimension]
  return wire.client {
    [dimension[2]] = state.offers, strict = state.is_strict and ALL or {},
    handle_ok = function(req) return req.accepted[dimension[1]] or "none" end,
    do_post = function(req) return req.accepted[dimension[1]] or "none" end,
  }
end)

local function lines_of(case)
  local header, lines = wire.given(case.header), {}
  if type(header) == "string" then header = { header } end
  for i, line in ipairs(header or {}) do lines[i] = pure.octets(line) end
  return lines
end

local function ask(case, is_strict, method)
  local client = client_of { dimension = case.dimension, offers = case.offers,
    is_strict = is_strict }
  return client:request(method or "GET", "/x",
    { headers = { [case.header_name] = lines_of(case) } })
end

-- A NUL is refused by the parser (RFC 9110 §5.5).
local function has_nul(case)
  for _, line in ipairs(lines_of(case)) do
    if line:find "%z" then return true end
  end
  return false
end

local function weight(case, coding)
  local headers = {}
  for i, line in ipairs(lines_of(case)) do headers[i] = { "Accept-Encoding", line } end
  return accept.weight({ headers = headers }, "content_coding", coding)
end

-- Content without a coding is an offer that each machine has beside those of the case.
local function takes_identity(case)
  return case.dimension == "encoding" and weight(case, "identity") > 0
end

-- Whether no offer is liked better than content without a coding.
local function may_be_bare(case)
  local best = case.best[1]
  return takes_identity(case)
    and (not best or weight(case, "identity") > weight(case, best))
end

local function has_choice(case)
  local is_coded = case.dimension == "encoding" and case.offers[1] ~= "identity"
  return #case.offers > 1 or is_coded
end

local function varies(case, res)
  return wire.has(wire.members(res.headers.vary), case.header_name:lower())
end

-- A response with what was chosen, or without anything.
local function check_choice(case, res, chosen)
  local dimension = DIMENSIONS[case.dimension]
  assert.equal(chosen or "none", res.body)
  local value = res.headers[dimension[3]]
  local show = shown[case.dimension] or function(text) return text end
  local is_bare = case.dimension == "encoding" and chosen == "identity"
  assert.equal(not is_bare and chosen or nil, value and show(value))
  assert.equal(has_choice(case), varies(case, res))
end

local function chosen_in(res)
  return res.body ~= "none" and res.body or nil
end

local function play_strict(case)
  local res = ask(case, true)
  if has_nul(case) then return assert.equal(400, res.status) end
  if res.status == 406 then
    assert(#case.best == 0 or case.none_ok, "refused")
    assert.is_false(takes_identity(case))
    return assert(varies(case, res) or not has_choice(case))
  end
  local chosen = chosen_in(res)
  assert.equal(200, res.status)
  if chosen then
    assert(wire.has(case.best, chosen), chosen)
  else
    assert(may_be_bare(case), "nothing was chosen")
  end
  check_choice(case, res, chosen)
end

local function play_lenient(case)
  local res = ask(case, false)
  if has_nul(case) then return assert.equal(400, res.status) end
  assert.equal(200, res.status)
  local chosen = chosen_in(res)
  if not chosen then
    assert(case.dimension == "encoding" and (#case.best == 0 or may_be_bare(case)),
      "nothing was chosen")
  else
    local is_first = chosen == case.offers[1] and (#case.best == 0 or case.none_ok)
    assert(wire.has(case.best, chosen) or is_first, chosen)
  end
  check_choice(case, res, chosen)
end

describe("negotiation", function()
  for _, case in ipairs(pure.cases "negotiation") do
    it("chooses or refuses: " .. case.id, function() play_strict(case) end)
    it("chooses or takes the first: " .. case.id, function() play_lenient(case) end)
    it("chooses for a write as for a read: " .. case.id, function()
      local read, write = ask(case, true), ask(case, true, "POST")
      assert.same({ read.status, read.body, read.headers["content-type"],
        read.headers.vary }, { write.status, write.body, write.headers["content-type"],
        write.headers.vary })
    end)
  end
end)
