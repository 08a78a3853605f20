-- SPDX-License-Identifier: MIT
-- The kinds of functions that a walk asks for: how each is called, and what is done
-- with what it gives.  A step does that for one function, and gives the number of the
-- function to call next, or 0.
--
-- Each step is a chunk of its own, since the compiler makes traces by chunk: then a
-- trace runs from the call to what C is told, and knows the one function that it is
-- about.
-- Steps that shared their code would share one trace, and fall out of it.
local abi = require "luaweb.abi"
local ffi = require "ffi"
local handle = require "luaweb.request.handle"
local log = require "luaweb.log"
local memo = require "luaweb.request.memo"
local reply = require "luaweb.host.reply"
local response = require "luaweb.response"
local trace = require "luaweb.trace"

local C, host, request_at = abi.C, abi.host, abi.request_at
local Response = response.Response
local send = reply.send
local REPLY = handle.REPLY -- place in a handle: what an operation wants to be sent

local NO, YES = tonumber(C.LUAWEB_ANSWER_NO), tonumber(C.LUAWEB_ANSWER_YES)
local KEPT = tonumber(C.LUAWEB_ANSWER_KEPT)
local BAD_VALUE = tonumber(C.LUAWEB_REPLY_BAD_VALUE)

local M = {}

---@alias luaweb.Step fun(req: luaweb.Request, address: integer,
---  generation: integer): integer

-- What a decision or operation gave, as C wants it; nil: it is content.
local function answer_of(value, req, of_nil)
  if value == nil then return of_nil end
  if value == true then return YES end
  if value == false then return NO end
  if type(value) == "number" then return reply.status_of(value, req) end
  return nil
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

-- What follows from anything but true.
local function decide(value, req, address, generation)
  local answer = answer_of(value, req, NO)
  if not answer then return send_early(value, req, address, generation) end
  local following = C.luaweb_answer(host, request_at(address), generation, answer)
  return following
end

-- What an operation returns is sent when its status is known, unless it says that
-- itself.
local function conclude(value, req, address, generation)
  memo.forget(req)
  if value == false then
    log.error(("[%s] %s %s: its operation answered false"):format(req.id, req.method,
      req.target))
  end
  local answer = answer_of(value, req, YES)
  if not answer and getmetatable(value) == Response and value.code then
    send(req, value.code, value)
    return 0
  end
  if not answer then req[REPLY] = value end
  local following = C.luaweb_answer(host, request_at(address), generation,
    answer or KEPT)
  return following
end

local next_one = ffi.new "uint32_t[1]"

local function refuse(result, name)
  if result ~= BAD_VALUE then return 0 end
  error(name .. ": its function gave what can't be sent: a control octet, no entity "
    .. "tag, or too much", 0)
end

-- The chunks.
local sources = {
  -- makes the representation
  reply = [[
    local fn, send = ...
    return function(req)
      local answer = fn(req)
      send(req, 0, answer)
      return 0
    end]],
  -- speaks at the end of a walk; where it gives nothing, there is no content
  handler = [[
    local fn, send = ...
    return function(req)
      local answer = fn(req)
      send(req, 0, answer == nil and "" or answer)
      return 0
    end]],
  decision = [[
    local fn, _, decide, C, host, request_at = ...
    return function(req, address, generation)
      local value = fn(req)
      if value ~= true then return decide(value, req, address, generation) end
      local following = C.luaweb_answer(host, request_at(address), generation, 1)
      return following
    end]],
  operation = [[
    local fn, _, conclude = ...
    return function(req, address, generation)
      local value = fn(req)
      return conclude(value, req, address, generation)
    end]],
  property = [[
    local fn, _, refuse, C, host, request_at, next_one, convert, name = ...
    return function(req, address, generation)
      local text, number = convert(fn(req))
      local result = C.luaweb_give(host, request_at(address), generation, text,
        text and #text or 0, number or 0, next_one)
      if result ~= 0 then return refuse(result, name) end
      local following = next_one[0]
      return following
    end]],
}

local rest = { decision = decide, operation = conclude, property = refuse }

--- The step of a function.
---@param kind string   "reply", "handler", "decision", "operation" or "property"
---@param fn fun(req: luaweb.Request): any
---@param convert fun(value: any): string?, number?   of a property: what C is told
---@param name string?   of a property
---@return luaweb.Step
function M.of(kind, fn, convert, name)
  local make = assert(loadstring(sources[kind], trace.chunk_name "host/steps.lua"))
  return make(fn, send, rest[kind], C, host, request_at, next_one, convert, name)
end

--- Sends what an operation left to be sent: LUAWEB_FUNCTION_KEPT.
---@type luaweb.Step
function M.send_kept(req)
  send(req, 0, rawget(req, REPLY))
  return 0
end

return M
