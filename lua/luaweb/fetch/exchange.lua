-- SPDX-License-Identifier: MIT
-- One request and its answer on a connection: sends while it reads, gives the head and
-- then the content by pieces, and ends with the connection kept or closed.  Nothing is
-- read ahead of who asks beyond one buffer.
-- RFC 9112 §9.3 (persistence), §9.5 (early answers).
local fields = require "luaweb.fetch.fields"
local head = require "luaweb.fetch.head"
local reader = require "luaweb.client.reader"
local upload = require "luaweb.fetch.upload"

local M = {}

M.MOST_DROPPED = 65536 -- octets of content that are read only to keep a connection

local MOST_DECODED = 2 ^ 53

-- Octets of a decoded piece at most.  The decoder's own limit is so much higher: who
-- reads sees what is above max_size first, and tells of it as of all content.
local PIECE = 16384

-- What the words of the reader are to who fetches.
M.KINDS = { silent = "reset", cut = "reset", malformed = "protocol",
  coding = "protocol", limit = "too_large", timeout = "timeout" }
local KINDS = M.KINDS

-- Receiving ---------------------------------------------------------------------------

---@class luaweb.FetchPort   what the reader of a connection receives from
---@field socket luaweb.Socket
---@field exchange luaweb.Exchange|false   the one that is under way
local Port = {}
Port.__index = Port

--- Octets, or nil and "timeout", "closed" or "reset".  Waits as the clock allows: from
--- now on, since nobody had asked for octets before, or from when some went the other
--- way.
function Port:receive()
  local exchange, socket = self.exchange, self.socket
  if exchange.is_dropped then return socket:receive(0) end
  local clock = exchange.clock
  clock:move()
  while true do
    local wait = clock:wait()
    local octets, why = socket:receive(wait < math.huge and wait or nil)
    if octets then return octets end
    if why ~= "timeout" or clock:wait() <= 0 then return nil, why end
  end
end

local function reader_of(link)
  if not link.port then
    link.port = setmetatable({ socket = link.socket, exchange = false }, Port)
    link.reader = reader.new(link.port)
  end
  return link.reader, link.port
end

-- Exchanges ---------------------------------------------------------------------------

---@class luaweb.Exchange
---@field link luaweb.Link
---@field clock luaweb.FetchClock
---@field is_silent boolean     it ended without an octet of an answer
---@field was_reused boolean    the connection had carried a request before
---@field is_over boolean       the connection is kept or closed
---@field is_whole boolean      all of its content was read
---@field is_dropped boolean    nobody waits for its content
---@field decoded string?       the content codings that are taken off
---@field trailers string[][]   behind the content
---@field private upload luaweb.Upload|false
---@field private call luaweb.FetchCall
---@field private reader luaweb.ResponseReader
local Exchange = {}
Exchange.__index = Exchange

--- Sends a request; the connection is the exchange's from now on.
---@param link luaweb.Link
---@param call luaweb.FetchCall
---@param clock luaweb.FetchClock
---@param proxy luaweb.Uri?   that passes the request on
---@return luaweb.Exchange
function M.start(link, call, clock, proxy)
  local its_reader, port = reader_of(link)
  local self = setmetatable({ link = link, call = call, clock = clock,
    is_silent = false, was_reused = link.is_reused, is_over = false, is_whole = false,
    is_dropped = false, trailers = {}, reader = its_reader, upload = false }, Exchange)
  port.exchange = self
  its_reader:begin(call.method)
  clock:enter "waiting for the answer"
  self.upload = upload.start(link, head.write(call, proxy), call, clock)
  return self
end

--- Closes the connection; nothing more comes of it.  Where the answer was not read to
--- its end, it is reset: an end of our sending alone would not tell the server that
--- nobody waits for it any more.
function Exchange:abort()
  if self.is_over then return end
  self.is_over = true
  if self.upload then self.upload:stop() end
  self.link:close(not self.is_whole)
end

-- What the app's function raised is the caller's error, wherever it ran; the connection
-- was closed for it.
local function raise_failure(self)
  local failure = self.upload.failure
  if not failure then return end
  self:abort()
  error(failure.raised, 0)
end

-- Ends it in order: the connection stays where both sides have said all.
local function finish(self)
  raise_failure(self)
  self.trailers, self.is_whole = self.reader.trailers, true
  if not self.upload.is_done or self.call.is_last or not self.reader:done() then
    return self:abort()
  end
  self.is_over = true
  self.link.port.exchange = false
  self.link:keep()
end

local function fail(self, message, kind)
  raise_failure(self)
  if kind == "timeout" then message = self.clock:late() end
  self.is_silent = kind == "silent"
  self:abort()
  return nil, message, KINDS[kind]
end

--- Waits for the head of the final answer.
---@return luaweb.ResponseHead?
---@return string? message
---@return string? kind
function Exchange:head()
  local answer, message, kind = self.reader:head()
  if not answer then return fail(self, message, kind) end
  -- What is refused or sent elsewhere needs no more content; but there are servers that
  -- answer well while they read.
  if answer.status >= 300 and not self.upload.is_done then self.upload:stop() end
  self.clock:enter "reading the content"
  return answer
end

--- Takes the content codings off from here on, where all of them are known.
---@param answer luaweb.ResponseHead
function Exchange:decode(answer)
  local codings = fields.received(answer.headers)["content-encoding"]
  local most = math.min(self.call.max_size + PIECE, MOST_DECODED)
  if codings and self.reader:decode(most) then self.decoded = codings end
end

--- The next piece of content, waited for; nil at the end.
---@return string? piece
---@return string? message
---@return string? kind
function Exchange:read()
  local piece, message, kind = self.reader:read()
  if piece then return piece end
  if not message then return finish(self) end
  return fail(self, message, kind)
end

--- Ends it without its content: keeps the connection where what is left of the answer
--- has come already.
function Exchange:drop()
  if self.is_over then return end
  self.is_dropped = true
  local left = M.MOST_DROPPED
  repeat
    local piece = self:read()
    left = left - (piece and #piece or 0)
  until not piece or left < 0
  self:abort()
end

return M
