-- SPDX-License-Identifier: MIT
-- The commands of the program: serve, routes, test.  Each is a job; what it gives back is
-- the exit code (nil: keep running).
local abi = require "luaweb.abi"
local ffi = require "ffi"
local host = require "luaweb.host"
local job = require "luaweb.job"
local log = require "luaweb.log"

local C = abi.C
local M = {}

local APP_WRONG, USAGE, CANNOT_LISTEN, SPEC_FAILED = 1, 2, 3, 4

-- A fault that ends the program: printed as it is, without a traceback.
local function quit(code, message)
  error({ code = code, message = message }, 0)
end

-- Sorts arguments into words and flags; a flag that may repeat is a list.
local function read_arguments(arguments)
  local words, flags = {}, { listen = {} }
  local i = 1
  while i <= #arguments do
    local word = arguments[i]
    local name, value = word:match "^%-%-([%w-]+)=(.*)$"
    name = name or word:match "^%-%-([%w-]+)$"
    if not name then
      words[#words + 1] = word
    elseif name == "json" then
      flags.json = true
    else
      if not value then i, value = i + 1, arguments[i + 1] end
      if name == "listen" then table.insert(flags.listen, value) else flags[name] = value end
    end
    i = i + 1
  end
  return words, flags
end

-- "127.0.0.1:8080", "[::1]:80" or "unix:/path"
local function read_address(text)
  if text:find "^unix:." then return text, 0, text end
  local name, port = text:match "^(.*):(%d+)$"
  port = tonumber(port)
  if not name or name == "" or port > 65535 then
    quit(USAGE, ("--listen %s: want host:port or unix:/path"):format(text))
  end
  return name:match "^%[(.*)%]$" or name, port, nil
end

local function listen(capp, text)
  local address, port, path = read_address(text)
  local bound = C.luaweb_listen(abi.host, capp, address, port)
  if bound < 0 then
    quit(CANNOT_LISTEN, ("can't listen on %s: %s"):format(text,
      ffi.string(C.luaweb_error(abi.host, bound))))
  end
  return path or ("http://%s:%d"):format(text:match "^(.*):%d+$", bound)
end

local function load(words)
  if #words ~= 1 then quit(USAGE, "want one app, e.g.: luaweb apps/hello.lua") end
  local app = require "luaweb.app"
  local loaded = app.load(words[1])
  local capp, routes = loaded:install()
  return loaded, capp, routes
end

-- "*" as people say it
local function methods_text(route)
  local list = {}
  for i, method in ipairs(route.methods) do
    list[i] = method == "*" and "(any)" or method
  end
  return table.concat(list, ", ")
end

local function print_routes(routes)
  local width, methods_width = 0, 0
  for _, route in ipairs(routes) do
    width = math.max(width, #route.template)
    methods_width = math.max(methods_width, #methods_text(route))
  end
  local form = ("  %%-%ds  %%-%ds  %%s"):format(width, methods_width)
  for _, route in ipairs(routes) do
    print(form:format(route.template, methods_text(route), route.place))
  end
end

local commands = {}

function commands.serve(words, flags)
  local app, capp, routes = load(words)
  if app.on_start then app.on_start(app) end
  if #flags.listen == 0 then flags.listen[1] = "127.0.0.1:8080" end
  for _, text in ipairs(flags.listen) do
    print(("luaweb serves %s on %s"):format(words[1], listen(capp, text)))
  end
  print_routes(routes)
end

function commands.routes(words, flags)
  local _, _, routes = load(words)
  if flags.json then
    local json = require "luaweb.json"
    for _, route in ipairs(routes) do route.methods = json.array(route.methods) end
    print(json.encode(json.array(routes)))
  else
    print_routes(routes)
  end
  return 0
end

function commands.test(words, flags)
  local runner = require "luaweb.spec_runner"
  local passed, failed = runner.run {
    roots = #words > 0 and words or { "spec" },
    filter = flags.filter,
  }
  if not passed then quit(APP_WRONG, failed) end
  return failed == 0 and 0 or SPEC_FAILED
end

local function run(name, arguments)
  return commands[name](read_arguments(arguments))
end

local function on_error(err)
  if type(err) == "table" and err.code then return err end
  if type(err) ~= "string" then err = tostring(err) end
  return { code = APP_WRONG, message = err }
end

--- Starts a command as a job.
---@param name string          serve, routes or test
---@param arguments string[]
function M.start(name, arguments)
  job.spawn(function()
    local ok, result = xpcall(run, on_error, name, arguments)
    if not ok then
      io.stderr:write("luaweb: ", result.message, "\n")
      result = result.code
    end
    if result then C.luaweb_exit(abi.host, result) end
  end)
end

require("luaweb.sched").upcalls.stop = function()
  job.spawn(function()
    local ok, err = pcall(host.run_stop_hooks)
    if not ok then log.error("on_stop failed: " .. tostring(err)) end
    C.luaweb_exit_when_idle(abi.host)
  end)
end

return M
