-- SPDX-License-Identifier: MIT
-- Where things stand in the source: the only module that uses `debug`.
local M = {}

--- A traceback of the running coroutine, without the framework's own lowest frames.
---@param message any   what was raised
---@return string
function M.back(message)
  local text = type(message) == "string" and message
    or "(error object is a " .. type(message) .. " value: " .. tostring(message) .. ")"
  local lines = {}
  for line in debug.traceback(text, 2):gmatch "[^\n]+" do
    if not line:find("luaweb/[%w_]+%.lua:") and not line:find("[C]: in function 'xpcall'", 1, true)
    then
      lines[#lines + 1] = line
    end
  end
  return table.concat(lines, "\n")
end

--- The file and line of the nearest caller outside the framework: where something was
--- declared.
---@return string place   e.g. "apps/hello.lua:4"
function M.place()
  for level = 2, 20 do
    local info = debug.getinfo(level, "Sl")
    if not info then break end
    local source = info.source
    if source:sub(1, 1) == "@" and not source:find "luaweb/[%w_]+%.lua$" then
      return ("%s:%d"):format(source:sub(2), info.currentline)
    end
  end
  return "?"
end

return M
