-- SPDX-License-Identifier: MIT
-- Absolute http and https URLs: read, resolved against each other, written.  Stricter
-- than browsers about who is asked (nothing that two programs could read as two
-- different hosts), as lenient about paths and queries: what may not stand there is
-- escaped.
-- RFC 3986 §3 (parts), §5.2 (resolution), §6.2.2 (dot segments); RFC 9110 §4.2.
local fields = require "luaweb.fetch.fields"
local null = require("luaweb.json.value").null
local percent = require "luaweb.percent"
local scalar = require "luaweb.scalar"

local encode, escape = percent.encode, percent.escape

local M = {
  decode = percent.decode,
}

local MOST_OCTETS = 65536 -- of a URL

local PORTS = { http = 80, https = 443 }

---@class luaweb.Uri
---@field scheme "http"|"https"
---@field host string       lower case; an IPv6 address without its brackets
---@field port integer
---@field path string       begins with "/", no dot segments
---@field query string?     without "?"
---@field fragment string?  without "#"
---@field userinfo string?  as it was written, escapes kept

-- Parts -------------------------------------------------------------------------------

-- What may not stand in a path or query; escapes stay as they are.
local function escaped(text)
  return (text:gsub("[^%w%-._~:/?#%[%]@!$&'()*+,;=%%|]", escape))
end

-- scheme, authority, path, query, fragment; nil where there is none, the path is "".
local function split(text)
  local before, fragment = text:match "^([^#]*)#(.*)$"
  text = before or text
  local without, query = text:match "^([^?]*)%?(.*)$"
  text = without or text
  local scheme, after = text:match "^(%a[%w+.-]*):(.*)$"
  text = after or text
  local authority, path = text:match "^//([^/]*)(.*)$"
  return scheme and scheme:lower(), authority, path or text, query, fragment
end

local function is_dot(segment, dots)
  return segment:gsub("%%2[eE]", ".") == dots
end

