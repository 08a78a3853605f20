-- SPDX-License-Identifier: MIT
-- Answers that show what has failed, while an app is developed: as a page, a problem
-- (RFC 9457) or text, whichever the client prefers.
local html = require "luaweb.dev.html"
local json = require "luaweb.json"
local response = require "luaweb.response"
local source = require "luaweb.dev.source"
local utf8 = require "luaweb.utf8"

local M = {}

local MOST_EXCERPTS = 8

---@class luaweb.Trouble
---@field status integer
---@field title string              what has failed, in a few words
---@field text string               the message, and maybe a traceback
---@field id string?                what the log names the request by
---@field where string?             who was asked, and where it stands
---@field seen luaweb.Seen?         the request
---@field fields [string, string][]?   of it, as they may be shown
---@field params [string, string][]?
---@field explained luaweb.Explained?

-- What the client prefers -------------------------------------------------------------

local forms = { "text/plain", "text/html", "application/problem+json" }
local ALSO = { ["application/problem+json"] = "application/json" }

-- How much a client likes a type, from its Accept (RFC 9110 12.5.1).
local function weight_of(accept, form)
  local best, found = 0, -1
  for item in accept:gmatch "[^,]+" do
    local range = item:match("^%s*([^;%s]*)"):lower()
    local is_exact = range == form or range == ALSO[form]
    local how = is_exact and 2 or range == form:match "^[^/]*" .. "/*" and 1
      or range == "*/*" and 0 or -1
    if how > found then
      found, best = how, tonumber(item:match ";%s*[qQ]=([%d.]+)") or 1
    end
  end
  return best
end

local function preferred(accept)
  local chosen, most = forms[1], 0
  for _, form in ipairs(forms) do
    local weight = accept and weight_of(accept, form) or 0
    if weight > most then chosen, most = form, weight end
  end
  return chosen
end

-- The page ----------------------------------------------------------------------------

local function excerpt_markup(excerpt)
  local parts = { "<pre>" }
  for i, line in ipairs(excerpt.lines) do
    local number = excerpt.first + i - 1
    parts[#parts + 1] = html.fill("<span%s><i>%s</i>%s</span>", "", number, line)
    if number == excerpt.line then
      parts[#parts] = parts[#parts]:gsub("^<span", '<span class="hit"')
    end
  end
  parts[#parts + 1] = "</pre>"
  return table.concat(parts)
end

local function add_frames(parts, frames)
  local shown = 0
  for _, frame in ipairs(frames) do
    local excerpt = shown < MOST_EXCERPTS and source.excerpt(frame.path, frame.line)
    parts[#parts + 1] = html.fill('<p><code>%s:%s</code> '
      .. '<span class="dim">%s</span></p>', frame.path, frame.line, frame.what or "")
    if excerpt then
      shown = shown + 1
      parts[#parts + 1] = excerpt_markup(excerpt)
    end
  end
end

local function add_request(parts, trouble)
  local seen = trouble.seen
  parts[#parts + 1] = "<h2>Request</h2>"
  parts[#parts + 1] = html.fill("<p><code>%s %s</code></p>", seen.method, seen.target)
  parts[#parts + 1] = html.table(trouble.fields)
  if trouble.params and trouble.params[1] then
    parts[#parts + 1] = "<h2>Parameters</h2>"
    parts[#parts + 1] = html.table(trouble.params)
  end
end

local function page_of(trouble)
  local message, frames = source.read(trouble.text)
  local parts = {
    html.fill('<p class="kicker">%s %s%s</p>', trouble.status, trouble.title,
      trouble.id and ", request " .. trouble.id or ""),
    html.fill("<h1>%s</h1>", message),
  }
  if trouble.where then parts[3] = html.fill('<p class="dim">%s</p>', trouble.where) end
  add_frames(parts, frames)
  if trouble.seen then add_request(parts, trouble) end
  if trouble.explained then parts[#parts + 1] = html.walk(trouble.explained) end
  local back = trouble.text:match "\nstack traceback:\n(.*)$"
  if back then
    parts[#parts + 1] = "<details><summary>Traceback</summary><pre><span>"
      .. html.escape(back) .. "</span></pre></details>"
  end
  return html.page(message:match "^[^\n]*", parts)
end

-- The other forms ---------------------------------------------------------------------

--- The first place of a failure whose source can be shown.
---@param text string
---@return string message
---@return string? place
---@return luaweb.Excerpt? excerpt
function M.first(text)
  local message, frames = source.read(text)
  for _, frame in ipairs(frames) do
    local excerpt = source.excerpt(frame.path, frame.line)
    if excerpt then return message, frame.path .. ":" .. frame.line, excerpt end
  end
  return message
end

local function text_of(trouble)
  local _, place, excerpt = M.first(trouble.text)
  local text = ("%d %s\n\n%s\n"):format(trouble.status, trouble.title, trouble.text)
  if trouble.where then text = text .. trouble.where .. "\n" end
  return excerpt and ("%s\n%s\n%s\n"):format(text, place, source.text(excerpt)) or text
end

local function problem_of(trouble)
  local whole = utf8.mended(trouble.text)
  local message, place, excerpt = M.first(whole)
  return json.encode {
    title = trouble.title, status = trouble.status, detail = message,
    request = trouble.id, place = place,
    source = excerpt and utf8.mended(source.text(excerpt)) or nil,
    traceback = whole:match "\nstack traceback:\n(.*)$",
  } .. "\n"
end

local makers = {
  ["text/plain"] = text_of, ["text/html"] = page_of,
  ["application/problem+json"] = problem_of,
}
local UTF8 = "; charset=utf-8"

--- The answer that shows what has failed.
---@param accept string?   the request's Accept
---@param trouble luaweb.Trouble
---@return luaweb.Response
function M.answer(accept, trouble)
  local form = preferred(accept)
  local media_type = form:find "^text/" and form .. UTF8 or form
  return response.bytes(media_type, makers[form](trouble)):status(trouble.status)
    :header("Cache-Control", "no-store")
end

return M
