-- SPDX-License-Identifier: MIT
-- Holds an answer against what the reference walk says: status, fields, content.  Of
-- the fields, all that the decision graph knows; and the short bodies that speak where
-- an app says nothing.  Owns nothing.  RFC 9110 §5.3, §8.3, §14.6, §15.
local accept = require "spec.support.reference_accept"

local M = {}

-- The fields that the graph adds, or an app's response may have in its place.
local KNOWN = {}
for name in ([[allow www-authenticate location retry-after cache-control expires etag
  last-modified vary accept-ranges content-range content-language content-encoding
  content-location content-type accept accept-post accept-patch accept-encoding
  access-control-allow-origin access-control-allow-credentials
  access-control-expose-headers access-control-allow-methods
  access-control-allow-headers access-control-max-age
  access-control-allow-private-network]]):gmatch "%S+" do
  KNOWN[name] = true
end

local AS_SET = { allow = true, vary = true, ["access-control-allow-methods"] = true }

-- What there is to choose from where nobody else has a body.
local FORMS = { "text/plain;charset=utf-8", "text/html;charset=utf-8",
  "application/problem+json;charset=utf-8", "application/json;charset=utf-8" }

-- Fields ------------------------------------------------------------------------------

local function members(text)
  local list, seen = {}, {}
  for member in (text or ""):gmatch "[^,]+" do
    member = member:match "^%s*(.-)%s*$"
    if not seen[member:lower()] then list[#list + 1] = member end
    seen[member:lower()] = true
  end
  table.sort(list)
  return list, seen
end

-- As far as it counts.
local function plain(name, text)
  if AS_SET[name] then return table.concat((members(text)), ", ") end
  if name == "content-type" then return text:match "^[^;%s]*":lower() end
  return text
end

local function joined(message)
  local fields = {}
  for _, pair in ipairs(message.headers) do
    local name, value = pair[1], pair[2]
    fields[name] = fields[name] and fields[name] .. ", " .. value or value
  end
  return fields
end

-- Vary may name what the short bodies depend on.
local function vary_fault(walked, given, more)
  local _, has = members(given)
  local must = members(walked.fields.vary)
  local _, may = members(table.concat({ walked.fields.vary or "", walked.may.vary or "",
                                        more }, ","))
  for _, name in ipairs(must) do
    if not has[name:lower()] then
      return ("%s is missing in Vary: %s"):format(name, given or "")
    end
  end
  for name in pairs(has) do
    if not may[name] then return name .. " is too much in Vary: " .. given end
  end
end

local function is_same(name, a, b)
  return a ~= nil and b ~= nil and plain(name, a) == plain(name, b)
end

local function missing_fault(walked, fields)
  for name, value in pairs(walked.fields) do
    if name ~= "vary" and not is_same(name, fields[name], value) then
      return ("%s is %s, not %s"):format(name, tostring(fields[name]), value)
    end
  end
end

local function excess_fault(walked, fields, has_short_body)
  for name, value in pairs(fields) do
    local is_judged = KNOWN[name] and name ~= "vary" and not walked.fields[name]
    local is_of_body = name == "content-type" and has_short_body
    if is_judged and not is_of_body and not is_same(name, walked.may[name], value) then
      return ("%s is there: %s"):format(name, value)
    end
  end
end

local function fields_fault(walked, fields, has_short_body)
  return missing_fault(walked, fields) or excess_fault(walked, fields, has_short_body)
    or vary_fault(walked, fields.vary, has_short_body and "Accept" or "")
end

-- Content -----------------------------------------------------------------------------

local function form_of(request)
  return accept.choose(request, "media_type", FORMS) or FORMS[1]
end

local TYPES = { [FORMS[1]] = "text/plain", [FORMS[2]] = "text/html",
  [FORMS[3]] = "application/problem+json", [FORMS[4]] = "application/problem+json" }

local function short_body_fault(request, message, fields)
  local wanted = TYPES[form_of(request)]
  if plain("content-type", fields["content-type"] or "") ~= wanted then
    return ("the short body is %s, not %s"):format(fields["content-type"], wanted)
  end
  local names_status = message.body:find(tostring(message.status), 1, true)
  if request.method ~= "HEAD" and not names_status then
    return ("the short body is %q"):format(message.body)
  end
end

local function ranges_of(walked)
  if walked.status ~= 206 or #walked.ranges > 1 then return walked.text end
  return walked.text:sub(walked.ranges[1][1] + 1, walked.ranges[1][2] + 1)
end

local function is_bare(request, message)
  local status = message.status
  return request.method == "HEAD" or status == 204 or status == 205 or status == 304
end

local function content_fault(walked, request, message)
  local text = is_bare(request, message) and "" or ranges_of(walked)
  if walked.status == 206 and #walked.ranges > 1 and text ~= "" then return nil end
  if text and text ~= message.body then
    return ("the content is %q, not %q"):format(message.body:sub(1, 80),
      text:sub(1, 80))
  end
end

--- What is wrong with an answer; nil: nothing.
---@param walked spec.MachineWalked
---@param request spec.PlainRequest
---@param message luaweb.HttpMessage
---@return string?
function M.fault(walked, request, message)
  if message.status ~= walked.status then
    return ("the status is %d, not %d, which %s gives"):format(message.status,
      walked.status, walked.row)
  end
  local fields = joined(message)
  local is_short = walked.status >= 300 and walked.status ~= 304 and walked.is_short
  return fields_fault(walked, fields, is_short)
    or (is_short and short_body_fault(request, message, fields))
    or (not is_short and content_fault(walked, request, message)) or nil
end

return M
