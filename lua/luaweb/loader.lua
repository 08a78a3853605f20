-- SPDX-License-Identifier: MIT
-- `require` in Lua, so that a module may wait while it loads (the built-in one is a C
-- function, across which nothing can yield), and the folders where modules are found.
local M = {}

local LOADING = {} -- marks a module that is being loaded

--- A `require` like the built-in one, but yieldable.
---@param name string
---@return any
local function require_module(name)
  if type(name) ~= "string" then error("require wants the name of a module", 2) end
  local loaded = package.loaded[name]
  if loaded == LOADING then
    error(("loop or previous error loading module %q"):format(name), 2)
  end
  if loaded ~= nil then return loaded end
  local tried = {}
  for _, find in ipairs(package.loaders) do
    local loader = find(name)
    if type(loader) == "function" then
      package.loaded[name] = LOADING
      local ok, result = pcall(loader, name)
      if not ok then
        package.loaded[name] = nil
        error(result, 0)
      end
      if result ~= nil then
        package.loaded[name] = result
      elseif package.loaded[name] == LOADING then
        package.loaded[name] = true
      end
      return package.loaded[name]
    elseif type(loader) == "string" then
      tried[#tried + 1] = loader
    end
  end
  error(("module %q not found:%s"):format(name, table.concat(tried)), 2)
end

-- LuaRocks trees: of the app, of the user, of the machine.
local function trees(folder)
  local list = { folder .. "/lua_modules" }
  local home = os.getenv "HOME"
  if home and home ~= "" then list[#list + 1] = home .. "/.luarocks" end
  list[#list + 1] = "/usr/local"
  return list
end

--- Replaces the global `require`.
function M.install()
  _G.require = require_module
end

--- Makes modules beside a folder, and in LuaRocks trees, found before all others.
---@param folder string   e.g. "apps"
function M.add_folder(folder)
  local lua = { folder .. "/?.lua", folder .. "/?/init.lua" }
  local c = { folder .. "/?.so" }
  for _, tree in ipairs(trees(folder)) do
    lua[#lua + 1] = tree .. "/share/lua/5.1/?.lua"
    lua[#lua + 1] = tree .. "/share/lua/5.1/?/init.lua"
    c[#c + 1] = tree .. "/lib/lua/5.1/?.so"
  end
  package.path = table.concat(lua, ";") .. ";" .. package.path
  package.cpath = table.concat(c, ";") .. ";" .. package.cpath
end

return M
