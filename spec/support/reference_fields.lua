-- SPDX-License-Identifier: MIT
-- The response fields that the decision graph contributes, in plain Lua for the
-- reference walk: gathered in one place from the terminal, which is a row and a status,
-- and from the rows that were passed.  Date, Content-Length and Connection are not its.
-- RFC 9110 §8, §10, §12.5.5, §13.3, §15; RFC 5789; Fetch.
local accept = require "spec.support.reference_accept"
local cors = require "spec.support.reference_cors"
local http = require "spec.support.reference_http"
local machines = require "spec.support.reference_machine"

local value = machines.value
local M = {}

---@class spec.Fields
---@field must table<string, string>   lower-case name -> value, lists joined by ", "
---@field may table<string, string>    what may be there too, with this value

local function text_of(list)
  return type(list) == "table" and table.concat(list, ", ") or tostring(list)
end

-- A list grows, every other field has one value.
local function add(fields, name, text)
  if text == nil then return end
  fields[name] = fields[name] and fields[name] .. ", " .. text_of(text) or text_of(text)
end

-- Values ------------------------------------------------------------------------------

local function date_value(given)
  return type(given) == "number" and http.format_date(given) or given
end

local function retry_after(walk)
  local given = value(walk, "retry_after")
  return type(given) == "number" and ("%d"):format(given) or given
end

local function list_value(walk, key)
  return walk.machine[key] ~= nil and text_of(machines.list(walk, key)) or nil
end

-- The dimensions in which there was more than one offer.
local DIMENSIONS = {
  { "media_type",     row = "media_type_offered", field = "Accept" },
  { "language",       row = "language_offered",   field = "Accept-Language" },
  { "charset",        row = "charset_offered",    field = "Accept-Charset" },
  { "content_coding", row = "coding_offered",     field = "Accept-Encoding" },
}

-- Identity is an offer too, beside the codings that are listed.
local function has_choice(offers, dimension)
  if not offers then return false end
  return #offers > 1 or (dimension == "content_coding" and offers[1] ~= "identity")
end

