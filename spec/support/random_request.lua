-- SPDX-License-Identifier: MIT
-- Requests at random, as text: "PUT 1.1 /r3", a line for each field, an empty line and
-- the content.  All of them are well-formed; what their fields say need not be.  Owns
-- nothing.
local M = {}

local METHODS = { "GET", "HEAD", "POST", "PUT", "PATCH", "DELETE",
  "OPTIONS", "BREW", "M-SEARCH", "QUERY", "TRACE", "get" }

local NOT_MODIFIED = "Sun, 06 Nov 1994 08:49:37 GMT"

local ACCEPTS = { "text/html", "application/json", "*/*", "text/*;q=0.5, */*;q=0.1",
  "image/png", "application/json;q=0, */*", "text/html;q=0.5, application/json;q=0.9",
  "", "text", "*/*;q=0", "text/html;level=1, text/html;q=0.4, */*;q=0.001",
  ", ,text/html" }

local TAGS = { '"a"', '"b"', 'W/"a"', "*", '"b", "a"', '"x", W/"a"', '"x"', "a", "",
  '"a", *', '"x"  , "a"', '"a', ", \"a\"," }

local DATES = { NOT_MODIFIED, "Sun Nov  6 08:49:37 1994",
  "Sunday, 06-Nov-94 08:49:37 GMT", "Mon, 01 Jan 2024 00:00:00 GMT",
  "Sat, 01 Jan 1994 00:00:00 GMT", "yesterday", "0", "Sun, 06 Nov 1994 08:49:38 GMT" }

-- { field, chance in percent, values }
local FIELDS = {
  { "Accept", 35, ACCEPTS },
  { "Accept-Language", 20, { "de", "en;q=0.5, de-CH", "fr;q=0, *", "*;q=0", "xx", "",
    "de-ch-1996, en;q=0.1" } },
  { "Accept-Charset", 15, { "utf-8", "iso-8859-1, utf-8;q=0.3", "*;q=0", "x" } },
  { "Accept-Encoding", 20, { "gzip", "br;q=0.5, gzip;q=0.2", "identity;q=0, *;q=0",
    "identity;q=0", "*", "", "identity, gzip;q=0.5", "x-gzip", "gzip;q=0" } },
  { "If-Match", 20, TAGS },
  { "If-None-Match", 20, TAGS },
  { "If-Modified-Since", 15, DATES },
  { "If-Unmodified-Since", 15, DATES },
  { "Range", 25, { "bytes=0-2", "bytes=-2", "bytes=5-", "bytes=0-0,2-3,-1", "lines=0-2",
    "bytes=900000-", "bytes=3-1", "bytes=0-1,1-3", "bytes=-0", "Bytes=0-2",
    "bytes=0-", "bytes = 0-2", "bytes=" } },
  { "If-Range", 15, { '"a"', 'W/"a"', NOT_MODIFIED, "yesterday", '"own"',
    "Sunday, 06-Nov-94 08:49:37 GMT", "a", "" } },
  { "Origin", 30, { "http://a.example", "http://c.example", "null", "" } },
  { "Access-Control-Request-Method", 15, { "PUT", "GET" } },
  { "Access-Control-Request-Headers", 12,
    { "x-one, x-two", "x y", "Authorization", "" } },
  { "Access-Control-Request-Private-Network", 8, { "true", "false" } },
  { "Expect", 12, { "100-continue", "100-Continue", "200-ok",
    "100-continue, 100-continue", "" } },
  { "Content-Type", 35, { "application/json", "text/plain; charset=utf-8", "image/png",
    "application/merge-patch+json", "text", "TEXT/HTML;level=1", "text/html" } },
  { "Content-Encoding", 12, { "gzip", "identity", "x-gzip", "br, gzip", "" } },
  { "Content-Range", 8, { "bytes 0-2/3" } },
}

-- Fields that have one line at most.
local SINGLE = { ["Content-Type"] = true }

local HOSTS = { "example.com", "other.example:8080", "localhost:81", "EXAMPLE.com",
                "nowhere.example" }

local function add_fields(r, lines)
  for _, field in ipairs(FIELDS) do
    local name, percent, values = field[1], field[2], field[3]
    if r:chance(percent) then
      lines[#lines + 1] = name .. ": " .. r:pick(values)
      if not SINGLE[name] and r:chance(6) then
        lines[#lines + 1] = name:lower() .. ": " .. r:pick(values)
      end
    end
  end
end

-- The content and the field that frames it.
local function add_content(r, lines, version)
  local dice = r:number(10)
  if dice <= 4 then return "" end
  if dice == 5 then
    lines[#lines + 1] = "Content-Length: 0"
    return ""
  end
  local content = ("c"):rep(r:pick { 1, 3, 4, 10, 50, 101 })
  local is_chunked = dice >= 9 and version == "1.1"
  lines[#lines + 1] = is_chunked and "Transfer-Encoding: chunked"
    or "Content-Length: " .. #content
  return content
end

local function first_line(r, path, methods)
  local method = r:pick(r:chance(75) and methods or METHODS)
  local version = r:chance(8) and "1.0" or "1.1"
  local target = path
  if r:chance(5) then target = "http://" .. r:pick(HOSTS) .. path end
  if r:chance(10) then target = target .. "?a=b" end
  return ("%s %s %s"):format(method, version, target), version
end

--- A request.
---@param r spec.Random
---@param path string
---@param methods string[]   that most requests have
---@return string
function M.text(r, path, methods)
  local first, version = first_line(r, path, methods)
  local lines = { first, "X-Seed: " .. r:number(1000000) }
  if version == "1.1" or r:chance(50) then
    lines[#lines + 1] = "Host: " .. r:pick(HOSTS)
  end
  if r:chance(85) then add_fields(r, lines) end
  local content = add_content(r, lines, version)
  return table.concat(lines, "\n") .. "\n\n" .. content
end

return M
