-- SPDX-License-Identifier: MIT
-- The proxies that the environment names: http_proxy, https_proxy, HTTPS_PROXY,
-- all_proxy, ALL_PROXY, and no_proxy, NO_PROXY for what is asked without one.
-- HTTP_PROXY is not looked at: under CGI a client sets it, by a header named Proxy.
local uri = require "luaweb.fetch.uri"

local M = {}

-- By scheme, in the order of looking.
local NAMES = {
  http = { "http_proxy", "all_proxy", "ALL_PROXY" },
  https = { "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY" },
}

local function first_of(names, getenv)
  for _, name in ipairs(names) do
    local value = getenv(name)
    if value and value ~= "" then return value, name end
  end
end

-- The 32 bits of an IPv4 address, or nil.
local function number_of(text)
  local a, b, c, d = text:match "^(%d+)%.(%d+)%.(%d+)%.(%d+)$"
  if not a then return nil end
  return ((a * 256 + b) * 256 + c) * 256 + d
end

local function is_in_network(host, network, bits)
  local address, first = number_of(host), number_of(network)
  if not address or not first or bits > 32 then return false end
  local size = 2 ^ (32 - bits)
  return math.floor(address / size) == math.floor(first / size)
end

local function is_below(host, name)
  if name:sub(1, 1) ~= "." then
    if host == name then return true end
    name = "." .. name
  end
  return host:sub(-#name) == name
end

-- One entry of no_proxy: "*", a name and what is below it (".name": only that), an
-- address, a network "10.0.0.0/8"; each but the last may have a port.
local function matches(entry, to)
  if entry == "*" then return true end
  local network, bits = entry:match "^([%d.]+)/(%d+)$"
  if network then return is_in_network(to.host, network, tonumber(bits)) end
  local name, port = entry:match "^%[([%x:.]+)%]:?(%d*)$"
  if not name then name, port = entry:match "^([^:]+):(%d+)$" end
  if port and port ~= "" and tonumber(port) ~= to.port then return false end
  return is_below(to.host, (name or entry):gsub("^%*%.", "."):lower())
end

--- Whether a host is this machine, which no proxy of the environment is asked for.
---@param host string
---@return boolean
function M.is_local(host)
  return host == "localhost" or host:sub(-10) == ".localhost" or host == "::1"
    or host:find "^127%.%d+%.%d+%.%d+$" ~= nil
end

--- Whether a list as in no_proxy has an entry for what is asked.
---@param list string
---@param to luaweb.Uri
---@return boolean
function M.is_excluded(list, to)
  for entry in list:gmatch "[^%s,]+" do
    if matches(entry, to) then return true end
  end
  return false
end

--- The URL of the proxy for what is asked, or nil.
---@param to luaweb.Uri
---@param getenv (fun(name: string): string?)?   os.getenv
---@return luaweb.Uri? proxy
---@return string? message   what is wrong with the environment
function M.proxy(to, getenv)
  getenv = getenv or os.getenv
  local text, name = first_of(NAMES[to.scheme], getenv)
  if not text or M.is_local(to.host) then return nil end
  local list = first_of({ "no_proxy", "NO_PROXY" }, getenv)
  if list and M.is_excluded(list, to) then return nil end
  if not text:find("://", 1, true) then text = "http://" .. text end
  local proxy, message = uri.parse(text)
  if not proxy then return nil, name .. ": " .. message end
  return proxy
end

return M
