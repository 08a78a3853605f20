-- SPDX-License-Identifier: MIT
-- What an app has: its resources with their methods, the media types that they offer
-- and take, and where they are declared.  Runs nothing of the app.
local json = require "luaweb.json"
local methods = require "luaweb.machine.methods"
local trace = require "luaweb.trace"

local M = {}

---@class luaweb.Route
---@field template string
---@field methods string[]               "*" is any other
---@field media_types string[]?          that it offers
---@field media_types_by string?         or where the function is that says so
---@field accepted string[]?             media types of content that it takes
---@field accepted_by string?
---@field accepted_patches string[]?     likewise, of PATCH
---@field accepted_patches_by string?
---@field place string

local properties = {
  -- field             key                       as people say it
  { "media_types",      "available_media_types",  "gives" },
  { "accepted",         "acceptable_media_types", "takes" },
  { "accepted_patches", "patch_media_types",      "PATCH takes" },
}

local function route_of(resource)
  local machine = resource.assembly.machine
  local route = { template = resource.template, place = machine.place,
    methods = methods.shown(resource.assembly.names) }
  for _, property in ipairs(properties) do
    local field, value = property[1], machine.config[property[2]]
    if type(value) == "table" then
      route[field] = value
    elseif type(value) == "function" then
      route[field .. "_by"] = trace.place_of(value)
    end
  end
  return route
end

--- The routes of an app that was installed, as declared.
---@param app luaweb.App
---@return luaweb.Route[]
function M.of(app)
  local routes = {}
  for _, resource in ipairs(app.machines) do
    if not resource.is_apart then routes[#routes + 1] = route_of(resource) end
  end
  return routes
end

-- "*" as people say it
local function methods_text(route)
  local list = {}
  for i, method in ipairs(route.methods) do
    list[i] = method == "*" and "(any)" or method
  end
  return table.concat(list, ", ")
end

local function types_text(route)
  local parts = {}
  for _, property in ipairs(properties) do
    local field, verb = property[1], property[3]
    local list, by = route[field], route[field .. "_by"]
    if list or by then
      local what = list and table.concat(list, ", ") or ("what %s says"):format(by)
      parts[#parts + 1] = ("%s %s"):format(verb, what)
    end
  end
  return table.concat(parts, "; ")
end

--- The routes as lines for people, in columns; media types where some have them.
---@param routes luaweb.Route[]
---@return string[]
function M.lines(routes)
  local rows, widths = {}, { 0, 0, 0 }
  for i, route in ipairs(routes) do
    rows[i] = { route.template, methods_text(route), types_text(route) }
    for column, text in ipairs(rows[i]) do
      widths[column] = math.max(widths[column], #text)
    end
  end
  local lines = {}
  for i, row in ipairs(rows) do
    local cells = {}
    for column, text in ipairs(row) do
      if widths[column] > 0 then
        cells[#cells + 1] = text .. (" "):rep(widths[column] - #text)
      end
    end
    lines[i] = ("  %s  %s"):format(table.concat(cells, "  "), routes[i].place)
  end
  return lines
end

--- The routes as JSON.
---@param routes luaweb.Route[]
---@return string
function M.json(routes)
  local list = {}
  for i, route in ipairs(routes) do
    local copy = {}
    for key, value in pairs(route) do
      copy[key] = type(value) == "table" and json.array { unpack(value) } or value
    end
    list[i] = copy
  end
  return json.encode(json.array(list))
end

return M
