-- SPDX-License-Identifier: MIT
-- Conditional and range requests in plain Lua, for the reference walk: the rows of the
-- decision graph that compare what the client has with what there is.  Literal and
-- slow.  Owns nothing.  RFC 9110 §13, §14.
local answers = require "spec.support.reference_answers"
local http = require "spec.support.reference_http"
local machines = require "spec.support.reference_machine"

local rows = {}

local function compares_date(walk, name)
  return machines.date_of(walk, name) ~= nil and machines.last_modified(walk) ~= nil
end

function rows.precondition_given(walk)
  local request = walk.request
  return http.joined(request, "If-Match") ~= nil
    or http.joined(request, "If-None-Match") ~= nil
    or compares_date(walk, "If-Unmodified-Since")
    or (answers.is_read(walk) and compares_date(walk, "If-Modified-Since"))
end

local function matches(walk, tags, is_equal)
  if tags == "*" then return walk.exists end
  local current = machines.entity_tag(walk)
  for _, tag in ipairs(current and tags or {}) do
    if is_equal(tag, current) then return true end
  end
  return false
end

function rows.if_match_holds(walk)
  local tags = http.tags(walk.request, "If-Match")
  return tags == nil or matches(walk, tags, http.equal_strong)
end

function rows.if_unmodified_since_holds(walk)
  if http.joined(walk.request, "If-Match") then return true end
  if not compares_date(walk, "If-Unmodified-Since") then return true end
  return machines.last_modified(walk) <= machines.date_of(walk, "If-Unmodified-Since")
end

function rows.if_none_match_holds(walk)
  local tags = http.tags(walk.request, "If-None-Match")
  return tags == nil or not matches(walk, tags, http.equal_weak)
end

function rows.if_modified_since_holds(walk)
  if http.joined(walk.request, "If-None-Match") then return true end
  if not compares_date(walk, "If-Modified-Since") then return true end
  return machines.last_modified(walk) > machines.date_of(walk, "If-Modified-Since")
end

function rows.range_wanted(walk)
  return machines.value(walk, "accept_ranges") == true
    and walk.reply ~= nil and walk.reply.text ~= nil
    and http.range_specs(walk.request) ~= nil
end

function rows.if_range_holds(walk)
  local wanted = http.joined(walk.request, "If-Range")
  if not wanted then return true end
  local tag, date = machines.entity_tag(walk), machines.date_of(walk, "If-Range")
  if tag and http.equal_strong(wanted, tag) then return true end
  return date ~= nil and date == machines.last_modified(walk) and date < os.time()
end

function rows.range_fits(walk)
  local specs = assert(http.range_specs(walk.request))
  walk.size = #walk.reply.text
  walk.ranges = http.ranges(specs, walk.size)
  return #walk.ranges > 0
end

return rows
