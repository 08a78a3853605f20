-- SPDX-License-Identifier: MIT
-- Alternatives: descriptions of one thing to wait for, that can be put together into a
-- choice of which exactly one takes effect.  Channels, cells, jobs and the other
-- objects are alternatives themselves.  What happens in a sync is told in commit.lua.
--
-- A choice is ordered: of those that are ready, the leftmost wins (choose_random
-- draws).
local commit = require "luaweb.commit"
local ivar = require "luaweb.ivar"
local waiting = require "luaweb.waiting"
local walk = require "luaweb.walk"

local new, is_alternative = walk.new, walk.is_alternative
local Alternative = walk.Alternative
local M = {}

--- Whether a value can be waited for.
M.is_alternative = is_alternative

local function check_function(what, fn, level)
  if type(fn) ~= "function" then error(what .. " wants a function", level or 3) end
end

local function check_alternative(what, value)
  if not is_alternative(value) then
    error(("%s wants an alternative, not a %s"):format(what, type(value)), 3)
  end
end

-- A member under another key than 1..n would be left out, and the wait might never end.
local function check_keys(what, list, level)
  local n = #list
  if next(list, n > 0 and n or nil) == nil then return end
  for key, value in next, list do
    local is_count = key == "n" and type(value) == "number" -- of results, of a pack
    local is_member = type(key) == "number" and key >= 1 and key <= n and key % 1 == 0
    if not is_count and not is_member then
      error(("%s: a member under the key %s is not in the list, which is { a, b }, or "
        .. "for alt.race { { name, a }, { name, b } }"):format(what, tostring(key)),
        level + 1)
    end
  end
end

local function check_list(what, list, of)
  if type(list) ~= "table" or is_alternative(list) then
    error(("%s wants a list of %s"):format(what, of), 4)
  end
  check_keys(what, list, 4)
end

local function check_members(what, list)
  check_list(what, list, "alternatives")
  for i = 1, #list do
    if not is_alternative(list[i]) then
      error(("%s: member %d is not an alternative, but a %s"):format(what, i,
        type(list[i])), 3)
    end
  end
end

-- Leaves ------------------------------------------------------------------------------

local function class_of(attempt)
  local class = { attempt = attempt, enlist = function() end }
  class.__index = class
  walk.extend(class)
  return class
end

local Always = class_of(function(self) return true, true, self.result end)
local Raises = class_of(function(self) return true, false, self.result end)
local Once = class_of(function(self)
  local is_ready = not self.is_used
  self.is_used = true
  return is_ready, true, self.result
end)

--- Is ready at every sync.
---@param value any
---@return luaweb.Alternative
function M.always(value) return setmetatable({ result = value }, Always) end

--- Is ready at every sync, and raises.
function M.raises(err) return setmetatable({ result = err }, Raises) end

--- Is ready once, for one sync of all; from then on it never is.
function M.once(value)
  return setmetatable({ result = value, is_used = false }, Once)
end

--- Is never ready.
M.never = new { kind = "never" }

local Idle = class_of(function() return false end)
Idle.enlist = function(_, node) waiting.start_timer(node, 0) end

--- Is ready after the other ready work has had a turn.
M.idle = setmetatable({}, Idle)

-- Trees -------------------------------------------------------------------------------

--- The choice of a list, in order: the leftmost that is ready wins; when none is, the
--- first to become so.  An empty choice is never ready.
---@param list luaweb.Alternative[]
---@return luaweb.Alternative
function M.choose(list)
  check_members("alt.choose", list)
  local choice = { kind = "choose" }
  for i = 1, #list do choice[i] = list[i] end
  return new(choice)
end

--- The same, but each that is ready is as likely to win as the others.
---@param list luaweb.Alternative[]
---@return luaweb.Alternative
function M.choose_random(list)
  check_members("alt.choose_random", list)
  local choice = { kind = "random" }
  for i = 1, #list do choice[i] = list[i] end
  return new(choice)
end

--- What a function gives, which runs at each sync that comes to it.  It may not wait.
---@param fn fun(): luaweb.Alternative
function M.guard(fn)
  check_function("alt.guard", fn)
  return new { kind = "guard", fn = fn }
end

--- The same; the function gets a nack, which becomes ready when this sync chooses
--- something else, is cancelled, or the function raises.
---@param fn fun(nack: luaweb.Nack): luaweb.Alternative
function M.with_nack(fn)
  check_function("alt.with_nack", fn)
  return new { kind = "nack", fn = fn }
end

