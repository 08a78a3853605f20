-- SPDX-License-Identifier: MIT
-- Channels: a giver and a taker meet, and both go on.  Nothing is stored but what
-- `send` leaves.  Givers and takers are served first come, first served.
local alt = require "luaweb.alt"
local commit = require "luaweb.commit"
local instead = require "luaweb.instead"
local ivar = require "luaweb.ivar"
local queue = require "luaweb.queue"
local walk = require "luaweb.walk"

local enter, serve, wait = commit.enter_quick, commit.commit, commit.wait
local M = {}

---@class luaweb.Chan: luaweb.Alternative   as an alternative: take
---@field givers luaweb.Node
---@field takers luaweb.Node
local Chan = {}
Chan.__index = Chan

---@return luaweb.Chan
function M.new()
  return setmetatable({ givers = queue.new "chan:give",
    takers = queue.new "chan:take" }, Chan)
end

--- Gives a value to a taker; waits for one.
---@param value any
function Chan:give(value)
  local task, takers = enter "chan:give", self.takers
  local taker = takers.next
  if taker ~= takers then return serve(taker, true, value) end
  return wait(self.givers, task, value, "chan:give")
end

--- Takes a value from a giver; waits for one.
---@return any
function Chan:take()
  local task, givers = enter "chan:take", self.givers
  local giver = givers.next
  if giver == givers then return wait(self.takers, task, false, "chan:take") end
  local value = giver.value
  serve(giver, true, nil)
  return value
end

--- Gives a value without waiting: it stays until it is taken, however many there are.
---@param value any
function Chan:send(value)
  local taker = queue.first(self.takers)
  if taker then return serve(taker, true, value) end
  queue.leave(self.givers, value)
end

--- Gives a value if a taker waits.
---@param value any
---@return boolean given
function Chan:try_give(value)
  local taker = queue.first(self.takers)
  if not taker then return false end
  serve(taker, true, value)
  return true
end

--- Takes a value if a giver waits.
---@return boolean taken, any value
function Chan:try_take()
  local giver = queue.first(self.givers)
  if not giver then return false end
  local value = giver.value
  serve(giver, true, nil)
  return true, value
end

--- How many jobs wait, counted one by one.
---@return integer takers, integer givers
function Chan:waiters()
  return (queue.count(self.takers)), (queue.count(self.givers))
end

--- How many values `send` has left that were not taken, counted one by one.
---@return integer
function Chan:len()
  local _, left = queue.count(self.givers)
  return left
end

-- As alternatives ---------------------------------------------------------------------

function Chan:attempt()
  local giver = queue.first(self.givers)
  if not giver then return false end
  local value = giver.value
  serve(giver, true, nil)
  return true, true, value
end

function Chan:enlist(node) queue.append(self.takers, node) end

walk.extend(Chan)

local Give = {}
Give.__index = Give

function Give:attempt() return self.chan:try_give(self.message), true, nil end

function Give:enlist(node) queue.enlist(self.chan.givers, node, self.message) end

walk.extend(Give)

--- The alternative of giving a value.
---@param value any
---@return luaweb.Alternative
function Chan:give_alt(value)
  return setmetatable({ chan = self, message = value }, Give)
end

-- Questions to a server ---------------------------------------------------------------

--- A question that can be taken back: `make(reply, nack)` gives the message, which is
--- sent; the server offers the answer to `reply`, or takes `nack` when nobody wants it.
---@param ch luaweb.Chan
---@param make fun(reply: luaweb.Chan, nack: luaweb.Nack): any
---@return luaweb.Alternative
function M.request(ch, make)
  return alt.with_nack(function(nack)
    local reply = M.new()
    ch:send(make(reply, nack))
    return reply
  end)
end

local function read(reply) return reply:read() end

--- A question that is bound once the server takes it: then the answer is waited for.
---@param ch luaweb.Chan
---@param make fun(reply: luaweb.IVar): any
---@return luaweb.Alternative
function M.call(ch, make)
  return alt.guard(function()
    local reply = ivar.new()
    return ch:give_alt(make(reply)):wrap_value(reply):wrap(read)
  end)
end

--- A question that is sent at once; the server can't know whether the answer is wanted.
---@param ch luaweb.Chan
---@param make fun(reply: luaweb.IVar): any
---@return luaweb.Alternative
function M.ask(ch, make)
  return alt.guard(function()
    local reply = ivar.new()
    ch:send(make(reply))
    return reply
  end)
end

instead.say(Chan, "chan", {
  put = "chan:give waits for a taker, chan:send does not",
  receive = "chan:take waits for a value",
  get = "chan:take waits for a value",
  close = "a channel has no end; send a value that means it, or use luaweb.bounded",
})

return M
