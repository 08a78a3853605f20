-- SPDX-License-Identifier: MIT
-- Looking into a running worker: its jobs and handlers and what they wait for, and
-- numbers.  It only reads; nothing is noted for it while jobs run, but what a queue is
-- of.  What is not known is not guessed: then the traceback tells.
local abi = require "luaweb.abi"
local ffi = require "ffi"
local queue = require "luaweb.queue"
local roster = require "luaweb.roster"
local run_queue = require "luaweb.run_queue"
local sched = require "luaweb.sched"
local spawn = require "luaweb.spawn"
local trace = require "luaweb.trace"

local C, host = abi.C, abi.host

local MOST = 1000       -- entries of a dump
local MOST_LEAVES = 10  -- of a choice that are named

local M = {}

--- What host.lua knows.  handler_of(task): of a dispatcher that serves a request, where
--- its function is declared, the method and target, and the id of the request; nil for
--- the last two where that has ended.  line_of(slot): of what request holds that place.
---@type table<string, function>
M.upcalls = {}

-- What is waited for ------------------------------------------------------------------

local awaited = {
  [tonumber(C.LUAWEB_AWAITED_NOTHING)] = function() return "a wake" end,
  [tonumber(C.LUAWEB_AWAITED_TIMER)] = function(id)
    return ("a timer (%.3f s left)"):format(C.luaweb_timer_left(host, id))
  end,
  [tonumber(C.LUAWEB_AWAITED_SOCKET)] = function() return "a socket" end,
  [tonumber(C.LUAWEB_AWAITED_HASH)] = function() return "a password hash" end,
  [tonumber(C.LUAWEB_AWAITED_CONTENT)] = function(id)
    return "content of " .. M.upcalls.line_of(id)
  end,
  [tonumber(C.LUAWEB_AWAITED_ROOM)] = function(id)
    return "the client of " .. M.upcalls.line_of(id) .. ", which reads slowly"
  end,
}

-- Looks for the head of the queue that a node stands in, which knows.  `known`: what
-- was found before, by node, so that a long queue is walked once for all in it.
local function what_of(node, known)
  if node.wake then return awaited[C.luaweb_awaited(host, node.wake)](node.wake) end
  local at = node
  while at and not known[at] and not rawget(at, "what") do at = at.prev end
  local what = at and (known[at] or at.what) or "something"
  at = node
  while at and not known[at] and not rawget(at, "what") do
    known[at] = what
    at = at.prev
  end
  return what
end

