-- SPDX-License-Identifier: MIT
-- The requests that were remembered while the app is developed, and how each has walked
-- through its graph, in the words of `luaweb explain`.  Nothing of the app runs.
local abi = require "luaweb.abi"
local ffi = require "ffi"
local fields = require "luaweb.explain.fields"
local probes = require "luaweb.probe"

local C = abi.C
local M = {}

local probe -- of the app that serves

--- Tells which app serves.
---@param app luaweb.App
---@param capp ffi.cdata*
function M.serve(app, capp) probe = probes.of(app, capp) end

---@class luaweb.Seen      a request that was remembered
---@field id number
---@field method string
---@field target string
---@field headers [string, string][]
---@field time number       seconds since 1970, when it began
---@field duration number   seconds
---@field octets number
---@field status integer    0: it runs
---@field is_ours boolean   its walk can be read

-- Takes the octets of a head apart, which the parser has found to be one.
local function read_head(text)
  local method, target = text:match "^%s*(%S+) (%S+)"
  local headers = {}
  for name, value in text:gmatch "\n([^:\r\n]+):[ \t]*([^\r\n]*)" do
    headers[#headers + 1] = { name, (value:gsub("[ \t]+$", "")) }
  end
  return { method = method or "", target = target or "", headers = headers }
end

local room -- for all that are remembered

--- The requests that were remembered, newest first.
---@return luaweb.Seen[]
function M.list()
  room = room or ffi.new("struct luaweb_seen[?]", C.LUAWEB_DEV_SEEN)
  local list = {}
  for i = 1, C.luaweb_dev_seen(abi.host, room) do
    local seen = room[i - 1]
    local one = read_head(ffi.string(seen.head.data, seen.head.size))
    one.id, one.status, one.is_ours = seen.id, seen.status, seen.is_ours
    one.time, one.duration = seen.time_ms / 1000, seen.duration_us / 1e6
    one.octets = seen.octets
    list[i] = one
  end
  return list
end

--- One of them.
---@param id number
---@return luaweb.Seen?
function M.find(id)
  for _, seen in ipairs(M.list()) do
    if seen.id == id then return seen end
  end
end

--- Its fields as they may be shown.
---@param seen luaweb.Seen
---@return [string, string][]
function M.fields(seen)
  local list = {}
  for i, pair in ipairs(seen.headers) do
    list[i] = { pair[1], fields.shown(pair[1], pair[2]) }
  end
  return list
end

--- How it has walked.
---@param seen luaweb.Seen
---@param failure luaweb.Failure?
---@return luaweb.Explained?   nil: that is not known
function M.explain(seen, failure)
  local trace = probe and probe:trace_of(seen.id)
  if not trace then return nil end
  local status = seen.status ~= 0 and seen.status or nil
  return require("luaweb.explain").of_walk(probe, trace, seen, status, failure)
end

return M
