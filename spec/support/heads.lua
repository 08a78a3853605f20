-- SPDX-License-Identifier: MIT
-- Heads of requests as Lua tables, for specs: looks for their end and reads them
-- through core/http/head.h.
local ffi = require "ffi"
local pure = require "spec.support.pure"

pure.load "http/target"
pure.load "http/fields"
local C = pure.load "http/head"

local M = {}

local ROOM = 200
local FRAMINGS = {
  [C.LW_FRAMING_NONE] = "none",
  [C.LW_FRAMING_LENGTH] = "length",
  [C.LW_FRAMING_CHUNKED] = "chunked",
}

local function slice(text, size)
  return ffi.new("struct luaweb_slice", { text, size })
end

local function new_limits(limits)
  return ffi.new("struct lw_head_limits", limits.target or 8192,
    limits.header_size or 32768, limits.fields or 128)
end

--- Looks for the end of the head that `text` begins with.
---@param ends integer[]   how many octets have come at each look, e.g. {3, #text}
---@param limits table?    target, header_size, fields
---@param memo ffi.cdata*?  struct lw_head_memo
---@return integer status  of the last look
---@return ffi.cdata* scan
---@return integer? size   of the head
---@return integer? came   how many octets had come when the answer was clear
function M.scan(text, ends, limits, memo)
  local state = ffi.new "struct lw_scan[1]"
  local size, why = ffi.new "size_t[1]", ffi.new "const char *[1]"
  local bounds, status = new_limits(limits or {}), 1
  for _, come in ipairs(ends) do
    status = C.lw_head_scan(state, slice(text, come), bounds, memo, size, why)
    if status >= 100 then assert(ffi.string(why[0]):find "^%l.*%w$") end
    if status ~= 1 then return status, state, tonumber(size[0]), come end
  end
  return status, state
end

--- The ends that M.scan wants for octets that come one at a time.
function M.one_by_one(text)
  local ends = {}
  for i = 1, #text do ends[i] = i end
  return ends
end

local function field_list(head)
  local list = {}
  for i = 0, head.field_count - 1 do
    local field = head.fields[i]
    list[i + 1] = { pure.string(field.name), pure.string(field.value) }
  end
  return list
end

--- Reads the head that `text` begins with.
---@param room integer?  how many fields the caller has room for
---@param memo ffi.cdata*?  struct lw_head_memo
---@return table? head
---@return integer? status  when it is refused, or 1 when it is not whole
---@return string? why
function M.read(text, room, memo)
  local status, state, size = M.scan(text, { #text }, nil, memo)
  if status ~= 0 then return nil, status end
  local data = ffi.new("char[?]", size)
  ffi.copy(data, text, size)
  local fields = ffi.new("struct luaweb_field[?]", ROOM)
  local head, why = ffi.new "struct lw_head", ffi.new "const char *[1]"
  head.memo, head.fields, head.field_capacity = memo, fields, room or ROOM
  status = C.lw_head_parse(state, data, size, head, why)
  if status ~= 0 then return nil, status, ffi.string(why[0]) end
  assert(state[0].lines - 2 == head.field_count)
  return {
    size = size,
    method = pure.string(head.method),
    target = pure.string(head.target),
    path = pure.string(head.parts.path),
    host = pure.string(head.host),
    version = head.minor_version,
    framing = FRAMINGS[tonumber(head.framing)],
    length = tostring(head.content_length):match "%d+",
    keep_alive = head.keep_alive,
    expects_continue = head.expects_continue,
    present = head.present,
    fields = field_list(head),
    is_known = state[0].is_known,
  }
end

--- A whole head of a POST with these field lines, in HTTP/1.1 or 1.`minor`.
function M.request(lines, minor)
  return ("POST /x HTTP/1.%d\r\n%s\r\n"):format(minor or 1, lines)
end

--- Reads such a head with these lines behind Host.
function M.with(lines, minor)
  return M.read(M.request("Host: a\r\n" .. lines, minor))
end

--- The status that refuses such a head, or nil.
function M.status_with(lines, minor)
  return (select(2, M.with(lines, minor)))
end

return M
