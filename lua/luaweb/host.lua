-- SPDX-License-Identifier: MIT
-- The host: what is done with an event.  It keeps the functions of all machines by
-- number, calls the one that C asks for, and turns errors into answers.
local body = require "luaweb.body"
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

-- What `error` was called with goes on as it is where it is an answer; else it becomes
-- a traceback, taken where it happened.
local function on_error(err)
  if err == body.GONE or type(err) == "number" or getmetatable(err) == Response then
    return err
  end
  return { traceback = trace.back(err) }
end

local function run(fn, r, generation)
  send(r, generation, fn(new_request(r, generation)))
end

local function is_status(value)
  return type(value) == "number" and value == math.floor(value) and value >= 200
    and value <= 599
end

local function fail(r, generation, err)
  if err == body.GONE then
    log.debug(("[%s] the client left before its answer"):format(request.id(r)))
    return reply.fail(r, generation, 500)
  end
  if getmetatable(err) == Response or is_status(err) then
    return reply.fail(r, generation, err)
  end
  if r.generation == generation then
    local text = type(err) == "table" and err.traceback or tostring(err)
    log.error(("[%s] %s: %s"):format(request.id(r), request.line(r), text))
  end
  reply.fail(r, generation, 500)
end

function sched.upcalls.request(index, r, generation)
  local ok, err = xpcall(run, on_error, functions[index], r, generation)
  if not ok then fail(r, generation, err) end
end

--- Runs them, in a job.
function M.run_stop_hooks()
  for i = 1, #stop_hooks do stop_hooks[i]() end
end

return M
