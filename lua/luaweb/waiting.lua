-- SPDX-License-Identifier: MIT
-- Who waits for what C wakes: nodes (of queue.lua) by the id of a timer, a socket, a
-- request, work on the pool.  wake.lua is what modules see of it.
local abi = require "luaweb.abi"

local C, host = abi.C, abi.host

local M = {}

--- due(node): C has woken what it waits for, or its time is over; commit.lua fills it
--- in.
---@type table<string, function>
M.upcalls = {}

local nodes = {} -- by id: one, or a list of them

local function serve(node, id)
  if node.wake ~= id then return end -- its sync has closed meanwhile
  node.wake = false
  M.upcalls.due(node)
end

--- Serves what waits under an id.
---@param id integer
function M.wake(id)
  local waiter = nodes[id]
  if not waiter then return end
  nodes[id] = nil
  if not waiter.is_list then return serve(waiter, id) end
  for i = 1, #waiter do serve(waiter[i], id) end
end

--- Has a node of a sync that parks served once C wakes an id.
---@param node luaweb.Node
---@param id integer
function M.enlist(node, id)
  local others = nodes[id]
  node.wake = id
  if not others then
    nodes[id] = node
  elseif others.is_list then
    others[#others + 1] = node
  else
    nodes[id] = { is_list = true, others, node }
  end
end

local function remove_from(list, node)
  for i = #list, 1, -1 do
    if list[i] == node then table.remove(list, i) end
  end
  return list[1] == nil
end

--- Takes it back.
---@param node luaweb.Node
function M.unlist(node)
  local id = node.wake
  node.wake = false
  local waiter = nodes[id]
  if waiter == node then
    C.luaweb_timer_stop(host, id) -- nothing, where the id is no timer's
  elseif not waiter or not waiter.is_list or not remove_from(waiter, node) then
    return
  end
  nodes[id] = nil
end

--- Has a node served when a time is over.
---@param node luaweb.Node
---@param seconds number   0 or more; rounded up to milliseconds
function M.start_timer(node, seconds)
  local id = C.luaweb_timer_start(host, seconds)
  node.wake = id
  nodes[id] = node
end

return M
