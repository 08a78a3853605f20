-- SPDX-License-Identifier: MIT
-- Servers over TLS that do what they are told: a script in Lua has each connection once
-- its handshake is over.  Their OpenSSL is the one that luaweb is linked to.  What they
-- own goes with faulty_server.clean.
local certificates = require "spec.support.certificates"
local faulty_server = require "spec.support.faulty_server"
local ffi = require "ffi"
local web = require "luaweb"

ffi.cdef [[
typedef struct ssl_ctx_st SSL_CTX;
typedef struct ssl_st SSL;
typedef int spec_alpn(SSL *ssl, const unsigned char **out, unsigned char *out_size,
  const unsigned char *offers, unsigned size, void *wanted);
const void *TLS_server_method(void);
SSL_CTX *SSL_CTX_new(const void *method);
void SSL_CTX_free(SSL_CTX *context);
long SSL_CTX_ctrl(SSL_CTX *context, int what, long value, void *more);
int SSL_CTX_use_certificate(SSL_CTX *context, X509 *x);
int SSL_CTX_use_PrivateKey(SSL_CTX *context, EVP_PKEY *key);
int SSL_CTX_set_cipher_list(SSL_CTX *context, const char *list);
void SSL_CTX_set_alpn_select_cb(SSL_CTX *context, spec_alpn *select, void *wanted);
int SSL_CTX_set_session_id_context(SSL_CTX *context, const char *id, unsigned size);
SSL *SSL_new(SSL_CTX *context);
void SSL_free(SSL *ssl);
int SSL_set_fd(SSL *ssl, int fd);
int SSL_accept(SSL *ssl);
int SSL_do_handshake(SSL *ssl);
int SSL_read(SSL *ssl, void *data, int size);
int SSL_write(SSL *ssl, const void *data, int size);
int SSL_shutdown(SSL *ssl);
int SSL_key_update(SSL *ssl, int kind);
int SSL_renegotiate(SSL *ssl);
int SSL_get_error(const SSL *ssl, int result);
const char *SSL_get_servername(const SSL *ssl, int type);
void ERR_clear_error(void);
]]

local C = ffi.C
local SET_MIN, SET_MAX, SET_MODE = 123, 124, 33
local MODE_PARTIAL_AND_MOVING = 3
local WANT_READ, WANT_WRITE, SYSCALL, ZERO_RETURN = 2, 3, 5, 6
local UPDATE_REQUESTED = 1
local VERSIONS = { ["TLSv1"] = 0x301, ["TLSv1.1"] = 0x302, ["TLSv1.2"] = 0x303,
  ["TLSv1.3"] = 0x304 }
local PAUSE = 0.002 -- seconds between two looks at a connection
local PATIENCE = 20 -- seconds

local ROOM = 65536
local room = ffi.new("char[?]", ROOM)

local M = {}

---@class spec.TlsConn
---@field conn spec.FaultyConn   below
---@field name string?           that the client asked for (SNI)
---@field private ssl ffi.cdata*
local Conn = {}
Conn.__index = Conn

-- Calls an OpenSSL function until it wants nothing more: its result, and what is wrong
-- when that is 0 or less.  A connection that was closed meanwhile is lost: its
-- descriptor may be another's by now.  Not compiled, since it may call back into Lua.
local function drive(peer, fn, ...)
  local ssl = peer.ssl
  for _ = 1, PATIENCE / PAUSE do
    if peer.conn.fd < 0 then return -1, SYSCALL end
    C.ERR_clear_error()
    local result = fn(ssl, ...)
    if result > 0 then return result end
    local err = C.SSL_get_error(ssl, result)
    if err ~= WANT_READ and err ~= WANT_WRITE then
      C.ERR_clear_error()
      return result, err
    end
    web.sleep(PAUSE)
  end
  error("TLS server: nothing came of a call", 0)
end
jit.off(drive)

--- Receives some octets; "" when the client has ended or is gone.
---@param most integer?
---@return string octets
---@return string? ending   "closed" (with a word of it) or "lost"
function Conn:receive(most)
  local n, err = drive(self, C.SSL_read, room, math.min(most or ROOM, ROOM))
  if n > 0 then return ffi.string(room, n) end
  return "", err == ZERO_RETURN and "closed" or "lost"
