-- SPDX-License-Identifier: MIT
-- Plays octets to luaweb.client.reader as a server would send them, for specs.
local reader = require "luaweb.client.reader"

local M = {}

--- Something to receive from: `octets`, in steps.
---@param options table?   step: octets at a time (default all); ends: what is said when
---  there are no more ("closed", "reset", "timeout")
local function socket_of(octets, options)
  options = options or {}
  local at, step = 1, options.step or #octets
  return {
    receive = function()
      if at > #octets then return nil, options.ends or "closed" end
      local piece = octets:sub(at, at + step - 1)
      at = at + step
      return piece
    end,
  }
end

--- A reader of these octets that expects a response.
---@param options table?   as above; also max_head, max_headers
---@param method string?   of the request; default GET
---@param begin table?     see Reader:begin
function M.reader_of(octets, options, method, begin)
  local its_reader = reader.new(socket_of(octets, options), options)
  its_reader:begin(method or "GET", begin)
  return its_reader
end

--- One response as a table, with its content as `body`; or nil, message, kind.
---@param step integer      octets at a time
---@param decode boolean?   take content codings off
function M.response(octets, step, method, decode)
  local its_reader = M.reader_of(octets, { step = step }, method)
  local head, message, kind = its_reader:head()
  if not head then return nil, message, kind end
  if decode then assert(its_reader:decode()) end
  local parts = {}
  while true do
    local piece
    piece, message, kind = its_reader:read()
    if message then return nil, message, kind end
    if not piece then break end
    assert(piece ~= "")
    parts[#parts + 1] = piece
  end
  head.body, head.trailers = table.concat(parts), its_reader.trailers
  return head
end

return M
