-- SPDX-License-Identifier: MIT
-- What the pages have in common that are shown while an app is developed: escaping,
-- one style, nothing from elsewhere.
local M = {}

local entities = { ["&"] = "&amp;", ["<"] = "&lt;", [">"] = "&gt;", ['"'] = "&quot;",
  ["'"] = "&#39;" }

--- A text that is no markup.  Control octets become spaces.
---@param text any
---@return string
function M.escape(text)
  text = tostring(text):gsub("[&<>\"']", entities)
  return (text:gsub("[%z\1-\8\11-\31\127]", " "))
end

--- Like ("..."):format, but what is put in is escaped.
---@param form string
---@param ... any
---@return string
function M.fill(form, ...)
  local list = { ... }
  for i = 1, select("#", ...) do list[i] = M.escape(list[i]) end
  return form:format(unpack(list))
end

local STYLE = [[
:root { color-scheme: light dark; --ink: #1c2128; --paper: #fff; --soft: #f3f4f6;
  --dim: #646d76; --line: #d5d9de; --red: #b3261e; --mark: #fde8e6; --green: #1a7f37;
  --yellow: #8a5a00; }
@media (prefers-color-scheme: dark) { :root { --ink: #e3e6ea; --paper: #15181c;
  --soft: #1e2228; --dim: #949ca5; --line: #343a42; --red: #ff8a80; --mark: #4a2321;
  --green: #6fce85; --yellow: #e5b454; } }
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 68rem; padding: 2rem 1.25rem 4rem; color: var(--ink);
  background: var(--paper); font: 15px/1.5 system-ui, sans-serif; }
h1 { margin: 0 0 1.5rem; font: 600 1.25rem/1.4 ui-monospace, monospace;
  white-space: pre-wrap; overflow-wrap: anywhere; color: var(--red); }
h1.calm { color: var(--ink); font-family: inherit; }
h2 { margin: 2rem 0 .5rem; font-size: 1rem; }
p { margin: .25rem 0; } .dim, th { color: var(--dim); font-weight: normal; }
.kicker { color: var(--dim); margin-bottom: .25rem; overflow-wrap: anywhere; }
code, pre, table { font: 13px/1.55 ui-monospace, monospace; }
pre { margin: .25rem 0 1rem; padding: .5rem 0; overflow-x: auto;
  background: var(--soft); border: 1px solid var(--line); border-radius: 6px; }
pre span { display: block; padding: 0 .75rem; min-width: max-content; }
pre span.hit { background: var(--mark); } pre i { font-style: normal;
  color: var(--dim); display: inline-block; width: 3.5rem; user-select: none; }
table { border-collapse: collapse; width: 100%; } td, th { padding: .2rem .9rem .2rem 0;
  text-align: left; vertical-align: top; border-bottom: 1px solid var(--line);
  overflow-wrap: anywhere; } td:first-child { white-space: nowrap; }
tr.quiet td { color: var(--dim); } .yes { color: var(--green); }
.no { color: var(--yellow); } .end { color: var(--red); } a { color: inherit; }
summary { cursor: pointer; font-weight: 600; margin: 2rem 0 .5rem; }
.wide { overflow-x: auto; }
]]

--- A whole page.
---@param title string
---@param parts string[]   of its body, markup
---@return string
function M.page(title, parts)
  return M.fill([[
<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>%s</title>
<style>
]], title) .. STYLE .. "</style>\n</head>\n<body>\n" .. table.concat(parts, "\n")
    .. "\n</body>\n</html>\n"
end

--- Rows of a table with two columns.
---@param rows [string, string][]
---@return string
function M.table(rows)
  local parts = { "<table>" }
  for i, row in ipairs(rows) do
    parts[i + 1] = M.fill("<tr><td>%s</td><td>%s</td></tr>", row[1], row[2])
  end
  parts[#parts + 1] = "</table>"
  return table.concat(parts, "\n")
end

-- The class of a row's answer.
local function class_of(answer)
  if answer == "yes" or answer == "no" then return answer end
  return tonumber(answer) and "end" or "dim"
end

-- The rows that a request has passed, as a table.
local function rows(walk)
  local parts = { '<div class="wide"><table>' }
  for _, entry in ipairs(walk.rows) do
    local answer = entry.answer or (entry.how == "unary" and "-" or "?")
    parts[#parts + 1] = M.fill('<tr class="%s"><td>%s</td><td class="%s">%s</td>'
      .. "<td>%s</td></tr>", entry.step and "asked" or "quiet", entry.name,
      entry.step and class_of(answer) or "", answer, entry.reason)
  end
  parts[#parts + 1] = "</table></div>"
  local ending = walk.ending
  if ending.status then
    parts[#parts + 1] = M.fill("<p>ends at <code>%s</code> with %s</p>", ending.row,
      ending.status)
  else
    parts[#parts + 1] = M.fill("<p>stands at <code>%s</code></p>", ending.row)
  end
  return table.concat(parts, "\n")
end

--- How a request has walked through the graph.
---@param explained luaweb.Explained
---@param note string?   markup in front of the rows
---@return string
function M.walk(explained, note)
  local resource = explained.resource
  local which = "<p>No template matches the path.</p>"
  if resource then
    which = M.fill('<p><code>%s</code> <span class="dim">%s</span></p>',
      resource.template, resource.place)
  end
  return table.concat({ "<h2>The walk through the graph</h2>", which, note or "",
    rows(explained.walk) }, "\n")
end

return M
