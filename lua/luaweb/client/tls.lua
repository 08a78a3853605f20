-- SPDX-License-Identifier: MIT
-- TLS for connections to other servers: which certificates are trusted, and the
-- handshake.  What is trusted is read once and kept, not once a connection.
local abi = require "luaweb.abi"
local ffi = require "ffi"
local names = require "luaweb.client.names"
local wake = require "luaweb.wake"

local C, host = abi.C, abi.host
local WAIT = tonumber(C.LUAWEB_TRUST_WAIT)
local READ = tonumber(C.LUAWEB_TRUST_READ)

local KEPT = 3600      -- seconds that certificates of authorities are kept
local MOST_TRUSTS = 16 -- sets of them
local MOST_PROTOCOLS = 16

local SYSTEM, NONE = "system", "none" -- for files, "file:" and their path

-- What to do about what OpenSSL says.
local HINTS = {
  ["certificate has expired"] = "the server needs a new one",
  ["certificate is not yet valid"] = "look at the clocks",
  ["self-signed certificate"] = "to trust it, name its file as ca_file",
  ["self-signed certificate in certificate chain"] =
    "to trust it, name the file of its authority as ca_file",
  ["unable to get local issuer certificate"] = "to trust it, name the file of its "
    .. "authority as ca_file, unless the server fails to send its whole chain",
  ["hostname mismatch"] = "the certificate is of another host than %s",
  ["IP address mismatch"] = "the certificate is of another host than %s",
  ["wrong version number"] = "the server does not speak TLS on this port",
  ["packet length too long"] = "the server does not speak TLS on this port",
  ["unsupported protocol"] = "the server offers less than TLS 1.2",
  ["tlsv1 alert protocol version"] = "the server offers less than TLS 1.2",
  ["tlsv1 alert no application protocol"] =
    "the server speaks none of the protocols that were offered",
}

-- What there is no trust in: who was told what to trust wants to hear what that lacks.
local IS_DISTRUST = {
  ["self-signed certificate"] = true,
  ["self-signed certificate in certificate chain"] = true,
  ["unable to get local issuer certificate"] = true,
}

local M = {}

---@class luaweb.TlsOptions
---@field name string?      whom the certificate must name; default: the host
---@field verify boolean?   default true; false: anybody can be the server
---@field ca_file string?   certificates of authorities (PEM); default: the system's
---@field alpn string[]?    protocols to choose from, e.g. {"http/1.1"} (RFC 7301)

---@class luaweb.TlsFacts
---@field protocol string?  that the server chose
---@field version string    e.g. "TLSv1.3"
---@field resumed boolean   an earlier session went on

-- Options -----------------------------------------------------------------------------

local known = { name = "string", verify = "boolean", ca_file = "string",
  alpn = "table" }

local function check_alpn(list, level)
  if #list > MOST_PROTOCOLS then
    error(("dial.open: tls.alpn has more than %d names"):format(MOST_PROTOCOLS), level)
  end
  for i = 1, #list do
    if type(list[i]) ~= "string" or #list[i] < 1 or #list[i] > 255 then
      error("dial.open: tls.alpn wants names of protocols, 1 to 255 octets each",
        level)
    end
  end
end

--- Raises an error about options that can't be.
---@param options luaweb.TlsOptions
---@param level integer   whose fault it is, as for `error`
function M.check(options, level)
  level = level + 1
  for key, value in pairs(options) do
    if not known[key] then
      error(("dial.open has no option tls.%s"):format(tostring(key)), level)
    elseif type(value) ~= known[key] then
      error(("dial.open: tls.%s wants a %s, not a %s"):format(key, known[key],
        type(value)), level)
    end
  end
  if options.alpn then check_alpn(options.alpn, level + 1) end
  if options.ca_file and (options.ca_file == "" or options.ca_file:find "%z") then
    error("dial.open: tls.ca_file wants a path", level)
  end
  local fault = options.name and names.fault(options.name)
  if fault then error("dial.open: tls.name: " .. fault, level) end
end

-- Trust -------------------------------------------------------------------------------

---@class luaweb.Trust
---@field handle ffi.cdata*
---@field id integer
---@field expires number   by luaweb_now
local trusts, count = {}, 0

-- Finalizers run when the state closes, too: what is left is freed then.
local free_trust = C.luaweb_trust_free
local function drop(trust) free_trust(host, trust) end

local why = ffi.new "const char *[1]"

