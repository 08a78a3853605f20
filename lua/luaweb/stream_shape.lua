-- SPDX-License-Identifier: MIT
-- Streams of one stream (stream.lua): mapped, filtered, cut, paced.
local alt = require "luaweb.alt"
local bounded = require "luaweb.bounded"
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

--- What a function makes of each element, for up to n of them at a time.  The order
--- is kept, so a slow one holds back those behind it.
---@param n integer
---@param fn fun(value: any): any
---@return luaweb.Stream
function Stream:map_pipelined(n, fn)
  local places, results = bounded.new(n), mailbox.new()
  local function pump()
    local ok, err = pcall(self.each, self, function(value)
      places:put(true)
      results:send(promise.spawn(function() return fn(value) end))
    end)
    results:send(ok and "end" or promise.failed(err))
  end
  local function from()
    return lazy(function()
      local result = results:take()
      if result == "end" then return false end
      local value = result:read()
      places:take()
      return { value = value, rest = from() }
    end)
  end
  return stream_cell.defer(function()
    promise.spawn(pump)
    return from()
  end)
end

--- The elements as they come, of which only the newest n are kept for a reader that is
--- slower.  It is read ahead to its end from when somebody first asks.
---@param n integer
---@return luaweb.Stream
function Stream:buffer_latest(n)
  local kept, first, last = {}, 1, 0
  local ended, more = false, ivar.new()
  local function tell()
    more:try_fill(true)
    more = ivar.new()
  end
  local function pump()
    local ok, err = pcall(self.each, self, function(value)
      last = last + 1
      kept[last] = value
      if last - first >= n then
        kept[first] = nil
        first = first + 1
      end
      tell()
    end)
    ended = ok and alt.always(false) or alt.raises(err)
    tell()
  end
  local function from()
    return lazy(function()
      while first > last and not ended do more:read() end
      if first > last then return ended:sync() end
      local value = kept[first]
      kept[first] = nil
      first = first + 1
      return { value = value, rest = from() }
    end)
  end
  return stream_cell.defer(function()
    promise.spawn(pump)
    return from()
  end)
end

--- The newest element, for a reader that is slower.
---@return luaweb.Stream
function Stream:latest() return self:buffer_latest(1) end

return Stream
