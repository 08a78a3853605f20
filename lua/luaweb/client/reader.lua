-- SPDX-License-Identifier: MIT
-- Reads the responses of an HTTP/1 server from a connection, one after the other.  The
-- work is done in C (core/http/reader.c); this receives, waits and makes Lua values of
-- what is read.  Borrows the socket, and neither sends nor closes.  (Tests read our own
-- answers with http_reader.lua, which shares no code with the server.)
--
--   local reader = require("luaweb.client.reader").new(socket)
--   reader:begin "GET"                    the method of the request that was sent
--   local head = reader:head(timeout)     skips interim responses; next_head does not
--   reader:decode(limit, ratio)           optional: take Content-Encoding off
--   repeat local piece, message, kind = reader:read(timeout) until not piece
--   reader.trailers                       when the content has ended
--   reader:done()                         whether the connection may be used again
--
-- Whatever fails gives nil, a sentence, and one of these words:
--   "timeout"    nothing is lost: the same call may be made again
--   "silent"     the connection ended before an octet of the response came, so that the
--                request may be sent again on another where its method allows it
--   "cut"        the connection ended inside the response
--   "malformed"  refused: not HTTP/1, or it is not clear where the content ends
--   "limit"      a head, the interim responses, the decoded content is too large
--   "coding"     the content is not what its Content-Encoding wants
-- and all but "timeout" are final for the connection.  RFC 9112, RFC 9110 §8.4, §15.2.
local abi = require "luaweb.abi"
local ffi = require "ffi"
local turn = require "luaweb.client.turn"

local C, host = abi.C, abi.host
local GIVEN = tonumber(C.LUAWEB_READER_GIVEN)
local WAIT = tonumber(C.LUAWEB_READER_WAIT)
local END = tonumber(C.LUAWEB_READER_END)
local INTERIM = tonumber(C.LUAWEB_READER_INTERIM)
local KINDS = {
  [tonumber(C.LUAWEB_READER_MALFORMED)] = "malformed",
  [tonumber(C.LUAWEB_READER_TOO_LARGE)] = "limit",
  [tonumber(C.LUAWEB_READER_CUT)] = "cut",
  [tonumber(C.LUAWEB_READER_SILENT)] = "silent",
  [tonumber(C.LUAWEB_READER_UNDECODED)] = "coding",
}

local M = {
  MAX_HEAD = 65536,              -- octets of one head
  MAX_HEADERS = 256,             -- field lines of one head
  MAX_DECODED = 8 * 1024 * 1024, -- octets of content, its codings taken off
  MAX_RATIO = 1000,              -- of them, for each received, behind the first 1 MiB
}

---@class luaweb.ResponseHead
---@field status integer         100 to 599
---@field reason string          may be empty, or have octets over 127
---@field version string         "1.0" or "1.1"
---@field headers string[][]     pairs of lower-case name and trimmed value, in order
---@field length integer?        what Content-Length says, also of content not sent
---@field has_content boolean    false: `read` is at the end at once
---@field keep_alive boolean     the server lets the connection stay
---@field interims integer       interim responses so far
---@field is_switched boolean    a 101 or a tunnel: `rest` is of what follows

---@class luaweb.ResponseReader
---@field socket luaweb.Socket
---@field trailers string[][]   as headers; empty until the content has ended
local Reader = {}
Reader.__index = Reader

local head_out = ffi.new "struct luaweb_response_head"
local piece_out = ffi.new "struct luaweb_slice"
local fields_out = ffi.new "struct luaweb_fields"

local free = C.luaweb_reader_free
local function drop(c) free(host, c) end

--- A reader for one connection.
---@param socket luaweb.Socket   borrowed: anything with receive(timeout)
---@param limits? {max_head: integer?, max_headers: integer?}
---@return luaweb.ResponseReader
function M.new(socket, limits)
  limits = limits or {}
  local c = C.luaweb_reader_new(host, limits.max_head or M.MAX_HEAD,
    limits.max_headers or M.MAX_HEADERS)
  return setmetatable({
    socket = socket, c = ffi.gc(c, drop), state = "idle", trailers = {},
  }, Reader)
end

local function want(self, what, state, other)
  local is = self.state
  if is == state or is == other or is == "failed" then return end
  error(("reader:%s: now is the time for %q"):format(what, is), 3)
end

--- Expects the response to a request of this method next.
---@param method string
---@param options? {switches: boolean?}   a 101 is welcome; else it is refused
function Reader:begin(method, options)
  want(self, "begin", "idle", "end")
  self.trailers, self.has_begun = {}, false
  if self.state ~= "failed" then self.state = "head" end
  C.luaweb_reader_begin(host, self.c, method, #method,
    options and options.switches or false)
end

-- What a decoder holds, up to 16 MiB, is not for the garbage collector to find.
local function fail(self, result)
  local message = ffi.string(C.luaweb_reader_error(host, self.c))
  C.luaweb_reader_done(host, self.c)
  self.state, self.octets = "failed", nil
  return nil, message, KINDS[result]
end

