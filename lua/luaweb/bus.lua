-- SPDX-License-Identifier: MIT
-- The bus: texts are published under topics, and go to all who have subscribed.  Each
-- is delivered once at most: who publishes never waits, and a subscriber that lags by
-- more than it may store loses the oldest, which are counted.  All workers of a server
-- have one bus (bus/others.lua).
local commit = require "luaweb.commit"
local others = require "luaweb.bus.others"
local queue = require "luaweb.queue"
local scope = require "luaweb.scope"
local walk = require "luaweb.walk"

local MOST_TOPIC = 255     -- octets
local MOST_TEXT  = 1048576 -- octets
local CAP        = 256     -- texts that a subscription stores
local MOST_CAP   = 65536
local FIRST_SWEEP = 64     -- when so many are there, it is looked who has gone

local M = {}

--- What `take` raises once the subscription is closed.
M.closed = setmetatable({}, { __tostring = function() return "it is closed" end })
local closed = M.closed

---@class luaweb.Subscription: luaweb.Alternative   as an alternative: take
---@field private topic string
---@field private at integer           its place in the list of the topic
---@field private cap integer
---@field private first integer        where the oldest is, 0 to cap - 1
---@field private count integer        stored
---@field private [integer] string     what is stored
---@field private missed integer
---@field private takers luaweb.Node
---@field private is_closed boolean
local Subscription = {}
Subscription.__index = Subscription

---@class luaweb.Topic      weak: a subscription that nobody has any more may go
---@field n integer         the last is at n, or has gone
---@field grown_to integer  where the next one has holes closed
---@field [integer] luaweb.Subscription?   in order; what has gone leaves a hole

local topics, topic_count, topics_grown_to = {}, 0, FIRST_SWEEP
local WEAK_LIST = { __mode = "v" }

-- Those for which somebody waits: who waits may itself be held by nothing else.
local waited, waited_count, waited_grown_to = {}, 0, FIRST_SWEEP

local function let_go(subscription)
  if not waited[subscription] then return end
  waited[subscription] = nil
  waited_count = waited_count - 1
end

-- Lets those go whose waiters have chosen something else.
local function sweep_waited()
  for subscription in pairs(waited) do
    if not queue.first(subscription.takers) then let_go(subscription) end
  end
  waited_grown_to = math.max(FIRST_SWEEP, 2 * waited_count)
end

local function hold(subscription)
  if waited[subscription] then return end
  if waited_count == waited_grown_to then sweep_waited() end
  waited[subscription] = true
  waited_count = waited_count + 1
end

local function close_holes(list)
  local count = 0
  for i = 1, list.n do
    local subscription = list[i]
    if subscription then
      count = count + 1
      list[i] = nil
      list[count], subscription.at = subscription, count
    end
  end
  list.n, list.grown_to = count, math.max(FIRST_SWEEP, 2 * count)
end

local function cut_end(topic, list)
  while list.n > 0 and not list[list.n] do list.n = list.n - 1 end
  if list.n > 0 then return end
  topics[topic] = nil
  others.want(topic, false)
  topic_count = topic_count - 1
end

local function tidy(topic, list)
  close_holes(list)
  cut_end(topic, list)
end

local function sweep_topics()
  for topic, list in pairs(topics) do tidy(topic, list) end
  topics_grown_to = math.max(FIRST_SWEEP, 2 * topic_count)
end

local function list_of(topic)
  local list = topics[topic]
  if list then return list end
  if topic_count == topics_grown_to then sweep_topics() end
  list = setmetatable({ n = 0, grown_to = FIRST_SWEEP }, WEAK_LIST)
  others.want(topic, true)
  topics[topic], topic_count = list, topic_count + 1
  return list
end

local function check_topic(what, topic)
  if type(topic) ~= "string" or #topic == 0 or #topic > MOST_TOPIC then
    error(("%s wants a topic, a string of 1 to %d octets"):format(what, MOST_TOPIC), 3)
  end
end

-- Publishing --------------------------------------------------------------------------

local function store(self, text)
  local cap = self.cap
  if self.count == cap then
    self.first = (self.first + 1) % cap
    self.missed = self.missed + 1
  else
    self.count = self.count + 1
  end
  self[(self.first + self.count - 1) % cap + 1] = text
end

local function deliver(self, text)
  local taker = queue.first(self.takers)
  if not taker then return store(self, text) end
  commit.commit(taker, true, text)
  if not queue.first(self.takers) then let_go(self) end
