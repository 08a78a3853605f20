-- SPDX-License-Identifier: MIT
-- What a machine can't mean, though each key by itself is right: found while an app
-- loads, when all that a machine includes is known.  RFC 9110 §11.6.1 (a 401
-- challenges), §15.4 (a redirect says where to), Fetch (CORS with credentials).
local fail = require("luaweb.machine").fail
local graph = require "luaweb.graph"
local keys = require "luaweb.machine.keys"
local methods = require "luaweb.machine.methods"
local reach = require "luaweb.graph.reach"
local representation = require "luaweb.machine.representation"
local response = require "luaweb.response"

local M = {}

local is_redirect = { [301] = true, [302] = true, [303] = true, [307] = true,
  [308] = true }
local redirects = { stays_for_good = true, stays_for_now = true, see_other = false }
local may_be_unchanged = { GET = true, HEAD = true, OPTIONS = true }

local function refuse(assembly, key, message)
  local machine = assembly.machine
  fail(machine.places[key] or machine.place, assembly.label, key, message)
end

local function reach_of(assembly)
  assembly.reach = assembly.reach
    or reach.of(assembly.machine, assembly.rows, assembly.methods)
  return assembly.reach
end

-- Where a resource's machines were declared, unless that is where the resource was.
local function declared_at(machine)
  local places = {}
  for _, place in ipairs(machine.declared or {}) do
    if place ~= machine.place then places[#places + 1] = place end
  end
  return places[1] and (" (declared at %s)"):format(table.concat(places, ", ")) or ""
end

-- A method needs what speaks for it, unless all its requests end before that: nobody
-- is authorized, or everything has moved.
local function check_functions(assembly, config)
  for _, method in ipairs(assembly.names) do
    local key = methods.lacks(config, method)
    local is_wanted = key and reach_of(assembly).works[method]
    if is_wanted and not config.methods then
      refuse(assembly, "machine", "it has neither handle_ok nor an operation"
        .. declared_at(assembly.machine))
    elseif is_wanted then
      refuse(assembly, "methods", ("%s has no function (%s)"):format(method, key))
    end
  end
end

-- Whether an answer can be this status: that of the row's arrow where it is asked, or
-- what its literal says.
local function may_give(value, literal, statuses)
  if value == nil or value == literal then return false end
  if getmetatable(value) == response.Response then value = value.code or 0 end
  return type(value) ~= "number" or statuses[value] ~= nil
end

local function decisions_of(config)
  local decisions = {}
  for name, value in pairs(config) do
    if keys.find(name).kind == "decision" then decisions[name] = value end
  end
  return decisions
end

local function check_challenge(assembly, config, decisions)
  if config.challenge ~= nil then return end
  local unauthorized = { [401] = true }
  for name, value in pairs(decisions) do
    local is_401 = name == "authorized" and may_give(value, true, unauthorized)
    if is_401 or value == 401 then
      refuse(assembly, name,
        "a 401 says how to log in: include web.auth, or set challenge")
    end
  end
end

-- A response may have a Location of its own.
local function check_location(assembly, config, decisions)
  if config.location ~= nil then return end
  for name, value in pairs(decisions) do
    local is_row = redirects[name] ~= nil and type(value) ~= "table"
      and may_give(value, redirects[name], is_redirect)
    if is_row or is_redirect[value] then
      refuse(assembly, name, "a redirect says where to: set location")
    end
  end
end

local function check_unchanged(assembly, _, decisions)
  for name, value in pairs(decisions) do
    for _, method in ipairs(value == 304 and assembly.names or {}) do
      if not may_be_unchanged[method] then
        refuse(assembly, name, "304 answers GET and HEAD, not " .. method)
      end
    end
  end
end

local function check_credentials(assembly, config)
  if config.cors_credentials ~= true then return end
  for _, key in ipairs { "cors_origins", "cors_expose" } do
    if config[key] == "*" then
      refuse(assembly, key, '"*" does not go with cors_credentials: list them')
    end
  end
end

local function check_components(assembly)
  local has = {}
  for _, component in ipairs(assembly.components) do has[component] = true end
  for key in pairs(assembly.machine.own) do
    local component = keys.find(key).component
    if component == graph.components.patch and not has[component] then
      refuse(assembly, key, "PATCH is not among its methods: nothing can reach it")
    elseif component and not has[component] then
      refuse(assembly, key,
        ("is of the component %s, which it does not include"):format(component.name))
    end
  end
end

-- A row of an app's own without a default.
local function check_answers(assembly, config)
  for _, component in ipairs(assembly.components) do
    for _, row in ipairs(component) do
      local is_open = row[4] == "app" and row[5] == nil and config[row[1]] == nil
      if is_open then
        refuse(assembly, row[1],
          ("the component %s has no default for it"):format(component.name))
      end
    end
  end
end

-- The keys that the machine itself has: what it includes may be made for others too.
local function check_handlers(assembly)
  for key in pairs(assembly.machine.own) do
    local status = keys.find(key).kind == "handler" and keys.find(key).number
    if status and status ~= 200 and not reach.has(reach_of(assembly), status) then
      refuse(assembly, key,
        ("none of its methods can end with %d: nothing can reach it"):format(status))
    end
  end
end

-- Properties of content: the row that asks for each, and why no method may come there
-- that has content.
local of_content = {
  { "body_limit",                 "content_fits" },
  { "length_required",            "length_known" },
  { "partial_put",                "content_whole",    "PUT is not among its methods" },
  { "acceptable_content_codings", "content_coding_known" },
  { "acceptable_media_types",     "media_type_taken",
    "only PATCH has content, and takes patch_media_types" },
}

-- Whether a method with content may come to a row, by what methods fix: what literals
-- do is no property of the methods, and may change.
local function is_asked(assembly, name)
  local index = assembly.rows.graph.index
  for _, method in ipairs(assembly.methods) do
    local answers = assembly.rows.answers
    local fixed = answers[method.like or method.name] or answers["*"]
    local has_content = fixed[index.not_options] ~= false
      and fixed[index.has_content] == nil
    if has_content and fixed[index[name]] == nil then return true end
  end
  return false
end

-- Whether something may read content that comes with methods which have none.
local function has_reader(assembly, config)
  for _, method in ipairs(assembly.methods) do
    if method.operation or method.reply then return true end
  end
  return representation.offers(config.handle_ok) ~= nil
end

local function check_content(assembly, config)
  local own = assembly.machine.own
  for _, property in ipairs(of_content) do
    local key, row, why = unpack(property)
    local is_read = key == "body_limit" and has_reader(assembly, config)
    if own[key] and not (is_read or is_asked(assembly, row)) then
      local has_content = is_asked(assembly, "has_content")
      refuse(assembly, key, (has_content and why or "none of its methods has content")
        .. ": nothing can reach it")
    end
  end
end

local with_location = { 201, 202, 300, 301, 302, 303, 307, 308 }

-- An operation may answer whatever it wants.
local function check_use_of_location(assembly)
  if not assembly.machine.own.location then return end
  for _, method in ipairs(assembly.methods) do
    if method.operation then return end
  end
  for _, status in ipairs(with_location) do
    if reach.has(reach_of(assembly), status) then return end
  end
  refuse(assembly, "location",
    "none of its methods can end with a status that has one: nothing can reach it")
end

local function check_offers(assembly, config)
  local offers, listed = representation.offers(config.handle_ok), assembly.listed
  if not offers or listed == nil then return end
  if type(listed) == "function" then
    refuse(assembly, "available_media_types", "handle_ok says which there are")
  end
  local has = {}
  for _, offer in ipairs(offers) do has[offer.media_type] = true end
  for _, media_type in ipairs(listed) do
    if not has[media_type] then
      refuse(assembly, "available_media_types", media_type .. " is not in handle_ok")
    end
  end
  if #listed < #offers then
    refuse(assembly, "available_media_types", "handle_ok has more of them")
  end
end

local checks = { check_functions, check_challenge, check_location, check_unchanged,
  check_credentials, check_components, check_answers, check_handlers, check_content,
  check_use_of_location, check_offers }

--- Raises the first contradiction of a machine.
---@param assembly luaweb.Assembly
function M.check(assembly)
  local config = assembly.machine.config
  local decisions = decisions_of(config)
  for _, check in ipairs(checks) do check(assembly, config, decisions) end
end

return M
