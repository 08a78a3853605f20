-- SPDX-License-Identifier: MIT
-- The control socket of a server that a spec has started, as lines.
local process = require "spec.support.process"
local socket = require "luaweb.client.socket"

local M = {}

--- The path of a file that a server with this address makes in our folder.
---@param port integer   of 127.0.0.1
---@param ending string  ".sock" or ".pid"
---@return string
function M.path(port, ending)
  return process.path(("luaweb-127.0.0.1-%d%s"):format(port, ending))
end

--- A connection to the control socket of a child, with these octets sent.
---@param child spec.Child
---@param octets string?
---@return luaweb.Socket
function M.connect(child, octets)
  local path = M.path(child.port, ".sock")
  local conn = assert(socket.connect("unix:" .. path))
  if octets then assert(conn:send(octets)) end
  return conn
end

--- Receives up to the line that ends an answer, or the end of the connection.
---@param conn luaweb.Socket
---@return string
function M.answer(conn)
  local text = ""
  repeat
    local octets = conn:receive(10)
    text = text .. (octets or "")
  until not octets or text:find "%f[^\n%z]ok\n$" or text:find "%f[^\n%z]error [^\n]*\n$"
  return text
end

--- Sends a command, and gives the answer.
---@param child spec.Child
---@param command string
---@return string
function M.ask(child, command)
  local conn = M.connect(child, command .. "\n")
  local text = M.answer(conn)
  conn:close()
  return text
end

return M
