-- SPDX-License-Identifier: MIT
-- Jobs: functions that run beside each other and may wait.  `spawn` puts a job at the
-- end of those that can go on and returns at once; `start` runs it first, up to its
-- first wait.  A job belongs to the scope of who started it, and a handle is an
-- alternative: its result, or its error.  To wait for a handle is not to own the job.
local alt = require "luaweb.alt"
local commit = require "luaweb.commit"
local dump = require "luaweb.dump"
local ivar = require "luaweb.ivar"
local json_value = require "luaweb.json.value"
local offload = require "luaweb.offload"
local outcome = require "luaweb.outcome"
local roster = require "luaweb.roster"
local scope = require "luaweb.scope"
local sched = require "luaweb.sched"
local spawn = require "luaweb.spawn"

local new_results = json_value.results

local M = {
  self = spawn.self,
  on_uncaught = spawn.on_uncaught,
  shield = scope.shield,
  ensure = scope.ensure,
  offload = offload.offload,
  dump = dump.dump,
  stats = dump.stats,
}

local function check_function(what, fn)
  if type(fn) ~= "function" then error(what .. " wants a function", 3) end
end

--- Starts a job; it runs when the caller waits or ends.  What it raises goes to who
--- joins it; where nobody waits when it ends, to the error log.
---@param fn function
---@param ... any   its arguments
---@return luaweb.Job
function M.spawn(fn, ...)
  check_function("job.spawn", fn)
  return spawn.spawn_in(spawn.scope(), fn, ...)
end

--- Starts a job and lets it run up to its first wait; then the caller goes on.
---@param fn function
---@param ... any
---@return luaweb.Job
function M.start(fn, ...)
  check_function("job.start", fn)
  local task = commit.enter "job.start"
  local job = spawn.make(spawn.scope(), fn, ...)
  sched.ready_first(task)
  sched.ready_first(job)
  sched.park()
  return job
end

local MOST_IN_BACKGROUND = 10000 -- they are not bounded by connections, as others are

-- The context of what runs, or nil where nothing is known.
local function context()
  local task = sched.self()
  if task and task.context then return task.context end
  local inner = spawn.scope()
  while inner and not inner.context and not inner.make_context do
    inner = inner.parent
  end
  if not inner then return nil end
  inner.context = inner.context or inner.make_context(inner)
  return inner.context
end

--- What is known of the work that the running job is part of: a table that it shares
--- with the jobs of its scope, and that the jobs of inner scopes and in the background
--- inherit.  In a request it has the fields request_id and trace.
---@return table
function M.context()
  local known, task = context(), sched.self()
  if task and task.context then return task.context end
  local current = spawn.scope()
  if not current.context then
    current.context = setmetatable({}, known and { __index = known })
  end
  return current.context
end

--- Starts a job that outlives the request and scope it was started in, and inherits
--- their context.  At a stop the worker waits for it, as long as for connections.
---@param fn function
---@param ... any
---@return luaweb.Job
function M.background(fn, ...)
  check_function("job.background", fn)
  if roster.background.count >= MOST_IN_BACKGROUND then
    error(("job.background: %d jobs run in the background already"):format(
      MOST_IN_BACKGROUND), 2)
  end
  local known = context()
  local made = spawn.spawn_in(roster.background, fn, ...)
  if known then made.context = setmetatable({}, { __index = known }) end
  return made
end

--- Starts a job that is not meant to end, such as the loop of a server.
---@param fn function
---@param ... any
function M.server(fn, ...)
  check_function("job.server", fn)
  spawn.spawn_in(roster.server, fn, ...)
end

--- Lets all others that can go on have a turn.
function M.yield()
  local task = commit.enter "job.yield"
  sched.ready(task)
  sched.park()
end

--- Calls a function, and then one of two others, whose errors are not caught: with what
--- it gave, or with what it raised.
---@param fn function
---@param on_ok fun(...): ...
---@param on_error fun(err: any): ...
---@return any ...   what that gave
function M.try(fn, on_ok, on_error)
  check_function("job.try", fn)
  check_function("job.try", on_ok)
  check_function("job.try", on_error)
  local function go_on(ok, ...)
    if ok then return on_ok(...) end
    return on_error((...))
  end
  return go_on(pcall(fn))
