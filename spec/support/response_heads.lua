-- SPDX-License-Identifier: MIT
-- Heads of responses as Lua tables, for specs: looks for their end and reads them
-- through core/http/response.h.
local ffi = require "ffi"
local pure = require "spec.support.pure"

pure.load "http/fields"
local C = pure.load "http/response"

local M = {}

local CONTENTS = {
  [tonumber(C.LW_RESPONSE_EMPTY)] = "empty",
  [tonumber(C.LW_RESPONSE_LENGTH)] = "length",
  [tonumber(C.LW_RESPONSE_CHUNKED)] = "chunked",
  [tonumber(C.LW_RESPONSE_CLOSE)] = "close",
}

local function slice(text, size)
  return ffi.new("struct luaweb_slice", { text, size or #text })
end

--- Looks for the end of a head, of which `step` octets more have come each time: the
--- last answer, the scan or why, and how many octets had come.
function M.scan(text, step, size, count)
  local state, why = ffi.new "struct lw_scan[1]", ffi.new "const char *[1]"
  local limits = ffi.new("struct lw_fields_limits", size or 4096, count or 20)
  local come, status = 0
  repeat
    come = math.min(come + step, #text)
    status = C.lw_response_scan(state, slice(text, come), limits, why)
  until status ~= 1 or come == #text
  if status >= 100 then return status, ffi.string(why[0]), come end
  return status, state, come
end

--- Reads a whole head that answers a request of this method.
function M.read(text, method)
  local status, state = M.scan(text, #text)
  if status ~= 0 then return nil, status, state end
  local fields = ffi.new("struct luaweb_field[?]", state[0].lines)
  local head, why = ffi.new "struct lw_response_head", ffi.new "const char *[1]"
  head.fields, head.field_capacity = fields, state[0].lines - 2
  local to = C.lw_response_to(slice(method or "GET"))
  status = C.lw_response_parse(state, text, to, head, why)
  if status ~= 0 then return nil, status, ffi.string(why[0]) end
  local list = {}
  for i = 0, head.field_count - 1 do
    list[i + 1] = { pure.string(fields[i].name), pure.string(fields[i].value) }
  end
  return {
    status = head.status, minor = head.minor_version, reason = pure.string(head.reason),
    fields = list, content = CONTENTS[tonumber(head.content)],
    length = tonumber(head.content_length), has_length = head.has_length,
    keep_alive = head.keep_alive,
  }
end

--- Reads a head with these field lines.
---@param line string?   the status line; default that of a 200
function M.with(fields, line, method)
  return M.read((line or "HTTP/1.1 200 OK") .. "\r\n" .. fields .. "\r\n", method)
end

--- The same for a head that is refused: why.
function M.refusal(fields, line, method)
  local head, status, why = M.with(fields, line, method)
  if head or status ~= 400 then error(("not refused: %q"):format(fields)) end
  return why
end

--- Text for a title: quoted, with escapes for what does not print.
function M.shown(text)
  return (("%q"):format(text):gsub("[^\32-\126]", function(octet)
    return ("\\%d"):format(octet:byte())
  end))
end

return M
