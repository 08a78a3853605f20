-- SPDX-License-Identifier: MIT
-- The kinds of functions that a walk asks for: how each is called, and what is done
-- with what it gives.  A step gives the number of the function to call next, or 0.
--
-- The steps are interpreted, since one trace through all the functions of a walk would
-- never end; what is expensive there, calls of C, is in small functions that are
-- compiled by themselves.
local abi = require "luaweb.abi"
local ffi = require "ffi"
local handle = require "luaweb.handle"
local reply = require "luaweb.reply"
local response = require "luaweb.response"

local C, host, request_at = abi.C, abi.host, abi.request_at
local Response = response.Response
local send = reply.send
local REPLY = handle.REPLY -- place in a handle: what an operation wants to be sent

local NO, YES = tonumber(C.LUAWEB_ANSWER_NO), tonumber(C.LUAWEB_ANSWER_YES)
local KEPT = tonumber(C.LUAWEB_ANSWER_KEPT)
local BAD_VALUE = tonumber(C.LUAWEB_REPLY_BAD_VALUE)

local M = {}

---@alias luaweb.Step fun(fn: function, req: luaweb.Request, address: integer,
---  generation: integer): integer

-- By name: reply, handler, decision, operation.
---@type table<string, luaweb.Step>
local kinds = {}
M.kinds = kinds

local function tell(address, generation, answer)
  local following = C.luaweb_answer(host, request_at(address), generation, answer)
  return following
end

-- What a decision or operation gave, as C wants it; nil: it is content.
local function answer_of(value, req, of_nil)
  if value == true then return YES end
  if value == nil then return of_nil end
  if value == false then return NO end
  if type(value) == "number" then return reply.status_of(value, req) end
  return nil
end

-- Calls what makes the representation, and sends it.
function kinds.reply(fn, req)
  local answer = fn(req)
  send(req, 0, answer)
  return 0
end

-- Calls what speaks at the end of a walk; where that gives nothing, there is no
-- content.
function kinds.handler(fn, req)
  local answer = fn(req)
  send(req, 0, answer == nil and "" or answer)
  return 0
end

-- A response ends the walk, whatever the question.
local function send_early(value, req, address, generation)
  if getmetatable(value) ~= Response then
    local name = ffi.string(C.luaweb_asked(host, request_at(address), generation))
    error(("the decision %s gave a %s: it may give true, false, a status or a response")
      :format(name, type(value)), 0)
  end
  send(req, value.code or 200, value)
  return 0
end

function kinds.decision(fn, req, address, generation)
  local value = fn(req)
  local answer = answer_of(value, req, NO)
  if not answer then return send_early(value, req, address, generation) end
  local following = tell(address, generation, answer)
  return following
end

-- What an operation returns is sent when its status is known, unless it says that
-- itself.
function kinds.operation(fn, req, address, generation)
  local value = fn(req)
  local answer = answer_of(value, req, YES)
  if not answer and getmetatable(value) == Response and value.code then
    send(req, value.code, value)
    return 0
  end
  if not answer then req[REPLY] = value end
  local following = tell(address, generation, answer or KEPT)
  return following
end

local next_one = ffi.new "uint32_t[1]"

local function give(address, generation, text, number)
  local result = C.luaweb_give(host, request_at(address), generation, text,
    text and #text or 0, number or 0, next_one)
  return result, next_one[0]
end

local properties = {} -- steps by converter

--- The step of properties that become octets by this function.
---@param convert fun(value: any): string?, number?
---@return luaweb.Step
function M.property(convert)
  if properties[convert] then return properties[convert] end
  local function step(fn, req, address, generation)
    local result, following = give(address, generation, convert(fn(req)))
    if result == BAD_VALUE then
      error("the function of a property gave what can't be sent: a control octet, no "
        .. "entity tag, or too much", 0)
    end
    return following
  end
  jit.off(step)
  properties[convert] = step
  return step
end

--- Sends what an operation left to be sent: LUAWEB_FUNCTION_KEPT.
---@type luaweb.Step
function M.send_kept(_, req)
  send(req, 0, rawget(req, REPLY))
  return 0
end

for _, step in pairs(kinds) do jit.off(step) end

return M