--- A path without its dot segments, escaped ones too.
---@param path string   begins with "/"
---@return string
function M.without_dots(path)
  if not path:find "/%." and not path:find "%%2[eE]" then return path end
  local segments, kept = {}, {}
  for segment in path:gmatch "/([^/]*)" do segments[#segments + 1] = segment end
  for i, segment in ipairs(segments) do
    local is_up = is_dot(segment, "..")
    if is_up then kept[#kept] = nil end
    if not is_up and not is_dot(segment, ".") then
      kept[#kept + 1] = segment
    elseif i == #segments then
      kept[#kept + 1] = ""
    end
  end
  return "/" .. table.concat(kept, "/")
end

local function read_host(text)
  local address = text:match "^%[([%x:.]+)%]$"
  if address then return address:find(":", 1, true) and address:lower() or nil end
  return text:match "^[%w._-]+$" and text:lower()
end

-- Host and port, or nil and what is wrong.
local function read_place(uri, place)
  local name, port = place:match "^(.-):(%d*)$"
  if not name or (name:find "^%[" and not name:find "%]$") then
    name, port = place, ""
  end
  uri.host = read_host(name)
  if not uri.host then
    return nil, name == "" and "it names no host" or "its host is not a name or address"
  end
  uri.port = port == "" and PORTS[uri.scheme] or tonumber(port)
  if uri.port < 1 or uri.port > 65535 then return nil, "its port is not 1 to 65535" end
  return uri
end

-- What stands between // and the path; nil and what is wrong.
local function read_authority(uri, authority)
  local userinfo, place = authority:match "^([^@]*)@([^@]*)$"
  place, userinfo = place or authority, userinfo or ""
  if place:find("@", 1, true) or userinfo:find "[^%w%-._~!$&'()*+,;=:%%]" then
    return nil, "what stands before its @ is not escaped"
  end
  uri.userinfo = userinfo ~= "" and userinfo or nil
  return read_place(uri, place)
end

-- Public ------------------------------------------------------------------------------

-- Messages go into logs, where no password should be.
local function fail(text, why)
  local shown = text:gsub("//[^/?#]*@", "//...@"):sub(1, 200)
  return nil, ("the URL %q can't be asked: %s"):format(shown, why)
end

local function build(text, scheme, authority, path, query, fragment)
  if not PORTS[scheme] then
    return fail(text, scheme and scheme .. " is neither http nor https"
      or "it has no scheme (http:// or https://)")
  end
  if not authority then return fail(text, "it names no host") end
  local uri, why = read_authority({ scheme = scheme }, authority)
  if not uri then return fail(text, why) end
  uri.path = M.without_dots(escaped(path == "" and "/" or path))
  uri.query, uri.fragment = query and escaped(query), fragment
  return uri
end

local function fault_of(text)
  if #text > MOST_OCTETS then return "it is longer than 64 KiB" end
  if text:find "[%z\1-\31\127]" then return "it has a control octet" end
end

--- Reads an absolute URL.
---@param text string
---@return luaweb.Uri?
---@return string? message   why it can't be asked
function M.parse(text)
  local fault = fault_of(text)
  if fault then return fail(text, fault) end
  return build(text, split(text))
end

-- A relative path, seen from another one (RFC 3986 §5.2.3).
local function merge(base_path, path)
  if path:sub(1, 1) == "/" then return path end
  return base_path:match "^(.*/)" .. path
end

--- Reads a URL that may be relative to another one, whose fragment it takes over where
--- it has none (RFC 9110 §10.2.2).
---@param base luaweb.Uri
---@param text string
---@return luaweb.Uri?
---@return string? message
function M.resolve(base, text)
  text = fields.trimmed(text)
  local fault = fault_of(text)
  if fault then return fail(text, fault) end
  local scheme, authority, path, query, fragment = split(text)
  fragment = fragment or base.fragment
  if scheme or authority then
    return build(text, scheme or base.scheme, authority, path, query, fragment)
  end
  local uri = { scheme = base.scheme, host = base.host, port = base.port,
    userinfo = base.userinfo, fragment = fragment }
  if path == "" then
    uri.path, uri.query = base.path, query and escaped(query) or base.query
  else
    uri.path = M.without_dots(escaped(merge(base.path, path)))
    uri.query = query and escaped(query)
  end
  return uri
end

--- Host and port, as they stand in a URL and in Host: the port only where it is not
--- the usual one.
---@param uri luaweb.Uri
---@param with_port boolean?   always
---@return string
function M.authority(uri, with_port)
  local host = uri.host:find(":", 1, true) and "[" .. uri.host .. "]" or uri.host
  if uri.port == PORTS[uri.scheme] and not with_port then return host end
  return host .. ":" .. uri.port
end

--- Path and query, as a request line has them.
---@param uri luaweb.Uri
---@return string
function M.target(uri)
  return uri.query and uri.path .. "?" .. uri.query or uri.path
end

--- The whole URL, without userinfo.
---@param uri luaweb.Uri
---@param no_fragment boolean?
---@return string
function M.text(uri, no_fragment)
  local text = uri.scheme .. "://" .. M.authority(uri) .. M.target(uri)
  if no_fragment or not uri.fragment then return text end
  return text .. "#" .. uri.fragment
end

--- Whether both have the same scheme, host and port (RFC 6454 §5).
---@param a luaweb.Uri
---@param b luaweb.Uri
---@return boolean
function M.is_same_origin(a, b)
  return a.scheme == b.scheme and a.host == b.host and a.port == b.port
end

-- Pairs -------------------------------------------------------------------------------

-- Names in an order that is always the same.
local function sorted_names(map, what)
  local names = {}
  for name in pairs(map) do
    if type(name) ~= "string" then
      error(("%s: a name is a string, not a %s"):format(what, type(name)), 0)
    end
    names[#names + 1] = name
  end
  table.sort(names)
  return names
end

local function add_pair(items, what, name, value)
  local text, fault = scalar.text(value)
  if not text then error(("%s: %s: %s"):format(what, name, fault), 0) end
  items[#items + 1] = encode(name) .. "=" .. encode(text)
end

local function add_pairs(items, what, name, value)
  if value == null then return end
  if type(value) ~= "table" then
    add_pair(items, what, name, value)
    return
  end
  if #value == 0 and next(value) ~= nil then
    error(("%s: %s: a table with names has no text"):format(what, name), 0)
  end
  for _, one in ipairs(value) do add_pair(items, what, name, one) end
end

--- Names and values as a query or a form has them.  Raises what has no text.
---@param map table<string, any>   strings, numbers, booleans, or lists of these; null
---                                is left out
---@param what string              whose they are, for errors
---@return string
function M.encode_pairs(map, what)
  local items = {}
  for _, name in ipairs(sorted_names(map, what)) do
    add_pairs(items, what, name, map[name])
  end
  return table.concat(items, "&")
end

return M
