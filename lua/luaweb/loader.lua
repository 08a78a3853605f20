-- SPDX-License-Identifier: MIT
-- `require` in Lua, so that a module may wait while it loads (the built-in one is a C
-- function, across which nothing can yield), and the folders where modules are found.
local sched = require "luaweb.sched"
local trace = require "luaweb.trace"

local M = {}

--- Is told the name of each module before it is looked for.
---@type fun(name: string)?
M.on_require = nil

local LOADING = {} -- stands for a module that is being loaded

---@class luaweb.Load       the loading of one module
---@field owner thread|string    the coroutine that loads it
---@field waiters thread[]       others that want it too

local loads = {}     -- by name of the module
local waits_for = {} -- by coroutine: the module that another one loads

-- Whether `owner` would wait for itself, if it waited for this module.
local function is_circle(name, owner)
  local load = loads[name]
  while load and load.owner ~= owner do load = loads[waits_for[load.owner]] end
  return load ~= nil
end

local function wait_for(name, owner)
  if is_circle(name, owner) then
    error(("%s: loop or previous error loading module '%s'"):format(trace.place(),
      name), 0)
  end
  sched.check("require", 3)
  local waiters = loads[name].waiters
  waiters[#waiters + 1] = owner
  waits_for[owner] = name
  sched.park()
  waits_for[owner] = nil
end

-- Ends the loading of a module; those that waited look again.
local function settle(name)
  local load = loads[name]
  loads[name] = nil
  if package.loaded[name] == LOADING then package.loaded[name] = nil end
  for _, waiter in ipairs(load.waiters) do sched.ready(waiter) end
end

local function load_by(loader, name, owner)
  package.loaded[name] = LOADING
  loads[name] = { owner = owner, waiters = {} }
  local ok, result = pcall(trace.run_chunk, loader, name)
  if ok and result ~= nil then
    package.loaded[name] = result
  elseif ok and package.loaded[name] == LOADING then
    package.loaded[name] = true
  elseif not ok then
    package.loaded[name] = nil
  end
  settle(name)
  if not ok then error(result, 0) end
  return package.loaded[name]
end

-- What one of package.loaders finds. It raises what is wrong in a module in the name of
-- the Lua function that calls it, and a line of ours in front would help nobody.
local function find_by(find, name)
  local ok, loader = pcall(find, name)
  if ok then return loader end
  if type(loader) == "string" then loader = loader:gsub("^<luaweb>[^:]*:%d+: ", "") end
  error(loader, 0)
end

--- A `require` like the built-in one, but yieldable: a module may wait while it loads,
--- and who wants it meanwhile waits for it.
---@param name string
---@return any
local function require_module(name)
  if type(name) ~= "string" then error("require wants the name of a module", 2) end
  local owner = sched.self() or "boot"
  while package.loaded[name] == LOADING do wait_for(name, owner) end
  if package.loaded[name] then return package.loaded[name] end
  local tried = {}
  if M.on_require then M.on_require(name) end
  for _, find in ipairs(package.loaders) do
    local loader = find_by(find, name)
    if type(loader) == "function" then return load_by(loader, name, owner) end
    if type(loader) == "string" then tried[#tried + 1] = loader end
  end
  error(("%s: module '%s' not found:%s"):format(trace.place(), name,
    table.concat(tried)), 0)
end

--- Gives up what a task loads that will never go on.
---@param task luaweb.Task
function M.lose(task)
  for name, load in pairs(loads) do
    if load.owner == task then settle(name) end
  end
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

-- Puts patterns in front of a path that does not begin with them.
local function prepend(path, patterns)
  local text = table.concat(patterns, ";") .. ";"
  return path:sub(1, #text) == text and path or text .. path
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
  package.path = prepend(package.path, lua)
  package.cpath = prepend(package.cpath, c)
end

return M
