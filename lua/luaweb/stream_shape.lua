-- SPDX-License-Identifier: MIT
-- Streams of one stream (stream.lua): mapped, filtered, cut, paced.  What loops over
-- elements lets go of `self`, which would keep all that was read.
local alt = require "luaweb.alt"
local ivar = require "luaweb.ivar"
local json_value = require "luaweb.json.value"
local mailbox = require "luaweb.mailbox"
local promise = require "luaweb.promise"
local stream_cell = require "luaweb.stream_cell"

local Stream, lazy = stream_cell.Stream, stream_cell.lazy

--- What a function makes of each element.
---@param fn fun(value: any): any
---@return luaweb.Stream
function Stream:map(fn)
  return lazy(function()
    local cell = self:next()
    return cell and { value = fn(cell.value), rest = cell.rest:map(fn) }
  end)
end

-- What a function keeps of each element: whether, and what.
local function sift(self, fn)
  return lazy(function()
    local cell = self:next()
    self = nil
    while cell do
      local is_kept, value = fn(cell.value)
      if is_kept then return { value = value, rest = sift(cell.rest, fn) } end
      cell = cell.rest:next()
    end
    return false
  end)
end

--- The elements of which a function is true.
---@param fn fun(value: any): any
---@return luaweb.Stream
function Stream:filter(fn)
  return sift(self, function(value) return fn(value), value end)
end

--- What a function makes of each element, but for nil.
---@param fn fun(value: any): any
---@return luaweb.Stream
function Stream:filter_map(fn)
  return sift(self, function(value)
    local made = fn(value)
    return made ~= nil, made
  end)
end

--- The first n.
---@param n integer
---@return luaweb.Stream
function Stream:take(n)
  if n <= 0 then return stream_cell.empty() end
  return lazy(function()
    local cell = self:next()
    return cell and { value = cell.value, rest = cell.rest:take(n - 1) }
  end)
end

--- All but the first n.
---@param n integer
---@return luaweb.Stream
function Stream:skip(n)
  return lazy(function()
    local cell = self:next()
    self = nil
    for _ = 1, n do cell = cell and cell.rest:next() end
    return cell
  end)
end

--- Up to the first of which a function is not true.
---@param fn fun(value: any): any
---@return luaweb.Stream
function Stream:take_while(fn)
  return lazy(function()
    local cell = self:next()
    return cell and fn(cell.value)
      and { value = cell.value, rest = cell.rest:take_while(fn) } or false
  end)
end

--- From the first of which a function is not true.
---@param fn fun(value: any): any
---@return luaweb.Stream
function Stream:skip_while(fn)
  return lazy(function()
    local cell = self:next()
    self = nil
    while cell and fn(cell.value) do cell = cell.rest:next() end
    return cell
  end)
end

--- Lists of n elements; the last may be shorter.
---@param n integer
---@return luaweb.Stream
function Stream:chunks(n)
  return lazy(function()
    local list, rest = json_value.results(0), self
    while list.n < n do
      local cell = rest:next()
      if not cell then break end
      list.n = list.n + 1
      list[list.n], rest = cell.value, cell.rest
    end
    return list.n > 0 and { value = list, rest = rest:chunks(n) }
  end)
end

--- Goes on, after an error, with the stream that a function gives.
---@param fn fun(err: any): luaweb.Stream
---@return luaweb.Stream
function Stream:catch(fn)
  return lazy(function()
    local ok, cell = pcall(self.next, self)
    if not ok then return fn(cell):next() end
    return cell and { value = cell.value, rest = cell.rest:catch(fn) }
  end)
end

--- Calls a function just before the end, or the error.
---@param fn fun()
---@return luaweb.Stream
function Stream:on_close(fn)
  return lazy(function()
    local ok, cell = pcall(self.next, self)
    if not ok or not cell then fn() end
    if not ok then error(cell, 0) end
    return cell and { value = cell.value, rest = cell.rest:on_close(fn) }
  end)
end

local function check_count(what, n)
  if type(n) ~= "number" or n < 1 or n % 1 ~= 0 then
    error(what .. " wants a whole number, 1 or more", 3)
  end
end

-- Begins work on elements while there are places for it; then it ends, so that nothing
-- is left of a stream that nobody reads to its end.
local function begin_work(state, fn)
  while state.places > 0 and state.source do
    local ok, cell = pcall(state.source.next, state.source)
    state.source = ok and cell and cell.rest
    if state.source then
      state.places = state.places - 1
      local value = cell.value
      state.results:send(promise.spawn(function() return fn(value) end))
    else
      state.results:send(ok and "end" or promise.failed(cell))
    end
  end
  state.is_beginning = false
end

--- What a function makes of each element, for up to n of them at a time.  The order
--- is kept, so a slow one holds back those behind it.
---@param n integer
---@param fn fun(value: any): any
---@return luaweb.Stream
function Stream:map_pipelined(n, fn)
  check_count("stream:map_pipelined", n)
  local state = { source = self, places = n, results = mailbox.new(),
    is_beginning = false }
  local function go_on()
    if state.is_beginning or not state.source then return end
    state.is_beginning = true
    promise.spawn(function() begin_work(state, fn) end)
  end
  local function from()
    return lazy(function()
      go_on()
      local result = state.results:take()
      if result == "end" then return false end
      local value = result:read()
      state.places = state.places + 1
      go_on()
      return { value = value, rest = from() }
    end)
  end
  return from()
end

-- The newest elements, for a reader that is slower -----------------------------------

local function tell(newest)
  newest.more:try_fill(true)
  newest.more = ivar.new()
end

-- Adds what was read; gives the stream of the rest, or nil: there is none, or nobody
-- will ask for it any more.
local function add(weak, ok, cell)
  local newest = weak.newest
  if not newest then return nil end
  if ok and cell then
    newest.last = newest.last + 1
    newest[newest.last] = cell.value
    if newest.last - newest.first >= newest.n then
      newest[newest.first] = nil
      newest.first = newest.first + 1
    end
  else
    newest.ended = ok and alt.always(false) or alt.raises(cell)
  end
  tell(newest)
  return ok and cell and cell.rest or nil
end

local function take_oldest(newest)
  while newest.first > newest.last and not newest.ended do newest.more:read() end
  if newest.first > newest.last then return newest.ended:sync() end
  local value = newest[newest.first]
  newest[newest.first] = nil
  newest.first = newest.first + 1
  return { value = value }
end

--- The elements as they come, of which only the newest n are kept for a reader that is
--- slower.  It is read ahead from when somebody first asks, until its end or until
--- nobody has the stream any more.
---@param n integer
---@return luaweb.Stream
function Stream:buffer_latest(n)
  check_count("stream:buffer_latest", n)
  local newest = { n = n, first = 1, last = 0, ended = false, more = ivar.new() }
  local weak = setmetatable({ newest = newest }, { __mode = "v" })
  local source = self
  local function read_ahead()
    while source do source = add(weak, pcall(source.next, source)) end
  end
  local function from()
    return lazy(function()
      local cell = take_oldest(newest)
      if cell then cell.rest = from() end
      return cell
    end)
  end
  return stream_cell.defer(function()
    promise.spawn(read_ahead)
    return from()
  end)
end

--- The newest element, for a reader that is slower.
---@return luaweb.Stream
function Stream:latest() return self:buffer_latest(1) end

return Stream
