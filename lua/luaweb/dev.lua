-- SPDX-License-Identifier: MIT
-- Developing an app (`luaweb dev`): its sources are watched, its failures are shown,
-- and resources of ours stand beside its own.  Loaded by that command only: elsewhere
-- none of this exists.
local abi = require "luaweb.abi"
local apps = require "luaweb.app"
local events = require "luaweb.dev.events"
local failures = require "luaweb.dev.failure"
local fields = require "luaweb.explain.fields"
local handle = require "luaweb.request.handle"
local host = require "luaweb.host"
local inspector = require "luaweb.dev.inspector"
local loader = require "luaweb.loader"
local log = require "luaweb.log"
local machines = require "luaweb.machine"
local nearby = require "luaweb.dev.nearby"
local response = require "luaweb.response"
local script = require "luaweb.dev.script"
local source = require "luaweb.dev.source"
local terminal = require "luaweb.dev.terminal"
local trace = require "luaweb.trace"
local walks = require "luaweb.dev.walk"
local watch = require "luaweb.watch"

local C = abi.C
local M = {}

-- Failures ----------------------------------------------------------------------------

-- What the template has captured, as rows of a table.
local function params_of(req)
  local rows = {}
  for name, value in pairs(req.params) do
    if type(value) == "table" then
      local list = {}
      for key, one in pairs(value) do
        list[#list + 1] = type(key) == "number" and tostring(one) or key .. "=" .. one
      end
      value = table.concat(list, ", ")
    end
    rows[#rows + 1] = { name, tostring(value) }
  end
  table.sort(rows, function(a, b) return a[1] < b[1] end)
  return rows
end

-- The request as it is now: that what was remembered may be cut off.
local function seen_of(req, r)
  local seen, headers = walks.find(tonumber(r.id)), {}
  for i = 0, r.headers.count - 1 do
    local field = r.headers.list[i]
    headers[i + 1] = { handle.slice(field.name), handle.slice(field.value) }
  end
  return { id = seen and seen.id, method = req.method, target = req.target,
    headers = headers, status = 0 }
end

local function shown_fields(seen)
  local rows = {}
  for i, pair in ipairs(seen.headers) do
    rows[i] = { pair[1], fields.shown(pair[1], pair[2]) }
  end
  return rows
end

local function explain(seen, text, where)
  local row = where and where:match "asked by (.*)$"
  local place = where and where:match "([^\n\t]+:%d+): "
  local message = text:match "^[^\n]*"
  local ok, explained = pcall(walks.explain, seen,
    { message = message, place = place, row = row })
  return ok and explained or nil
end

-- Shows the source of what has failed, at the terminal.
local function show_source(text)
  local _, place, excerpt = failures.first(text)
  if excerpt then terminal.show(place, excerpt) end
end

--- What answers for a function of the app that has failed; see host.lua.
local function show(req, r, text, where)
  if not nearby.may_see(req) then return nil end
  local seen = seen_of(req, r)
  where = where ~= "" and where:match "^%s*(.*)$" or nil
  return failures.answer(req.headers.accept, { status = 500,
    title = "Internal Server Error", text = text, where = where, seen = seen,
    id = req.id,
    fields = shown_fields(seen), params = params_of(req),
    explained = seen.id and explain(seen, text, where) })
end

-- The app that answers in place of one that does not load.
local function substitute(text)
  return apps.app { not_found = machines.machine {
    service_available = false,
    handle_service_unavailable = function(req)
      if not nearby.may_see(req) then return "The app does not load.\n" end
      return failures.answer(req.headers.accept, { status = 503,
        title = "The app does not load", text = text })
    end,
  } }
end

-- Resources ---------------------------------------------------------------------------

local function own(template, answer)
  local machine = machines.machine {
    allowed = nearby.may_see,
    handle_forbidden = "Only for who develops at this machine (--allow-remote).\n",
    handle_ok = answer,
  }
  local resource = machines.resource(template, machine)
  resource.is_apart = true
  return resource
end

local SHORT = "/trace" -- to the inspector, where the app does nothing there

-- Whether a template may match that: what stands in front of its first variable tells.
local function may_be_short(template)
  local literal, variable = template:match "^([^{]*)({?)"
  if variable == "" then return literal == SHORT end
  return SHORT:sub(1, #literal) == literal
end

local function add_short(app)
  for _, resource in ipairs(app.resources) do
    if may_be_short(resource.template) then return end
  end
  table.insert(app.resources, own(SHORT, function()
    return response.redirect(inspector.PATH)
  end))
end

-- Puts our resources beside those of an app that is not yet installed.
local function dress(app)
  for _, resource in ipairs {
    own("/.luaweb/dev.js", function()
      return response.bytes("text/javascript; charset=utf-8", script)
        :header("Cache-Control", "no-store")
    end),
    own("/.luaweb/events", events.stream),
    own(inspector.PATH, inspector.list),
    own(inspector.PATH .. "/{id}", function(req)
      return inspector.show(req.params.id)
    end),
  } do
    table.insert(app.resources, resource)
  end
end

-- Loading -----------------------------------------------------------------------------

-- Where the loader would find a module; it may fail there, or not be there yet.
local function note_module(name)
  local path = package.searchpath(name, package.path)
  if not path then return end
  source.add(path)
  watch.file(path)
end

-- Before the app is loaded.
local function begin(path)
  loader.on_require = note_module
  host.show = show
  log.listen(function(level, text)
    if level == "error" then show_source(text) end
  end)
  source.add(path)
  watch.file(path)
  local folder = path:match "^(.*)/[^/]*$" or "."
  source.add_folder(folder)
  watch.sources(folder)
end

local function install(app)
  dress(app)
  local capp = app:install()
  walks.serve(app, capp)
  return capp
end

local function load(path)
  local app = apps.load(path)
  add_short(app)
  local capp = install(app)
  if app.on_start then app.on_start(app) end
  return app, capp
end

-- Where a load has failed.  After a stack overflow there is hardly any room.
local function on_error(err) return { text = trace.back(err) } end

-- Why, in the words of the app.
local function reason_of(failure, path)
  if type(failure) ~= "table" then return path .. ": stack overflow" end
  return trace.of_app(failure.text)
end

--- Loads an app, or what shows why it can't be loaded.
---@param path string            of its script
---@param is_remote boolean?     others than this machine may see what is shown
---@return luaweb.App? app       nil: one that was loaded before goes on
---@return ffi.cdata* capp
---@return string? why
function M.load(path, is_remote)
  if is_remote then nearby.open() end
  begin(path)
  local ok, app, capp = xpcall(load, on_error, path)
  if ok then return app, capp end
  local text = reason_of(app, path)
  show_source(text)
  if C.luaweb_dev_serves(abi.host) then return nil, nil, text end
  io.stderr:write("luaweb: ", text, "\n")
  C.luaweb_dev_broken(abi.host)
  local shown = substitute(text)
  return shown, install(shown)
end

--- The list of routes for the terminal, and what there is beside them.
---@param lines string[]
---@return string
function M.list(lines)
  lines[#lines + 1] = ("  %s  the last requests, and why each was answered so")
    :format(inspector.PATH)
  return table.concat(lines, "\n")
end

return M
