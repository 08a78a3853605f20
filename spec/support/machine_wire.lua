-- SPDX-License-Identifier: MIT
-- Machines on the wire, for specs: an app of one machine, the header fields of a corpus
-- as a client sends them, and what came back.  Requests go through the test client, so
-- every octet is parsed and written as for anyone else.
local cjson = require "cjson"
local http_reader = require "luaweb.client.http_reader"
local pure = require "spec.support.pure"
local test = require "luaweb.test"
local web = require "luaweb"

local M = {}

local SECONDS = 5 -- that an answer may take

--- A client of an app whose only resource is this machine, at /x.
---@param keys table   of web.machine
---@return luaweb.TestClient
function M.client(keys)
  return test.app(web.app { web.resource("/x", web.machine(keys)) })
end

--- A function of what `make` makes of a value; what was made of an equal one is kept.
---@param make fun(value: any): any
---@return fun(value: any): any
function M.kept(make)
  local made = {}
  return function(value)
    local key = M.text(value)
    if made[key] == nil then made[key] = make(value) end
    return made[key]
  end
end

--- A text that tells values apart: tables by what they have.
---@param value any
---@return string
function M.text(value)
  if type(value) ~= "table" then return type(value) .. ":" .. tostring(value) end
  local parts = {}
  for key, item in pairs(value) do
    parts[#parts + 1] = tostring(key) .. "=" .. M.text(item)
  end
  table.sort(parts)
  return "{" .. table.concat(parts, ",") .. "}"
end

--- A value of a corpus, or nil where it has null.
function M.given(value)
  if value == cjson.null then return nil end
  return value
end

--- The fields of a corpus for client:request: an object, or pairs of name and value
--- where a name repeats.
---@param given table
---@return table<string, string|string[]>
function M.headers(given)
  local headers = {}
  for name, value in pairs(given) do
    if type(name) == "number" then name, value = value[1], value[2] end
    local lines = headers[name] or {}
    headers[name] = lines
    lines[#lines + 1] = pure.octets(value)
  end
  return headers
end

--- Copies a table and adds what others have; the last one wins.
---@return table
function M.with(...)
  local all = {}
  for _, more in ipairs { ... } do
    for key, value in pairs(more) do all[key] = value end
  end
  return all
end

---@return boolean   whether a list has the value
function M.has(list, value)
  for _, item in ipairs(list) do
    if item == value then return true end
  end
  return false
end

--- The members of a field that is a list, in lower case.
---@param value string?
---@return string[]
function M.members(value)
  local list = {}
  for member in (value or ""):gmatch "[^,]+" do
    list[#list + 1] = member:match("^%s*(.-)%s*$"):lower()
  end
  return list
end

--- What comes back on a connection of its own when these octets are sent.
---@param client luaweb.TestClient
---@param octets string
---@param method string?   of the request (GET)
---@return luaweb.HttpMessage   its `interim` has the statuses of 1xx answers before it
function M.exchange(client, octets, method)
  local conn, all = client:raw(octets), ""
  while true do
    local piece, ending = conn:receive(SECONDS)
    all = all .. (piece or "")
    local messages, _, err = http_reader.read(all, { method or "GET" }, ending ~= nil)
    if messages[1] or err or ending then
      conn:close()
      return assert(messages[1], err or ("no answer: %q, %s"):format(all, ending))
    end
  end
end

return M
