-- SPDX-License-Identifier: MIT
-- What has failed while a request was answered: a function of the app that raised
-- something, or whose value can't be sent.  The error log tells; here it is read, and
-- the key is found whose function that is.
local log = require "luaweb.log"
local places = require "luaweb.explain.places"

local M = {}

local LONGEST = 200 -- octets of a message

---@class luaweb.Failure   of a function
---@field message string   its first line
---@field place string?    where the function is
---@field row string?      that was asked

-- "[id] GET /path: message", a traceback, "place: asked by row".
local function read(text, request)
  local what = ("%s %s: "):format(request.method, request.target)
  local rest = text:match "^%[[^%]]*%] (.*)$"
  if not rest or rest:sub(1, #what) ~= what then return nil end
  local place, by = rest:match "\n\t([^\n]+:%d+): ([^\n]*)$"
  return { message = rest:sub(#what + 1):match("^[^\n]*"):sub(1, LONGEST),
    place = place, row = by and by:match "^asked by (.*)$" }
end

--- Asks a request.
---@param probe luaweb.Probe
---@param request luaweb.ProbeRequest
---@return luaweb.ProbeAnswer? answer
---@return string? message            why there is none
---@return luaweb.Failure? failure    the first
function M.ask(probe, request)
  local failure
  log.listen(function(level, text)
    if level == "error" then failure = failure or read(text, request) end
  end)
  local answer, message = probe:ask(request)
  log.listen(nil)
  return answer, message, failure
end

-- The key among some that has failed, where that is known.
local function key_of(list, failure, machine, method)
  local is_listed = {}
  for _, key in ipairs(list) do is_listed[key] = true end
  local said = failure.message:match "^[%l_]+"
  if is_listed[said] then return said end
  local row = failure.row
  if row == "operation" then row = places.operation(machine, method) end
  return is_listed[row] and row or nil
end

--- A failure in words: "entity_tag at app.lua:3 failed: wants an entity tag".
---@param machine luaweb.Machine
---@param method string
---@param failure luaweb.Failure
---@return string
function M.text(machine, method, failure)
  local list = failure.place and places.keys_at(machine, failure.place) or {}
  local key, message = key_of(list, failure, machine, method), failure.message
  if key then
    list = { key }
    local rest = message:sub(#key + 1):match "^:? (.+)$"
    if message:sub(1, #key) == key then message = rest or message end
  end
  for i, name in ipairs(list) do list[i] = places.who(machine, name) end
  local who = table.concat(list, " or ")
  return ("%s failed: %s"):format(who ~= "" and who or "a function", message)
end

return M
