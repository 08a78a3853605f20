-- SPDX-License-Identifier: MIT
-- The public face: require "luaweb".
local app = require "luaweb.app"
local auth = require "luaweb.auth"
local cors = require "luaweb.machine.cors"
local every = require "luaweb.every"
local json = require "luaweb.json"
local json_merge = require "luaweb.json.merge"
local json_patch = require "luaweb.json.patch"
local keys = require "luaweb.machine.keys"
local machine = require "luaweb.machine"
local memo = require "luaweb.request.memo"
local response = require "luaweb.response"
local secret = require "luaweb.auth.secret"
local shutdown = require "luaweb.shutdown"
local tag = require "luaweb.response.tag"
local timer = require "luaweb.timer"
local tracing = require "luaweb.tracing"
local url = require "luaweb.url"

---@class luaweb
local M = {
  app = app.app,
  machine = machine.machine,
  resource = machine.resource,
  component = keys.component,
  cors = cors.cors,

  -- A resource whose machine has this one function.
  get = machine.short "handle_ok",
  post = machine.short "do_post",
  put = machine.short "do_put",
  patch = machine.short "do_patch",
  delete = machine.short "do_delete",
  any = machine.short "do_any",

  text = response.text,
  html = response.html,
  json = response.json,
  bytes = response.bytes,
  status = response.status,
  redirect = response.redirect,
  created = response.created,
  accepted = response.accepted,
  streaming = response.streaming,

  etag = tag.etag,
  weak_etag = tag.weak_etag,
  memo = memo.memo,

  auth = auth.auth,
  basic = auth.basic,
  bearer = auth.bearer,

  password_hash = secret.password_hash,
  password_verify = secret.password_verify,
  secret_equal = secret.secret_equal,
  random_token = secret.random_token,

  null = json.null,
  array = json.array,
  json_merge = json_merge.merge,
  json_patch = json_patch.patch,
  after = timer.after,
  every = every.every,
  sleep = timer.sleep,
  span = tracing.span,
  stopping = shutdown.stopping,
  url = url.url,
}

-- A function of a module that is loaded when it is first called: many apps ask no other
-- server, and start faster without what does.
local function later(name, load)
  return function(...)
    M[name] = load()[name]
    return M[name](...)
  end
end

M.shared = later("shared", function() return require "luaweb.shared" end)
M.rate_limit = later("rate_limit", function() return require "luaweb.rate_limit" end)

local function load_fetch() return require "luaweb.fetch" end

M.fetch = later("fetch", load_fetch)
M.fetch_alt = later("fetch_alt", load_fetch)
M.proxy = later("proxy", function() return require "luaweb.proxy" end)
M.metrics = later("metrics", function() return require "luaweb.metrics" end)

return M
