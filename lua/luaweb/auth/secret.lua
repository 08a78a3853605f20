-- SPDX-License-Identifier: MIT
-- Secrets: password hashes (argon2id, computed by the thread pool), comparison in
-- constant time, random tokens.  Never puts a secret into a message.
local abi = require "luaweb.abi"
local ffi = require "ffi"
local log = require "luaweb.log"
local response = require "luaweb.response"
local sched = require "luaweb.sched"
local wake = require "luaweb.wake"

local C, host = abi.C, abi.host
local WAIT = tonumber(C.LUAWEB_HASH_WAIT)
local DONE = tonumber(C.LUAWEB_HASH_DONE)
local FAILED = tonumber(C.LUAWEB_HASH_FAILED)
local MAX_PASSWORD = tonumber(C.LUAWEB_MAX_PASSWORD)
local MAX_HASH = tonumber(C.LUAWEB_MAX_HASH)
local MAX_RANDOM = tonumber(C.LUAWEB_MAX_RANDOM)

-- What hashes from elsewhere may cost: libsodium's MODERATE memory, and a bounded time.
local HASH = "^%$argon2id?%$v=19%$m=(%d+),t=(%d+),p=%d+%$[%w+/]+%$[%w+/]+$"
local MOST_KIB, MOST_PASSES = 262144, 16

local RETRY_AFTER = 1  -- seconds, for those who find the line full
local SAY_AGAIN   = 10 -- seconds between two words on that

local M = {}

-- Finalizers run when the state closes, too: what is left is freed then.
local free_hasher, free_hash = C.luaweb_hasher_free, C.luaweb_hash_free
local hasher = ffi.gc(C.luaweb_hasher_new(host), function(h) free_hasher(host, h) end)
local function drop(hash) free_hash(host, hash) end

local text = ffi.new "const char *[1]"
local random_text = ffi.new("char[?]", tonumber(C.LUAWEB_RANDOM_ROOM))
local say_again = 0

local function refuse()
  local now = C.luaweb_now(host)
  if now >= say_again then
    say_again = now + SAY_AGAIN
    log.warn "too many passwords are to be hashed at once: some requests get 503"
  end
  error(response.status(503):header("Retry-After", RETRY_AFTER), 0)
end

-- Waits for the pool: what came out (enum luaweb_hash_result), and the hash if one was
-- made.  A waiter that never goes on leaves the rest to the garbage collector.
local function compute(what, password, known)
  local begun = C.luaweb_hash_begin(host, hasher, password, #password, known)
  if begun == nil then refuse() end
  local hash = ffi.gc(begun, drop)
  local id = C.luaweb_hash_id(host, hash)
  local result = C.luaweb_hash_result(host, hash, text)
  while result == WAIT do
    local ok, err = pcall(wake.wait, id, what)
    if not ok then -- cancelled
      drop(ffi.gc(hash, nil))
      error(err, 0)
    end
    result = C.luaweb_hash_result(host, hash, text)
  end
  local made = result == DONE and not known and ffi.string(text[0]) or nil
  drop(ffi.gc(hash, nil))
  return result, made
end

local function check_text(value, what)
  if type(value) ~= "string" then
    error(("%s wants a string, not a %s"):format(what, type(value)), 3)
  end
end

local function check_hash(hash)
  local kib, passes
  if type(hash) == "string" and #hash <= MAX_HASH then
    kib, passes = hash:match(HASH)
  end
  if not kib then
    error("web.password_verify wants a hash that web.password_hash made, or nil", 3)
  end
  if tonumber(kib) > MOST_KIB or tonumber(passes) > MOST_PASSES then
    error(("web.password_verify: this hash wants more than %d MiB or %d passes"):format(
      MOST_KIB / 1024, MOST_PASSES), 3)
  end
end

--- The hash of a password, to be kept in its place: argon2id with a salt of its own, in
--- the form "$argon2id$v=19$...".  Waits while the thread pool computes it.  When too
--- many wait already, the request ends with 503.
---@param password string   any octets, at most 4096
---@return string hash
function M.password_hash(password)
  sched.check "web.password_hash"
  check_text(password, "web.password_hash")
  if #password > MAX_PASSWORD then
    error(("web.password_hash takes at most %d octets"):format(MAX_PASSWORD), 2)
  end
  local result, made = compute("web.password_hash", password)
  if result == FAILED then error("web.password_hash: no memory to compute it in", 2) end
  return made
end

--- Whether this is the password that the hash was made of.  Waits as web.password_hash
--- does.  Without a hash (there is no such user) it takes as long and answers false, so
--- that the time tells nobody who has an account.
---@param password string
---@param hash string?   argon2id or argon2i, from here or elsewhere
---@return boolean
function M.password_verify(password, hash)
  sched.check "web.password_verify"
  check_text(password, "web.password_verify")
  if hash ~= nil then check_hash(hash) end
  if #password > MAX_PASSWORD then return false end -- none that long was ever hashed
  local result = compute("web.password_verify", password, hash)
  if result == FAILED then
    error("web.password_verify: no memory to compute it in, or a damaged hash", 2)
  end
  return hash ~= nil and result == DONE
end

--- Whether two secrets are the same octets; the time tells nothing of them but whether
--- their lengths are equal.
---@param a string
---@param b string
---@return boolean
function M.secret_equal(a, b)
  check_text(a, "web.secret_equal")
  check_text(b, "web.secret_equal")
  local is_equal = C.luaweb_equal(host, a, #a, b, #b)
  return is_equal
end

--- A token that nobody can guess: base64url text without padding.
---@param bytes integer?   so many random octets, 1 to 1024, default 32 (43 characters)
---@return string
function M.random_token(bytes)
  if bytes == nil then bytes = 32 end
  if type(bytes) ~= "number" or bytes % 1 ~= 0 or bytes < 1 or bytes > MAX_RANDOM then
    error(("web.random_token wants a whole number from 1 to %d"):format(MAX_RANDOM), 2)
  end
  C.luaweb_random(host, bytes, random_text)
  return ffi.string(random_text)
end

--- How many password hashes have been computed, for whatever reason.
---@return integer
function M.computed()
  return C.luaweb_hasher_count(host, hasher)
end

return M
