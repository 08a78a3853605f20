-- SPDX-License-Identifier: MIT
-- Sources of the app while it is developed: which files it was loaded from, what stands
-- around a line of one, and the places that a message or a traceback names.
local M = {}

local LARGEST = 2 ^ 20 -- octets of a file that is looked into
local LONGEST = 200    -- octets of a line that are shown
local AROUND = 4       -- lines in front of the one in question, and behind it
local SEARCHED = 8192  -- octets of a message that may name places, and of a traceback

local files, is_known = {}, {}
local folder -- of the app, with a slash; "": where we are

--- Notes a file that the app was loaded from.
---@param path string
function M.add(path)
  if is_known[path] then return end
  is_known[path], files[#files + 1] = true, path
end

--- Tells the folder whose files may be shown, too.
---@param path string
function M.add_folder(path) folder = path == "." and "" or path .. "/" end

-- Whether a file may be shown.  A message names whatever a client has put into it, so
-- that files which have nothing to do with the app, or are hidden, are none of it.
local function may_show(path)
  if is_known[path] then return true end
  local is_below = folder and path:sub(1, #folder) == folder
  local rest = is_below and path:sub(#folder + 1):gsub("^%./", "")
  return rest and not rest:find "^[/.]" and not rest:find("/.", 1, true)
end

-- Lua shortens long names of chunks at their begin: "...ng/path/app.lua".
local function whole(path)
  local ending = path:match "^%.%.%.(.+)$"
  for _, file in ipairs(ending and files or {}) do
    if file:sub(-#ending) == ending then return file end
  end
  return path
end

local function read(path)
  local file = may_show(path) and io.open(path, "rb")
  local text = file and file:read(LARGEST)
  if file then file:close() end
  return text
end

---@class luaweb.Excerpt
---@field first integer     the number of its first line
---@field line integer      the one in question
---@field lines string[]

-- The begin of a line, not ending within a character.
local function cut(line)
  if #line <= LONGEST then return line end
  return (line:sub(1, LONGEST):gsub("[\192-\255][\128-\191]*$", ""))
end

--- What stands around a line of a file.
---@param path string
---@param line integer
---@return luaweb.Excerpt?   nil: there is no such line, or it is not to be shown
function M.excerpt(path, line)
  local text, number = read(path), 0
  local found = { first = math.max(1, line - AROUND), line = line, lines = {} }
  for one in ((text or "") .. "\n"):gmatch "(.-)\r?\n" do
    number = number + 1
    if number > line + AROUND then break end
    if number >= found.first then table.insert(found.lines, cut(one)) end
  end
  local last = #found.lines
  if found.lines[last] == "" and found.first + last - 1 > line then
    found.lines[last] = nil -- most likely the end of the file
  end
  return text and number >= line and found or nil
end

---@class luaweb.Frame
---@field path string
---@field line integer
---@field what string?   e.g. "in function 'list'"

-- The places that a text names, each once: "apps/todo.lua:12:".
local function places_in(text, frames, has)
  for path, line, rest in text:gmatch "([^%s:'\"]+):(%d+):?([^\n]*)" do
    path = whole(path)
    local place = path .. ":" .. line
    local is_source = path:find "%.%w+$" or is_known[path]
    if is_source and not path:find "^<luaweb>" and not has[place] then
      has[place] = true
      frames[#frames + 1] = { path = path, line = tonumber(line),
        what = rest:match "^ (in .+)$" }
    end
  end
end

--- Takes a failure apart: what was raised, and the places from there on.
---@param text string   a message, and maybe a traceback
---@return string message
---@return luaweb.Frame[] frames
function M.read(text)
  local message, back = text:match "^(.-)\nstack traceback:\n(.*)$"
  local frames, has = {}, {}
  places_in((message or text):sub(1, SEARCHED), frames, has)
  if back then places_in(back:sub(1, SEARCHED), frames, has) end
  return message or text, frames
end

--- An excerpt as text: the line in question is marked.
---@param excerpt luaweb.Excerpt
---@return string
function M.text(excerpt)
  local lines = {}
  for i, line in ipairs(excerpt.lines) do
    local number = excerpt.first + i - 1
    local mark = number == excerpt.line and ">" or " "
    lines[i] = (("%s %4d | %s"):format(mark, number, line):gsub("%s+$", ""))
  end
  return table.concat(lines, "\n")
end

return M
