-- SPDX-License-Identifier: MIT
-- Requests as octets, for specs that send them by hand.
local M = {}

--- A GET.
---@param target string
---@param lines string?   further header lines
---@return string octets
function M.get(target, lines)
  return ("GET %s HTTP/1.1\r\nHost: localhost\r\n%s\r\n"):format(target, lines or "")
end

--- A POST with content of known length.
---@param target string
---@param content string
---@param lines string?   further header lines
---@return string octets
function M.post(target, content, lines)
  return ("POST %s HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\n%s\r\n%s")
    :format(target, #content, lines or "", content)
end

--- A POST with content in chunks.
---@param target string
---@param octets string?   the chunks as they are sent
---@return string octets
function M.post_chunks(target, octets)
  return ("POST %s HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n%s")
    :format(target, octets or "")
end

return M