--- Something that is done elsewhere.  `start` begins it when a sync comes to it, and
--- calls one of two functions once it is done: with its value, or with its error.  What
--- `start` returns goes to `cancel` when something else was chosen or the job was
--- cancelled, even if it is done by then; `cancel` runs as a job and may wait.
---@param start fun(ok: fun(value: any), fail: fun(err: any)): any
---@param cancel fun(token: any)
---@return luaweb.Alternative
function M.foreign(start, cancel)
  check_function("alt.foreign", start)
  check_function("alt.foreign", cancel)
  return M.with_nack(function(nack)
    local cell = ivar.new()
    local token = start(function(value) cell:try_fill(value) end,
      function(err) cell:try_fail(err) end)
    nack.fn = function() cancel(token) end
    return cell
  end)
end

local function around(kind, what, inner, fn, on_error)
  check_alternative(what, inner)
  check_function(what, fn, 4)
  return new { kind = kind, inner = inner, fn = fn, on_error = on_error or false,
    outer = false }
end

--- What it gives goes through a function, which may wait and raise: the choice is over.
---@param fn fun(value: any): any
function Alternative:wrap(fn) return around("wrap", "wrap", self, fn) end

--- Gives a value instead of its own.
function Alternative:wrap_value(value)
  return new { kind = "value", inner = self, ok = true, value = value, outer = false }
end

--- Raises an error instead of giving its own value.
function Alternative:wrap_error(err)
  return new { kind = "value", inner = self, ok = false, value = err, outer = false }
end

--- What its guards and wraps raise goes through a function.
---@param fn fun(err: any): any
function Alternative:catch(fn) return around("catch", "catch", self, fn) end

--- One function for its value, another for its error.
---@param on_ok fun(value: any): any
---@param on_error fun(err: any): any
function Alternative:try(on_ok, on_error)
  check_function("try", on_error)
  return around("both", "try", self, on_ok, on_error)
end

--- Runs a function once it has won, whether it gives a value or raises.
---@param fn fun()
function Alternative:finally(fn) return around("finally", "finally", self, fn) end

--- Runs a function as a job when it was walked, but not chosen.
---@param fn fun()
function Alternative:on_abort(fn) return around("abort", "on_abort", self, fn) end

-- Syncs -------------------------------------------------------------------------------

--- Waits until one of its leaves takes effect, and gives its value.
---@return any
function Alternative:sync() return (walk.sync(self, "sync")) end

--- Syncs only if it is ready now.
---@return boolean ready, any value
function Alternative:poll() return walk.poll(self) end

--- Waits for one alternative.
---@param alternative luaweb.Alternative
---@return any
function M.sync(alternative)
  check_alternative("alt.sync", alternative)
  return (walk.sync(alternative, "alt.sync"))
end

--- Gives true and the value if it is ready now; else false, and it counts as not
--- chosen.
---@param alternative luaweb.Alternative
---@return boolean ready, any value
function M.poll(alternative)
  check_alternative("alt.poll", alternative)
  return walk.poll(alternative)
end

local function named(choice, i, pair)
  local is_pair = type(pair) == "table" and not is_alternative(pair)
  local name, inner = is_pair and pair[1], is_pair and pair[2]
  if not is_alternative(inner) then
    error(("alt.race: member %d is not { name, alternative }"):format(i), 3)
  end
  choice[i] = new { kind = "named", name = name, inner = inner, outer = false }
end

local function check_race(list)
  check_list("alt.race", list, "{ name, alternative }")
  if #list == 0 then
    error("alt.race: the list is empty, which would wait for ever", 3)
  end
end

--- Waits for the first of several, in order: alt.race { {"data", ch}, {"late",
--- web.after(2)} }.  An empty race would never end: it raises.
---@param list { [1]: any, [2]: luaweb.Alternative }[]
---@return any name, any value
function M.race(list)
  check_race(list)
  local choice = { kind = "choose" }
  for i = 1, #list do named(choice, i, list[i]) end
  local value, name = walk.sync(new(choice), "alt.race")
  return name, value
end

--- Waits for both, in the order in which they become ready; not in one step.
---@param a luaweb.Alternative
---@param b luaweb.Alternative
---@return any of_a, any of_b
function M.both(a, b)
  check_alternative("alt.both", a)
  check_alternative("alt.both", b)
  local name, value = M.race { { "a", a }, { "b", b } }
  if name == "a" then return value, (walk.sync(b, "alt.both")) end
  return (walk.sync(a, "alt.both")), value
end

--- Whether a value is the error that a wait of a cancelled job raises.
---@param err any
---@return boolean
function M.is_cancelled(err)
  return getmetatable(err) == commit.Cancelled
end

return M
