-- SPDX-License-Identifier: MIT
-- Reads the parts of a 206, whether one or several, and checks each against the whole.
-- It shares no code with the server, and is never lenient.  RFC 9110 §14.4, §14.6.
local M = {}

---@class spec.Part
---@field first integer
---@field last integer
---@field media_type string?

local function read_range(value, size)
  local first, last, of = (value or ""):match "^bytes (%d+)%-(%d+)/(%d+)$"
  if not first then error(("bad Content-Range %q"):format(tostring(value)), 0) end
  first, last = tonumber(first), tonumber(last)
  if tonumber(of) ~= size or first > last or last >= size then
    error(("Content-Range %q of %d octets"):format(value, size), 0)
  end
  return first, last
end

local function check_octets(part, octets, whole)
  if octets ~= whole:sub(part.first + 1, part.last + 1) then
    error(("wrong octets for %d-%d"):format(part.first, part.last), 0)
  end
  return part
end

local function read_part(head, octets, whole)
  local fields = {}
  for line in (head .. "\r\n"):gmatch "(.-)\r\n" do
    local name, value = line:match "^([%w-]+): (.*)$"
    if not name or fields[name:lower()] then
      error("bad head of a part: " .. head, 0)
    end
    fields[name:lower()] = value
  end
  local first, last = read_range(fields["content-range"], #whole)
  return check_octets({ first = first, last = last,
    media_type = fields["content-type"] }, octets, whole)
end

local function read_parts(body, boundary, whole)
  local parts, mark = {}, "\r\n--" .. boundary
  local text = "\r\n" .. body
  local at = select(2, text:find(mark, 1, true))
  while at do
    if text:sub(at + 1, at + 2) == "--" then
      if not text:sub(at + 3):find "^%s*$" then error("octets behind the parts", 0) end
      return parts
    end
    local next_at, next_end = text:find(mark, at, true)
    local part = text:sub(at + 1, (next_at or 0) - 1)
    local head, octets = part:match "^\r\n(.-)\r\n\r\n(.*)$"
    if not head then error("a part without a head", 0) end
    parts[#parts + 1] = read_part(head, octets, whole)
    at = next_end
  end
  error("no end of the parts", 0)
end

local BOUNDARY = "^multipart/byteranges; *boundary=\"?([%w'()+_,./:=?-]+)\"?$"

--- The parts of a 206, in order.
---@param res luaweb.TestResponse
---@param whole string   the representation
---@return spec.Part[]
function M.read(res, whole)
  local media_type = res.headers["content-type"] or ""
  local boundary = media_type:match(BOUNDARY)
  if boundary then
    assert(not res.headers["content-range"], "Content-Range beside parts")
    return read_parts(res.body, boundary, whole)
  end
  local first, last = read_range(res.headers["content-range"], #whole)
  return { check_octets({ first = first, last = last,
    media_type = res.headers["content-type"] }, res.body, whole) }
end

return M
