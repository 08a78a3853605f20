-- SPDX-License-Identifier: MIT
-- The first chunk that runs in a Lua state.  C calls it with the host, the function
-- that gives embedded texts, and the command line; it gives back the function that runs
-- a turn, and the one that says what holds it up.  Without a host it is a state for
-- offloaded functions: what it gives back answers calls.
local host, embedded, command = ...

local folder = os.getenv "LUAWEB_LUA"
if folder == "" then folder = nil end

-- Finds the framework's modules: in LUAWEB_LUA, a folder like lua/ (for development),
-- or in the binary.
local function find_own(name)
  if name ~= "luaweb" and name:sub(1, 7) ~= "luaweb." then return nil end
  local path = name:gsub("%.", "/")
  if folder then
    for _, form in ipairs { "%s/%s.lua", "%s/%s/init.lua" } do
      local file = form:format(folder, path)
      local chunk, message = loadfile(file)
      if chunk then return chunk end
      if not message:find("cannot open", 1, true) then error(message, 0) end
    end
    return ("\n\tno module %q in %s"):format(name, folder)
  end
  local text = embedded(name)
  if not text then return ("\n\tno module %q in luaweb"):format(name) end
  -- No file of an app can have such a name: see trace.lua.
  local own = name == "luaweb" and "init" or path:sub(#"luaweb/" + 1)
  return assert(loadstring(text, ("@<luaweb>/%s.lua"):format(own)))
end

table.insert(package.loaders, 2, find_own)

if not host then return require "luaweb.offload_state" end

require("luaweb.abi").open(host, embedded "luaweb.abi.h")
require("luaweb.loader").install()
require("luaweb.trace_ends").prepare()
require("luaweb.count").watch_jit()
if os.getenv "LUAWEB_WATCH" then require("luaweb.commit_watch").on() end
require("luaweb.command").start(command, { select(4, ...) })
return require("luaweb.sched").turn, require("luaweb.stall").look
