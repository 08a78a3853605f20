-- SPDX-License-Identifier: MIT
-- The HTTP decision graph as data: one question a row, read from top to bottom like a
-- checklist.  Owns the rows, the components that go in between, and which answers a method
-- fixes.  Nothing here answers a question, runs an app or knows C.
-- RFC 9110, and where a row says so RFC 5789, 6585, 7725 and Fetch.
local laws = require "luaweb.graph.laws"
local trace = require "luaweb.trace"

local M = {}

local ___ = "___" -- an answer that leads to the next row

-- A question is phrased so that yes goes on.  Its answers name a status, a row below, or
-- the next row: arrows only point down, so no loop is possible.
--
-- who       core      C answers            app     a key of the machine, with a default
--           core/app  C, from properties, unless the machine has the key
--           method    the method alone; never asked while requests run
-- yes_for, no_for     methods with that answer; * is every method that the row does not
--                     name.  ask: methods that are asked in spite of a *
-- keep      the answer is used later: the row stays although its arrows meet
-- reads     may read the request's content; no row above the first of them may
-- acts      runs the app's work
-- exit      yes ends the walk and no goes on
-- also      statuses that an app may want of this row instead of that of its arrow

-- The table: RFC 9110 unless said otherwise.
M.rows = {
-- question                    yes               no                    who         default  source
-- 1. Can this server answer at all?
{ "authority_served",          ___,              421,                  "core/app", true,    "7.4, 15.5.20" },
-- The component cors goes in here, behind 421: another host's policy is not ours.
{ "service_available",         ___,              503,                  "app",      true,    "15.6.4" },
{ "http_version_supported",    ___,              505,                  "core/app", true,    "2.5, 15.6.6" },
{ "method_implemented",        ___,              501,                  "core",     nil,     "9.1, 15.6.2" },
{ "uri_fits",                  ___,              414,                  "core/app", true,    "15.5.15" },
{ "method_allowed",            ___,              405,                  "core",     nil,     "9.1, 10.2.1, 15.5.6" },
-- 2. May this client ask this of this resource?
{ "within_rate",               ___,              429,                  "app",      true,    "RFC 6585 4" },
{ "well_formed",               ___,              400,                  "app",      true,    "15.5.1" },
{ "authorized",                ___,              401,                  "app",      true,    "11.6.1, 15.5.2" },
{ "allowed",                   ___,              403,                  "app",      true,    "15.5.4" },
{ "legally_available",         ___,              451,                  "app",      true,    "RFC 7725 3" },
{ "not_options",               ___,              "has_reply",          "method",   nil,     "9.3.7", no_for = "OPTIONS", yes_for = "*" },
-- 3. Is it here?  A redirect and absence need neither content nor preconditions (9.3.4, 13.2.1).
{ "stays_for_good",            ___,              308,                  "app",      true,    "15.4.9, 15.4.2", also = "301" },
{ "stays_for_now",             ___,              307,                  "app",      true,    "15.4.8, 15.4.3, 15.4.4", also = "302 303" },
{ "exists",                    "single_choice",  ___,                  "app",      true,    "3.2, 15.5.5", keep = true },
{ "never_was",                 ___,              "may_recreate",       "app",      true,    "15.5.11" },
{ "may_create",                "has_content",    404,                  "core/app", nil,     "9.3.3, 9.3.4, RFC 5789 2", no_for = "GET HEAD DELETE" },
{ "may_recreate",              "has_content",    410,                  "core/app", nil,     "9.3.4, 15.5.11", no_for = "GET HEAD DELETE" },
{ "single_choice",             ___,              300,                  "app",      true,    "12.2, 15.4.1" },
-- 4. Can we take the content that comes with it?  Its head tells; nothing is read yet.
{ "has_content",               ___,              "media_type_offered", "core",     nil,     "6.4, 9.3.1, 9.3.5", no_for = "GET HEAD DELETE" },
{ "expectation_met",           ___,              417,                  "core/app", nil,     "10.1.1" },
{ "length_known",              ___,              411,                  "core/app", true,    "8.6, 15.5.12" },
{ "content_fits",              ___,              413,                  "core/app", nil,     "15.5.14" },
{ "content_whole",             ___,              400,                  "core/app", nil,     "14.5", ask = "PUT", yes_for = "*" },
{ "content_coding_known",      ___,              415,                  "core/app", nil,     "8.4, 12.5.3, 15.5.16" },
{ "media_type_taken",          ___,              415,                  "core/app", nil,     "8.3, 12.5.1, 15.5.16", yes_for = "PATCH" },
-- The component patch goes in here.
-- 5. Which representation would we send?
{ "media_type_offered",        ___,              406,                  "core/app", nil,     "12.5.1, 15.5.7", keep = true },
{ "language_offered",          ___,              406,                  "core/app", nil,     "12.5.4, 15.5.7", keep = true },
{ "charset_offered",           ___,              406,                  "core/app", nil,     "12.5.2, 15.5.7", keep = true },
{ "coding_offered",            ___,              406,                  "core/app", nil,     "12.5.3, 15.5.7", keep = true },
-- 6. Do its preconditions hold?  In the order of 13.2.2; what is to be created has nothing that could match.
{ "precondition_given",        "if_match_holds", ___,                  "core/app", nil,     "13.1, 13.2.1" },
{ "precondition_optional",     "is_read",        428,                  "app",      true,    "RFC 6585 3", yes_for = "GET HEAD" },
{ "if_match_holds",            ___,              412,                  "core",     nil,     "13.1.1" },
{ "if_unmodified_since_holds", ___,              412,                  "core",     nil,     "13.1.4" },
{ "if_none_match_holds",       ___,              "is_cached_read",     "core",     nil,     "13.1.2" },
{ "if_modified_since_holds",   "is_read",        304,                  "core",     nil,     "13.1.3", ask = "GET HEAD", yes_for = "*" },
{ "is_cached_read",            304,              412,                  "method",   nil,     "13.1.2", yes_for = "GET HEAD", no_for = "*" },
-- 7. Do it.  Content may be read from here on: 100 (Continue) goes out when the walk arrives.
{ "is_read",                   "has_reply",      ___,                  "method",   nil,     "9.3.1, 9.3.2", yes_for = "GET HEAD", no_for = "*" },
{ "content_well_formed",       ___,              400,                  "core/app", true,    "15.5.1, RFC 5789 2.2", yes_for = "DELETE", reads = true },
{ "content_valid",             ___,              422,                  "app",      true,    "15.5.21", yes_for = "DELETE", reads = true },
{ "conflict_free",             ___,              409,                  "app",      true,    "15.5.10", reads = true },
{ "operation",                 ___,              500,                  "app",      nil,     "9.3.3 - 9.3.5, RFC 5789 2", acts = true, reads = true },
-- It has happened: nothing below may refuse any more.
{ "completed",                 ___,              202,                  "app",      true,    "15.3.3" },
{ "see_other",                 303,              ___,                  "app",      false,   "9.3.3, 15.4.4", no_for = "PUT", exit = true },
{ "created",                   201,              ___,                  "core/app", false,   "9.3.3, 9.3.4, 15.3.2", no_for = "DELETE", exit = true },
-- 8. What do we send back?
{ "has_reply",                 ___,              204,                  "core/app", nil,     "15.3.1, 15.3.5", acts = true },
{ "range_wanted",              ___,              200,                  "core",     nil,     "14.2", ask = "GET", no_for = "*" },
{ "if_range_holds",            ___,              200,                  "core",     nil,     "13.1.5" },
{ "range_fits",                206,              416,                  "core",     nil,     "15.3.7, 15.5.17" },
}

