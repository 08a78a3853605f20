-- SPDX-License-Identifier: MIT
-- Bounded queues: who puts waits while it is full, who takes while it is empty.  One of
-- size 0 is a channel: nothing is stored, both sides meet.
local commit = require "luaweb.commit"
local instead = require "luaweb.instead"
local queue = require "luaweb.queue"
local walk = require "luaweb.walk"

local M = {}

--- What is raised when nothing comes any more.
M.closed = setmetatable({}, { __tostring = function() return "it is closed" end })
local closed = M.closed

---@class luaweb.Bounded: luaweb.Alternative   as an alternative: take
---@field size integer
---@field count integer     stored
---@field first integer     where the oldest is, 0 to size - 1
---@field [integer] any     what is stored
---@field putters luaweb.Node
---@field takers luaweb.Node
---@field is_closed boolean
local Bounded = {}
Bounded.__index = Bounded

---@param size integer   0 or more
---@return luaweb.Bounded
function M.new(size)
  if type(size) ~= "number" or size < 0 or size % 1 ~= 0 then
    error("bounded.new wants a whole number, 0 or more", 2)
  end
  return setmetatable({ size = size, count = 0, first = 0,
    putters = queue.new "bounded:put", takers = queue.new "bounded:take",
    is_closed = false }, Bounded)
end

local function store(self, value)
  self[(self.first + self.count) % self.size + 1] = value
  self.count = self.count + 1
end

-- Puts it if that needs no wait.
local function put(self, value)
  local taker = queue.first(self.takers)
  if taker then
    commit.commit(taker, true, value)
  elseif self.count < self.size then
    store(self, value)
  else
    return false
  end
  return true
end

-- Takes the oldest if there is one; a putter that waits moves up.
local function take(self)
  local putter = queue.first(self.putters)
  local value
  if self.count > 0 then
    value = self[self.first + 1]
    self[self.first + 1] = nil
    self.first, self.count = (self.first + 1) % self.size, self.count - 1
    if putter then store(self, putter.value) end
  elseif putter then
    value = putter.value
  else
    return false
  end
  if putter then commit.commit(putter, true, nil) end
  return true, value
end

--- Puts a value at the end; waits while it is full.  Raises bounded.closed.
---@param value any
function Bounded:put(value)
  local task = commit.enter_quick "bounded:put"
  if self.is_closed then error(closed, 0) end
  if put(self, value) then return end
  return commit.wait(self.putters, task, value, "bounded:put")
end

--- Puts a value at the end if it isn't full.
---@param value any
---@return boolean put
function Bounded:try_put(value)
  return not self.is_closed and put(self, value)
end

--- Takes the oldest value; waits for one.  Raises bounded.closed.
---@return any
function Bounded:take()
  local task = commit.enter_quick "bounded:take"
  local is_taken, value = take(self)
  if is_taken then return value end
  if self.is_closed then error(closed, 0) end
  return commit.wait(self.takers, task, false, "bounded:take")
end

--- Takes the oldest value if there is one.
---@return boolean taken, any value
function Bounded:try_take() return take(self) end

--- How many values are stored.
---@return integer
function Bounded:len() return self.count end

--- How many jobs wait, counted one by one.
---@return integer takers, integer putters
function Bounded:waiters()
  return (queue.count(self.takers)), (queue.count(self.putters))
end

--- Lets nothing more be put.  What is stored can be taken; then, and where somebody
--- waits, bounded.closed is raised.
function Bounded:close()
  self.is_closed = true
  for _, head in ipairs { self.takers, self.putters } do
    while queue.first(head) do commit.commit(head.next, false, closed) end
  end
end

local function next_value(self)
  local task = commit.enter "bounded:each"
  local is_taken, value = take(self)
  if is_taken then return true, value end
  if self.is_closed then return nil end
  local ok, result = pcall(commit.wait, self.takers, task, false)
  if ok then return true, result end
  if result == closed then return nil end
  error(result, 0)
end

--- Iterates over the values until it is closed: for _, value in b:each() do.
function Bounded:each() return next_value, self end

function Bounded:attempt()
  local is_taken, value = take(self)
  if is_taken then return true, true, value end
  return self.is_closed, false, closed
end

function Bounded:enlist(node) queue.append(self.takers, node) end

walk.extend(Bounded)

local Put = {}
Put.__index = Put

function Put:attempt()
  local bounded = self.bounded
  if bounded.is_closed then return true, false, closed end
  return put(bounded, self.message), true, nil
end

function Put:enlist(node) queue.enlist(self.bounded.putters, node, self.message) end

walk.extend(Put)

--- The alternative of putting a value.
---@param value any
---@return luaweb.Alternative
function Bounded:put_alt(value)
  return setmetatable({ bounded = self, message = value }, Put)
end

instead.say(Bounded, "bounded", {
  send = "bounded:put waits while it is full, bounded:try_put does not",
  give = "bounded:put waits while it is full",
  receive = "bounded:take waits for a value",
  get = "bounded:take waits for a value",
})

return M
