-- SPDX-License-Identifier: MIT
-- Mailboxes: queues without a bound.  To send never waits, so whoever sends must be
-- held back by something else; bounded.lua is for what clients drive.
local commit = require "luaweb.commit"
local instead = require "luaweb.instead"
local queue = require "luaweb.queue"
local walk = require "luaweb.walk"

local M = {}

---@class luaweb.Mailbox: luaweb.Alternative   as an alternative: take
---@field messages luaweb.Node
---@field takers luaweb.Node
---@field count integer
local Mailbox = {}
Mailbox.__index = Mailbox

---@return luaweb.Mailbox
function M.new()
  return setmetatable({ messages = queue.new "mailbox:send",
    takers = queue.new "mailbox:take", count = 0 }, Mailbox)
end

---@param value any
function Mailbox:send(value)
  local taker = queue.first(self.takers)
  if taker then return commit.commit(taker, true, value) end
  self.count = self.count + 1
  queue.leave(self.messages, value)
end

--- Takes the oldest message if there is one.
---@return boolean taken, any value
function Mailbox:try_take()
  local node = queue.first(self.messages)
  if not node then return false end
  local value = node.value
  self.count = self.count - 1
  queue.free_node(node)
  return true, value
end

--- Waits for a message.
---@return any
function Mailbox:take()
  local task = commit.enter_quick "mailbox:take"
  local is_taken, value = self:try_take()
  if is_taken then return value end
  return commit.wait(self.takers, task, false, "mailbox:take")
end

--- How many messages wait.
---@return integer
function Mailbox:len() return self.count end

--- How many takers wait, counted one by one.
---@return integer
function Mailbox:waiters() return (queue.count(self.takers)) end

function Mailbox:attempt()
  local is_taken, value = self:try_take()
  return is_taken, true, value
end

function Mailbox:enlist(node) queue.append(self.takers, node) end

walk.extend(Mailbox)

instead.say(Mailbox, "mailbox", {
  put = "mailbox:send never waits",
  give = "mailbox:send never waits",
  receive = "mailbox:take waits for a message",
  get = "mailbox:take waits for a message",
  close = "a mailbox has no end; send a message that means it, or use luaweb.bounded",
})

return M
