-- SPDX-License-Identifier: MIT
-- The commands of the program: serve, routes, explain, check, test.  Each is a job; its
-- result is the exit code (nil: keep running).
local abi = require "luaweb.abi"
local ffi = require "ffi"
local job = require "luaweb.job"
local routes = require "luaweb.command.routes"
local shutdown = require "luaweb.shutdown"
local trace = require "luaweb.trace"
local who_listens = require "luaweb.command.who_listens"

local C = abi.C
local M = {}

local APP_WRONG, USAGE, CANNOT_LISTEN, CHECK_FAILED, INTERRUPTED = 1, 2, 3, 4, 130

local ADDRESS_IN_USE = "address already in use" -- as libuv says it

-- The flags of each command that are not limits, and what they hold.
local flags_of = {
  serve   = { listen = "list" },
  work    = { listen = "list" },
  routes  = { json = "switch" },
  explain = { H = "list", d = "text", json = "switch", dot = "switch" },
  check   = { H = "list", param = "list", json = "switch" },
  test    = { filter = "text", timeout = "text", verbose = "switch" },
}

local script = "?" -- the app's

-- A fault that ends the program: printed as it is, without a traceback.
---@class luaweb.Quit
---@field code integer
---@field message string
local Quit = {}

local function quit(code, message)
  error(setmetatable({ code = code, message = message }, Quit), 0)
end

-- A flag of a command: its name and what it holds, or nil where the word is none; the
-- value where it stands behind an =.
local function read_flag(command, word)
  local dashes, name, value = word:match "^(%-%-?)([%w-]+)=(.*)$"
  if not name then dashes, name = word:match "^(%-%-?)([%w-]+)$" end
  if not name then return nil end
  local kind = flags_of[command][name]
  if not kind then
    quit(USAGE, ("%s%s is no option of `luaweb %s`"):format(dashes, name, command))
  end
  return name, kind, value
end

