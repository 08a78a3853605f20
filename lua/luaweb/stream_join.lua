-- SPDX-License-Identifier: MIT
-- Streams of several streams (stream.lua): one after the other, or as they come.
local alt = require "luaweb.alt"
local stream_cell = require "luaweb.stream_cell"

local Stream, lazy = stream_cell.Stream, stream_cell.lazy
local M = {}

-- Waits for the first cell of a list of streams: which, and the cell.
local function first_cell(streams)
  local list = {}
  for i = 1, #streams do list[i] = { i, streams[i]:next_alt() } end
  return alt.race(list)
end

local function without(list, i)
  local others = {}
  for k = 1, #list do
    if k ~= i then others[#others + 1] = list[k] end
  end
  return others
end

--- The elements of several, as they come; who was just served is last in line.
---@param streams luaweb.Stream[]
---@return luaweb.Stream
function M.merge(streams)
  return lazy(function()
    local left = streams
    while left[1] do
      local i, cell = first_cell(left)
      left = without(left, i)
      if cell then
        left[#left + 1] = cell.rest
        return { value = cell.value, rest = M.merge(left) }
      end
    end
    return false
  end)
end

--- That of several that is the first to have a cell.
---@param streams luaweb.Stream[]
---@return luaweb.Stream
function M.first_of(streams)
  return lazy(function()
    local _, cell = first_cell(streams)
    return cell
  end)
end

--- Its elements, and then those of another.
---@param other luaweb.Stream
---@return luaweb.Stream
function Stream:concat(other)
  return lazy(function()
    local cell = self:next()
    if not cell then return other:next() end
    return { value = cell.value, rest = cell.rest:concat(other) }
  end)
end

--- The elements of the streams that a function makes of its elements, one stream after
--- the other.
---@param fn fun(value: any): luaweb.Stream
---@return luaweb.Stream
function Stream:flat_map(fn)
  return lazy(function()
    local cell = self:next()
    self = nil -- it would keep all that was read
    while cell do
      local inner = fn(cell.value):next()
      if inner then
        local rest = inner.rest:concat(cell.rest:flat_map(fn))
        return { value = inner.value, rest = rest }
      end
      cell = cell.rest:next()
    end
    return false
  end)
end

-- The elements of `inner` until `outer` has another, of which the next is made.
local function switch(outer, inner, fn)
  return lazy(function()
    while true do
      local i, cell = first_cell { outer, inner }
      if i == 2 and cell then
        return { value = cell.value, rest = switch(outer, cell.rest, fn) }
      elseif i == 2 then
        cell = outer:next()
      end
      if not cell then return i == 1 and inner:next() end
      outer, inner = cell.rest, fn(cell.value)
    end
  end)
end

--- The elements of the stream that a function makes of its newest element.
---@param fn fun(value: any): luaweb.Stream
---@return luaweb.Stream
function Stream:switch_map(fn)
  return switch(self, stream_cell.empty(), fn)
end

return M
