-- SPDX-License-Identifier: MIT
-- Reads the answers of our own server, for tests and probes, from all the octets that
-- a client has received.  Owns nothing: octets in, messages out, no sockets.  It shares
-- no code with the server, whose faults it is there to find (reader.lua, with which
-- web.fetch reads, does), and must never be lenient: an answer whose framing is not
-- exact is an error.
-- RFC 9112 §2.1 (message), §4 (status line), §6.3 (body length), §7.1 (chunked).
local M = {}

---@class luaweb.HttpMessage
---@field status integer
---@field line string            the status line, without its CRLF
---@field version string         "1.1"
---@field headers string[][]     pairs of lower-case name and trimmed value, in order
---@field body string
---@field interim integer[]      statuses of the 1xx answers before it (see `read`)
---@field switched boolean       a 101: what follows is no longer HTTP
local Message = {}
Message.__index = Message

--- All values of a header joined with ", ", or nil when it is absent.
---@param name string   lower case
---@return string?
function Message:header(name)
  local values = {}
  for _, pair in ipairs(self.headers) do
    if pair[1] == name then values[#values + 1] = pair[2] end
  end
  return values[1] and table.concat(values, ", ")
end

-- In this file a reading function gives what it read; nil when octets are missing; nil
-- and a message when no further octet can make it right.

local function trimmed(value)
  return (value:match "^[ \t]*(.-)[ \t]*$")
end

local function read_status_line(line)
  local version, status, after = line:match "^HTTP/(%d%.%d) (%d%d%d)(.?)"
  if not version or (after ~= "" and after ~= " ") then
    return nil, ("bad status line %q"):format(line:sub(1, 60))
  end
  return setmetatable({
    line = line, version = version, status = tonumber(status),
    headers = {}, body = "", interim = {}, switched = false,
  }, Message)
end

local function read_head(data)
  local stop = data:find("\r\n\r\n", 1, true)
  if not stop then return nil end
  local message
  for line in (data:sub(1, stop - 1) .. "\r\n"):gmatch "(.-)\r\n" do
    if not message then
      local err
      message, err = read_status_line(line)
      if err then return nil, err end
    else
      local colon = line:find(":", 1, true)
      if not colon then return nil, ("bad header %q"):format(line:sub(1, 60)) end
      message.headers[#message.headers + 1] =
        { line:sub(1, colon - 1):lower(), trimmed(line:sub(colon + 1)) }
    end
  end
  return message, data:sub(stop + 4)
end

-- Where the octets after the trailers begin, or nil.
local function skip_trailers(data, at)
  while true do
    local stop = data:find("\r\n", at, true)
    if not stop then return nil end
    if stop == at then return stop + 2 end
    at = stop + 2
  end
end

local function read_chunked(data)
  local parts, at = {}, 1
  while true do
    local stop = data:find("\r\n", at, true)
    if not stop then return nil end
    local line = data:sub(at, stop - 1)
    local digits = line:match "^(%x+)[ \t]*$" or line:match "^(%x+)[ \t]*;"
    if not digits then return nil, ("bad chunk size %q"):format(line:sub(1, 40)) end
    local size = tonumber(digits, 16)
    at = stop + 2
    if size == 0 then
      local after = skip_trailers(data, at)
      return after and table.concat(parts), after and data:sub(after)
    end
    if #data < at + size + 1 then return nil end
    if data:sub(at + size, at + size + 1) ~= "\r\n" then
      return nil, "the data of a chunk is not ended by CRLF"
    end
    parts[#parts + 1] = data:sub(at, at + size - 1)
    at = at + size + 2
  end
end

local function is_without_content(message, method)
  return method == "HEAD" or message.status == 204 or message.status == 304
    or (message.status >= 100 and message.status < 200)
    or (method == "CONNECT" and message.status < 300)
end

-- The content of a message: body and what follows it.
local function read_body(message, data, method, at_end)
  if is_without_content(message, method) then return "", data end
  local coding = message:header "transfer-encoding"
  if coding and trimmed(coding:lower():match "[^,]*$") == "chunked" then
    return read_chunked(data)
  end
  local length = message:header "content-length"
  if length then
    if not length:find "^%d+$" then
      return nil, ("bad Content-Length in the answer: %q"):format(length)
    end
    length = tonumber(length)
    if #data < length then return nil end
    return data:sub(1, length), data:sub(length + 1)
  end
  if at_end then return data, "" end
  return nil
end

--- Reads one answer, interim ones too.
---@param data string      octets, from the start of the answer
---@param method string    of the request that it answers
---@param at_end boolean   no more octets will come
---@return luaweb.HttpMessage?   nil: octets are missing, or there is an error
---@return string          the octets after the message, or the error ("" when none)
function M.next(data, method, at_end)
  local message, rest = read_head(data)
  if not message then return nil, rest or "" end
  if message.status == 101 then
    message.switched, message.body = true, rest
    return message, ""
  end
  local body, after = read_body(message, rest, method, at_end)
  if not body then
    return nil, after or (at_end and "the body of the answer is cut short") or ""
  end
  message.body = body
  return message, after
end

--- Reads all final answers.
---@param data string        all octets received
---@param methods string[]   of the requests in order; GET where none is given
---@param at_end boolean     the server sends no more
---@return luaweb.HttpMessage[]    complete final answers
---@return string rest       octets that are not part of one yet
---@return string? err       why the rest can't become an answer
function M.read(data, methods, at_end)
  local messages, interim, rest = {}, {}, data
  while rest ~= "" do
    local message, after = M.next(rest, methods[#messages + 1] or "GET", at_end)
    if not message then return messages, rest, after ~= "" and after or nil end
    rest = after
    if message.status < 200 and not message.switched then
      interim[#interim + 1] = message.status
    else
      message.interim, interim = interim, {}
      messages[#messages + 1] = message
      if message.switched then break end
    end
  end
  return messages, rest, nil
end

return M