end

--- Receives so many octets, or fewer when the client ends.
---@param size integer
---@return string
function Conn:receive_octets(size)
  local parts, count = {}, 0
  while count < size do
    local octets = self:receive(size - count)
    if octets == "" then break end
    parts[#parts + 1], count = octets, count + #octets
  end
  return table.concat(parts)
end

--- Receives up to the client's end.
---@return string
function Conn:receive_all() return self:receive_octets(math.huge) end

--- Sends octets; false when the client is gone.
---@param octets string
---@return boolean
function Conn:send(octets)
  local at, size = ffi.cast("const char *", octets), #octets
  while size > 0 do
    local n = drive(self, C.SSL_write, at, size)
    if n <= 0 then return false end
    at, size = at + n, size - n
  end
  return true
end

--- Says that it sends no more (close_notify).
function Conn:finish()
  if self.conn.fd < 0 then return end
  C.ERR_clear_error()
  C.SSL_shutdown(self.ssl)
end

--- Changes its keys, and asks the client to do so, too (TLS 1.3).
function Conn:update_keys()
  assert(C.SSL_key_update(self.ssl, UPDATE_REQUESTED) == 1)
  assert(drive(self, C.SSL_do_handshake) == 1)
end

--- Asks for another handshake (TLS 1.2); it takes place with what follows.
function Conn:renegotiate()
  assert(C.SSL_renegotiate(self.ssl) == 1)
  assert(drive(self, C.SSL_do_handshake) == 1)
end

---@class spec.TlsServerOptions
---@field certificate spec.Certificate?
---@field from string?   lowest version, e.g. "TLSv1"
---@field to string?     highest version
---@field alpn string?   the only protocol that it speaks

local function set_alpn(context, protocol)
  local select = ffi.cast("spec_alpn *", function(_, out, out_size, offers, size)
    local at = ("\0" .. ffi.string(offers, size)):find(protocol, 1, true)
    if not at then return 2 end -- an alert: there is no such protocol
    out[0], out_size[0] = offers + at - 2, #protocol
    return 0
  end)
  C.SSL_CTX_set_alpn_select_cb(context, select, nil)
  return select
end

local function new_context(options)
  local context = ffi.gc(C.SSL_CTX_new(C.TLS_server_method()), C.SSL_CTX_free)
  local certificate = options.certificate or certificates.make()
  assert(C.SSL_CTX_use_certificate(context, certificate.x509) == 1)
  assert(C.SSL_CTX_use_PrivateKey(context, certificate.key) == 1)
  if options.from then
    assert(C.SSL_CTX_set_cipher_list(context, "ALL:@SECLEVEL=0") == 1)
  end
  C.SSL_CTX_ctrl(context, SET_MIN, VERSIONS[options.from or "TLSv1.2"], nil)
  C.SSL_CTX_ctrl(context, SET_MAX, VERSIONS[options.to or "TLSv1.3"], nil)
  C.SSL_CTX_ctrl(context, SET_MODE, MODE_PARTIAL_AND_MOVING, nil)
  C.SSL_CTX_set_session_id_context(context, "spec", 4)
  return context, certificate
end

-- Has the script run once the handshake is over.
local function serve(conn, context, script)
  local ssl = ffi.gc(C.SSL_new(context), C.SSL_free)
  C.SSL_set_fd(ssl, conn.fd)
  local peer = setmetatable({ conn = conn, ssl = ssl }, Conn)
  if drive(peer, C.SSL_accept) == 1 then
    local name = C.SSL_get_servername(ssl, 0)
    peer.name = name ~= nil and ffi.string(name) or nil
    script(peer)
  end
  C.SSL_free(ffi.gc(ssl, nil))
end

--- Starts a server; the connection is closed, with no word of its end, when the script
--- returns.
---@param script fun(conn: spec.TlsConn)
---@param options spec.TlsServerOptions?
---@return spec.FaultyServer server   its field `certificate`: whom to trust
function M.start(script, options)
  options = options or {}
  local context, certificate = new_context(options)
  local select = options.alpn and set_alpn(context, options.alpn)
  local server = faulty_server.start(function(conn)
    serve(conn, context, script)
  end)
  server.certificate, server.context, server.select = certificate, context, select
  return server
end

return M