local function key_of(options)
  if options.verify == false then return NONE end
  return options.ca_file and "file:" .. options.ca_file or SYSTEM
end

local function find(options)
  local key = key_of(options)
  local trust = trusts[key]
  if trust and C.luaweb_now(host) < trust.expires then return trust end
  local file = options.ca_file
  if key == NONE then file = "" end
  local begun = C.luaweb_trust_begin(host, file)
  if begun == nil then return nil end
  if not trust then
    if count == MOST_TRUSTS then trusts, count = {}, 0 end
    count = count + 1
  end
  trusts[key] = { handle = ffi.gc(begun, drop), id = C.luaweb_trust_id(host, begun),
    expires = C.luaweb_now(host) + KEPT }
  return trusts[key]
end

-- A failure is not kept: the file may be put in order at any time.
local function forget(options, trust)
  local key = key_of(options)
  if trusts[key] == trust then trusts[key], count = nil, count - 1 end
end

-- What connections with these options trust, once it has been read.
local function trust_of(options, deadline)
  local trust = find(options)
  if not trust then return nil, "too many files are being read; try again later" end
  local result = C.luaweb_trust_result(host, trust.handle, why)
  while result == WAIT do
    if not wake.wait_until(trust.id, deadline, "dial.open") then
      return nil, "no certificates were read in time", "timeout"
    end
    result = C.luaweb_trust_result(host, trust.handle, why)
  end
  if result == READ then return trust.handle end
  forget(options, trust)
  return nil, ffi.string(why[0])
end

-- The handshake -----------------------------------------------------------------------

local function write_alpn(list)
  local parts = {}
  for i, protocol in ipairs(list or {}) do
    parts[i] = string.char(#protocol) .. protocol
  end
  return table.concat(parts)
end

local lent = {} -- texts that C reads: a local alone would not keep them

-- Begins a handshake.
local function begin(id, trust, options)
  lent.name, lent.session, lent.alpn = options.name, options.session, options.alpn
  local struct = ffi.new("struct luaweb_tls", { trust = trust, name = lent.name,
    session = lent.session, alpn = lent.alpn, alpn_size = #lent.alpn,
    verifies = options.verifies })
  return C.luaweb_secure(host, id, struct)
end

local function with_hint(message, name, options)
  if options.ca_file and IS_DISTRUST[message] then
    return ("%s: it isn't signed by what %s holds"):format(message, options.ca_file)
  end
  local hint = HINTS[message]
  return hint and ("%s: %s"):format(message, hint:format(name)) or message
end

-- Waits until it is over.
local function complete(id, result, deadline)
  while result == 1 do
    if not wake.wait_until(id, deadline, "dial.open") then
      return nil, "the server does not answer", "timeout"
    end
    result = C.luaweb_handshake(host, id)
  end
  if result == 0 then return true end
  local reason = ffi.string(C.luaweb_refusal(host, id))
  return nil, reason ~= "" and reason or ffi.string(C.luaweb_error(host, result))
end

local function facts_of(id)
  local facts = ffi.new "struct luaweb_tls_facts"
  C.luaweb_tls_facts(host, id, facts)
  local size = tonumber(facts.protocol.size)
  return {
    protocol = size > 0 and ffi.string(facts.protocol.data, size) or nil,
    version = ffi.string(facts.version),
    resumed = facts.is_resumed,
  }
end

--- Secures a connected socket; waits until the handshake is over.
---@param id integer
---@param place string     where it leads to: sessions are resumed there alone
---@param name string      whom the certificate must name
---@param options luaweb.TlsOptions   checked
---@param deadline number  by luaweb_now
---@return luaweb.TlsFacts?
---@return string? message
---@return string? kind    "tls" or "timeout"
function M.secure(id, place, name, options, deadline)
  local fault = names.fault(name)
  if fault then return nil, "no certificate can be of this host: " .. fault, "tls" end
  local trust, message, kind = trust_of(options, deadline)
  if not trust then return nil, message, kind or "tls" end
  local expected, alpn = names.bare(name), write_alpn(options.alpn)
  local begun = begin(id, trust, { name = expected, alpn = alpn,
    session = table.concat({ place, expected, alpn }, "\n"),
    verifies = options.verify ~= false })
  local done
  done, message, kind = complete(id, begun, deadline)
  if done then return facts_of(id) end
  return nil, with_hint(message, expected, options), kind or "tls"
end

return M
