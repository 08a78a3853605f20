-- SPDX-License-Identifier: MIT
-- Requests that a handler holds while a spec looks at them.
local test = require "luaweb.test"
local web = require "luaweb"

local M = {}

local held, count = {}, 0 -- by number: conn, req, is_over

local client = test.app(web.app { web.get("/{number}", function(req)
  local mine = held[tonumber(req.params.number)]
  mine.req = req
  while not mine.is_over do web.sleep(0.001) end
  return ""
end) })

--- A request with these Authorization lines; it lives until M.release.
---@param ... string
---@return luaweb.Request? req
---@return integer? status   where the server has refused the head
function M.authorized(...)
  local lines = {}
  for i, value in ipairs { ... } do lines[i] = "Authorization: " .. value .. "\r\n" end
  count = count + 1
  local mine = {}
  held[count] = mine
  mine.conn = client:raw(("GET /%d HTTP/1.1\r\nHost: h\r\n%s\r\n"):format(count,
    table.concat(lines)))
  for _ = 1, 2000 do
    if mine.req then return mine.req end
    local answer = mine.conn:receive(0.001)
    if answer then return nil, tonumber(answer:match "^HTTP/1.1 (%d+)") end
  end
  error "no request has arrived"
end

--- Ends a request, or all that are held.
---@param req luaweb.Request?
function M.release(req)
  for number, mine in pairs(held) do
    if req == nil or mine.req == req then
      mine.is_over = true
      mine.conn:close()
      held[number] = nil
    end
  end
end

return M
