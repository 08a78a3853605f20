-- SPDX-License-Identifier: MIT
-- Certificates of specs, made with the OpenSSL that luaweb is linked to: good ones and
-- bad ones.  Each has a new key (P-256).
local ffi = require "ffi"
local process = require "spec.support.process"

ffi.cdef [[
typedef struct x509_st X509;
typedef struct evp_pkey_st EVP_PKEY;
EVP_PKEY *EVP_PKEY_Q_keygen(void *library, const char *query, const char *type, ...);
void EVP_PKEY_free(EVP_PKEY *key);
X509 *X509_new(void);
void X509_free(X509 *x);
int X509_set_version(X509 *x, long version);
void *X509_get_serialNumber(X509 *x);
int ASN1_INTEGER_set(void *integer, long value);
void *X509_getm_notBefore(const X509 *x);
void *X509_getm_notAfter(const X509 *x);
void *X509_gmtime_adj(void *time, long seconds);
int X509_set_pubkey(X509 *x, EVP_PKEY *key);
void *X509_get_subject_name(const X509 *x);
int X509_set_issuer_name(X509 *x, const void *name);
int X509_NAME_add_entry_by_txt(void *name, const char *field, int type,
  const char *text, int size, int at, int set);
void *X509V3_EXT_conf_nid(void *conf, void *context, int nid, const char *value);
int X509_add_ext(X509 *x, void *extension, int at);
void X509_EXTENSION_free(void *extension);
int X509_sign(X509 *x, EVP_PKEY *key, const void *digest);
const void *EVP_sha256(void);
void *BIO_new_file(const char *path, const char *mode);
int PEM_write_bio_X509(void *bio, X509 *x);
int BIO_free(void *bio);
]]

local C = ffi.C
local ASCII, NID_ALT_NAME, NID_CONSTRAINTS = 0x1001, 85, 87
local DAY = 86400

local M = {}

local serial = 0

---@class spec.Certificate
---@field x509 ffi.cdata*
---@field key ffi.cdata*
---@field file fun(self: spec.Certificate): string   writes it (PEM), gives the path
local Certificate = {}
Certificate.__index = Certificate

local function add_extension(x509, nid, value)
  local extension = C.X509V3_EXT_conf_nid(nil, nil, nid, value)
  assert(extension ~= nil, value)
  assert(C.X509_add_ext(x509, extension, -1) == 1)
  C.X509_EXTENSION_free(extension)
end

local function set_subject(x509, common_name)
  local subject = C.X509_get_subject_name(x509)
  assert(C.X509_NAME_add_entry_by_txt(subject, "CN", ASCII, common_name, -1, -1, 0)
    == 1)
end

--- Makes a certificate.  Without options: of localhost and 127.0.0.1, from yesterday to
--- tomorrow, signed by itself.
---@class spec.CertificateOptions
---@field names string|false|nil   e.g. "DNS:localhost,IP:127.0.0.1"; false: none
---@field subject string?    the common name
---@field from number?       seconds from now
---@field to number?         seconds from now
---@field issuer spec.Certificate?
---@field is_authority boolean?
---@param options spec.CertificateOptions?
---@return spec.Certificate
function M.make(options)
  options = options or {}
  local key = ffi.gc(C.EVP_PKEY_Q_keygen(nil, nil, "EC", "P-256"), C.EVP_PKEY_free)
  local x509 = ffi.gc(C.X509_new(), C.X509_free)
  serial = serial + 1
  C.X509_set_version(x509, 2)
  C.ASN1_INTEGER_set(C.X509_get_serialNumber(x509), os.time() + serial)
  C.X509_gmtime_adj(C.X509_getm_notBefore(x509), options.from or -DAY)
  C.X509_gmtime_adj(C.X509_getm_notAfter(x509), options.to or DAY)
  C.X509_set_pubkey(x509, key)
  set_subject(x509, options.subject or "luaweb spec " .. serial)
  if options.names ~= false then
    add_extension(x509, NID_ALT_NAME, options.names or "DNS:localhost,IP:127.0.0.1")
  end
  if options.is_authority ~= nil then
    local value = options.is_authority and "CA:TRUE" or "CA:FALSE"
    add_extension(x509, NID_CONSTRAINTS, value)
  end
  local issuer = options.issuer or { x509 = x509, key = key }
  C.X509_set_issuer_name(x509, C.X509_get_subject_name(issuer.x509))
  assert(C.X509_sign(x509, issuer.key, C.EVP_sha256()) > 0)
  return setmetatable({ x509 = x509, key = key, number = serial }, Certificate)
end

--- Writes it to a file that process.clean removes.
---@return string path
function Certificate:file()
  local path = process.path("certificate." .. self.number)
  local bio = C.BIO_new_file(path, "w")
  assert(bio ~= nil and C.PEM_write_bio_X509(bio, self.x509) == 1)
  C.BIO_free(bio)
  return path
end

return M
