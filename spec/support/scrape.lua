-- SPDX-License-Identifier: MIT
-- What a server under test counts, as its --metrics says.
local eventually = require "spec.support.eventually"
local exposition = require "spec.support.exposition"
local http_reader = require "luaweb.client.http_reader"
local process = require "spec.support.process"
local socket = require "luaweb.client.socket"

local M = {}

--- Where it answers: its log says so before it serves.
---@param child spec.Child
---@return integer port
function M.port(child)
  local pattern = "metrics and health are at http://127%.0%.0%.1:(%d+)"
  return tonumber((child:errors():match(pattern)))
end

--- Sends octets there and receives until it closes.
---@param child spec.Child
---@param octets string
---@return string received
---@return string ending   "closed", "reset" or "timeout"
function M.send(child, octets)
  local conn = assert(socket.connect("127.0.0.1", M.port(child)))
  assert(conn:send(octets))
  local received, ending = process.rest(conn)
  conn:close()
  return received, ending
end

--- The answer to a GET.
---@param child spec.Child
---@param path string
---@return luaweb.HttpMessage
function M.get(child, path)
  local received = M.send(child, process.get(path))
  local messages = http_reader.read(received, {}, true)
  return assert(messages[1], received)
end

--- What it counts.
---@param child spec.Child
---@return spec.Exposition
function M.read(child)
  local answer = M.get(child, "/metrics")
  assert(answer.status == 200, answer.body)
  return exposition.read(answer.body)
end

--- Waits until a value is this one: a worker counts when it has sent the answer.
---@param child spec.Child
---@param name string
---@param labels table<string, string>?
---@param value number?
---@return spec.Exposition seen
function M.wait(child, name, labels, value)
  local seen
  eventually(("%s is %s"):format(name, tostring(value)), function()
    seen = M.read(child)
    return seen:get(name, labels) == value
  end)
  return seen
end

return M
