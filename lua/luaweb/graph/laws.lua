-- SPDX-License-Identifier: MIT
-- The laws of a decision graph: what a row may look like, where its arrows may lead.
-- Takes rows as they are written, gives rows whose arrows are numbers; raises at the
-- first row that breaks a law.  It owns no rows and knows none by heart but `is_read`,
-- above which nothing reads content, and `operation`, behind which nothing may refuse.
local M = {}

local ___ = "___" -- an answer that leads to the next row

---@class luaweb.GraphRow
---@field name string
---@field yes integer|string   resolved: a row number below, or minus a status
---@field no integer|string
---@field who "core"|"app"|"core/app"|"method"
---@field default boolean?
---@field source string
---@field keep boolean?
---@field reads boolean?
---@field acts boolean?
---@field exit boolean?
---@field yes_for string?      methods, separated by spaces
---@field no_for string?
---@field ask string?
---@field also string?         statuses, separated by spaces
---@field component string?    that it is of, with its place, for messages

---@class luaweb.Graph
---@field rows luaweb.GraphRow[]
---@field index table<string, integer>   name -> row number

local COLUMNS = { "name", "yes", "no", "who", "default", "source" }
local FIELDS = {
  keep = "boolean", reads = "boolean", acts = "boolean", exit = "boolean",
  yes_for = "string", no_for = "string", ask = "string", also = "string",
}
local WHO = { core = true, app = true, ["core/app"] = true, method = true }

local function is_status(arrow)
  return type(arrow) == "number" and arrow % 1 == 0 and arrow >= 200 and arrow <= 599
end

local function fail(row, fault, ...)
  local of = row.component and row.component .. ": " or ""
  error(of .. ("row %s: " .. fault):format(row.name, ...), 0)
end

local function fault_of_field(key, value)
  local wanted = FIELDS[key]
  if COLUMNS[key] or type(value) == wanted then return nil end
  return wanted and ("%s wants a %s"):format(key, wanted)
    or ("%s is no field of a row"):format(tostring(key))
end

-- A method may be named once in a row, and * says something about the others.
local function fault_of_methods(raw)
  local seen = {}
  for _, key in ipairs { "yes_for", "no_for", "ask" } do
    for method in (raw[key] or ""):gmatch "%S+" do
      if seen[method] then return ("it names %s twice"):format(method) end
      seen[method] = true
    end
  end
  if raw.ask and (not seen["*"] or raw.ask:find("*", 1, true)) then
    return "ask wants a * in yes_for or no_for"
  end
  if raw[4] == "method" and (raw.ask or not seen["*"]) then
    return "a method answers it: yes_for and no_for have to name every method (*)"
  end
end

-- What is wrong with a row by itself, or nil.
local function fault_of_row(raw)
  for key, value in pairs(raw) do
    local fault = fault_of_field(key, value)
    if fault then return fault end
  end
  for column = 2, 3 do
    if type(raw[column]) ~= "string" and not is_status(raw[column]) then
      return COLUMNS[column]
        .. ' wants a status or the name of a row ("___" is the next one)'
    end
  end
  if not WHO[raw[4]] then return "who answers: core, app, core/app or method?" end
  if raw[5] ~= nil and (type(raw[5]) ~= "boolean" or not raw[4]:find "app") then
    return "default wants true or false, and an app that may answer"
  end
  if type(raw[6]) ~= "string" or raw[6] == "" then return "it names no source" end
  return fault_of_methods(raw)
end

--- A row as it is written, as fields.
---@param raw table   { name, yes, no, who, default, source, field = value, ... }
---@return luaweb.GraphRow   whose arrows are still names
---errors: the row, and what is wrong with it
function M.entry(raw)
  if type(raw) ~= "table" or type(raw[1]) ~= "string"
    or not raw[1]:find "^%l[%l%d_]*$" then
    error("a row is a table whose first value is its name", 0)
  end
  local fault = fault_of_row(raw)
  if fault then fail({ name = raw[1] }, "%s", fault) end
  local entry = {}
  for column, key in ipairs(COLUMNS) do entry[key] = raw[column] end
  for key in pairs(FIELDS) do entry[key] = raw[key] end
  return entry
end

-- Arrows ------------------------------------------------------------------------------

local function resolve_arrow(graph, i, title)
  local row = graph.rows[i]
  local arrow = row[title]
  if is_status(arrow) then return -arrow end
  local target = arrow == ___ and i + 1 or graph.index[arrow]
  if not target or not graph.rows[target] then
    fail(row, "%s leads to %s, which is no row", title, arrow)
  elseif target <= i then
    fail(row, "%s leads to %s, which does not lie below: arrows only point down",
      title, arrow)
  end
  return target
end

-- A last question ends the walk whatever its answer (is_cached_read, range_fits);
-- everywhere else yes goes on, but for an exit.
local function fault_of_ends(row, is_below_operation)
  local yes_ends, no_ends = row.yes < 0, row.no < 0
  if yes_ends and -row.yes >= 400 then
    return "its yes refuses: turn the question around, so that yes goes on"
  end
  if row.exit then
    if not yes_ends or no_ends then return "at an exit yes ends and no goes on" end
    return not is_below_operation and "an exit lies below operation" or nil
  end
  if yes_ends and not no_ends then
    return "its yes ends and it is no exit: turn the question around, or give it "
      .. "exit = true below operation"
  end
end

-- Nobody comes to a row when those of a component above it all lead elsewhere.
local function fault_of_absence(graph, i)
  for above = i - 1, 1, -1 do
    local component = graph.rows[above].component
    if component then
      return ("no arrow leads to it: those of the %s go past it"):format(component)
    end
  end
  return "no arrow leads to it"
end

local function fault_of_place(graph, i, is_reached)
  local row, index = graph.rows[i], graph.index
  if not is_reached then return fault_of_absence(graph, i) end
  if row.yes == row.no and not row.keep then
    return "its arrows meet: give it keep = true, or answers that lead to two places"
  end
  if row.reads and i < (index.is_read or 0) then
    return "it reads above is_read: put it in_front_of a row below is_read"
  end
  return fault_of_ends(row, i > (index.operation or #graph.rows))
end

local function index_of(rows)
  local index = {}
  for i, row in ipairs(rows) do
    local other = rows[index[row.name]]
    if other then
      fail(row.component and row or other, "there are two of that name")
    end
    index[row.name] = i
  end
  return index
end

--- Resolves the names that arrows have and checks the laws.
---@param rows luaweb.GraphRow[]   what `entry` gave, from top to bottom; taken
---@return luaweb.Graph
---errors: the row, and the law that it breaks
function M.resolve(rows)
  local graph = { rows = rows, index = index_of(rows) }
  local reached = { true }
  for i, row in ipairs(rows) do
    row.yes, row.no = resolve_arrow(graph, i, "yes"), resolve_arrow(graph, i, "no")
    local fault = fault_of_place(graph, i, reached[i])
    if fault then fail(row, "%s", fault) end
    reached[row.yes], reached[row.no] = true, true
  end
  return graph
end

return M
