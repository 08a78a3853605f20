-- SPDX-License-Identifier: MIT
-- What a server of apps/hello.lua answers at an address that a spec has made.
local process = require "spec.support.process"
local socket = require "luaweb.client.socket"

--- Gets /hello on a connection of its own.
---@param address string   as socket.connect takes it
---@param port integer?
---@return string body
return function(address, port)
  local conn = assert(socket.connect(address, port))
  conn:send(process.get "/hello")
  local answer = process.answers(conn)
  conn:close()
  return answer.body
end
