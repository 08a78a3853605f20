-- SPDX-License-Identifier: MIT
-- The inspector: the last requests, and how each has walked through its graph.
local html = require "luaweb.dev.html"
local response = require "luaweb.response"
local walks = require "luaweb.dev.walk"

local M = {}

M.PATH = "/.luaweb/trace"

local function status_of(seen)
  return seen.status == 0 and "runs" or tostring(seen.status)
end

local function class_of(seen)
  local classes = { [2] = "yes", [4] = "no", [5] = "end" }
  return classes[math.floor(seen.status / 100)] or "dim"
end

local function line_of(seen)
  return html.fill('<tr><td>%s</td><td class="%s">%s</td><td>%s</td>'
    .. '<td><a href="%s/%s">%s</a></td><td class="dim">%.1f ms</td>'
    .. '<td class="dim">%d B</td></tr>', os.date("%H:%M:%S", seen.time), class_of(seen),
    status_of(seen), seen.method, M.PATH, ("%d"):format(seen.id), seen.target,
    seen.duration * 1000, seen.octets)
end

--- The page that lists them, newest first.
---@return luaweb.Response
function M.list()
  local parts = { '<h1 class="calm">The last requests</h1>' }
  local list = walks.list()
  if not list[1] then parts[2] = "<p>There was none yet.</p>" end
  parts[#parts + 1] = '<div class="wide"><table>'
  for _, seen in ipairs(list) do parts[#parts + 1] = line_of(seen) end
  parts[#parts + 1] = "</table></div>"
  return response.html(html.page("The last requests", parts))
    :header("Cache-Control", "no-store")
end

local function passes_of(explained)
  local passes = explained.passes
  return html.fill('<p class="dim">%s rows, %s of them asked for this method</p>',
    passes.rows, passes.after_subgraph)
end

--- The page on one of them.
---@param id string
---@return luaweb.Response
function M.show(id)
  local seen = walks.find(tonumber(id))
  if not seen then return response.status(404):text "This request is forgotten.\n" end
  local title = ("%s %s"):format(seen.method, seen.target)
  local parts = {
    html.fill('<p class="kicker"><a href="%s">The last requests</a></p>', M.PATH),
    html.fill('<h1 class="calm">%s</h1>', title),
    html.fill('<p>Answer: <span class="%s">%s</span></p>', class_of(seen),
      status_of(seen)),
    html.table(walks.fields(seen)),
  }
  local explained = walks.explain(seen)
  if explained then
    parts[#parts + 1] = html.walk(explained, passes_of(explained))
  else
    parts[#parts + 1] = '<p class="dim">How it has walked is not known: an older '
      .. "generation has answered it.</p>"
  end
  return response.html(html.page(title, parts)):header("Cache-Control", "no-store")
end

return M