-- Sorts the arguments of a command into words and flags.
local function read_arguments(command, arguments)
  local words, flags = {}, {}
  for name, kind in pairs(flags_of[command]) do
    flags[name] = kind == "list" and {} or nil
  end
  local i = 1
  while i <= #arguments do
    local name, kind, value = read_flag(command, arguments[i])
    if name and kind ~= "switch" and not value then
      i, value = i + 1, arguments[i + 1]
    end
    if not name then
      words[#words + 1] = arguments[i]
    elseif kind == "list" then
      table.insert(flags[name], value)
    else
      flags[name] = value or true
    end
    i = i + 1
  end
  return words, flags
end

-- "127.0.0.1:8080", "[::1]:80" or "unix:/path"
local function read_address(text)
  if text:find "^unix:." then
    return { text = text, host = text, port = 0, path = text:sub(6) }
  end
  local shown, port = text:match "^(.*):(%d+)$"
  local name = shown and (shown:match "^%[([%x:.%%%w]+)%]$" or shown:match "^[^:%[]+$")
  if not name or tonumber(port) > 65535 then
    quit(USAGE, ("--listen %s: want host:port, [address]:port or unix:/path")
      :format(text))
  end
  return { text = text, host = name, shown = shown, port = tonumber(port) }
end

-- Who listens where we can't, or what lies there.
local function taken_by(address)
  local path = address.path
  local who = who_listens.find(path or address.host, not path and address.port or nil)
  if who then return ", held by " .. who end
  local file = path and io.open(path) -- a socket can't be opened
  if not file then return "" end
  file:close()
  return ", by a file that is no socket"
end

-- Listens on one address, and gives it as people write it.
local function listen(capp, address)
  local bound = C.luaweb_listen(abi.host, capp, address.host, address.port)
  if bound < 0 then
    local why = ffi.string(C.luaweb_error(abi.host, bound))
    if why == ADDRESS_IN_USE then why = why .. taken_by(address) end
    quit(CANNOT_LISTEN, ("can't listen on %s: %s"):format(address.text, why))
  end
  return address.path and address.text or ("http://%s:%d"):format(address.shown, bound)
end

local function load(words)
  if #words ~= 1 then quit(USAGE, "want one app, e.g.: luaweb apps/hello.lua") end
  script = words[1]
  local loaded = require("luaweb.app").load(script)
  local capp = loaded:install()
  return loaded, capp
end

local commands = {}

function commands.serve(words, flags)
  if #flags.listen == 0 then flags.listen[1] = "127.0.0.1:8080" end
  local addresses = {}
  for i, text in ipairs(flags.listen) do addresses[i] = read_address(text) end
  local app, capp = load(words)
  if app.on_start then app.on_start(app) end
  if shutdown.stopping:ready() then return end
  local list = table.concat(routes.lines(routes.of(app)), "\n")
  for i, address in ipairs(addresses) do addresses[i] = listen(capp, address) end
  C.luaweb_loaded(abi.host, capp, app.workers or 0, list, #list)
  for _, address in ipairs(addresses) do
    print(("luaweb serves %s on %s"):format(words[1], address))
  end
  for _, line in ipairs(routes.lines(routes.of(app))) do print(line) end
end

-- In a worker: loads the app, for the master to let it serve.
function commands.work(words)
  local app, capp = load(words)
  if app.on_start then app.on_start(app) end
  local list = table.concat(routes.lines(routes.of(app)), "\n")
  C.luaweb_loaded(abi.host, capp, app.workers or 0, list, #list)
end

function commands.routes(words, flags)
  local list = routes.of(load(words))
  if flags.json then
    print(routes.json(list))
  else
    for _, line in ipairs(routes.lines(list)) do print(line) end
  end
  return 0
end

-- Runs what looks at an app: `wanted` is what its `read` gave, or nil and why.
local function look(path, run, wanted, message)
  if not wanted then quit(USAGE, message) end
  C.luaweb_exit_on_signal(abi.host, INTERRUPTED)
  local app, capp = load { path }
  local probe = require("luaweb.probe").start(app, capp)
  local is_good, fault = run(probe, wanted)
  probe:stop()
  shutdown.run_hooks()
  if fault then quit(USAGE, fault) end
  return is_good and 0 or CHECK_FAILED
end

function commands.explain(words, flags)
  local explain = require "luaweb.explain"
  return look(words[1], explain.run, explain.read(words, flags))
end

function commands.check(words, flags)
  local check = require "luaweb.check"
  return look(words[1], check.run, check.read(words, flags))
end

function commands.test(words, flags)
  C.luaweb_exit_on_signal(abi.host, INTERRUPTED)
  local runner = require "luaweb.test.runner"
  local timeout = tonumber(flags.timeout)
  if flags.timeout and not (timeout and timeout >= 0) then
    quit(USAGE, ("--timeout %s: want seconds, 0 or more"):format(flags.timeout))
  end
  local passed, failed = runner.run {
    roots = #words > 0 and words or { "spec" },
    filter = flags.filter,
    timeout = timeout,
    verbose = flags.verbose,
  }
  if not passed then quit(APP_WRONG, failed) end
  return failed == 0 and 0 or CHECK_FAILED
end

local function run(name, arguments)
  return commands[name](read_arguments(name, arguments))
end

-- Makes one message of what was raised, where it was raised.
local function on_error(err)
  if getmetatable(err) == Quit then return err end
  if type(err) ~= "string" then
    err = ("%s: raised a %s: %s"):format(trace.place(), type(err), tostring(err))
  end
  return setmetatable({ code = APP_WRONG, message = err }, Quit)
end

-- Runs a command; its exit code, after the message where it failed.
local function run_to_end(name, arguments)
  local ok, result = xpcall(run, on_error, name, arguments)
  if ok then return result end
  if getmetatable(result) ~= Quit then -- a stack overflow leaves no room for on_error
    result = { code = APP_WRONG, message = script .. ": stack overflow" }
  end
  local message = result.message
  if result.code == USAGE then message = message .. "\nTry: luaweb --help" end
  return result.code, message
end

--- Starts a command as a job.
---@param name string          serve, routes, explain, check or test
---@param arguments string[]
function M.start(name, arguments)
  local main = job.spawn(run_to_end, name, arguments)
  job.spawn(function()
    local ok, code, message = pcall(main.join, main)
    if not ok then -- the script itself yielded: nobody would have resumed it
      code, message = APP_WRONG, ("%s: %s"):format(script, tostring(code))
    end
    message = message or ""
    if code then C.luaweb_exit(abi.host, code, message, #message) end
  end)
end

return M
