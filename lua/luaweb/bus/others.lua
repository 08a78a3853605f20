-- SPDX-License-Identifier: MIT
-- The bus beyond this Lua state: to other workers, and to the other generation of this
-- one, texts go through a ring in memory that all share.
local abi = require "luaweb.abi"
local ffi = require "ffi"
local job = require "luaweb.job"
local log = require "luaweb.log"
local wake = require "luaweb.wake"

local C, host = abi.C, abi.host

local AT_ONCE = 100 -- texts, then all others have a turn
local NONE, TEXT = tonumber(C.LUAWEB_BUS_NONE), tonumber(C.LUAWEB_BUS_TEXT)
local NO_ID = 0xffffffff

local M = {}

--- text(topic, text): others have published it; lost(): some texts of others are gone.
--- bus.lua fills them in.
---@type table<string, function>
M.upcalls = {}

local topic, text = ffi.new "struct luaweb_slice", ffi.new "struct luaweb_slice"

local function listen(id)
  local count = 0
  while true do
    local kind = C.luaweb_bus_next(host, topic, text)
    if kind == TEXT then
      M.upcalls.text(ffi.string(topic.data, topic.size),
        ffi.string(text.data, text.size))
    elseif kind ~= NONE then
      M.upcalls.lost()
    end
    count = count + 1
    if kind == NONE then
      wake.wait(id, "bus")
      count = 0
    elseif count % AT_ONCE == 0 then
      job.yield()
    end
  end
end

local is_listening = false

--- Tells the others what is wanted here.
---@param name string        of a topic
---@param is_wanted boolean  somebody has subscribed, or nobody is left
function M.want(name, is_wanted)
  if not is_listening then
    is_listening = true
    local id = C.luaweb_bus_id(host)
    if id ~= NO_ID then job.server(listen, id) end
  end
  C.luaweb_bus_want(host, name, #name, is_wanted)
end

--- Sends a text to the others.
---@param name string
---@param octets string
function M.publish(name, octets)
  if C.luaweb_bus_publish(host, name, #name, octets, #octets) then return end
  log.warn "bus: a text is lost: another worker stood still while it published"
end

return M