local cors = {
name = "cors", in_front_of = "service_available",
{ "origin_given",              ___,              "service_available",  "core",     nil,     "Fetch, CORS protocol: HTTP requests" },
{ "cors_enabled",              ___,              "service_available",  "app",      true,    "Fetch, CORS protocol: general" },
{ "origin_allowed",            ___,              "service_available",  "core/app", nil,     "Fetch, CORS check", keep = true },
{ "not_preflight",             ___,              204,                  "core",     nil,     "Fetch, CORS-preflight request and fetch", ask = "OPTIONS", yes_for = "*" },
}

local patch = {
name = "patch", in_front_of = "media_type_offered",
{ "patch_given",               ___,              400,                  "core",     nil,     "RFC 5789 2, 2.2", ask = "PATCH", yes_for = "*" },
{ "patch_type_taken",          ___,              415,                  "core/app", nil,     "RFC 5789 2.2, 3.1, erratum 3169", ask = "PATCH", yes_for = "*" },
}

-- Components --------------------------------------------------------------------------

---@class luaweb.Component
---@field name string
---@field in_front_of string   the row before which it goes
---@field number integer       in the order of declaration
---@field title string         for messages: "component query at app.lua:3"
---@field [integer] table      rows of the same form as M.rows
local Component = {}
Component.__index = Component
M.Component = Component

