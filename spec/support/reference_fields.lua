-- SPDX-License-Identifier: MIT
-- The response fields that the decision graph contributes, in plain Lua for the
-- reference walk: gathered in one place from the terminal, which is a row and a status,
-- and from the rows that were passed.  Date, Content-Length and Connection are not its.
-- RFC 9110 §8, §10, §12.5.5, §13.3, §15; RFC 5789; Fetch.
local accept = require "spec.support.reference_accept"
local contents = require "spec.support.reference_content"
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

-- A part of a second counts as a whole one.
local function retry_after(walk)
  local given = value(walk, "retry_after")
  return type(given) == "number" and ("%d"):format(math.ceil(given)) or given
end

local function list_value(walk, key)
  local list = machines.list(walk, key)
  return list[1] and text_of(list) or nil
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

-- The fields that negotiation has looked at, and those that it might have: of rows that
-- were not passed, or because a function may offer more to others.
local function negotiated_vary(walk, passed)
  local must, may = {}, {}
  for _, dimension in ipairs(DIMENSIONS) do
    local name = dimension[1]
    local has = has_choice(machines.offers(walk, name), name)
    if has and passed[dimension.row] ~= nil then
      must[#must + 1] = dimension.field
    elseif has or machines.may_offer(walk, name) then
      may[#may + 1] = dimension.field
    end
  end
  for _, name in ipairs(machines.list(walk, "vary")) do must[#must + 1] = name end
  return must[1] and table.concat(must, ", "), may[1] and table.concat(may, ", ")
end

-- By status: what a status needs wherever it comes from -------------------------------

local by_status = {}

by_status[401] = function(walk, fields)
  add(fields.must, "www-authenticate", list_value(walk, "challenge"))
end

by_status[405] = function(walk, fields)
  local list = machines.methods(walk.machine, walk.context.is_unmatched)
  fields.must.allow = text_of(list)
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

local function representation(walk, fields)
  add(fields.must, "content-language", walk.accepted.language)
  local coding = walk.accepted.content_coding
  if coding and accept.coding_name(coding) ~= "identity" then
    add(fields.must, "content-encoding", coding)
  end
end

local function caching(walk, fields)
  add(fields.must, "cache-control", value(walk, "cache_control"))
  add(fields.must, "expires", date_value(value(walk, "expires")))
end

-- What a 304 and a 206 have as the 200 would.
local function identity(walk, fields)
  add(fields.must, "etag", machines.entity_tag(walk))
  caching(walk, fields)
end

local function modified(walk, fields)
  local seconds = machines.last_modified(walk)
  seconds = seconds and math.min(seconds, os.time()) -- RFC 9110 §8.8.2.1
  add(fields.must, "last-modified", seconds and http.format_date(seconds))
end

local function of_read(walk, fields, terminal)
  local accepts = value(walk, "accept_ranges") == true and "bytes" or nil
  identity(walk, fields)
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
  elseif method ~= "GET" and method ~= "HEAD" then
    if status ~= 200 then return end
    representation(walk, fields)
    if walk.is_current_state then
      add(fields.must, "content-location", walk.request.target)
    end
  elseif status == 416 then
    fields.must["content-range"] = "bytes */" .. walk.size
    fields.may["accept-ranges"] = "bytes"
  elseif status == 204 then
    caching(walk, fields) -- a cache may keep it (RFC 9110 15.3.5)
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
  identity(walk, fields)
  if not fields.must.etag then modified(walk, fields) end
end

-- A 412 may name the tag that the client should have had.
by_status[412] = function(walk, fields)
  add(fields.may, "etag", machines.entity_tag(walk))
end

-- All together ------------------------------------------------------------------------

-- What may be kept by caches: 204 only of reads.
local WITH_VARY = { [200] = true, [206] = true, [304] = true, [406] = true }
local OF_READS = { GET = { [204] = true }, HEAD = { [204] = true } }

local function add_vary(walk, fields, terminal, passed)
  local method, status = walk.request.method, terminal.status
  local has_vary = WITH_VARY[status] or (OF_READS[method] and OF_READS[method][status])
  local varies = has_vary and not terminal.ends_early and method ~= "OPTIONS"
  local must, may = negotiated_vary(walk, passed)
  add(varies and fields.must or fields.may, "vary", must)
  add(fields.may, "vary", may)
end

--- The fields of a response.
---@param walk spec.Walk
---@param terminal spec.Terminal
---@param passed table<string, boolean|integer>   row -> answer
---@return spec.Fields
function M.of(walk, terminal, passed)
  local fields = { must = {}, may = {} }
  local of_status, of_row = by_status[terminal.status], by_row[terminal.row]
  if of_status then of_status(walk, fields, terminal) end
  if of_row and not terminal.ends_early then of_row(walk, fields, terminal) end
  contents.add_type(walk, fields, terminal.status)
  cors.add(walk, fields, terminal, passed)
  add_vary(walk, fields, terminal, passed)
  contents.add_own(walk, fields)
  return fields
end

return M
