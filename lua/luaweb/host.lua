-- SPDX-License-Identifier: MIT
-- The host: what is done with an event.  It keeps the functions of all machines by
-- number, calls those that a walk asks for, one after the other, and turns what they
-- give into answers.
local abi = require "luaweb.abi"
local body = require "luaweb.request.body"
local cancellation = require "luaweb.cancellation"
local count = require "luaweb.count"
local dump = require "luaweb.dump"
local ffi = require "ffi"
local handle = require "luaweb.request.handle"
local loader = require "luaweb.loader"
local log = require "luaweb.log"
local reply = require "luaweb.host.reply"
local request = require "luaweb.request"
local response = require "luaweb.response"
local sched = require "luaweb.sched"
local scopes = require "luaweb.request.scope"
local spawn = require "luaweb.spawn"
local steps = require "luaweb.host.steps"
local trace = require "luaweb.trace"

local Response = response.Response
local C, host = abi.C, abi.host
local new_request, send, request_at = request.new, reply.send, abi.request_at
local rawget, rawset, STEP = rawget, rawset, handle.STEP

local M = {}

-- By the number that C knows them by: functions, their steps, and those functions again
-- that make representations.
local functions, taken, replies = { steps.send_kept }, { steps.send_kept }, { false }
local handles = {} -- by the slot of a request that runs: its handle
local numbers = {} -- by kind (or converter) and function

--- Gives a function a number for C.
---@param kind string   see steps.of
---@param fn fun(req: luaweb.Request): any
---@param convert fun(value: any): string?, number?   of a property: what C is told
---@param name string?   of a property
---@return integer
function M.register(kind, fn, convert, name)
  local known = numbers[convert or kind] or {}
  numbers[convert or kind] = known
  if not known[fn] then
    local number = #functions + 1
    functions[number], known[fn] = fn, number
    taken[number] = steps.of(kind, fn, convert, name)
    replies[number] = kind == "reply" and fn
  end
  return known[fn]
end

-- Calls functions until the walk wants no more.
local function follow(index, req, address, generation)
  while index > 0 do
    rawset(req, STEP, index)
    index = taken[index](req, address, generation)
  end
end
jit.off(follow) -- what it calls is compiled; one trace of all would never end

--- For host/reply.lua: what has to be known before content can be sent.
reply.follow = follow

-- The answer that was raised, or nil.  error(404) has put its place in front of the
-- number, as it does with text.
local function answer_in(raised)
  if type(raised) == "string" then
    raised = tonumber(raised:match "^[^\n]+:%d+: ([2-5]%d%d)$")
  end
  local is_answer = type(raised) == "number" and reply.is_status(raised)
  return (is_answer or getmetatable(raised) == Response) and raised or nil
end

-- What `error` was called with goes on where it is an answer; else it becomes a
-- traceback, taken where it happened.
local function on_error(raised)
  if raised == body.GONE or raised == reply.STARTED then return raised end
  local task = sched.self()
  if task and raised ~= nil and raised == task.cancelled then return raised end
  return answer_in(raised) or { traceback = trace.back(raised), raised = raised }
end

local function is_cancelled(failure)
  return getmetatable(failure) == cancellation.Cancelled
end

-- Where the function stands that has failed, and what it was asked for.  Told, since
-- `return web.status(99)` is a tail call and does not stand in the traceback.
local function place_of(req, r, index)
  local last = rawget(req, STEP) or index
  if not last then return "" end
  local what = "the handler"
  if not replies[last] and r.generation == req[2] then
    what = "asked by " .. ffi.string(C.luaweb_asked(host, r, req[2]))
  end
  return ("\n\t%s: %s"):format(trace.place_of(functions[last]), what)
end

--- What answers for a function that has failed, while an app is developed: it is told
--- the traceback, and who was asked.  Nil: the short 500 that tells nothing.
---@type (fun(req: luaweb.Request, r: ffi.cdata*, text: string, where: string):
---  luaweb.Response?)?
M.show = nil

local function text_of(failure)
  return type(failure) == "table" and failure.traceback
    or trace.without_back(tostring(failure))
end

local function show(req, r, failure, index)
  if not M.show or r.generation ~= req[2] then return nil end
  local ok, shown = pcall(M.show, req, r, text_of(failure), place_of(req, r, index))
  if ok then return shown end
  log.error("the failure can't be shown: " .. tostring(shown))
end

local function log_failure(req, r, failure, index)
  count.handler_error()
  local name = "a request that has ended"
  if r.generation == req[2] then
    name = ("[%s] %s"):format(request.id(r), request.line(r))
  end
  log.error(("%s: %s%s"):format(name, text_of(failure),
    place_of(req, r, index)))
end