-- Gives the reader what was received and had no room yet.
local function feed(self, octets, from)
  local data = ffi.cast("const char *", octets) + from
  local taken = C.luaweb_reader_feed(host, self.c, data, #octets - from)
  from = from + taken
  if from < #octets then
    self.octets, self.from = octets, from
  else
    self.octets = nil
  end
end

-- Gets more octets, or the end of them; nil: in time there was neither.
local function receive(self, deadline)
  if self.octets then
    feed(self, self.octets, self.from)
    return true
  end
  local left = deadline and math.max(0, deadline - C.luaweb_now(host))
  local octets, why = self.socket:receive(left)
  if octets then
    feed(self, octets, 0)
  elseif why == "timeout" then
    return nil
  else
    C.luaweb_reader_end(host, self.c, why ~= "closed")
  end
  return true
end

local function deadline_of(timeout)
  return timeout and C.luaweb_now(host) + timeout
end

local function text(slice)
  return ffi.string(slice.data, slice.size)
end

local function pairs_of(fields)
  local list = {}
  for i = 0, fields.count - 1 do
    local field = fields.list[i]
    list[i + 1] = { text(field.name):lower(), text(field.value) }
  end
  return list
end

local function make_head()
  local out = head_out
  return {
    status = out.status, reason = text(out.reason), version = "1." .. out.minor_version,
    headers = pairs_of(out.headers), length = out.length >= 0 and out.length or nil,
    has_content = out.has_content ~= 0, keep_alive = out.keep_alive ~= 0,
    interims = out.interims, is_switched = out.is_switched ~= 0,
  }
end

--- The next head, that of an interim response (status < 200) too.
---@param timeout number?   seconds; nil: as long as it takes
---@return luaweb.ResponseHead?
---@return string? message, string? kind
function Reader:next_head(timeout)
  want(self, "head", "head")
  local deadline = deadline_of(timeout)
  while true do
    local result = C.luaweb_reader_head(host, self.c, head_out)
    if result == GIVEN or result == INTERIM then
      self.last = make_head()
      if result == GIVEN then
        self.state = self.last.is_switched and "rest" or "read"
      end
      return self.last
    end
    if result ~= WAIT then return fail(self, result) end
    if not receive(self, deadline) then
      return nil, "the response did not come in time", "timeout"
    end
  end
end

--- The head of the response.
---@param timeout number?   seconds for all of it, interim responses too
---@return luaweb.ResponseHead?
---@return string? message, string? kind
function Reader:head(timeout)
  local deadline = deadline_of(timeout)
  while true do
    local left = deadline and math.max(0, deadline - C.luaweb_now(host))
    local head, message, kind = self:next_head(left)
    if not head or head.status >= 200 or head.is_switched then
      return head, message, kind
    end
  end
end

local function content_codings(head)
  local list = {}
  for _, pair in ipairs(head.headers) do
    if pair[1] == "content-encoding" then list[#list + 1] = pair[2] end
  end
  return table.concat(list, ", ")
end

--- From here on, `read` gives the content with its Content-Encoding taken off: gzip,
--- deflate, br and zstd, at most three in one another.  To be called behind the head.
---@param limit number?   octets that the content may have then; default MAX_DECODED
---@param ratio number?   of them for each that was received; 0: any; default MAX_RATIO
---@return boolean? decodes   true also where there is nothing to take off
---@return string? message    nil, message: a coding is unknown; content comes as it is
function Reader:decode(limit, ratio)
  want(self, "decode", "read")
  if self.has_begun then
    error("reader:decode: that is to be asked once, in front of all content", 2)
  end
  if self.state == "failed" then return true end
  self.has_begun = true
  local codings = content_codings(self.last)
  if C.luaweb_reader_decode(host, self.c, codings, #codings, limit or M.MAX_DECODED,
      ratio or M.MAX_RATIO) then
    return true
  end
  return nil, ("the Content-Encoding of the response can't be taken off: %q"):format(
    codings:sub(1, 100))
end

--- The next piece of the content.
---@param timeout number?   seconds; nil: as long as it takes
---@return string? piece    never empty; nil without a message: that was all
---@return string? message, string? kind
function Reader:read(timeout)
  if self.state == "end" then return nil end
  want(self, "read", "read")
  self.has_begun = true
  local deadline = deadline_of(timeout)
  while true do
    turn.give_way() -- there may be much that gives no piece
    local result = C.luaweb_reader_body(host, self.c, piece_out)
    if result == GIVEN then return text(piece_out) end
    if result == END then
      C.luaweb_reader_trailers(host, self.c, fields_out)
      self.trailers, self.state = pairs_of(fields_out), "end"
      return nil
    end
    if result ~= WAIT then return fail(self, result) end
    if not receive(self, deadline) then
      return nil, "the content did not come in time", "timeout"
    end
  end
end

--- Takes the octets that have been received behind a response, or behind the head that
--- switched the protocol.
---@return string
function Reader:rest()
  want(self, "rest", "rest", "end")
  C.luaweb_reader_rest(host, self.c, piece_out)
  local rest = text(piece_out)
  if self.octets then
    rest = rest .. self.octets:sub(self.from + 1)
    self.octets = nil
  end
  return rest
end

--- Ends a response, also one that is given up: gives back the memory that it took, of
--- which the garbage collector knows nothing and a decoder may hold 16 MiB.
---@return boolean is_clean   the connection may be used for another request: all octets
---  of the response were taken, it allows that, and none has come behind it
function Reader:done()
  local is_clean = C.luaweb_reader_done(host, self.c) and not self.octets
  self.state = is_clean and "idle" or "failed"
  self.octets = nil
  return is_clean
end

return M
