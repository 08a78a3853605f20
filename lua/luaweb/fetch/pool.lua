-- SPDX-License-Identifier: MIT
-- Connections to servers that are kept for further requests, by origin; and how many
-- there may be at once.  A connection comes back only when the whole answer was read;
-- one that is taken out again is looked at first.  Who finds all in use waits in line.
--
-- An origin here is what makes two connections the same: scheme, host, port, proxy and
-- what TLS was told (M.key_of).
local abi = require "luaweb.abi"
local alt = require "luaweb.alt"
local ivar = require "luaweb.ivar"
local job = require "luaweb.job"
local timer = require "luaweb.timer"
local uri = require "luaweb.fetch.uri"

local C, host = abi.C, abi.host

local M = {
  IDLE_SECONDS = 15,      -- that a connection is kept unused
  MOST_IDLE = 8,          -- of an origin
  MOST_IDLE_OF_ALL = 64,
}

local LOOK = 1 -- seconds between two looks at what has become of connections

---@class luaweb.Link            a connection, owned by who took it
---@field socket luaweb.Socket
---@field is_reused boolean      it has carried a request before
---@field open boolean
---@field idle_since number
---@field reader any             what reads its answers, see exchange.lua
---@field private origin luaweb.Origin
---@field private guard userdata   closes the socket when the link is collected
local Link = {}
Link.__index = Link

---@class luaweb.Origin
---@field key string
---@field open integer           connections, idle ones and those on their way too
---@field idle luaweb.Link[]     the last one was used last
---@field line luaweb.IVar[]     who waits, first come first

local origins = {}    -- by key
local idle_count = 0
local collected = {}  -- origins, one for each link that was collected while open
local is_sweeping = false
local SLOT = {}       -- what who waits gets: leave to open a connection

--- What makes two connections the same.
---@param call luaweb.FetchCall
---@param proxy luaweb.Uri?
---@return string
function M.key_of(call, proxy)
  local to = call.uri
  return table.concat({ to.scheme, uri.authority(to, true), call.unix or "",
    proxy and (proxy.userinfo or "") .. "@" .. uri.text(proxy) or "",
    tostring(call.verify), call.ca_file or "" }, "\n")
end

local function origin_of(key)
  origins[key] = origins[key] or { key = key, open = 0, idle = {}, line = {} }
  return origins[key]
end

-- The place of a connection is free: it is given to who waits.
local function free_slot(origin)
  local cell = table.remove(origin.line, 1)
  if cell then return cell:fill(SLOT) end
  origin.open = origin.open - 1
  if origin.open == 0 then origins[origin.key] = nil end
end

local function account_for_collected()
  while collected[1] do free_slot(table.remove(collected)) end
end

