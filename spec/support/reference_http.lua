-- SPDX-License-Identifier: MIT
-- HTTP fields in plain Lua, for the reference walk: field lines, dates, entity tags and
-- byte ranges.  Slow and literal on purpose: the C code is judged by it, so it shares
-- nothing with that.  Owns nothing.  RFC 9110 §5, §8.8, §13.1, §14.
local M = {}

---@class spec.PlainRequest
---@field method string
---@field target string
---@field version string                 "1.0", "1.1" or "2"
---@field headers [string, string][]     name and value of each line, in order
---@field body string?

--- A request as specs write it: the method, maybe a version, and a line for each field.
---@param text string   e.g. "PUT 1.0\nIf-Match: *"
---@return spec.PlainRequest
function M.request(text)
  local first, rest = text:match "^([^\n]*)\n?(.*)$"
  local method, version = first:match "^(%S+) ?(%S*)$"
  local headers = {}
  for line in rest:gmatch "[^\n]+" do
    headers[#headers + 1] = { line:match "^ *([^:]+): ?(.*)$" }
  end
  return { method = method, target = "/thing", headers = headers,
           version = version ~= "" and version or "1.1" }
end

-- Field lines -------------------------------------------------------------------------

local function trim(text)
  return (text:gsub("^[ \t]+", ""):gsub("[ \t]+$", ""))
end
M.trim = trim

--- The values of all lines of a name, without white space around them.
---@param request spec.PlainRequest
---@param name string   in any case
---@return string[]
function M.lines(request, name)
  local values = {}
  for _, header in ipairs(request.headers) do
    if header[1]:lower() == name:lower() then values[#values + 1] = trim(header[2]) end
  end
  return values
end

--- All lines of a name as one value; nil: there is none.
---@return string?
function M.joined(request, name)
  local lines = M.lines(request, name)
  return lines[1] and table.concat(lines, ", ") or nil
end

--- The value where there is exactly one line.
---@return string?
function M.only(request, name)
  local lines = M.lines(request, name)
  return #lines == 1 and lines[1] or nil
end

--- Splits at a character outside quotes; parts are trimmed, empty ones left out.
---@param text string
---@param separator string      one character
---@param has_escapes boolean   a backslash in quotes guards the next octet
---@return string[] parts
---@return boolean open         a quote was never closed
function M.split(text, separator, has_escapes)
  local parts, part, is_quoted, at = {}, "", false, 1
  local function finish()
    if trim(part) ~= "" then parts[#parts + 1] = trim(part) end
    part = ""
  end
  while at <= #text do
    local char = text:sub(at, at)
    if is_quoted and has_escapes and char == "\\" then
      part, at = part .. text:sub(at, at + 1), at + 1
    elseif char == separator and not is_quoted then
      finish()
    else
      if char == '"' then is_quoted = not is_quoted end
      part = part .. char
    end
    at = at + 1
  end
  finish()
  return parts, is_quoted
end

-- Dates (§5.6.7) ----------------------------------------------------------------------

local MONTHS = { "Jan", "Feb", "Mar", "Apr", "May", "Jun",
                 "Jul", "Aug", "Sep", "Oct", "Nov", "Dec" }
local DAYS = { "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday",
               "Sunday" }

local function is_leap(year)
  return year % 4 == 0 and (year % 100 ~= 0 or year % 400 == 0)
end

local function days_in(year, month)
  if month == 2 then return is_leap(year) and 29 or 28 end
  return (month == 4 or month == 6 or month == 9 or month == 11) and 30 or 31
end

-- Days from 1970-01-01 to a date, counted one year and one month at a time.
local function days_to(year, month, day)
  local days = 0
  for y = 1970, year - 1 do days = days + (is_leap(y) and 366 or 365) end
  for y = year, 1969 do days = days - (is_leap(y) and 366 or 365) end
  for m = 1, month - 1 do days = days + days_in(year, m) end
  return days + day - 1
end

local function position(list, wanted, length)
  for i, word in ipairs(list) do
    if word == wanted or length and word:sub(1, length) == wanted then return i end
  end
end

-- The latest year with these two digits that is not more than 50 years ahead.
local function year_of_two_digits(digits, now)
  local this_year = tonumber(os.date("!%Y", now))
  local year = this_year + 50
  while year % 100 ~= digits do year = year - 1 end
  return year
end

-- day name, day, month name, year, hour, minute, second
local function date_parts(text, now)
  local name, d, mon, y, h, m, s =
    text:match "^(%a%a%a), (%d%d) (%a%a%a) (%d%d%d%d) (%d%d):(%d%d):(%d%d) GMT$"
  if name then return position(DAYS, name, 3), d, mon, tonumber(y), h, m, s end
  name, d, mon, y, h, m, s =
    text:match "^(%a+), (%d%d)%-(%a%a%a)%-(%d%d) (%d%d):(%d%d):(%d%d) GMT$"
  if name then
    return position(DAYS, name), d, mon, year_of_two_digits(tonumber(y), now), h, m, s
  end
  name, mon, d, h, m, s, y =
    text:match "^(%a%a%a) (%a%a%a) ([ %d]%d) (%d%d):(%d%d):(%d%d) (%d%d%d%d)$"
  if name then return position(DAYS, name, 3), d, mon, tonumber(y), h, m, s end
end

--- Seconds since 1970 of any of the three forms; nil: it is no date.
---@param text string
---@param now integer   decides on the century of two digits
---@return integer?
function M.date(text, now)
  local name, day, month_name, year, hour, minute, second = date_parts(text, now)
  local month = name and position(MONTHS, month_name)
  if not month then return nil end
  day, hour = tonumber(day), tonumber(hour)
  minute, second = tonumber(minute), tonumber(second)
  if day < 1 or day > days_in(year, month) then return nil end
  if hour > 23 or minute > 59 or second > 60 then return nil end
  return ((days_to(year, month, day) * 24 + hour) * 60 + minute) * 60 + second
end

--- IMF-fixdate of seconds since 1970, fractions cut.
---@param epoch number
---@return string
function M.format_date(epoch)
  epoch = math.floor(epoch)
  local days, rest = math.floor(epoch / 86400), epoch % 86400
  local weekday = DAYS[(days + 3) % 7 + 1]:sub(1, 3)
  local year, month = 1970, 1
  while days_to(year + 1, 1, 1) <= days do year = year + 1 end
  while days_to(year, 1, 1) > days do year = year - 1 end
  while month < 12 and days_to(year, month + 1, 1) <= days do month = month + 1 end
  return ("%s, %02d %s %04d %02d:%02d:%02d GMT"):format(weekday,
    days - days_to(year, month, 1) + 1, MONTHS[month], year,
    math.floor(rest / 3600), math.floor(rest / 60) % 60, rest % 60)
end

-- Entity tags (§8.8.3) ----------------------------------------------------------------

--- Whether this is one entity tag and nothing else.
function M.is_tag(text)
  local opaque = text:match '^"([^"]*)"$' or text:match '^W/"([^"]*)"$'
  return opaque ~= nil and not opaque:find "[%z\1-\32\127]"
end

local function is_weak(tag) return tag:sub(1, 2) == "W/" end

local function opaque_of(tag) return is_weak(tag) and tag:sub(3) or tag end

function M.equal_strong(a, b)
  return M.is_tag(a) and not is_weak(a) and a == b
end

function M.equal_weak(a, b)
  return M.is_tag(a) and M.is_tag(b) and opaque_of(a) == opaque_of(b)
end

-- In quotes, but with octets that no tag has: it matches nothing, and spoils nothing.
local function is_odd_tag(text)
  return text:find '^"[^"]*"$' ~= nil or text:find '^W/"[^"]*"$' ~= nil
end

--- What If-Match or If-None-Match names: "*", a list of tags, or nil where there is no
--- such field.  A list with a member that is no tag is malformed: it is empty then.
---@param request spec.PlainRequest
---@param name string
---@return string[]|"*"|nil
function M.tags(request, name)
  local text = M.joined(request, name)
  if not text then return nil end
  local members, is_open = M.split(text, ",", false)
  local tags, stars = {}, 0
  for _, member in ipairs(members) do
    if M.is_tag(member) then
      tags[#tags + 1] = member
    elseif member == "*" then
      stars = stars + 1
    elseif not is_odd_tag(member) then
      return {}
    end
  end
  if is_open then return {} end
  if stars > 0 then return stars == #members and "*" or {} end
  return tags
end

-- Ranges (§14) ------------------------------------------------------------------------

local MOST_RANGES = 16

-- One byte-range-spec: first and last, or the length of a suffix.
local function range_spec(text)
  local first, last = text:match "^(%d+)%-(%d*)$"
  if first then
    first, last = tonumber(first), tonumber(last) or math.huge
    return last >= first and { first = first, last = last } or nil
  end
  local suffix = text:match "^%-(%d+)$"
  return suffix and { suffix = tonumber(suffix) } or nil
end

--- The ranges of one well-formed Range line of unit bytes; nil: it does not count.
---@param request spec.PlainRequest
---@return table[]?
function M.range_specs(request)
  local unit, list = (M.only(request, "Range") or ""):match "^(%a+)=(.*)$"
  if not unit or unit:lower() ~= "bytes" then return nil end
  local specs = {}
  for _, part in ipairs((M.split(list, ",", false))) do
    local spec = range_spec(part)
    if not spec then return nil end
    specs[#specs + 1] = spec
  end
  return #specs >= 1 and #specs <= MOST_RANGES and specs or nil
end

-- What a spec asks of so many octets; nil: nothing is there.
local function clip(spec, size)
  local first, last = spec.first, spec.last
  if spec.suffix then
    if spec.suffix == 0 then return nil end
    first, last = math.max(size - spec.suffix, 0), size - 1
  end
  if first >= size then return nil end
  return { first, math.min(last, size - 1) }
end

local function touch(a, b)
  return a[1] <= b[2] + 1 and b[1] <= a[2] + 1
end

-- Joins the first two ranges that overlap or are neighbours, in the place of the first.
local function join_two(ranges)
  for i = 1, #ranges do
    for k = i + 1, #ranges do
      if touch(ranges[i], ranges[k]) then
        local later = table.remove(ranges, k)
        ranges[i] = { math.min(ranges[i][1], later[1]),
                      math.max(ranges[i][2], later[2]) }
        return true
      end
    end
  end
  return false
end

--- What can be sent of a representation of `size` octets: pairs of first and last.
---@param specs table[]
---@param size integer
---@return [integer, integer][]   empty: nothing
function M.ranges(specs, size)
  local ranges = {}
  for _, spec in ipairs(specs) do ranges[#ranges + 1] = clip(spec, size) end
  while join_two(ranges) do end -- until none is left that could be joined
  return ranges
end

return M
