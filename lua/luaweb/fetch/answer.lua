-- SPDX-License-Identifier: MIT
-- What web.fetch gives: status, headers, and the content whole or, where it streams, by
-- pieces.  A stream owns its connection until it was read to the end or closed; one
-- that is forgotten is closed with the request that it was opened for (or the scope.run
-- around it), or when it is collected.
local buffer = require "string.buffer"
local charsets = require "luaweb.charset"
local fields = require "luaweb.fetch.fields"
local json = require "luaweb.json"
local scope = require "luaweb.scope"
local uri = require "luaweb.fetch.uri"

local M = {}

---@class luaweb.FetchResponse
---@field status integer
---@field ok boolean                      the status is 200 to 299
---@field headers luaweb.ReceivedFields   by name in any case
---@field url string                      that answered, after redirects
---@field body string                     the whole content; an error where it streams
---@field decoded string?                 the coding that was taken off, e.g. "gzip"
---@field trailers luaweb.ReceivedFields? behind chunked content, once it was read
---@field version string                  "1.0" or "1.1"
---@field private exchange luaweb.Exchange|false   false: all of it was read
---@field private max_size number
---@field private left number             octets of content that may still come
---@field private failure table|false     { message, kind }
local Response = {}
M.Response = Response

-- A stream has no body; `res.body` would be nil as if there were no content.
function Response:__index(name)
  if name == "body" then
    error("res.body: the content streams; read it with res:read() or res:chunks()", 2)
  end
  return Response[name]
end

local function too_large(response)
  local message = ("the content is larger than max_size (%.0f octets)"):format(
    response.max_size)
  return { message, "too_large" }
end

local function fail(response, failure)
  response.failure = failure
  response.exchange:abort()
  return nil, failure[1], failure[2]
end

local function next_piece(response)
  local exchange = response.exchange
  if exchange.is_over then
    if exchange.is_whole then return nil end
    return fail(response, { "the stream was closed", "reset" })
  end
  local piece, message, kind = exchange:read()
  if message then return fail(response, { message, kind }) end
  if not piece then
    response.trailers = fields.received(exchange.trailers)
    return nil
  end
  response.left = response.left - #piece
  if response.left < 0 then return fail(response, too_large(response)) end
  return piece
end

-- A wait that raises (its job was cancelled) leaves no open connection behind.
local function guarded(response, ok, ...)
  if ok then return ... end
  response.exchange:abort()
  error((...), 0)
end

--- The next piece of a stream, waited for; nil at its end.
---@return string? piece
---@return string? message   what went wrong
---@return string? kind
function Response:read()
  local failure = self.failure
  if failure then return nil, failure[1], failure[2] end
  if rawget(self, "body") then
    error("res:read: ask for it with stream = true", 2)
  end
  return guarded(self, pcall(next_piece, self))
end

local function next_or_raise(response)
  local piece, message = response:read()
  if message then error(response.url .. ": " .. message, 0) end
  return piece
end

--- Iterates over the pieces of a stream: for piece in res:chunks() do.  Content that is
--- cut short raises an error: a loop that just ends would look like the whole.
---@return fun(): string?
function Response:chunks()
  if rawget(self, "body") then
    error("res:chunks: ask for it with stream = true", 2)
  end
  return next_or_raise, self
end

--- Gives a stream up, but keeps its connection where all has come already.
function Response:drop()
  if self.exchange then self.exchange:drop() end
end

--- Closes a stream that nobody wants to read on.
function Response:close()
  if self.exchange then self.exchange:abort() end
end

-- The whole content, or nil and why there is none.
local function whole(response, what)
  local body = rawget(response, "body")
  if not body then
    error(what .. ": the content streams; read it with res:chunks()", 3)
  end
  return body
end

--- The content as UTF-8 text.
---@return string?
---@return string? message   it is not UTF-8, or of a charset that is not known
function Response:text()
  local octets = whole(self, "res:text")
  local _, charset = charsets.content_type(self.headers["content-type"])
  if not charsets.is_known(charset) then
    return nil, ("the charset %q is neither UTF-8 nor Latin-1"):format(charset)
  end
  local text, invalid_at = charsets.to_utf8(octets, charset)
  if text then return text end
  return nil, ("the content is not UTF-8 at octet %d"):format(invalid_at)
end

--- The content read as JSON.
---@return any value
---@return string? message
function Response:json()
  return json.decode(whole(self, "res:json"))
end

-- Making it ---------------------------------------------------------------------------

local IS_CODED = { ["content-encoding"] = true, ["content-length"] = true }

-- The fields, but those that are about octets which the app does not see.
local function visible(exchange, answer)
  if not exchange.decoded then return answer.headers end
  return fields.without(answer.headers, IS_CODED)
end

-- Reads all of it: true, or nil, message, kind.
local function read_whole(response, answer)
  if not response.decoded and (answer.length or 0) > response.left
    and answer.has_content then
    return fail(response, too_large(response))
  end
  local all = buffer.new()
  while true do
    local piece, message, kind = next_piece(response)
    if message then return nil, message, kind end
    if not piece then break end
    all:put(piece)
  end
  response.body, response.exchange = all:tostring(), false
  return true
end

--- The response for an answer; reads the content, unless it streams.
---@param call luaweb.FetchCall
---@param exchange luaweb.Exchange   its connection is the response's from now on
---@param answer luaweb.ResponseHead
---@return luaweb.FetchResponse?
---@return string? message
---@return string? kind
function M.make(call, exchange, answer)
  if call.decode then exchange:decode(answer) end
  local response = setmetatable({ status = answer.status, url = uri.text(call.uri),
    ok = answer.status >= 200 and answer.status <= 299,
    headers = fields.received(visible(exchange, answer)), decoded = exchange.decoded,
    version = answer.version, exchange = exchange,
    max_size = call.max_size, left = call.max_size, failure = false }, Response)
  if call.stream then
    exchange.clock:stop()
    scope.close_at_end(response)
    return response
  end
  local is_read, message, kind = read_whole(response, answer)
  if not is_read then return nil, message, kind end
  return response
end

return M
