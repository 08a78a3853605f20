-- SPDX-License-Identifier: MIT
-- Streams as apps see them: sequences that are computed when somebody asks.  This file
-- makes them and reads them; stream_shape.lua and stream_join.lua make streams of
-- streams, stream_cell.lua is what they are made of.
local alt = require "luaweb.alt"
local ivar = require "luaweb.ivar"
local job = require "luaweb.job"
local json_value = require "luaweb.json.value"
local stream_cell = require "luaweb.stream_cell"
local stream_join = require "luaweb.stream_join"
local timer = require "luaweb.timer"
require "luaweb.stream_shape"

local Stream, of_cell = stream_cell.Stream, stream_cell.of_cell
local empty = stream_cell.empty()

local M = {
  is_stream = stream_cell.is_stream,
  lazy = stream_cell.lazy,
  defer = stream_cell.defer,
  empty = stream_cell.empty,
  merge = stream_join.merge,
  first_of = stream_join.first_of,
}

-- Making ------------------------------------------------------------------------------

--- A value, and then a stream.
---@param value any
---@param rest luaweb.Stream
---@return luaweb.Stream
function M.cons(value, rest)
  return of_cell(ivar.new({ value = value, rest = rest }))
end

--- These values.
---@return luaweb.Stream
function M.of(...)
  local stream = empty
  for i = select("#", ...), 1, -1 do stream = M.cons((select(i, ...)), stream) end
  return stream
end

--- The members of a list, or what a function gives until that is nil.
---@param source any[]|fun(): any
---@return luaweb.Stream
function M.from(source)
  local i = 0
  local function next_one()
    if type(source) == "function" then return source() end
    i = i + 1
    return source[i]
  end
  local function from()
    return M.lazy(function()
      local value = next_one()
      return value ~= nil and { value = value, rest = from() }
    end)
  end
  return from()
end

--- Raises.
---@param err any
---@return luaweb.Stream
function M.fail(err) return of_cell(ivar.failed(err)) end

--- What a function gives, which is called once.
---@param fn fun(): any
---@return luaweb.Stream
function M.once(fn)
  return M.lazy(function() return { value = fn(), rest = empty } end)
end

--- What a function gives, which is called for each element, without end.
---@param fn fun(): any
---@return luaweb.Stream
function M.repeatedly(fn)
  return M.lazy(function() return { value = fn(), rest = M.repeatedly(fn) } end)
end

--- Elements of a state: the function gives the next state and a value; nil ends it.
---@param state any
---@param fn fun(state: any): any, any
---@return luaweb.Stream
function M.unfold(state, fn)
  return M.lazy(function()
    local following, value = fn(state)
    return following ~= nil and { value = value, rest = M.unfold(following, fn) }
  end)
end

--- x, f(x), f(f(x)), without end.
---@param x any
---@param fn fun(x: any): any
---@return luaweb.Stream
function M.iterate(x, fn)
  return M.cons(x, M.defer(function() return M.iterate(fn(x), fn) end))
end

--- One element, true, after a time.
---@param seconds number
---@return luaweb.Stream
function M.after(seconds)
  return M.once(function()
    timer.sleep(seconds)
    return true
  end)
end

--- 1, 2, 3, and so on: each that time after the one before it was there.
---@param seconds number
---@return luaweb.Stream
function M.every(seconds)
  local function from(n)
    return M.lazy(function()
      timer.sleep(seconds)
      return { value = n, rest = from(n + 1) }
    end)
  end
  return from(1)
end

---@class luaweb.Source   what is pushed becomes a stream
---@field tail luaweb.IVar
local Source = {}
Source.__index = Source

---@return luaweb.Source
function M.source() return setmetatable({ tail = ivar.new() }, Source) end

--- Adds an element.
---@param value any
function Source:push(value)
  local tail = ivar.new()
  self.tail:fill { value = value, rest = of_cell(tail) }
  self.tail = tail
end

--- Ends it.
function Source:close() self.tail:fill(false) end

--- Ends it with an error.
---@param err any
function Source:fail(err) self.tail:fail(err) end

--- The stream of what is pushed from now on.
---@return luaweb.Stream
function Source:tap() return of_cell(self.tail) end

-- Reading -----------------------------------------------------------------------------

--- The alternative of its cell: false at the end, else { value =, rest = }.
---@return luaweb.Alternative
function Stream:next_alt() return self.cell end

--- Waits for its cell.
---@return false|{ value: any, rest: luaweb.Stream }
function Stream:next() return self.cell:read() end

-- Loops let go of `self` as they go on: it would keep all that was read.

--- Calls a function with each element, in order.
---@param fn fun(value: any)
function Stream:each(fn)
  local cell = self:next()
  while cell do
    fn(cell.value)
    self = cell.rest
    cell = self:next()
  end
end

--- Reads it to the end in a job of its own.
---@param fn fun(value: any)?
---@return luaweb.Job
function Stream:drain(fn)
  local head = self -- of a job, arguments last as long as it does
  return job.spawn(function()
    local first = head
    head = nil
    return first:each(fn or function() end)
  end)
end

--- Puts its elements together, from the left.
---@param state any
---@param fn fun(state: any, value: any): any
---@return any
function Stream:fold(state, fn)
  local cell = self:next()
  while cell do
    state = fn(state, cell.value)
    self = cell.rest
    cell = self:next()
  end
  return state
end

--- The first element of which a function is true; nil where there is none.
---@param fn fun(value: any): any
---@return any
function Stream:find(fn)
  local cell = self:next()
  while cell and not fn(cell.value) do
    self = cell.rest
    cell = self:next()
  end
  if cell then return cell.value end
end

local function add(list, value)
  list.n = list.n + 1
  list[list.n] = value
  return list
end

--- All elements.
---@return any[] list   and `n`
function Stream:collect() return self:fold(json_value.results(0), add) end

--- An alternative that gives its elements, one at each sync, to whoever comes.
---@return luaweb.Alternative
function Stream:values_alt()
  local stream = self
  return alt.guard(function()
    return stream.cell:wrap(function(cell)
      if not cell then error("the stream has ended", 0) end
      stream = cell.rest
      return cell.value
    end)
  end)
end

return M