-- Whether the handler only learned that its request was ended for it (a timeout).
local function is_late(r, generation, failure)
  return r.generation ~= generation and type(failure) == "table"
    and failure.traceback ~= nil
    and failure.traceback:find(handle.ENDED, 1, true) ~= nil
end

-- Answers instead of what has failed: a status ends the walk, and what speaks there
-- speaks; a response is sent as it is.
local function answer_instead(req, address, generation, answer)
  reply.forget(request_at(address), generation)
  if type(answer) == "number" then
    return reply.answer(req, reply.status_of(answer, req))
  end
  send(req, answer.code or 200, answer)
end

-- An answer that was raised is no failure.
local function close_scope(failure)
  local err = failure
  if answer_in(failure) then err = nil end
  if type(failure) == "table" and failure.traceback then err = failure.raised end
  scopes.close(err)
end

-- The handle of a request whose function has failed; it is over with that.
local function take_handle(address, generation)
  local slot = request_at(address).slot
  local req = handles[slot]
  if req and req[2] == generation then
    handles[slot] = false
    return req
  end -- it was ended for this function, and maybe its place is another's already
  return new_request(address, generation)
end

-- Tells, and answers with a 500.
local function answer_failure(req, address, failure, index)
  local r, generation, shown = request_at(address), req[2], nil
  if failure ~= body.GONE then
    log_failure(req, r, failure, index)
    shown = show(req, r, failure, index)
  end
  local is_answered = shown and pcall(answer_instead, req, address, generation, shown)
  if not is_answered and not pcall(answer_instead, req, address, generation, 500) then
    reply.cut(r, generation)
  end
end

-- Ends a request whose function raised something (on_error's result).
local function fail(address, generation, failure, index)
  local r = request_at(address)
  local req = take_handle(address, generation)
  if scopes.open > 0 then close_scope(failure) end
  if answer_in(failure) then
    local ok, again = xpcall(answer_instead, on_error, req, address, generation,
      failure)
    if ok then return end
    failure = answer_in(again)
      and { traceback = "the answer that was raised has raised another one" } or again
  end
  if failure == reply.STARTED then
    log.info(("[%s] %s: raised an answer in the middle of its answer: cut"):format(
      request.id(r), request.line(r)))
    return reply.cut(r, generation)
  end
  if is_late(r, generation, failure) then return end
  if is_cancelled(failure) then return reply.cut(r, generation) end
  answer_failure(req, address, failure, index)
end

-- A request that needs no more than its representation.
local function serve(fn, address, generation)
  local slot = request_at(address).slot
  local req = new_request(address, generation)
  handles[slot] = req
  local answer = fn(req)
  send(req, 0, answer)
  if handles[slot] == req then handles[slot] = false end
end

local function begin(address, generation)
  local req = new_request(address, generation)
  handles[request_at(address).slot] = req
  return req
end

local function finish(address, req)
  local slot = request_at(address).slot
  if handles[slot] == req then handles[slot] = false end -- else others have it
end

local function walk(index, address, generation)
  local req = begin(address, generation)
  follow(index, req, address, generation)
  finish(address, req)
end
jit.off(walk)

-- In between, so that serve compiles: a trace can't end by leaving an xpcall.
local function run(index, address, generation)
  local reply_of = replies[index]
  if reply_of then
    serve(reply_of, address, generation)
  else
    walk(index, address, generation)
  end
end

function sched.upcalls.request(index, address, generation)
  local ok, failure = xpcall(run, on_error, index, address, generation)
  if not ok then fail(address, generation, failure, index) end
  if scopes.open > 0 then scopes.close() end
end

local CANCEL = tonumber(C.LUAWEB_GONE_CANCEL)
local LATE = tonumber(C.LUAWEB_GONE_LATE)

function sched.upcalls.gone(task, address, generation, how)
  local ended = bit.band(how, LATE) ~= 0
  local req = handles[request_at(address).slot]
  if req and req[2] == generation and not ended then request.tell_gone(req) end
  if task and bit.band(how, CANCEL) ~= 0 then
    scopes.cancel(task, ended and "it took too long" or "the client is gone")
  end
end

function dump.upcalls.handler_of(task)
  local r = request_at(task.address)
  local req = handles[r.slot]
  if not req or req[2] ~= task.generation or r.generation ~= req[2] then
    return trace.place_of(functions[task.index])
  end
  local place = trace.place_of(functions[rawget(req, STEP) or task.index])
  return place, request.line(r), request.id(r)
end

function dump.upcalls.line_of(slot)
  local req = handles[slot]
  return req and request.line(request_at(req[1])) or "a request"
end

function sched.upcalls.lost(task, message, address, generation)
  loader.lose(task)
  if address then scopes.lose(task, message) end
  if not address then return spawn.lose(task, message) end
  fail(address, generation, { traceback = trace.back(message, task.co) })
end

return M
