-- SPDX-License-Identifier: MIT
-- Where things stand in the source: the only module that uses `debug`.
local M = {}

-- The folder that the framework's own chunks are named after, e.g. "lua/luaweb/".
local own_folder = debug.getinfo(1, "S").source:match "^@(.*)trace%.lua$"

local function is_own(source)
  if source:sub(1, #own_folder) ~= own_folder then return false end
  local name = source:match("^([%w_/]+)%.lua$", #own_folder + 1)
  return name ~= nil and package.loaded["luaweb." .. name:gsub("/", ".")] ~= nil
end

--- The name of a chunk that a module of ours makes: its frames are the module's.
---@param file string   of the module, e.g. "host/steps.lua"
---@return string       for loadstring
function M.chunk_name(file)
  return "@" .. own_folder .. file
end

--- An error object as text, whatever its __tostring does.
---@param raised any
---@return string
function M.text_of(raised)
  if type(raised) == "string" then return raised end
  local ok, text = pcall(tostring, raised)
  if not ok then text = "(its __tostring failed)" end
  return ("(error object is a %s value: %s)"):format(type(raised), text)
end

-- Frames below the app's: of no use to who reads the log.
local function is_lowest(line)
  local source = line:match "^\t(.-):%d+: "
  if source then return is_own(source) end
  return line:find("^\t%[C%]: in function 'x?pcall'") ~= nil
    or line:find "^\t%[C%]: at 0x" ~= nil
end

local function back(raised, co)
  local lines = {}
  local frames = co and debug.traceback(co, "") or debug.traceback("", 5)
  for line in frames:gmatch "\t[^\n]+" do lines[#lines + 1] = line end
  while lines[1] and is_lowest(lines[#lines]) do table.remove(lines) end
  if not lines[1] then return M.text_of(raised) end
  return M.text_of(raised) .. "\nstack traceback:\n" .. table.concat(lines, "\n")
end

--- What was raised, and a traceback without the framework's own lowest frames.  To be
--- called by the message handler of an xpcall, or with `co`.
---@param raised any
---@param co thread?   one that stands still; default: the running one
---@return string
function M.back(raised, co)
  local ok, text = pcall(back, raised, co)
  if ok then return text end
  return type(raised) == "string" and raised or "?" -- a stack overflow: no room
end

--- A message, and of its traceback the frames that are the app's.
---@param text string   see M.back
---@return string
function M.of_app(text)
  local message, frames = text:match "^(.-)\nstack traceback:\n(.*)$"
  local kept = {}
  for line in (frames or ""):gmatch "[^\n]+" do
    local source = line:match "^\t(.-):%d+: "
    if source and not is_own(source) then kept[#kept + 1] = line end
  end
  message = message or text
  local place = message:match "^(.-):%d+: "
  if place and is_own(place) then message = message:gsub("^.-:%d+: ", "", 1) end
  if not kept[1] then return message end
  return message .. "\nstack traceback:\n" .. table.concat(kept, "\n")
end

-- The framework's own, or of a function that is built in: of who waits, the xpcall that
-- runs it and the yield.
local function is_ours(line)
  return line:find("^\t%[C%]: ") ~= nil or is_lowest(line)
end

--- Where a coroutine stands, without the framework's own frames at both ends.
---@param co thread
---@return string lines   "" where there are no others
function M.stack_of(co)
  local lines, from = {}, 1
  for line in debug.traceback(co, ""):gmatch "\t[^\n]+" do lines[#lines + 1] = line end
  while lines[1] and is_ours(lines[#lines]) do table.remove(lines) end
  while lines[from] and is_ours(lines[from]) do from = from + 1 end
  return table.concat(lines, "\n", from)
end

--- Where a coroutine runs, from its innermost function on, but for the framework's
--- lowest frames.
---@param co thread
---@return string lines
function M.top_of(co)
  local lines = {}
  for line in debug.traceback(co, ""):gmatch "\t[^\n]+" do lines[#lines + 1] = line end
  while lines[2] and is_ours(lines[#lines]) do table.remove(lines) end
  return table.concat(lines, "\n")
end

--- What an xpcall gives when its message handler had no room, or failed itself.
---@param text string
---@return string
function M.without_back(text)
  return text .. " (most likely a stack overflow: no room for a traceback)"
end

--- Where a function is written.
---@param fn function
---@return string place   e.g. "apps/hello.lua:4"
function M.place_of(fn)
  local info = debug.getinfo(fn, "S")
  return ("%s:%d"):format(info.short_src, info.linedefined)
end

--- Runs the main function of a file.  `return web.app { ... }` is a tail call, behind
--- which the file's frame is gone: then M.place finds the file by this one.
---@param chunk function
---@param ... any
---@return any
function M.run_chunk(chunk, ...)
  local result = chunk(...)
  return result
end

-- The place of a statement that ended the chunk: its last line with code.
local function place_of_end(chunk)
  local info, last = debug.getinfo(chunk, "SL"), 0
  for line in pairs(info.activelines or {}) do last = math.max(last, line) end
  return info.source, last
end

--- The file and line of the nearest caller outside the framework: where something was
--- declared.
---@return string place   e.g. "apps/hello.lua:4"
function M.place()
  local level = 2
  local info = debug.getinfo(level, "Slf")
  while info do
    local source, line = info.source, info.currentline
    if info.func == M.run_chunk then
      local _, chunk = debug.getlocal(level, 1)
      source, line = place_of_end(chunk)
    end
    if source:sub(1, 1) == "@" and not is_own(source:sub(2)) then
      return ("%s:%d"):format(source:sub(2), line)
    end
    level = level + 1
    info = debug.getinfo(level, "Slf")
  end
  return "?"
end

--- Raises the app's mistake with the place where it is: that of the nearest caller
--- outside the framework.  `return web.text(5)` is a tail call, behind which there is
--- none; then it has no place, rather than one of ours.
---@param message string
function M.blame(message)
  local place = M.place()
  error(place ~= "?" and place .. ": " .. message or message, 0)
end

return M