end

-- To those in this worker: how many there are.
local function deliver_to_all(topic, text)
  local list = topics[topic]
  if not list then return 0 end
  local count = 0
  for i = 1, list.n do
    local subscription = list[i]
    if subscription then
      count = count + 1
      deliver(subscription, text)
    end
  end
  if count < list.n then tidy(topic, list) end
  return count
end

--- Publishes a text in all workers; never waits.
---@param topic string   1 to 255 octets
---@param text string    at most 1 MiB
---@return integer count   of the subscriptions that it has reached in this worker
function M.publish(topic, text)
  check_topic("bus.publish", topic)
  if type(text) ~= "string" then
    error("bus.publish wants a string to publish, not a " .. type(text), 2)
  end
  if #text > MOST_TEXT then
    error(("bus.publish takes at most %d octets"):format(MOST_TEXT), 2)
  end
  others.publish(topic, text)
  return deliver_to_all(topic, text)
end

function others.upcalls.text(topic, text) deliver_to_all(topic, text) end

function others.upcalls.lost()
  for _, list in pairs(topics) do
    for i = 1, list.n do
      local subscription = list[i]
      if subscription then subscription.missed = subscription.missed + 1 end
    end
  end
end

-- Subscribing -------------------------------------------------------------------------

local function add_to_topic(topic, subscription)
  local list = list_of(topic)
  if list.n == list.grown_to then close_holes(list) end -- nobody publishes
  local at = list.n + 1
  list.n, list[at], subscription.at = at, subscription, at
end

--- Subscribes to what is published from now on.  It ends with `close`, with the scope
--- of the job that made it, or when nobody has it any more.
---@param topic string
---@param options { cap: integer? }?   how many texts it stores: 1 to 65536, default 256
---@return luaweb.Subscription
function M.subscribe(topic, options)
  check_topic("bus.subscribe", topic)
  local cap = options and options.cap or CAP
  if type(cap) ~= "number" or cap % 1 ~= 0 or cap < 1 or cap > MOST_CAP then
    error(("bus.subscribe: cap must be a whole number from 1 to %d"):format(MOST_CAP),
      2)
  end
  local subscription = setmetatable({ topic = topic, at = 0, cap = cap, first = 0,
    count = 0, missed = 0, takers = queue.new "bus.subscribe", is_closed = false },
    Subscription)
  add_to_topic(topic, subscription)
  scope.close_at_end(subscription)
  return subscription
end

--- How many topics somebody has subscribed to.  Where nobody has closed, but lost, the
--- subscriptions, a topic may be counted until many others have come.
---@return integer
function M.topics() return topic_count end

-- Taking ------------------------------------------------------------------------------

local function take(self)
  local at = self.first + 1
  local text = self[at]
  self[at] = nil
  self.first, self.count = at % self.cap, self.count - 1
  return text
end

--- Takes the oldest text; waits for one.  Raises bus.closed.
---@return string
function Subscription:take()
  local task = commit.enter_quick "subscription:take"
  if self.is_closed then error(closed, 0) end
  if self.count > 0 then return take(self) end
  hold(self)
  return commit.wait(self.takers, task, false, "subscription:take")
end

--- The alternative of taking one: the subscription itself.
---@return luaweb.Alternative
function Subscription:take_alt() return self end

local function next_text(self)
  local ok, text = pcall(self.take, self)
  if ok then return text end
  if text == closed then return nil end
  error(text, 0)
end

--- Iterates over the texts until it is closed: for text in subscription:each() do.
function Subscription:each() return next_text, self end

--- How many texts it has lost, since it was not read fast enough; where a whole worker
--- was too slow for the others, which is counted as one, they may be of other topics.
---@return integer
function Subscription:lost() return self.missed end

--- Ends it: what is stored is dropped, and who waits or takes gets bus.closed.
function Subscription:close()
  if self.is_closed then return end
  self.is_closed = true
  let_go(self)
  for i = 1, self.cap do self[i] = nil end
  local list = topics[self.topic] -- there is one, since this is in it
  list[self.at] = nil
  if self.at == list.n then cut_end(self.topic, list) end
  while queue.first(self.takers) do commit.commit(self.takers.next, false, closed) end
end

function Subscription:attempt()
  if self.is_closed then return true, false, closed end
  if self.count == 0 then return false end
  return true, true, take(self)
end

function Subscription:enlist(node)
  hold(self)
  queue.append(self.takers, node)
end

walk.extend(Subscription)

return M
