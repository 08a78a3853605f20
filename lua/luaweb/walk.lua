-- SPDX-License-Identifier: MIT
-- Walks an alternative: tries its leaves from left to right, runs its guards, and what
-- is wrapped around the winner.  An alternative is an immutable tree; building one has
-- no effect.  Its nodes tell themselves by `kind`:
--   leaf    has attempt(sync) -> ready, ok, value, which takes effect at once, and
--           enlist(node), which puts the node of a parking sync where it can be served
--   never   is never ready
--   choose  its members in order       random  its members in an order drawn now
--   guard   what its function gives    nack    the same; the function gets a nack
--   abort   `inner`, and `fn` as a job of its own when it is not chosen
--   wrap, value, catch, both, finally, named: something around `inner`, see `around`
local commit = require "luaweb.commit"
local nacks = require "luaweb.nack"
local sched = require "luaweb.sched"

local M = {}

-- The classes of which objects are alternatives.
local classes = {}

---@class luaweb.Alternative
---@field kind string
local Alternative = {}
Alternative.__index = Alternative
classes[Alternative] = true
M.Alternative = Alternative

--- Makes the objects of a class alternatives: it has `kind`, attempt and enlist.
---@param class table
function M.extend(class)
  setmetatable(class, Alternative)
  class.kind = "leaf"
  classes[class] = true
end
M.extend(nacks.Nack)

---@param value any
---@return boolean
function M.is_alternative(value)
  return type(value) == "table" and classes[getmetatable(value)] == true
end

--- An alternative of these fields.
---@param fields table
---@return luaweb.Alternative
function M.new(fields)
  return setmetatable(fields, Alternative)
end

-- What a function around the winner does ----------------------------------------------

-- By kind: of what was ok or not, ok and value again.
local around = {
  wrap = function(frame, ok, value)
    if ok then return pcall(frame.fn, value) end
    return ok, value
  end,
  value = function(frame, ok, value)
    if ok then return frame.ok, frame.value end
    return ok, value
  end,
  catch = function(frame, ok, value)
    if ok then return true, value end
    local task = sched.self()
    local cancelled = task and task.cancelled
    if cancelled and cancelled == value then return false, value end -- not its business
    return pcall(frame.fn, value)
  end,
  both = function(frame, ok, value)
    return pcall(ok and frame.fn or frame.on_error, value)
  end,
  finally = function(frame, ok, value)
    local done, err = pcall(frame.fn)
    if not done then return false, err end
    return ok, value
  end,
}

-- From the inside to the outside; gives the value, and the name of the alternative
-- where it has one.  The outermost wrap is called as it is, so that a traceback is
-- whole.
local function run_chain(frame, ok, value)
  local name
  while frame do
    local kind, outer = frame.kind, frame.outer
    if kind == "named" then
      name = frame.name
    elseif kind == "wrap" and not outer then
      if ok then return (frame.fn(value)) end
    else
      ok, value = around[kind](frame, ok, value)
    end
    frame = outer
  end
  if ok then return value, name end
  error(value, 0)
end

-- An alternative stands for itself in a chain, unless something is around it.
local function link(alternative, chain)
  if not chain then return alternative end
  return { kind = alternative.kind, fn = alternative.fn, ok = alternative.ok,
    value = alternative.value, on_error = alternative.on_error,
    name = alternative.name, outer = chain }
end

-- The walk: true once the sync has committed ------------------------------------------

local walk_kind

local function walk(sync, alternative, chain)
  local kind = alternative.kind
  if kind ~= "leaf" then return walk_kind[kind](sync, alternative, chain) end
  local is_ready, ok, value = alternative:attempt(sync)
  if not is_ready then
    commit.add_leaf(sync, alternative, chain)
    return false
  end
  commit.win(sync, sync.leaves + 1, chain, ok, value)
  return true
end

-- Calls what may not wait.
local function call(sync, fn, argument)
  sync.ran = true
  local before = sched.forbid "a guard"
  local ok, result = pcall(fn, argument)
  sched.forbid(before)
  if ok and not M.is_alternative(result) then
    return false, "a guard must give an alternative, not a " .. type(result)
  end
  return ok, result
end
-- Compiled together with the walk of what it gives, a guard that makes an alternative
-- crashes LuaJIT before June 2023: there, the load of `kind` from the new table takes
-- its type from the guard's (Instable load types in TDUP load forwarding).
jit.off(call)

local function around_inner(sync, alternative, chain)
  return walk(sync, alternative.inner, link(alternative, chain))
end

-- Numbers from 1 to n, in an order drawn at random.
local function shuffled(n)
  local order = {}
  for i = 1, n do
    local j = math.random(i)
    order[i] = order[j]
    order[j] = i
  end
  return order
end

walk_kind = {
  wrap = around_inner, value = around_inner, catch = around_inner,
  both = around_inner, finally = around_inner, named = around_inner,

  never = function(sync)
    sync.leaves = sync.leaves + 1
    return false
  end,

  choose = function(sync, alternative, chain)
    for i = 1, #alternative do
      if walk(sync, alternative[i], chain) then return true end
    end
    return false
  end,

  random = function(sync, alternative, chain)
    for _, i in ipairs(shuffled(#alternative)) do
      if walk(sync, alternative[i], chain) then return true end
    end
    return false
  end,

  guard = function(sync, alternative, chain)
    local ok, result = call(sync, alternative.fn)
    if ok then return walk(sync, result, chain) end
    commit.win(sync, sync.leaves + 1, chain, false, result)
    return true
  end,

  nack = function(sync, alternative, chain)
    local nack = commit.new_nack(sync)
    local ok, result = call(sync, alternative.fn, nack)
    if not ok then
      nack.to = nack.from -- it may have asked for something: nobody will take that
      commit.win(sync, sync.leaves + 1, chain, false, result)
      return true
    end
    if walk(sync, result, chain) then return true end
    nack.to = sync.leaves + 1
    return false
  end,

  abort = function(sync, alternative, chain)
    local nack = commit.new_nack(sync)
    nack.fn = alternative.fn
    if walk(sync, alternative.inner, chain) then return true end
    nack.to = sync.leaves + 1
    return false
  end,
}

-- A guard may have made an earlier leaf ready.
local function walk_again(sync)
  for i = 1, sync.count do
    local node = sync[i]
    local is_ready, ok, value = node.leaf:attempt(sync)
    if is_ready then
      commit.win(sync, node.index, node.chain, ok, value)
      return true
    end
  end
  return false
end

local function is_ready_now(sync, alternative)
  return walk(sync, alternative, false) or (sync.ran and walk_again(sync))
end

-- Takes the outcome of a sync that has closed.
local function take(sync)
  local ok, value, chain = commit.outcome(sync)
  if chain then return run_chain(chain, ok, value) end
  if ok then return value end
  error(value, 0)
end

--- Waits until one leaf of an alternative takes effect.
---@param alternative luaweb.Alternative
---@param what string?   names the call
---@return any value, string? name
function M.sync(alternative, what)
  local sync = commit.open(commit.enter(what or "alt.sync"))
  if not is_ready_now(sync, alternative) then commit.park(sync) end
  return take(sync)
end

local function ready_and(value)
  return true, value
end

--- Syncs only if something is ready now; else the nacks of all that it walked fire.
---@param alternative luaweb.Alternative
---@return boolean ready, any value
function M.poll(alternative)
  local task = sched.self()
  if task then commit.refuse_cancelled(task) end
  local sync = commit.open(false)
  if is_ready_now(sync, alternative) then return ready_and(take(sync)) end
  commit.abandon(sync, nil)
  commit.outcome(sync)
  return false
end

return M
