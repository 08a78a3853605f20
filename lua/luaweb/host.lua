-- SPDX-License-Identifier: MIT
-- The host: what is done with an event.  It keeps the functions of all machines by
-- number, calls the one that C asks for, and turns errors into answers.
local body = require "luaweb.body"
local job = require "luaweb.job"
local loader = require "luaweb.loader"
local log = require "luaweb.log"
local reply = require "luaweb.reply"
local request = require "luaweb.request"
local response = require "luaweb.response"
local sched = require "luaweb.sched"
local trace = require "luaweb.trace"

local Response = response.Response
local new_request, send = request.new, reply.send

local M = {}

local functions = {} -- by the number that C knows them by
local stop_hooks = {}

--- Gives a handler a number for C.
---@param fn fun(req: luaweb.Request): any
---@return integer
function M.register(fn)
  functions[#functions + 1] = fn
  return #functions
end

--- Adds a function that runs when the worker drains; it may wait.
---@param fn fun()
function M.on_stop(fn)
  stop_hooks[#stop_hooks + 1] = fn
end

-- The answer that was raised, or nil.  error(404) has put its place in front of the
-- number, as it does with text.
local function answer_in(raised)
  if type(raised) == "string" then
    raised = tonumber(raised:match "^[^\n]+:%d+: ([2-5]%d%d)$")
  end
  local is_status = type(raised) == "number" and raised == math.floor(raised)
    and raised >= 200 and raised <= 599
  return (is_status or getmetatable(raised) == Response) and raised or nil
end

-- What `error` was called with goes on where it is an answer; else it becomes a
-- traceback, taken where it happened.
local function on_error(raised)
  if raised == body.GONE or raised == reply.STARTED then return raised end
  return answer_in(raised) or { traceback = trace.back(raised) }
end

-- The place of the handler is told too: `return web.status(99)` is a tail call, and it
-- does not stand in the traceback.
local function log_failure(r, generation, failure, fn)
  local text = type(failure) == "table" and failure.traceback
    or trace.without_back(tostring(failure))
  local name = "a request that has ended"
  if r.generation == generation then
    name = ("[%s] %s"):format(request.id(r), request.line(r))
  end
  local handler = fn and ("\n\t%s: the handler"):format(trace.place_of(fn)) or ""
  log.error(("%s: %s%s"):format(name, text, handler))
end

-- Whether the handler only learned that its request was ended for it (a timeout).
local function is_late(r, generation, failure)
  return r.generation ~= generation and type(failure) == "table"
    and failure.traceback ~= nil and failure.traceback:find(body.ENDED, 1, true) ~= nil
end

-- Ends a request whose handler raised something (on_error's result).
local function fail(r, generation, failure, fn)
  if answer_in(failure) then
    local ok, again = xpcall(reply.send_instead, on_error, r, generation, failure)
    if ok then return end
    failure = answer_in(again) and "the answer that was raised has raised another one"
      or again
  end
  if failure == reply.STARTED then
    log.info(("[%s] %s: raised an answer in the middle of its answer: cut"):format(
      request.id(r), request.line(r)))
    return reply.cut(r, generation)
  end
  if is_late(r, generation, failure) then return end
  if failure ~= body.GONE then log_failure(r, generation, failure, fn) end
  if not pcall(reply.send_instead, r, generation, 500) then reply.cut(r, generation) end
end

local function serve(fn, r, generation)
  local req = new_request(r, generation)
  local answer = fn(req)
  send(r, generation, answer)
end

-- In between, so that serve compiles: a trace can't end by leaving an xpcall.
local function run(fn, r, generation)
  serve(fn, r, generation)
end

function sched.upcalls.request(index, r, generation)
  local ok, failure = xpcall(run, on_error, functions[index], r, generation)
  if not ok then fail(r, generation, failure, functions[index]) end
end

function sched.upcalls.lost(co, message, r, generation)
  loader.lose(co)
  if r then return fail(r, generation, { traceback = trace.back(message, co) }) end
  job.lose(co, message)
end

--- Runs them, in a job.
function M.run_stop_hooks()
  for i = 1, #stop_hooks do stop_hooks[i]() end
end

return M
