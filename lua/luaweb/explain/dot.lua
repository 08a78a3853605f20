-- SPDX-License-Identifier: MIT
-- What `luaweb explain` found, for Graphviz: the program of the method, with the way
-- that the request took in bold.
local M = {}

local function quoted(text)
  return '"' .. text:gsub('[\\"]', "\\%0"):gsub("\n", "\\n") .. '"'
end

local function node_of(arrow)
  if arrow.step then return "step" .. arrow.step end
  return ("end_%s_%d"):format(arrow.row, arrow.status)
end

-- The answers of this walk by step.
local function answers_of(explained)
  local answers = {}
  for _, entry in ipairs(explained.walk.rows) do
    if entry.step then answers[entry.step] = entry.answer or "?" end
  end
  return answers
end

local FONT = '"sans-serif"'
local BOLD = ", penwidth=3, color=blue"

---@class luaweb.Drawing
---@field lines string[]
---@field ends table<string, table>   arrows that are ends, by node

local function draw(drawing, text, ...)
  drawing.lines[#drawing.lines + 1] = "  " .. text:format(...)
end

local function draw_edge(drawing, from, label, arrow, is_taken)
  local to = node_of(arrow)
  if arrow.status then
    local is_known = drawing.ends[to]
    drawing.ends[to] = { arrow = arrow, is_taken = is_taken or
      (is_known and is_known.is_taken) }
  end
  draw(drawing, "%s -> %s [label=%s%s];", from, to, quoted(label),
    is_taken and BOLD or "")
end

-- Where the app has ended the walk by an answer of its own.
local function draw_halt(drawing, step, explained, answer)
  local status = explained.walk.ending.status or 0
  local node = ("halt%d"):format(step.step)
  draw(drawing, "%s [shape=ellipse, label=%s%s];", node,
    quoted(("%s\nanswered by the app"):format(status > 0 and status or "no answer")),
    BOLD)
  draw(drawing, "step%d -> %s [label=%s%s];", step.step, node,
    quoted(answer == "?" and "" or answer), BOLD)
end

local function draw_step(drawing, step, explained, answer)
  draw(drawing, "step%d [shape=box, label=%s%s];", step.step,
    quoted(("%d %s\n%s"):format(step.step, step.row, step.who)), answer and BOLD or "")
  for _, word in ipairs { "yes", "no" } do
    draw_edge(drawing, "step" .. step.step, word, step[word], answer == word)
  end
  if answer and answer ~= "yes" and answer ~= "no" then
    draw_halt(drawing, step, explained, answer)
  end
end

-- An end that was left for another status: something has failed behind it.
local function status_text(known, ending)
  local wanted, got = known.arrow.status, ending.status
  local is_left = known.is_taken and ending.failure and got and got ~= wanted
  return is_left and ("%d instead of %d"):format(got, wanted) or wanted
end

local function draw_ends(drawing, ending)
  local nodes = {}
  for node in pairs(drawing.ends) do nodes[#nodes + 1] = node end
  table.sort(nodes)
  for _, node in ipairs(nodes) do
    local known = drawing.ends[node]
    draw(drawing, "%s [shape=ellipse, label=%s%s];", node,
      quoted(("%s\n%s"):format(status_text(known, ending), known.arrow.row)),
      known.is_taken and BOLD or "")
  end
end

--- The program and the walk as a graph.
---@param explained luaweb.Explained
---@return string
function M.write(explained)
  local drawing = { lines = {}, ends = {} }
  local request = explained.request
  local title = ("%s %s"):format(request.method, request.target)
  if explained.resource then title = title .. "\n" .. explained.resource.template end
  draw(drawing, "label=%s; labelloc=t; fontname=%s;", quoted(title), FONT)
  draw(drawing, "node [fontname=%s]; edge [fontname=%s];", FONT, FONT)
  draw(drawing, "start [shape=point];")
  if explained.walk then
    local answers = answers_of(explained)
    draw_edge(drawing, "start", "", explained.program.start, true)
    for _, step in ipairs(explained.program.steps) do
      draw_step(drawing, step, explained, answers[step.step])
    end
    draw_ends(drawing, explained.walk.ending)
  end
  return ("digraph program {\n%s\n}\n"):format(table.concat(drawing.lines, "\n"))
end

return M