local core_rows = {} -- name -> true: C has an answer of that name
local declared = 0

local function remember_core(rows)
  for _, raw in ipairs(rows) do
    if raw[4]:find "core" then core_rows[raw[1]] = true end
  end
end

local function check_fields(spec)
  for key in pairs(spec) do
    local is_row = type(key) == "number" and key >= 1 and key <= #spec
    if not is_row and key ~= "name" and key ~= "in_front_of" then
      error(("%s is no field of a component"):format(tostring(key)), 0)
    end
  end
  if type(spec.in_front_of) ~= "string" then error("in_front_of wants a row's name", 0) end
  if #spec == 0 then error("it has no rows", 0) end
end

local function copy_of(raw)
  local entry, copy = laws.entry(raw), {}
  if entry.who:find "core" and not core_rows[entry.name] then
    error(("row %s: C has no answer of that name"):format(entry.name), 0)
  end
  for key, value in pairs(raw) do copy[key] = value end
  return copy
end

-- Checks what can be seen without the graph.
local function new_component(spec, place)
  check_fields(spec)
  declared = declared + 1
  local component = { name = spec.name, in_front_of = spec.in_front_of, number = declared,
    title = ("component %s%s"):format(spec.name, place and " at " .. place or "") }
  for i, raw in ipairs(spec) do component[i] = copy_of(raw) end
  return setmetatable(component, Component)
end

local function own_component(spec)
  remember_core(spec)
  return new_component(spec)
end

remember_core(M.rows)
M.components = { cors = own_component(cors), patch = own_component(patch) }

--- Declares rows of an app's own, which go in front of a row of the graph.
---@param spec table   { name = "query", in_front_of = "is_read", rows... }; copied
---@return luaweb.Component
---errors: what is wrong with it, with the place of its declaration
function M.component(spec)
  local place = trace.place()
  if type(spec) ~= "table" or type(spec.name) ~= "string" then
    error(place .. ": web.component wants a table with a name", 0)
  end
  local ok, result = pcall(new_component, spec, place)
  if not ok then error(("%s: component %s: %s"):format(place, spec.name, result), 0) end
  return result
end

-- Every arrow into the row enters the component first; those of the component stay.
local function splice(rows, component)
  local front, at = component.in_front_of, nil
  for i, row in ipairs(rows) do at = at or (row.name == front and i) end
  if not at then
    error(("%s: there is no row %s to go in front of"):format(component.title, front), 0)
  end
  for _, row in ipairs(rows) do
    if row.yes == front then row.yes = component[1][1] end
    if row.no == front then row.no = component[1][1] end
  end
  for i, raw in ipairs(component) do
    local entry = laws.entry(raw)
    entry.component = component.title
    table.insert(rows, at + i - 1, entry)
  end
end

-- Graphs ------------------------------------------------------------------------------

local graphs = {} -- the numbers of components -> what was built

local function by_number(components)
  local list, is_listed = {}, {}
  for _, component in ipairs(components or {}) do
    if not is_listed[component] then list[#list + 1] = component end
    is_listed[component] = true
  end
  table.sort(list, function(a, b) return a.number < b.number end)
  return list
end

--- The graph with some components, which go in by order of declaration (cors and patch
--- first).  One set of components has one graph, which is lent: it is read only.
---@param components luaweb.Component[]?
---@return luaweb.Graph
---errors: the row that breaks a law
function M.build(components)
  local list, numbers = by_number(components), {}
  for i, component in ipairs(list) do numbers[i] = component.number end
  local key = table.concat(numbers, " ")
  if not graphs[key] then
    local rows = {}
    for i, raw in ipairs(M.rows) do rows[i] = laws.entry(raw) end
    for _, component in ipairs(list) do splice(rows, component) end
    graphs[key] = laws.resolve(rows)
  end
  return graphs[key]
end

local function names(list, method)
  return list ~= nil and (" " .. list .. " "):find(" " .. method .. " ", 1, true) ~= nil
end

--- The answer that the method alone fixes.
---@param row luaweb.GraphRow
---@param method string     any token
---@return boolean? answer  nil: the row really asks
function M.fixed(row, method)
  if names(row.yes_for, method) then return true end
  if names(row.no_for, method) then return false end
  if names(row.ask, method) then return nil end
  if names(row.yes_for, "*") then return true end
  if names(row.no_for, "*") then return false end
  return nil
end

return M
