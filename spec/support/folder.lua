-- SPDX-License-Identifier: MIT
-- A temporary folder of Lua files for specs that load modules and apps.  It owns what
-- it made until `remove`.
local lfs = require "lfs"

local M = {}

---@class spec.Folder
---@field path string
---@field private made string[]   files and folders in the order of making
local Folder = {}
Folder.__index = Folder

--- Makes an empty folder.
---@return spec.Folder
function M.new()
  local path = os.tmpname()
  os.remove(path)
  assert(lfs.mkdir(path))
  return setmetatable({ path = path, made = { path } }, Folder)
end

--- Writes a file, and the folders that it lies in.
---@param name string   e.g. "a/b.lua"
---@param text string
---@return string path
function Folder:write(name, text)
  local folder = self.path
  for part in name:gmatch "([^/]+)/" do
    folder = folder .. "/" .. part
    if lfs.mkdir(folder) then table.insert(self.made, folder) end
  end
  local path = self.path .. "/" .. name
  if not lfs.attributes(path) then table.insert(self.made, path) end
  local file = assert(io.open(path, "w"))
  file:write(text)
  file:close()
  return path
end

--- Removes the folder and what was written to it.
function Folder:remove()
  for i = #self.made, 1, -1 do os.remove(self.made[i]) end
end

return M
