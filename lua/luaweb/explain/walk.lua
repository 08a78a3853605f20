-- SPDX-License-Identifier: MIT
-- The walk of a request through its whole graph, from what was noted of its walk
-- through the program: puts the rows back in that were eliminated, each with its
-- answer.  Plain tables in, plain tables out.
local M = {}

---@class luaweb.Passed
---@field row integer                in the graph, from 1
---@field how "fixed"|"literal"|"unary"|"asked"
---@field answer boolean|integer|nil  a status ends the walk; nil: none was given
---@field is_kept boolean?           an operation that gave content
---@field step integer?              of the program, where it is asked
---@field to integer?                the row that follows; nil: the end

---@class luaweb.Walked
---@field passed luaweb.Passed[]
---@field row integer        where it has ended, or stands
---@field status integer?    nil: it has not ended

---@class luaweb.Walking     the state of one reconstruction
---@field graph luaweb.Graph
---@field program luaweb.Program
---@field passed luaweb.Passed[]

-- The row that a program's arrow leads to, or whose answer is the end.
local function goal_of(program, arrow)
  return arrow.step and program.steps[arrow.step + 1].row or arrow.row
end

-- Where an answer leads in the graph: a row, or nil for an end.  A no that would refuse
-- goes on like a yes where the machine is lenient; then it is not the program's end.
local function follow(graph, at, answer, goal)
  local row = graph.rows[at]
  local arrow = answer and row.yes or row.no
  if arrow > 0 then return arrow end
  if goal == at or row.yes < 0 then return nil end
  return row.yes
end

local next_of

-- The first row that both answers of a row come to.
local function meeting_of(walking, at, goal)
  local row, is_passed = walking.graph.rows[at], {}
  local yes = row.yes > 0 and row.yes or nil
  while yes and yes <= goal do
    is_passed[yes] = true
    yes = yes < goal and next_of(walking, yes, goal) or nil
  end
  local no = row.no > 0 and row.no or row.yes
  while no < goal and not is_passed[no] do no = next_of(walking, no, goal) or goal end
  return no
end

-- The row behind one that is not asked.
function next_of(walking, at, goal)
  local fated = walking.program.rows[at]
  if fated.fate == "unary" then return meeting_of(walking, at, goal) end
  if type(fated.answer) == "number" then return nil end
  return follow(walking.graph, at, fated.answer, goal)
end

local function add(walking, at, entry, to)
  entry.row, entry.to = at, to
  walking.passed[#walking.passed + 1] = entry
end

-- Passes the rows that are not asked, from one on to what a program's arrow leads to.
-- Gives the next step of the program, or nil at an end.
local function pass(walking, at, arrow)
  local goal = goal_of(walking.program, arrow)
  while at and not (arrow.step and at == goal) do
    local fated = walking.program.rows[at]
    local to = next_of(walking, at, goal)
    add(walking, at, { how = fated.fate, answer = fated.answer }, to)
    at = to
  end
  return arrow.step
end

-- Passes a row that is asked.  Gives where it leads: a row and an arrow of the program,
-- or nil where the walk ends or stands.
local function ask(walking, number, noted)
  local step = walking.program.steps[number + 1]
  local answer = noted and noted.answer
  local entry = { how = "asked", step = number, answer = answer,
    is_kept = noted and noted.is_kept or nil }
  if type(answer) ~= "boolean" then return add(walking, step.row, entry) end
  local arrow = answer and step.yes or step.no
  local is_end = arrow.status and arrow.row == step.row
  local to = not is_end
    and follow(walking.graph, step.row, answer, goal_of(walking.program, arrow)) or nil
  add(walking, step.row, entry, to)
  return to, arrow
end

--- Every row that a request has passed, from top to bottom.
---@param graph luaweb.Graph
---@param program luaweb.Program
---@param trace luaweb.Trace
---@return luaweb.Walked
function M.of(graph, program, trace)
  local walking = { graph = graph, program = program, passed = {} }
  local at, arrow, used = 1, program.start, 0
  while at do
    local number = pass(walking, at, arrow)
    if not number then break end
    used = used + 1
    at, arrow = ask(walking, number, trace.answers[used])
  end
  local last = walking.passed[#walking.passed]
  if trace.status == 0 then return { passed = walking.passed, row = last.row } end
  return { passed = walking.passed, row = trace.row, status = trace.status }
end

return M
