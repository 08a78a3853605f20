-- SPDX-License-Identifier: MIT
-- Access logs as specs read them: lines come some time after their requests.
local json = require "luaweb.json"
local web = require "luaweb"

local M = {}

local PATIENCE = 5 -- seconds

--- The whole content of a file, "" where there is none.
---@param path string
---@return string
function M.read(path)
  local file = io.open(path, "rb")
  if not file then return "" end
  local text = file:read "*a"
  file:close()
  return text
end

--- The lines of a text, the last of which has ended.
---@param text string
---@return string[]
function M.split(text)
  assert(text == "" or text:sub(-1) == "\n", "the last line is not whole")
  local list = {}
  for line in text:gmatch "([^\n]*)\n" do list[#list + 1] = line end
  return list
end

--- The lines of these files together, as soon as there are so many; never more.
---@param count integer
---@param ... string   paths
---@return string[]
function M.lines(count, ...)
  local lines
  for _ = 1, PATIENCE * 50 do
    lines = {}
    for _, path in ipairs { ... } do
      for _, line in ipairs(M.split(M.read(path))) do lines[#lines + 1] = line end
    end
    if #lines >= count then break end
    web.sleep(0.02)
  end
  if #lines ~= count then
    error(("%d lines instead of %d:\n%s"):format(#lines, count,
      table.concat(lines, "\n"):sub(1, 2000)), 2)
  end
  return lines
end

--- The same, each read as JSON.
---@param count integer
---@param ... string   paths
---@return table[]
function M.entries(count, ...)
  local entries = M.lines(count, ...)
  for i, line in ipairs(entries) do entries[i] = assert(json.decode(line)) end
  return entries
end

return M