local function negotiated_vary(walk, passed)
  local names = {}
  for _, dimension in ipairs(DIMENSIONS) do
    if passed[dimension.row] ~= nil
      and has_choice(machines.offers(walk, dimension[1]), dimension[1]) then
      names[#names + 1] = dimension.field
    end
  end
  for _, name in ipairs(machines.list(walk, "vary")) do names[#names + 1] = name end
  return names[1] and table.concat(names, ", ") or nil
end

-- By status: what a status needs wherever it comes from -------------------------------

local by_status = {}

by_status[401] = function(walk, fields)
  add(fields.must, "www-authenticate", list_value(walk, "challenge"))
end

by_status[405] = function(walk, fields)
  fields.must.allow = text_of(machines.methods(walk.machine))
end

local function may_retry(walk, fields)
  add(fields.must, "retry-after", retry_after(walk))
end
by_status[413], by_status[429], by_status[503] = may_retry, may_retry, may_retry

local function somewhere(walk, fields)
  add(fields.must, "location", value(walk, "location"))
end
by_status[201], by_status[202], by_status[300] = somewhere, somewhere, somewhere

local function elsewhere(walk, fields, terminal)
  somewhere(walk, fields)
  local stays = terminal.row == "stays_for_good" or terminal.row == "stays_for_now"
  add(stays and fields.must or fields.may, "retry-after", retry_after(walk))
end
for _, status in ipairs { 301, 302, 303, 307, 308 } do by_status[status] = elsewhere end

-- By row ------------------------------------------------------------------------------

local by_row = {}

function by_row.content_coding_known(walk, fields, terminal)
  if terminal.status ~= 415 then return end
  local list = list_value(walk, "acceptable_content_codings") or "identity"
  add(fields.must, "accept-encoding", list)
end

function by_row.media_type_taken(walk, fields, terminal)
  if terminal.status ~= 415 then return end
  local list = list_value(walk, "acceptable_media_types")
  add(fields.must, "accept", list)
  if walk.request.method == "POST" then add(fields.must, "accept-post", list) end
end

function by_row.patch_type_taken(walk, fields, terminal)
  if terminal.status ~= 415 then return end
  add(fields.must, "accept-patch", list_value(walk, "patch_media_types"))
end

-- Representations ---------------------------------------------------------------------

local function content_type(walk)
  local given = walk.reply.media_type or walk.accepted.media_type
  if not given then return "text/plain; charset=utf-8" end
  local charset = walk.accepted.charset
  if charset and not walk.reply.media_type then
    return given .. "; charset=" .. charset
  end
  return given
end

local function representation(walk, fields)
  add(fields.must, "content-type", content_type(walk))
  add(fields.must, "content-language", walk.accepted.language)
  local coding = walk.accepted.content_coding
  if coding and accept.coding_name(coding) ~= "identity" then
    add(fields.must, "content-encoding", coding)
  end
end

-- What a 304 and a 206 have as the 200 would.
local function caching(walk, fields)
  add(fields.must, "etag", machines.entity_tag(walk))
  add(fields.must, "cache-control", value(walk, "cache_control"))
  add(fields.must, "expires", date_value(value(walk, "expires")))
end

local function modified(walk, fields)
  local seconds = machines.last_modified(walk)
  add(fields.must, "last-modified", seconds and http.format_date(seconds))
end

local function of_read(walk, fields, terminal)
  local accepts = value(walk, "accept_ranges") == true and "bytes" or nil
  caching(walk, fields)
  if terminal.status == 200 then
    representation(walk, fields)
    modified(walk, fields)
    return add(fields.must, "accept-ranges", accepts)
  end
  add(fields.may, "accept-ranges", accepts)
  if not http.joined(walk.request, "If-Range") then
    representation(walk, fields)
    modified(walk, fields)
  end
  if #walk.ranges > 1 then
    fields.must["content-type"] = "multipart/byteranges"
  else
    fields.must["content-range"] = ("bytes %d-%d/%d"):format(walk.ranges[1][1],
      walk.ranges[1][2], walk.size)
  end
end

local function of_options(walk, fields)
  fields.must.allow = text_of(machines.methods(walk.machine))
  local allows_patch = machines.names(machines.methods(walk.machine), "PATCH")
  local allows_post = machines.names(machines.methods(walk.machine), "POST")
  add(fields.must, "accept-patch",
    allows_patch and list_value(walk, "patch_media_types") or nil)
  add(fields.must, "accept-post",
    allows_post and list_value(walk, "acceptable_media_types") or nil)
  local accepts = value(walk, "accept_ranges") == true and "bytes" or nil
  add(fields.must, "accept-ranges", accepts)
end

local function of_reply(walk, fields, terminal)
  local method, status = walk.request.method, terminal.status
  if method == "OPTIONS" then
    of_options(walk, fields)
    if status == 200 then representation(walk, fields) end
  elseif method ~= "GET" and method ~= "HEAD" then
    if status ~= 200 then return end
    representation(walk, fields)
    if walk.is_current_state then
      add(fields.must, "content-location", walk.request.target)
    end
  elseif status == 416 then
    fields.must["content-range"] = "bytes */" .. walk.size
  elseif status == 200 or status == 206 then
    of_read(walk, fields, terminal)
  end
end

function by_row.has_reply(walk, fields, terminal)
  if terminal.status == 204 then of_reply(walk, fields, terminal) end
end
by_row.range_wanted, by_row.if_range_holds, by_row.range_fits =
  of_reply, of_reply, of_reply

by_status[304] = function(walk, fields)
  caching(walk, fields)
  if not fields.must.etag then modified(walk, fields) end
end

-- A 412 may name the tag that the client should have had.
by_status[412] = function(walk, fields)
  add(fields.may, "etag", machines.entity_tag(walk))
end

-- All together ------------------------------------------------------------------------

local WITH_VARY = { [200] = true, [206] = true, [304] = true, [406] = true }

local function add_vary(walk, fields, terminal, passed)
  local varies = WITH_VARY[terminal.status] and not terminal.ends_early
    and walk.request.method ~= "OPTIONS"
  add(varies and fields.must or fields.may, "vary", negotiated_vary(walk, passed))
end

-- What the app's response says wins, but for Vary, which adds up.
local function add_own(fields, given)
  local own, pairs_of = {}, given and given.fields or {}
  for i = 1, #pairs_of, 2 do add(own, pairs_of[i]:lower(), pairs_of[i + 1]) end
  if given and given.media_type then own["content-type"] = given.media_type end
  for name, text in pairs(own) do
    if name ~= "vary" then fields.must[name] = nil end
    add(fields.must, name, text)
  end
end

--- The fields of a response.
---@param walk spec.Walk
---@param terminal { row: string, status: integer, ends_early: boolean }
---@param passed table<string, boolean|integer>   row -> answer
---@return spec.Fields
function M.of(walk, terminal, passed)
  local fields = { must = {}, may = {} }
  local of_status, of_row = by_status[terminal.status], by_row[terminal.row]
  if of_status then of_status(walk, fields, terminal) end
  if of_row and not terminal.ends_early then of_row(walk, fields, terminal) end
  cors.add(walk, fields, terminal, passed)
  add_vary(walk, fields, terminal, passed)
  if terminal.ends_early then
    add_own(fields, walk.ending)
  else
    add_own(fields, walk.reply and walk.reply.response)
  end
  return fields
end

return M
