-- SPDX-License-Identifier: MIT
-- All paths of a decision graph, from its first row to its terminals.  Arrows point
-- down, so there is an end to them.  It follows arrows and knows not what rows mean.
local graph = require "luaweb.graph"

local M = {}

---@class spec.Path
---@field row string                    the last one
---@field status integer
---@field trace [string, boolean][]     each row that was passed, its answer

local function answers_of(row, method)
  local fixed
  if method then fixed = graph.fixed(row, method) end
  if fixed == nil then return { true, false } end
  return { fixed }
end

local function follow(built, method, at, trace, paths)
  local row = built.rows[at]
  for _, answer in ipairs(answers_of(row, method)) do
    local arrow = answer and row.yes or row.no
    trace[#trace + 1] = { row.name, answer }
    if arrow > 0 then
      follow(built, method, arrow, trace, paths)
    else
      paths[#paths + 1] = { row = row.name, status = -arrow, trace = { unpack(trace) } }
    end
    trace[#trace] = nil
  end
end

--- The paths of a graph.
---@param built luaweb.Graph
---@param method string?   nil: both answers of every row count, whatever methods fix
---@return spec.Path[]
function M.of(built, method)
  local paths = {}
  follow(built, method, 1, {}, paths)
  return paths
end

--- The statuses at the end of paths, each once, in order.
---@param paths spec.Path[]
---@return integer[]
function M.statuses(paths)
  local list, seen = {}, {}
  for _, path in ipairs(paths) do
    if not seen[path.status] then list[#list + 1] = path.status end
    seen[path.status] = true
  end
  table.sort(list)
  return list
end

M.METHODS = { "GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "QUERY" }

--- The graph with each combination of our components.
---@return table<string, luaweb.Graph>   "base", "cors", "patch", "cors and patch"
function M.graphs()
  local cors, patch = graph.components.cors, graph.components.patch
  return {
    base = graph.build(), cors = graph.build { cors }, patch = graph.build { patch },
    ["cors and patch"] = graph.build { cors, patch },
  }
end

return M