local function what_of_choice(sync, known)
  local texts = {}
  for i = 1, math.min(sync.count, MOST_LEAVES) do
    texts[i] = what_of(sync[i], known)
  end
  if sync.count == 0 then return "what never is ready" end
  if sync.count == 1 then return texts[1] end
  if sync.count > MOST_LEAVES then
    texts[#texts + 1] = ("%d more"):format(sync.count - MOST_LEAVES)
  end
  return "one of: " .. table.concat(texts, ", ")
end

local function waits_for(task, known)
  local sync = task.parked
  if not sync then return "a module that another job loads" end -- all else is a sync
  if sync == task then return what_of(task, known) end
  return what_of_choice(sync, known)
end

-- Who there is ------------------------------------------------------------------------

-- The dispatchers whose handlers have waited, or run now.  One that goes on long after
-- its request was ended for it (a timeout) may be missed, when its place has another.
local function handlers()
  local list, me = {}, sched.self()
  for slot, task in pairs(sched.owners) do
    if task ~= me and task.address and abi.request_at(task.address).slot == slot then
      list[#list + 1] = task
    end
  end
  if me and me.address then list[#list + 1] = me end
  return list
end

-- The name of a lasting scope, or of that of a request.
local function name_of(inner)
  return inner.name or (inner.make_context and inner:make_context().request_id)
end

local function scope_of(job)
  local inner = job.scope
  local name = name_of(inner)
  if name then return name end
  repeat inner = inner.parent until not inner or name_of(inner)
  return "a scope in " .. (inner and name_of(inner) or "?")
end

---@class luaweb.DumpEntry
---@field kind "job"|"handler"
---@field place string        where its function is declared, e.g. "apps/hello.lua:4"
---@field request string?     of a handler: e.g. "GET /"; nil: it has ended
---@field scope string        "root", "background", "server", the id of a request, or
---                           "a scope in " one of them
---@field state "running"|"ready"|"parked"
---@field waits_for string?   of what is parked
---@field is_cancelled boolean
---@field is_shielded boolean
---@field traceback string    "" where it has not run yet, or nothing but tail calls

local function state_of(task, ready)
  if task == sched.self() then return "running" end
  return ready[task] and "ready" or "parked"
end

local function entry_of(task, ready, known)
  local entry = { state = state_of(task, ready), is_cancelled = task.cancelled ~= nil,
    is_shielded = (task.shield or 0) > 0,
    traceback = task.co and trace.stack_of(task.co) or "" }
  if task.fn then
    entry.kind, entry.place = "job", trace.place_of(task.fn)
    entry.scope = scope_of(task)
  else
    entry.kind = "handler"
    entry.place, entry.request, entry.scope = M.upcalls.handler_of(task)
    entry.scope = entry.scope or "a request that has ended"
  end
  if entry.state == "parked" then entry.waits_for = waits_for(task, known) end
  return entry
end

--- What runs now.
---@return luaweb.DumpEntry?   with `id`, and `template` of a handler; nil: no task does
function M.running()
  local task = sched.self()
  if not task or not (task.fn or task.address) then return nil end
  local entry = entry_of(task, {}, {})
  if entry.kind == "job" then
    local context = roster.context_of(task)
    entry.id = context and context.request_id
  elseif entry.request then
    local r = abi.request_at(task.address)
    local template = C.luaweb_template(host, r, task.generation)
    entry.id = entry.scope
    if template.size > 0 then
      entry.template = ffi.string(template.data, template.size)
    end
  end
  return entry
end

-- As text -----------------------------------------------------------------------------

local function head_of(entry)
  local words = { entry.kind, entry.place }
  words[#words + 1] = entry.request
  words[#words + 1] = "[" .. entry.scope .. "]"
  words[#words + 1] = entry.state
  if entry.waits_for then words[#words + 1] = "for " .. entry.waits_for end
  if entry.is_cancelled then words[#words + 1] = "(cancelled)" end
  if entry.is_shielded then words[#words + 1] = "(shielded)" end
  return table.concat(words, " ")
end

---@class luaweb.Dump
---@field jobs integer       how many there are, also of those that are not listed
---@field handlers integer
---@field [integer] luaweb.DumpEntry
local Dump = {}
Dump.__index = Dump

function Dump:__tostring()
  local lines = { ("%d jobs, %d handlers"):format(self.jobs, self.handlers) }
  for i = 1, #self do
    lines[#lines + 1] = head_of(self[i])
    if self[i].traceback ~= "" then lines[#lines + 1] = self[i].traceback end
  end
  local more = self.jobs + self.handlers - #self
  if more > 0 then lines[#lines + 1] = ("and %d more"):format(more) end
  return table.concat(lines, "\n")
end

--- What runs and waits now: handlers, then the jobs of each scope, oldest first; the
--- first 1,000.  `tostring` makes a text of it for a log.
---@return luaweb.Dump
function M.dump()
  local dump = setmetatable({ jobs = 0, handlers = 0 }, Dump)
  local ready, known = {}, {}
  for _, task in ipairs(run_queue.list()) do ready[task] = true end
  for _, task in ipairs(handlers()) do
    dump.handlers = dump.handlers + 1
    if #dump < MOST then dump[#dump + 1] = entry_of(task, ready, known) end
  end
  for one in roster.each() do
    dump.jobs = dump.jobs + one.count
    local job = one.younger
    while job ~= one and #dump < MOST do
      dump[#dump + 1] = entry_of(job, ready, known)
      job = job.younger
    end
  end
  return dump
end

-- Numbers -----------------------------------------------------------------------------

local function count_jobs()
  local count = 0
  for one in roster.each() do count = count + one.count end
  return count
end

-- Those that can go on, and how many of them have begun.
local function count_ready()
  local ready, begun = 0, 0
  for _, task in ipairs(run_queue.list()) do
    if not task.outcome then ready = ready + 1 end -- else it was cancelled meanwhile
    if task.co then begun = begun + 1 end
  end
  return ready, begun
end

local numbers = ffi.new "struct luaweb_stats"

---@class luaweb.Stats
---@field jobs integer            that have not ended
---@field background integer      of them
---@field handlers integer        that wait or run now
---@field ready integer           jobs and handlers that can go on
---@field parked integer          those that wait
---@field timers integer          that run in C
---@field nodes integer           places in queues: of choices, and of messages
---@field coroutines integer      that jobs and handlers are in
---@field spare_coroutines integer
---@field longest_turn number     seconds, in whole milliseconds: how long clients had
---                               to wait for Lua at most, since it began to listen
---@field longest_gc_step number  seconds: of the collector while idle
---@field collections integer     whole ones: while idle, and when memory was short
---@field lua_heap number         octets that Lua holds

--- Numbers of this worker.
---@return luaweb.Stats
function M.stats()
  C.luaweb_stats(host, numbers)
  local jobs, serving = count_jobs(), #handlers()
  local ready, begun = count_ready()
  local standing = jobs + serving - ready - (sched.self() and 1 or 0)
  return {
    jobs = jobs, background = roster.background.count, handlers = serving,
    ready = ready, parked = standing, timers = numbers.timers, nodes = queue.in_use(),
    coroutines = jobs + serving - ready + begun,
    spare_coroutines = #sched.spares + #spawn.spares,
    longest_turn = numbers.longest_turn, longest_gc_step = numbers.longest_step,
    collections = numbers.collections, lua_heap = collectgarbage "count" * 1024,
  }
end

return M
