-- SPDX-License-Identifier: MIT
-- Queues of nodes: who waits at an object, first come, first served.  A node leaves its
-- queue in O(1), wherever it stands; nodes are used again.  commit.lua says when.
local waiting = require "luaweb.waiting"

local M = {}

---@class luaweb.Node            a place in a queue
---@field owner luaweb.Sync|false  whose it is; false: a message that nobody waits with
---@field value any              what it gives
---@field next luaweb.Node|false
---@field prev luaweb.Node|false
---@field wake integer|false    the id that C wakes: of a timer, a socket, ...
---@field index integer          of the leaf, in the order of the walk
---@field leaf table|false
---@field chain table|false      what is wrapped around the leaf

local MOST_SPARE = 4096 -- more nodes than this are left to the collector
local spare_nodes, spare_count, in_use = false, 0, 0

--- An empty queue.
---@param what string   what its nodes wait for, for who looks (dump.lua): "chan:take"
---@return luaweb.Node head   next and prev of an empty one are itself
function M.new(what)
  local head = { next = false, prev = false, what = what }
  head.next, head.prev = head, head
  return head
end

--- Its first node, or nil.
---@param head luaweb.Node
---@return luaweb.Node?
function M.first(head)
  local node = head.next
  if node ~= head then return node end
end

--- Puts a node at its end.
---@param head luaweb.Node
---@param node luaweb.Node
function M.append(head, node)
  local last = head.prev
  node.next, node.prev = head, last
  last.next, head.prev = node, node
end

--- Takes a node out of its queue, or from among those that C wakes.
---@param node luaweb.Node
function M.unlink(node)
  if node.wake then
    waiting.unlist(node)
  elseif node.next then
    node.prev.next, node.next.prev = node.next, node.prev
    node.next, node.prev = false, false
  end
end

--- A node, which is in no queue.
---@return luaweb.Node
function M.new_node(sync, index, leaf, chain)
  local node = spare_nodes
  in_use = in_use + 1
  if node then
    spare_nodes, spare_count = node.next, spare_count - 1
    node.owner, node.index, node.leaf, node.chain = sync, index, leaf, chain
    node.next = false
    return node
  end
  return { owner = sync, index = index, leaf = leaf, chain = chain, value = false,
    next = false, prev = false, wake = false }
end

--- Takes a node out of its queue and gives it up.
---@param node luaweb.Node
function M.free_node(node)
  M.unlink(node)
  in_use = in_use - 1
  node.owner, node.leaf, node.chain, node.value = false, false, false, false
  if spare_count == MOST_SPARE then return end
  node.next = spare_nodes
  spare_nodes, spare_count = node, spare_count + 1
end

--- Puts a message into a queue with which nobody waits.
---@param head luaweb.Node
---@param value any
function M.leave(head, value)
  local node = M.new_node(false, 0, false, false)
  node.value = value
  M.append(head, node)
end

--- Puts a node of a parking sync into a queue.
---@param head luaweb.Node
---@param node luaweb.Node
---@param value any   what it gives
function M.enlist(head, node, value)
  node.value = value
  M.append(head, node)
end

--- How many wait in a queue, and how many messages are left in it; counted one by one.
---@param head luaweb.Node
---@return integer waiting, integer left
function M.count(head)
  local parked, left, node = 0, 0, head.next
  while node ~= head do
    if node.owner then parked = parked + 1 else left = left + 1 end
    node = node.next
  end
  return parked, left
end

--- How many nodes are in queues now, but for those of tasks that wait for one thing.
---@return integer
function M.in_use()
  return in_use
end

return M
