-- SPDX-License-Identifier: MIT
-- What `luaweb explain` found, as text for people: sections of aligned lines.  Colours
-- only where a terminal wants them.
local M = {}

local WIDTH = 88
local LONG = 60 -- a field of more octets does not widen the column

-- Ink ---------------------------------------------------------------------------------

local codes = { bold = "1", dim = "2", red = "31", green = "32", yellow = "33" }

---@class luaweb.Page     what was written so far
---@field private lines string[]
---@field private has_colour boolean
local Page = {}
Page.__index = Page

function Page:ink(colour, text)
  if not self.has_colour or text == "" then return text end
  return ("\27[%sm%s\27[0m"):format(codes[colour], text)
end

function Page:add(text, ...)
  if select("#", ...) > 0 then text = text:format(...) end
  self.lines[#self.lines + 1] = (text:gsub("%s+$", ""))
end

function Page:title(text)
  if self.lines[1] then self:add "" end
  self:add(self:ink("bold", text))
end

-- Words behind a label, broken where the line is full.
function Page:words(label, words)
  local margin = (" "):rep(#label)
  local line = label
  for i, word in ipairs(words) do
    if i < #words then word = word .. "," end
    if #line + 1 + #word > WIDTH and line ~= margin then
      self:add("%s", line)
      line = margin
    end
    line = line .. " " .. word
  end
  self:add("%s", line)
end

local function pad(text, width)
  return text .. (" "):rep(width - #text)
end

-- The length of the longest of some texts.
local function width_of(list, field)
  local width = 0
  for _, item in ipairs(list) do width = math.max(width, #(item[field] or "")) end
  return width
end

local function octets(n)
  if n == 0 then return "no content" end
  return n == 1 and "1 octet of content" or ("%d octets of content"):format(n)
end

-- Sections ----------------------------------------------------------------------------

local function write_request(page, explained)
  local request = explained.request
  page:title(("%s %s"):format(request.method, request.target))
  for _, field in ipairs(request.fields) do
    page:add("  %s: %s", field.name, field.value)
  end
  if request.size > 0 then page:add("  " .. octets(request.size)) end
end

local function demands_of(params)
  local list = {}
  for name, demand in pairs(params) do
    list[#list + 1] = ("%s = %s"):format(name, demand)
  end
  table.sort(list)
  return list
end

local function write_resource(page, explained)
  local resource = explained.resource
  page:title "Resource"
  if resource then
    page:add("  %s  %s", resource.template, resource.place)
    page:words("  methods:", resource.methods)
    if resource.params then page:words("  params:", demands_of(resource.params)) end
  elseif explained.walk then
    page:add "  none: no template matches the path, or `params` refuse its values"
  else
    page:add "  none: the server answers by itself, before any resource is asked"
  end
end

local function names_of(list)
  local names = {}
  for i, row in ipairs(list) do names[i] = row.name end
  return names
end

-- Literal rows that the app has said, each with its place.
local function write_said(page, literal)
  local said = {}
  for _, row in ipairs(literal) do
    if row.place then
      said[#said + 1] = ("%s %s (%s)"):format(row.name, row.answer, row.place)
    end
  end
  if said[1] then page:words("    said by the app:", said) end
end

-- The others by their answer.
local function write_answers(page, label, list)
  for _, answer in ipairs { "yes", "no" } do
    local names = {}
    for _, row in ipairs(list) do
      if row.answer == answer and not row.place then names[#names + 1] = row.name end
    end
    if names[1] then page:words(("    %s, %s:"):format(label, answer), names) end
  end
end

local function write_pass(page, name, before, after)
  page:add("  %s %2d -> %2d rows%s", pad(name, 20), before, after,
    before == after and ": nothing to remove" or "")
end

-- "49 rows, 4 of cors and 2 of patch": how many the table has, and who brings more.
local function rows_text(passes)
  local own, more = passes.rows, {}
  for i, component in ipairs(passes.components or {}) do
    own = own - component.rows
    more[i] = ("%d of %s"):format(component.rows, component.name)
  end
  local last = table.remove(more)
  table.insert(more, 1, ("%d rows"):format(own))
  return table.concat(more, ", ") .. (last and " and " .. last or "")
end

local function write_passes(page, explained)
  local passes = explained.passes
  page:title "What the compiler has removed"
  page:add("  %s: %d fixed by the method, %d literal, %d asked", rows_text(passes),
    #passes.fixed, #passes.literal, passes.after_literal)
  write_pass(page, "literal elimination", passes.rows, passes.after_literal)
  write_answers(page, "fixed by " .. explained.request.method, passes.fixed)
  write_said(page, passes.literal)
  write_answers(page, "known at load", passes.literal)
  write_pass(page, "unary elimination", passes.after_literal, passes.after_unary)
  if passes.unary[1] then
    page:words("    both answers lead to the same:", names_of(passes.unary))
  end
  write_pass(page, "subgraph elimination", passes.after_unary, passes.after_subgraph)
  if passes.unreachable[1] then
    page:words("    nobody comes there:", names_of(passes.unreachable))
  end
end

local function arrow_text(arrow)
  return arrow.step and ("step %d"):format(arrow.step) or tostring(arrow.status)
end

-- Both arrows of a step: one where they meet, for then only the answer is of use.
local function arrows_text(step)
  local yes, no = arrow_text(step.yes), arrow_text(step.no)
  if yes == no then return ("yes or no: %s"):format(yes) end
  return ("yes: %s  no: %s"):format(pad(yes, 7), no)
end

local function write_program(page, explained)
  local program = explained.program
  local steps = program.steps
  page:title(("Program for %s"):format(explained.request.method))
  if not steps[1] then
    return page:add("  no question: the answer is always %d, from %s",
      program.start.status, program.start.row)
  end
  local width = width_of(steps, "row")
  for _, step in ipairs(steps) do
    page:add("  %2d  %s  %s  %s", step.step, pad(step.row, width),
      pad(arrows_text(step), 25), step.who)
  end
end

local colour_of = { yes = "green", no = "yellow" }

-- What was not asked stays in the background.
local function write_row(page, entry, width)
  local mark = entry.step and ("step %d"):format(entry.step) or ""
  local answer = entry.answer or (entry.how == "unary" and "-" or "?")
  local jump = entry.jumps and ("  -> %s"):format(entry.to) or ""
  local shown = pad(answer, 3)
  if entry.step then shown = page:ink(colour_of[answer] or "red", shown) end
  local line = ("  %2d  %s  %s  %s  %s%s"):format(entry.row, pad(entry.name, width),
    shown, pad(mark, 7), entry.reason, jump)
  page:add("%s", entry.step and line or page:ink("dim", line))
end

local function write_walk(page, explained)
  local walk = explained.walk
  local asked = 0
  for _, entry in ipairs(walk.rows) do asked = asked + (entry.step and 1 or 0) end
  page:title(("The walk of this request: %d of %d rows, %d asked"):format(#walk.rows,
    explained.passes.rows, asked))
  local width = width_of(walk.rows, "name")
  for _, entry in ipairs(walk.rows) do write_row(page, entry, width) end
  if walk.ending.status then
    page:add("  ends at %s with %d%s", walk.ending.row, walk.ending.status,
      walk.ending.failure and ": " .. walk.ending.failure or "")
  else
    page:add("  stands at %s", walk.ending.row)
  end
end

local function write_response(page, explained)
  local response = explained.response
  page:title "Response"
  if not response then return page:add("  none: %s", explained.fault) end
  page:add("  %s", page:ink("bold", response.line))
  local width = 0
  for _, field in ipairs(response.fields) do
    local size = #field.name + 2 + #field.value
    width = math.max(width, size <= LONG and size or 0)
  end
  for _, field in ipairs(response.fields) do
    local line = ("%s: %s"):format(field.name, field.value)
    page:add("  %s  %s", pad(line, width), page:ink("dim", field.from))
  end
  page:add("  %s", response.text or octets(response.size))
end

--- The page on a request.
---@param explained luaweb.Explained
---@param has_colour boolean
---@return string
function M.write(explained, has_colour)
  local page = setmetatable({ lines = {}, has_colour = has_colour }, Page)
  write_request(page, explained)
  write_resource(page, explained)
  if explained.walk then
    write_passes(page, explained)
    write_program(page, explained)
    write_walk(page, explained)
  end
  write_response(page, explained)
  return table.concat(page.lines, "\n") .. "\n"
end

--- The page on all resources.
---@param list table[]      see explain_program.overview
---@param has_colour boolean
---@param app string        its path
---@return string
function M.overview(list, has_colour, app)
  local page = setmetatable({ lines = {}, has_colour = has_colour }, Page)
  for _, resource in ipairs(list) do
    page:title(("%s  %s"):format(resource.template, resource.place))
    for _, group in ipairs(resource.programs) do
      local methods = table.concat(group.methods, ", "):gsub("%*", "any other")
      if group.asked[1] then
        page:words(("  %s: asks %d of %d rows:"):format(methods, #group.asked,
          group.rows), group.asked)
      else
        page:add("  %s: always %d", methods, group.status)
      end
    end
  end
  if list[1] then page:add "" end
  page:add("One request: luaweb explain %s GET /path", app)
  return table.concat(page.lines, "\n") .. "\n"
end

return M
