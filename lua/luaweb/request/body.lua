-- SPDX-License-Identifier: MIT
-- Reading the content of a request: whole or piece by piece.  Reading waits without
-- blocking, and never gives nil because of size: it streams, or the request is a 413.
local abi = require "luaweb.abi"
local charsets = require "luaweb.charset"
local ffi = require "ffi"
local handle = require "luaweb.request.handle"
local json = require "luaweb.json"
local response = require "luaweb.response"
local sched = require "luaweb.sched"
local wake = require "luaweb.wake"
local buffer = require "string.buffer"

local C, host = abi.C, abi.host
local piece = ffi.new "struct luaweb_slice"
local form_rest = ffi.new "struct luaweb_slice"
local form_pair = ffi.new "struct luaweb_field"

local MAX_FORM_PAIRS = 10000
local CONTENT, FORM = handle.CONTENT, handle.FORM

local M = {}

--- Raised in a handler whose client is gone: ends the request without an answer.
M.GONE = setmetatable({}, { __tostring = function() return "the client is gone" end })

local IN_PIECES = {} -- in the place of a content that is not kept

--- Raises why nothing can be read or written any more.
---@param r ffi.cdata*         struct luaweb_request
---@param generation integer
function M.raise_gone(r, generation)
  error(r.generation == generation and M.GONE or handle.ENDED, 0)
end

-- Lends the next piece in `piece`; false at the end.
local function next_piece(r, generation, what)
  while true do
    local result = C.luaweb_body(host, r, generation, piece)
    if result == C.LUAWEB_BODY_PIECE then return true end
    if result == C.LUAWEB_BODY_END then return false end
    if result == C.LUAWEB_BODY_GONE then M.raise_gone(r, generation) end
    if result == C.LUAWEB_BODY_EARLY then
      error(("%s: nothing of the content may be read before it is known to be wanted, "
        .. "and %s is asked before that"):format(what,
        ffi.string(C.luaweb_asked(host, r, generation))), 0)
    end
    if result ~= C.LUAWEB_BODY_WAIT then error(response.status(result), 0) end
    wake.wait(r.slot, what)
  end
end

local function refuse(status, text)
  error(response.text(text):status(status), 0)
end

-- The whole content; the handle keeps it.  Several jobs may read at once: the pieces go
-- to one buffer, which stands in the place of the content until that is whole.
local function read_all(self, r, what)
  sched.check(what, 3)
  local kept = rawget(self, CONTENT)
  if kept == IN_PIECES then
    error(what .. ": the content was read in pieces by req:chunks: it is not kept", 3)
  end
  if type(kept) == "string" then return kept end
  local whole = kept or buffer.new()
  self[CONTENT] = whole
  while next_piece(r, self[2], what) do
    whole:putcdata(piece.data, piece.size)
  end
  if type(self[CONTENT]) ~= "string" then self[CONTENT] = whole:tostring() end
  return self[CONTENT]
end

-- Wants at most so many octets of content.
local function set_limit(self, r, limit)
  if type(limit) ~= "number" or limit ~= limit or limit < 0 then
    error("req:bytes wants a number of octets, 0 or more", 3)
  end
  local kept = rawget(self, CONTENT)
  if type(kept) == "string" and #kept > limit then error(response.status(413), 0) end
  C.luaweb_body_limit(host, r, self[2], limit)
end

local function read_form(text)
  local names, values = {}, {}
  form_rest.data, form_rest.size = text, #text
  while C.luaweb_form(host, form_rest, form_pair) do
    if #names == MAX_FORM_PAIRS then
      refuse(413, "413 Content Too Large: more than 10000 pairs in a form\n")
    end
    names[#names + 1] = ffi.string(form_pair.name.data, form_pair.name.size)
    values[#values + 1] = ffi.string(form_pair.value.data, form_pair.value.size)
  end
  return names, values
end

local function one_piece(content)
  local left = content ~= "" and content or nil
  return function()
    local next_one = left
    left = nil
    return next_one
  end
end

--- The methods of a request that read its content.
---@param facts fun(self: luaweb.Request): ffi.cdata*   the C struct, or an error
---@param new_pairs fun(names: string[], values: string[]): luaweb.Pairs
function M.methods(facts, new_pairs)
  local Request = {}

  --- The content as octets.
  ---@param limit integer?   octets; more is a 413 (default: the machine's body_limit)
  ---@return string
  function Request:bytes(limit)
    local r = facts(self)
    if limit ~= nil then set_limit(self, r, limit) end
    return (read_all(self, r, "req:bytes"))
  end

  --- The content as UTF-8 text; what is not UTF-8 is a 400, a charset that is neither
  --- UTF-8 nor Latin-1 a 415.
  ---@return string
  function Request:text()
    local r = facts(self)
    local _, charset = charsets.content_type(self.headers["content-type"])
    if not charsets.is_known(charset) then
      refuse(415, "415 Unsupported Media Type: the charset must be utf-8\n")
    end
    local text, invalid_at = charsets.to_utf8(read_all(self, r, "req:text"), charset)
    if invalid_at then
      refuse(400, ("400 Bad Request: the content is not UTF-8 at octet %d\n"):format(
        invalid_at))
    end
    return text
  end

  --- The content read as JSON; what is not JSON is a 400.
  ---@return any
  function Request:json()
    local value, message = json.decode(read_all(self, facts(self), "req:json"))
    if value == nil then
      refuse(400, "400 Bad Request: the content is not JSON: " .. message .. "\n")
    end
    return value
  end

  --- The pairs of an application/x-www-form-urlencoded content; another type is a 415.
  ---@return luaweb.Pairs
  function Request:form()
    local r = facts(self)
    local kept = rawget(self, FORM)
    if kept then return kept end
    local media = charsets.content_type(self.headers["content-type"])
    if media ~= "application/x-www-form-urlencoded" then
      refuse(415, "415 Unsupported Media Type: a form must be "
        .. "application/x-www-form-urlencoded\n")
    end
    kept = new_pairs(read_form(read_all(self, r, "req:form")))
    self[FORM] = kept
    return kept
  end

  --- Iterates over the content in pieces as they come: for chunk in req:chunks() do.
  --- Nothing is read ahead beyond a buffer: a slow reader slows the client down.  What
  --- was read whole before is one piece; what was read in pieces is not kept.
  ---@return fun(): string?
  function Request:chunks()
    facts(self)
    sched.check "req:chunks"
    local kept = rawget(self, CONTENT)
    if type(kept) == "string" then return one_piece(kept) end
    if kept and kept ~= IN_PIECES then
      error("req:chunks: another job is reading the content", 2)
    end
    return function()
      local r = facts(self)
      sched.check "req:chunks"
      local kept_since = rawget(self, CONTENT)
      if kept_since and kept_since ~= IN_PIECES then
        error("req:chunks: another job has read the content", 2)
      end
      self[CONTENT] = IN_PIECES
      if next_piece(r, self[2], "req:chunks") then
        return ffi.string(piece.data, piece.size)
      end
    end
  end

  return Request
end

return M
