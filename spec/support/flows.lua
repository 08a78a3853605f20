-- SPDX-License-Identifier: MIT
-- Plays flows on the wire: a flow is a request, what a machine has beside its usual
-- keys, and the status that must come.  The keys may be taken as they stand, or with
-- functions that wait in place of all literals.
local web = require "luaweb"
local wire = require "spec.support.machine_wire"

local M = {}

local IS_LITERAL = { boolean = true, number = true, string = true }

--- A function that takes its time to give this.
function M.slow(value)
  return function()
    web.sleep(0.0001)
    return value
  end
end

--- The keys with a function in place of every literal that may be one.
---@param keys table
---@return table
function M.slowed(keys)
  local slow = {}
  for key, value in pairs(keys) do
    local is_list = type(value) == "table" and getmetatable(value) == nil
    local may_be = key ~= "methods" and not key:find "^handle_" and key ~= "params"
    local is_function = IS_LITERAL[type(value)] or is_list
    slow[key] = may_be and is_function and M.slow(value) or value
  end
  return slow
end

local function chunked(body)
  return ("%x\r\n%s\r\n0\r\n\r\n"):format(#body, body)
end

--- Sends a request that is written as a text: method and maybe a target, a line for
--- each field, and maybe an empty line and content.
---@param client luaweb.TestClient
---@param text string   "PUT /x?a\nIf-Match: *\n\ncontent"
---@return luaweb.TestResponse
function M.ask(client, text)
  local head, body = text:match "^(.-)\n\n(.*)$"
  head = head or text
  local method, target = head:match "^(%S+) ?([^\n]*)"
  local headers = {}
  for name, value in head:gmatch "\n([^:\n]+): ?([^\n]*)" do
    headers[name] = headers[name] or {}
    table.insert(headers[name], value)
  end
  if headers["Transfer-Encoding"] then body = chunked(body) end
  return client:request(method, target ~= "" and target or "/x",
    { headers = headers, body = body })
end

local ran -- how often an operation ran

local function counted(operation)
  return function(req)
    ran = ran + 1
    return operation(req)
  end
end

local function nothing() end

-- A machine that has every usual method.
local function whole(keys)
  local all = { handle_ok = function() return "hello" end, do_post = nothing,
    do_put = nothing, do_patch = nothing, do_delete = nothing }
  for key, value in pairs(keys) do all[key] = value end
  for key, value in pairs(all) do
    if key:find "^do_" then all[key] = counted(value) end
  end
  return all
end

local function text_of(value)
  return value == nil and "none" or ("%q"):format(tostring(value))
end

-- Says in which way something is not what it should be.
local function difference(what, wanted, is)
  if wanted == is then return nil end
  return ("%s: %s, not %s"):format(what, text_of(is), text_of(wanted))
end

local function fault_of_fields(wanted, res)
  for name, value in pairs(wanted or {}) do
    local fault = difference(name, value or nil, res.headers[name:lower()])
    if fault then return fault end
  end
end

---@class spec.Flow
---@field [1] string    its title
---@field [2] string    the request, see M.ask
---@field [3] table     keys of the machine, beside those of every method
---@field [4] string    the status; with "done" the operation ran once, else never
---@field [5] table?    fields of the response; false: there is none
---@field [6] string?   its content

--- Plays a flow.
---@param flow spec.Flow
---@param is_slow boolean   with functions that wait in place of literals
---@return string? fault
function M.fault(flow, is_slow)
  local _, text, keys, wanted, fields, body = unpack(flow, 1, 6)
  local status, times = wanted:match "^(%d+) ?(%a*)$"
  ran = 0
  local res = M.ask(wire.client(whole(is_slow and M.slowed(keys) or keys)), text)
  return difference("status", tonumber(status), res.status)
    or difference("operations", times == "done" and 1 or 0, ran)
    or fault_of_fields(fields, res) or difference("content", body or res.body, res.body)
end

return M
