-- SPDX-License-Identifier: MIT
-- The event stream that pages listen to while an app is developed: which generation
-- serves, and why the newest one does not load.  It ends with its generation: then the
-- page asks again, and the next one answers.
local abi = require "luaweb.abi"
local alt = require "luaweb.alt"
local failure = require "luaweb.dev.failure"
local ffi = require "ffi"
local json = require "luaweb.json"
local response = require "luaweb.response"
local shutdown = require "luaweb.shutdown"
local source = require "luaweb.dev.source"
local timer = require "luaweb.timer"
local utf8 = require "luaweb.utf8"

local C = abi.C
local M = {}

local LOOK = 0.1   -- seconds between two looks at how the newest generation fares
local ALIVE = 15   -- seconds of silence at most: then a comment
local AGAIN = 100  -- milliseconds until a page asks again

local why, token = ffi.new "struct luaweb_slice[1]", ffi.new "char[32]"

--- What names the generation that serves.
---@return string
function M.generation()
  C.luaweb_dev_token(abi.host, token)
  return ffi.string(token)
end

--- Why the newest generation has not loaded.
---@return string? text   nil: it has
---@return integer news   changes with that
function M.failure()
  local news = C.luaweb_dev_failure(abi.host, why)
  if why[0].size == 0 then return nil, news end
  return ffi.string(why[0].data, why[0].size), news
end

local function event(name, data)
  return ("event: %s\ndata: %s\n\n"):format(name, data)
end

local function fate()
  local text, news = M.failure()
  if not text then return event("success", "{}"), news end
  local message, place, excerpt = failure.first(utf8.mended(text))
  return event("failure", json.encode { message = message, place = place,
    excerpt = excerpt and utf8.mended(source.text(excerpt)) or nil }), news
end

local function stops(seconds)
  local stopping = shutdown.stopping:wrap(function() return true end)
  return alt.choose { stopping, timer.after(seconds) }:sync() == true
end

local function write(out)
  local mine, quiet = M.generation(), 0
  local text, news = fate()
  out:write(("retry: %d\n"):format(AGAIN) .. event("generation", mine) .. text)
  while not stops(LOOK) and M.generation() == mine do
    quiet = quiet + LOOK
    local _, newest = M.failure()
    if newest ~= news then
      text, news = fate()
      out:write(text)
    elseif quiet > ALIVE then
      quiet = 0
      out:write ":\n\n"
    end
  end
end

--- The stream.
---@return luaweb.Response
function M.stream()
  return response.streaming(write):type "text/event-stream"
    :header("Cache-Control", "no-store")
end

return M
