-- SPDX-License-Identifier: MIT
-- Broadcasts: what is published goes to all who have subscribed.  It is kept once, in a
-- ring; a subscriber is a place in it.  What becomes of one that lags by more than the
-- ring holds is the policy:
--   drop_oldest  it misses the oldest, which are counted
--   latest       the same, and the ring holds one
--   disconnect   it is closed
--   block        who publishes waits
local commit = require "luaweb.commit"
local instead = require "luaweb.instead"
local queue = require "luaweb.queue"
local walk = require "luaweb.walk"

local M = {}

local POLICIES = { drop_oldest = true, latest = true, disconnect = true, block = true }

--- What `take` raises when nothing comes any more, and when the subscriber was too
--- slow.
M.closed = setmetatable({}, { __tostring = function() return "it is closed" end })
M.too_slow = setmetatable({}, { __tostring = function() return "too slow" end })

---@class luaweb.Broadcast
---@field policy string
---@field cap integer
---@field last integer       number of the newest
---@field ring any[]         the newest `cap`
---@field unread integer[]   block: how many have still to read that of the ring
---@field subscribers integer
---@field parked luaweb.Node      subscribers that wait, by the value of the node
---@field publishers luaweb.Node  that wait for room
---@field is_closed boolean
local Broadcast = {}
Broadcast.__index = Broadcast

---@param options { policy: string?, cap: integer? }?   default: drop_oldest, 16
---@return luaweb.Broadcast
function M.new(options)
  options = options or {}
  local policy = options.policy or "drop_oldest"
  if not POLICIES[policy] then
    error("broadcast.new: no policy " .. tostring(policy), 2)
  end
  local cap = policy == "latest" and 1 or options.cap or 16
  if type(cap) ~= "number" or cap < 1 or cap % 1 ~= 0 then
    error("broadcast.new: cap must be a whole number, 1 or more", 2)
  end
  return setmetatable({ policy = policy, cap = cap, last = 0, ring = {}, unread = {},
    subscribers = 0, parked = queue.new "subscriber:take",
    publishers = queue.new "broadcast:publish", is_closed = false }, Broadcast)
end

-- Of this number, in the ring.
local function slot(self, number)
  return number % self.cap + 1
end

local function has_room(self)
  return self.policy ~= "block" or (self.unread[slot(self, self.last + 1)] or 0) == 0
end

local function mark_read(self, number)
  local at = slot(self, number)
  self.unread[at] = self.unread[at] - 1
end

-- Serves those that wait and can be served; a subscriber for whom two jobs wait serves
-- one of them.
local function serve_parked(self, value)
  local parked = self.parked
  self.parked = queue.new "subscriber:take"
  while queue.first(parked) do
    local node = parked.next
    local subscriber = node.value
    if subscriber.failure then
      commit.commit(node, false, subscriber.failure)
    elseif subscriber.seen < self.last then
      subscriber.seen = self.last
      mark_read(self, self.last)
      commit.commit(node, true, value)
    else
      queue.unlink(node)
      queue.append(self.parked, node)
    end
  end
end

local function store(self, value)
  self.last = self.last + 1
  local at = slot(self, self.last)
  self.ring[at], self.unread[at] = value, self.subscribers
  serve_parked(self, value)
end

local function serve_publishers(self)
  while has_room(self) and queue.first(self.publishers) do
    local node = self.publishers.next
    local value = node.value
    commit.commit(node, true, nil)
    store(self, value)
  end
end

--- Publishes a value; waits only where the policy is `block` and a subscriber lags.
---@param value any
function Broadcast:publish(value)
  if self.is_closed then error(M.closed, 0) end
  if has_room(self) then return store(self, value) end
  return commit.wait(self.publishers, commit.enter "broadcast:publish", value)
end

--- Lets nothing more be published; subscribers get what is left, then `closed`.
function Broadcast:close()
  self.is_closed = true
  for _, head in ipairs { self.parked, self.publishers } do
    while queue.first(head) do commit.commit(head.next, false, M.closed) end
  end
end

--- How many jobs wait, counted one by one.
---@return integer takers, integer publishers
function Broadcast:waiters()
  return (queue.count(self.parked)), (queue.count(self.publishers))
end

---@class luaweb.Subscriber: luaweb.Alternative   as an alternative: take
---@field broadcast luaweb.Broadcast
---@field seen integer   number of the newest that it has had, or missed
---@field lost integer
---@field failure any    what `take` raises from now on
local Subscriber = {}
Subscriber.__index = Subscriber

--- A subscriber, who gets what is published from now on.
---@return luaweb.Subscriber
function Broadcast:subscribe()
  self.subscribers = self.subscribers + 1
  return setmetatable({ broadcast = self, seen = self.last, lost = 0, failure = false },
    Subscriber)
end

local function missed(self)
  return math.max(0, self.broadcast.last - self.broadcast.cap - self.seen)
end

--- How many it has missed.
---@return integer
function Subscriber:lag() return self.lost + missed(self) end

--- Ends it; `take` raises `closed`, also where it waits.
function Subscriber:close()
  if self.failure then return end
  local broadcast = self.broadcast
  self.failure = M.closed
  broadcast.subscribers = broadcast.subscribers - 1
  self.seen = self.seen + missed(self)
  for number = self.seen + 1, broadcast.last do mark_read(broadcast, number) end
  self.seen = broadcast.last
  serve_parked(broadcast, nil)
  serve_publishers(broadcast)
end

-- The oldest that it has not had: ready, ok, value.
function Subscriber:attempt()
  local broadcast = self.broadcast
  if not self.failure and missed(self) > 0 and broadcast.policy == "disconnect" then
    self:close()
    self.failure = M.too_slow
  end
  if self.failure then return true, false, self.failure end
  if self.seen == broadcast.last then
    return broadcast.is_closed, false, M.closed
  end
  local n = missed(self)
  self.lost, self.seen = self.lost + n, self.seen + n + 1
  local value = broadcast.ring[slot(broadcast, self.seen)]
  mark_read(broadcast, self.seen)
  serve_publishers(broadcast)
  return true, true, value
end

--- Waits for the next value.
---@return any   raises broadcast.closed or broadcast.too_slow
function Subscriber:take()
  local task = commit.enter_quick "subscriber:take"
  local is_ready, ok, value = self:attempt()
  if not is_ready then
    return commit.wait(self.broadcast.parked, task, self, "subscriber:take")
  end
  if ok then return value end
  error(value, 0)
end

function Subscriber:enlist(node) queue.enlist(self.broadcast.parked, node, self) end

walk.extend(Subscriber)

instead.say(Broadcast, "broadcast", {
  send = "broadcast:publish(value) is for all subscribers",
  take = "take from what broadcast:subscribe() gives",
})

return M
