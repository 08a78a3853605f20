-- SPDX-License-Identifier: MIT
-- Handlers that leave garbage, some of it with finalizers.
local ffi = require "ffi"
local job = require "luaweb.job"
local mailbox = require "luaweb.mailbox"
local web = require "luaweb"

local kept = {}
local told = mailbox.new()

job.server(function()
  while true do print(told:take()) end
end)

-- Something that calls a function once it is garbage.
local function last_words(fn)
  local proxy = newproxy(true)
  getmetatable(proxy).__gc = fn
  return proxy
end

-- Tables, with these at the end.
local function tables(req, ...)
  local list = { ... }
  for i = 1, tonumber(req.params.count) do list[i + 10] = { i } end
  list.last = last_words(function() print "collected" end)
  return list
end

local function garbage(req)
  tables(req)
  return "left"
end

local function keep(req)
  kept[#kept + 1] = tables(req)
  return "kept"
end

local function raising(req)
  local list = tables(req, last_words(function() print "others ran" end))
  list.cdata = ffi.gc(ffi.new "int[1]", function() error "raised by a finalizer" end)
  list.proxy = last_words(function() error "raised by a finalizer" end)
  return "left"
end

local function telling(req)
  tables(req).mailbox = last_words(function() told:send "told" end)
  return "left"
end

return web.app {
  web.get("/", function() return "root" end),
  web.get("/stats", function() return web.json(job.stats()) end),
  web.get("/stop", function() collectgarbage "stop" end),
  web.get("/garbage/{count}", garbage),
  web.get("/kept/{count}", keep),
  web.get("/raising/{count}", raising),
  web.get("/telling/{count}", telling),
}