-- Runs while anything else does, so it only closes and notes.
local function make_guard(socket, origin, state)
  local guard = newproxy(true)
  getmetatable(guard).__gc = function()
    if not state.open then return end
    socket:close(true)
    collected[#collected + 1] = origin
  end
  return guard
end

local function new_link(socket, origin)
  local state = { open = true }
  return setmetatable({ socket = socket, origin = origin, is_reused = false,
    state = state, idle_since = 0, guard = make_guard(socket, origin, state) }, Link)
end

--- Closes it.
---@param is_reset boolean?   it is in use: the server is to notice at once
function Link:close(is_reset)
  if not self.state.open then return end
  self.state.open = false
  self.socket:close(is_reset)
  free_slot(self.origin)
end

-- Idle ones ---------------------------------------------------------------------------

local function take_out(origin, index)
  idle_count = idle_count - 1
  return table.remove(origin.idle, index)
end

-- The one that has been idle for the longest time, and its origin.
local function find_oldest()
  local oldest
  for _, origin in pairs(origins) do
    local link = origin.idle[1]
    if link and (not oldest or link.idle_since < oldest.idle_since) then
      oldest = link
    end
  end
  return oldest
end

local function close_oldest(origin)
  take_out(origin, 1):close()
end

-- Closes what nobody has wanted for a while; ends with the last idle one.
local function sweep()
  while true do
    local oldest = find_oldest()
    if not oldest then break end
    local left = oldest.idle_since + M.IDLE_SECONDS - C.luaweb_now(host)
    if left > 0 then
      timer.sleep(math.min(left, LOOK))
    else
      close_oldest(oldest.origin)
    end
  end
  is_sweeping = false
end

--- Gives it back for the next request: the answer was read to its end, and the server
--- keeps the connection.
function Link:keep()
  local origin = self.origin
  self.is_reused = true
  account_for_collected()
  local cell = table.remove(origin.line, 1)
  if cell then return cell:fill(self) end
  if M.MOST_IDLE < 1 then return self:close() end
  if #origin.idle >= M.MOST_IDLE then close_oldest(origin) end
  if idle_count >= M.MOST_IDLE_OF_ALL then close_oldest(find_oldest().origin) end
  self.idle_since = C.luaweb_now(host)
  table.insert(origin.idle, self)
  idle_count = idle_count + 1
  if not is_sweeping then
    is_sweeping = true
    job.server(sweep)
  end
end

-- Nothing has come since its last answer: octets would be an answer to nothing.
local function is_clean(link)
  local octets, why = link.socket:receive(0)
  return octets == nil and why == "timeout"
end

local function take_idle(origin)
  while origin.idle[1] do
    local link = take_out(origin, #origin.idle)
    if is_clean(link) then return link end
    link:close()
  end
end

-- The line ----------------------------------------------------------------------------

local function leave_line(origin, cell)
  for i, one in ipairs(origin.line) do
    if one == cell then table.remove(origin.line, i) end
  end
  if not cell:is_full() then return end
  local given = cell:get()
  if given == SLOT then free_slot(origin) else given:keep() end
end

local function wait_in_line(cell, limit)
  local left = limit:seek_left()
  while left > 0 do
    local late = timer.after(math.min(LOOK, left))
    local name, given = alt.race { { "given", cell }, { "late", late } }
    if name == "given" then return given end
    account_for_collected()
    left = limit:seek_left()
  end
end

-- A link, or SLOT, or nil when the time is over.
local function queue_up(origin, limit)
  local cell = ivar.new()
  table.insert(origin.line, cell)
  local ok, given = pcall(wait_in_line, cell, limit)
  if not ok or not given then leave_line(origin, cell) end
  if not ok then error(given, 0) end
  return given
end

-- Public ------------------------------------------------------------------------------

local function open_in_slot(origin, open)
  local ok, socket, message, kind = pcall(open)
  if ok and socket then return new_link(socket, origin) end
  free_slot(origin)
  if not ok then error(socket, 0) end
  return nil, message, kind
end

---@class luaweb.PoolWish
---@field key string
---@field most integer          connections to this origin
---@field fresh boolean         no idle one is wanted
---@field limit luaweb.FetchClock   how long it may wait in line
---@field open fun(): luaweb.Socket?, string?, string?   opens a connection; may wait

--- A connection: an idle one, or a new one.
---@param wish luaweb.PoolWish
---@return luaweb.Link?     owned by the caller, who ends with link:keep or link:close
---@return string? message
---@return string? kind
function M.take(wish)
  account_for_collected()
  local origin = origin_of(wish.key)
  local link = not wish.fresh and take_idle(origin)
  if link then return link end
  origin = origin_of(wish.key) -- it was forgotten with its last connection
  if wish.fresh and origin.open >= wish.most and origin.idle[1] then
    close_oldest(origin)
    origin = origin_of(wish.key)
  end
  if origin.open < wish.most then
    origin.open = origin.open + 1
    return open_in_slot(origin, wish.open)
  end
  local given = queue_up(origin, wish.limit)
  if not given then
    local message, kind = wish.limit:busy()
    return nil, ("%s: %d to this origin are in use (max_connections)"):format(message,
      origin.open), kind
  end
  if given == SLOT then return open_in_slot(origin, wish.open) end
  if not wish.fresh and is_clean(given) then return given end
  given:close()
  return M.take(wish)
end

--- How many connections there are, to one origin or to all.
---@param key string?
---@return integer open   idle ones too
---@return integer idle
function M.count(key)
  account_for_collected()
  local open, idle = 0, 0
  for each, origin in pairs(origins) do
    if not key or each == key then
      open, idle = open + origin.open, idle + #origin.idle
    end
  end
  return open, idle
end

--- Closes the idle connections.
function M.close_idle()
  for _, origin in pairs(origins) do
    while origin.idle[1] do close_oldest(origin) end
  end
end

return M