end

--- Calls a function with two others, and waits until one of them is called: with a
--- value, or with an error.  What comes later is ignored.
---@param start fun(ok: fun(value: any), fail: fun(err: any))
---@return any value
function M.await(start)
  check_function("job.await", start)
  local cell = ivar.new()
  start(function(value) return cell:try_fill(value) end,
    function(err) return cell:try_fail(err) end)
  return cell:read()
end

--- The alternative of a job's result: the job starts when this is waited for, and is
--- cancelled when something else is chosen.
---@param fn function
---@return luaweb.Alternative
function M.run_alt(fn)
  check_function("job.run_alt", fn)
  return alt.with_nack(function(nack)
    local job = M.spawn(fn)
    nack.fn = function() job:cancel "something else was chosen" end
    return job
  end)
end

-- Several at once ---------------------------------------------------------------------
--
-- Results are lists with `n`, as any may be nil; as JSON they are arrays.

local function run_all(what, fns, is_fast)
  if type(fns) ~= "table" then error(what .. " wants a list of functions", 3) end
  for i = 1, #fns do
    if type(fns[i]) ~= "function" then
      error(("%s: member %d is not a function"):format(what, i), 3)
    end
  end
  commit.enter(what)
  local group, jobs = scope.new(is_fast, spawn.scope()), { n = #fns }
  group.ends = false -- what its jobs want closed at the end is for who called
  for i = 1, jobs.n do jobs[i] = group:spawn(fns[i]) end
  local cancelled = group:wait()
  group.is_over = true
  if cancelled then error(cancelled, 0) end
  if is_fast and group.errors.n > 0 then error(group.errors[1], 0) end
  group:raise()
  return jobs
end

local function results_of(jobs)
  local results = new_results(jobs.n)
  for i = 1, jobs.n do
    local job = jobs[i]
    if job.outcome == "cancelled" then error(job.value, 0) end
    results[i] = (outcome.results(job))
  end
  return results
end

--- Runs functions beside each other and waits for all.  One error is raised as it was,
--- several as one, whose `errors` they are.
---@param fns function[]
---@return any[] results   the first of each, in the order of the functions; and `n`
function M.all(fns) return results_of(run_all("job.all", fns, false)) end

--- The same, but the first error cancels the others, and is raised once they have
--- ended.
---@param fns function[]
---@return any[] results
function M.all_fast(fns) return results_of(run_all("job.all_fast", fns, true)) end

--- Runs two functions beside each other and waits for both.
---@param f function
---@param g function
---@return any of_f, any of_g
function M.both(f, g)
  local results = results_of(run_all("job.both", { f, g }, false))
  return results[1], results[2]
end

--- Calls a function for each member of a list, at most `max` at a time.  The first
--- error cancels the others, and is raised once they have ended.
---@param list any[]
---@param fn fun(member: any, index: integer): any
---@param options { max: integer }?
---@return any[] results   in the order of the list; and `n`
function M.map_all(list, fn, options)
  check_function("job.map_all", fn)
  if options ~= nil and type(options) ~= "table" then
    error(("job.map_all wants options third, e.g. { max = 10 }, not a %s"):format(
      type(options)), 2)
  end
  local n = list.n or #list
  local max = options and options.max or n
  if type(max) ~= "number" or max ~= max or (max < 1 and n > 0) then
    error("job.map_all: max must be a number, 1 or more", 2)
  end
  local results, started, workers = new_results(n), 0, {}
  local function work()
    while started < n do
      started = started + 1
      local i = started
      results[i] = fn(list[i], i)
    end
  end
  for i = 1, math.min(max, n) do workers[i] = work end
  results_of(run_all("job.map_all", workers, true))
  return results
end

--- Calls functions one after the other; the first error ends it.
---@param fns function[]
---@return any[] results   and `n`
function M.seq(fns)
  local results = new_results(#fns)
  for i = 1, #fns do results[i] = fns[i]() end
  return results
end

return M
