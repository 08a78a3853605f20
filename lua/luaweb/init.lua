-- SPDX-License-Identifier: MIT
-- The public face: require "luaweb".
local app = require "luaweb.app"
local json = require "luaweb.json"
local machine = require "luaweb.machine"
local response = require "luaweb.response"
local sched = require "luaweb.sched"
local url = require "luaweb.url"

---@class luaweb
local M = {
  app = app.app,
  machine = machine.machine,
  resource = machine.resource,

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

  null = json.null,
  array = json.array,
  sleep = sched.sleep,
  url = url.url,
}

return M
