-- SPDX-License-Identifier: MIT
-- Set-Cookie: writes the field value that stores a cookie or removes one. Owns nothing,
-- knows no response, never adds an attribute that wasn't asked for, never encodes or
-- repairs a value: what a browser would drop, ignore or read differently is an error.
-- RFC 6265 §4.1; RFC 6265bis for SameSite, prefixes and sizes; CHIPS for Partitioned.
local M = {}

---@class luaweb.CookieOptions
---@field domain? string        for that host and all below; a leading dot is dropped
---@field path? string          begins with "/"; default: the folder of the request's
---@field max_age? integer      seconds to live, 0 or less: gone at once; beats expires
---@field expires? integer      its end: seconds since 1970, in the years 1601 to 9999;
---                             without it and max_age the cookie ends with the browser
---@field http_only? boolean    true: scripts in the page can't read it
---@field secure? boolean       true: sent over https only
---@field same_site? string     "Strict", "Lax", "None" in any case; None needs secure
---@field partitioned? boolean  true: one for each top-level site; needs secure

-- What a browser takes, in octets: a longer cookie is dropped, a longer path ignored.
-- RFC 6265bis §5.6; RFC 1035 §2.3.4.
local MAX_NAME_AND_VALUE = 4096
local MAX_PATH           = 1024
local MAX_DOMAIN         = 253
local MAX_LABEL          = 63

-- The octets that must not occur: controls, those beyond ASCII, and separators.
local NOT_IN_NAME  = "[%z\1-\32\127-\255()<>@,;:\\\"/%[%]?={}]"   -- RFC 9110 §5.6.2
local NOT_IN_VALUE = "[%z\1-\32\127-\255\",;\\]"                  -- RFC 6265 §4.1.1
local NOT_IN_PATH  = "[%z\1-\31\127-\255;]"                       -- RFC 6265 §4.1.1

-- Whole numbers up to 2^53 are exact; a browser knows no year outside of 1601 to 9999.
local MAX_SECONDS   = 2 ^ 53
local FIRST_EXPIRES = -11644473600
local LAST_EXPIRES  = 253402300799

-- The names of days and months are English whatever the locale is.
local DAYS = { "Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat" }
local MONTHS = {
  "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
}
local SAME_SITE = { strict = "Strict", lax = "Lax", none = "None" }

-- Options: a writer gives the text after "Name=", true for a bare name, false for no
-- attribute; or nil and what the option must be ---------------------------------------

local function is_integer(value, least, most)
  return type(value) == "number" and value % 1 == 0 and value >= least and value <= most
end

local function is_label(label)
  return #label <= MAX_LABEL and label:find "^[0-9A-Za-z-]+$" ~= nil
    and not label:find "^%-" and not label:find "%-$"
end

local function write_domain(domain)
  if type(domain) ~= "string" then return nil, "a string" end
  local host = domain:gsub("^%.", "")       -- browsers drop the dot: RFC 6265 §5.2.3
  if #host > MAX_DOMAIN then return nil, ("at most %d octets"):format(MAX_DOMAIN) end
  for label in (host .. "."):gmatch "([^.]*)%." do
    if not is_label(label) then return nil, "a domain name" end
  end
  return host
end

local function write_path(path)
  if type(path) ~= "string" then return nil, "a string" end
  if path:sub(1, 1) ~= "/" then return nil, "a path that begins with \"/\"" end
  if path:find(NOT_IN_PATH) then return nil, "printable ASCII without \";\"" end
  if #path > MAX_PATH then return nil, ("at most %d octets"):format(MAX_PATH) end
  return path
end

local function write_seconds(seconds)
  if not is_integer(seconds, -MAX_SECONDS, MAX_SECONDS) then
    return nil, "a whole number of seconds"
  end
  return ("%d"):format(math.max(seconds, 0))     -- the grammar has no negative numbers
end

--- IMF-fixdate: RFC 9110 §5.6.7.
local function write_date(epoch)
  if not is_integer(epoch, FIRST_EXPIRES, LAST_EXPIRES) then
    return nil, "a whole number of seconds since 1970, in the years 1601 to 9999"
  end
  local t = os.date("!*t", epoch)
  return ("%s, %02d %s %04d %02d:%02d:%02d GMT"):format(DAYS[t.wday], t.day,
    MONTHS[t.month], t.year, t.hour, t.min, t.sec)
end

local function write_flag(flag)
  if type(flag) ~= "boolean" then return nil, "true or false" end
  return flag
end

local function write_same_site(word)
  local text = type(word) == "string" and SAME_SITE[word:lower()]
  if not text then return nil, "\"Strict\", \"Lax\" or \"None\"" end
  return text
end

local ATTRIBUTES = {
  -- the option                the name on the wire        how its value is written
  { option = "domain",         attribute = "Domain",       write = write_domain },
  { option = "path",           attribute = "Path",         write = write_path },
  { option = "max_age",        attribute = "Max-Age",      write = write_seconds },
  { option = "expires",        attribute = "Expires",      write = write_date },
  { option = "http_only",      attribute = "HttpOnly",     write = write_flag },
  { option = "secure",         attribute = "Secure",       write = write_flag },
  { option = "same_site",      attribute = "SameSite",     write = write_same_site },
  { option = "partitioned",    attribute = "Partitioned",  write = write_flag },
}

local IS_OPTION = {}
for _, row in ipairs(ATTRIBUTES) do IS_OPTION[row.option] = true end

-- What a browser stores only together -------------------------------------------------

--- Browsers compare prefixes without case: RFC 6265bis §5.7.
local function is_secure_name(name) return name:find "^__[Ss][Ee][Cc][Uu][Rr][Ee]%-" end
local function is_host_name(name) return name:find "^__[Hh][Oo][Ss][Tt]%-" end
local function is_partitioned(_name, options) return options.partitioned end
local function is_none(_name, options)
  return options.same_site and SAME_SITE[options.same_site:lower()] == "None"
end

local function is_secure(options) return options.secure end
local function is_at_root(options) return options.path == "/" end
local function has_no_domain(options) return options.domain == nil end

local NEEDS = {
  -- which cookies   need what        in words
  { is_secure_name,  is_secure,       "the prefix __Secure- needs secure" },
  { is_host_name,    is_secure,       "the prefix __Host- needs secure" },
  { is_host_name,    is_at_root,      "the prefix __Host- needs path \"/\"" },
  { is_host_name,    has_no_domain,   "the prefix __Host- forbids domain" },
  { is_none,         is_secure,       "same_site None needs secure" },
  { is_partitioned,  is_secure,       "partitioned needs secure" },
}

-- Checks: nil, or what is wrong, but never the value, which may be a secret -----------

local function first_octet(text, pattern)
  local at = text:find(pattern)
  return at and ("octet 0x%02X at %d"):format(text:byte(at), at)
end

local function name_fault(name)
  if type(name) ~= "string" then return "the name is a string, not a " .. type(name) end
  if name == "" then return "the name is empty" end
  local octet = first_octet(name, NOT_IN_NAME)
  return octet and "the name is a token, without " .. octet
end

local function value_fault(name, value)
  if type(value) ~= "string" then
    return "the value is a string, not a " .. type(value)
  end
  -- The grammar has a value in quotes too; they are part of it.
  local bare = value:gsub("^\"(.*)\"$", "'%1'")
  local octet = first_octet(bare, NOT_IN_VALUE)
  if octet then return "the value can't have " .. octet .. ": encode it first" end
  local size = #name + #value
  if size > MAX_NAME_AND_VALUE then
    return ("name and value have %d octets, more than %d"):format(size,
      MAX_NAME_AND_VALUE)
  end
end

local function options_fault(options)
  if type(options) ~= "table" then
    return "options are a table, not a " .. type(options)
  end
  local unknown = {}
  for key in pairs(options) do
    if not IS_OPTION[key] then unknown[#unknown + 1] = tostring(key) end
  end
  if #unknown == 0 then return nil end
  table.sort(unknown)
  return "unknown option: " .. table.concat(unknown, ", ")
end

local function unmet_need(name, options)
  for _, need in ipairs(NEEDS) do
    local applies, is_met, fault = unpack(need)
    if applies(name, options) and not is_met(options) then return fault end
  end
end

-- Writing: the text, or nil and what is wrong -----------------------------------------

local function write_attributes(name, value, options)
  local parts = { name .. "=" .. value }
  for _, row in ipairs(ATTRIBUTES) do
    local text, wanted = false, nil
    if options[row.option] ~= nil then text, wanted = row.write(options[row.option]) end
    if text == nil then return nil, row.option .. " must be " .. wanted end
    if text then
      parts[#parts + 1] = text == true and row.attribute or row.attribute .. "=" .. text
    end
  end
  return table.concat(parts, "; ")
end

local function write(name, value, options)
  local fault = name_fault(name)
  if fault then return nil, "cookie: " .. fault end
  if options == nil then options = {} end
  fault = value_fault(name, value) or options_fault(options)
  local text
  if not fault then text, fault = write_attributes(name, value, options) end
  fault = fault or unmet_need(name, options)
  if fault then return nil, ("cookie %s: %s"):format(name, fault) end
  return text
end

--- A copy of the options that ends the cookie at once; what is no table stays for
--- `write` to refuse.
local function expired(options)
  if options ~= nil and type(options) ~= "table" then return options end
  local copy = {}
  for key, option in pairs(options or {}) do copy[key] = option end
  copy.max_age, copy.expires = 0, 0
  return copy
end

-- Public ------------------------------------------------------------------------------

--- Writes the Set-Cookie field value that stores a cookie.
---@param name string     a token; __Secure- needs secure, __Host- secure, path "/" and
---                       no domain
---@param value string    printable ASCII without space, quote, comma, semicolon and
---                       backslash; may be in quotes as a whole. Other octets are
---                       refused: encode them, as percent or base64url
---@param options? luaweb.CookieOptions   default: no attribute
---@param level? integer  whose line an error names: 1, the default, is the caller's, 2
---                       that of the caller's caller
---@return string field   e.g. "sid=31d4; Path=/; HttpOnly"
---Raises an error that names the cookie and what is wrong with its name, value or
---options, an unknown option by its name; the value is never part of the message.
---source: RFC 6265 §4.1; RFC 6265bis §4.1.2, §4.1.3
function M.set(name, value, options, level)
  local field, fault = write(name, value, options)
  if not field then error(fault, (level or 1) + 1) end
  return field
end

--- Writes the Set-Cookie field value that removes a cookie.
---@param name string
---@param options? luaweb.CookieOptions   those it was set with: a browser removes the
---                       cookie of this domain and path only; max_age and expires are
---                       replaced
---@param level? integer  as for `set`
---@return string field   e.g. "sid=; Path=/; Max-Age=0; Expires=Thu, 01 Jan 1970 ..."
---Raises the errors of `set`.
---source: RFC 6265 §3.1, §5.3
function M.delete(name, options, level)
  local field, fault = write(name, "", expired(options))
  if not field then error(fault, (level or 1) + 1) end
  return field
end

return M
