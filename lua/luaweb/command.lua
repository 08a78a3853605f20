-- SPDX-License-Identifier: MIT
-- The commands of the program: work (what `serve` does in a worker), dev, routes,
-- explain, check, test.  Each is a job; its result is the exit code (nil: keep
-- running).
local abi = require "luaweb.abi"
local job = require "luaweb.job"
local routes = require "luaweb.command.routes"
local shutdown = require "luaweb.shutdown"
local timer = require "luaweb.timer"
local trace = require "luaweb.trace"

local C = abi.C
local M = {}

local APP_WRONG, USAGE, CHECK_FAILED, INTERRUPTED = 1, 2, 4, 130

-- The flags of each command that are not limits, and what they hold.
local flags_of = {
  -- Of `luaweb serve` and `luaweb dev`, which are the master's.
  work    = { listen = "list", otlp = "text", ["otlp-sample"] = "text" },
  dev     = { listen = "list", otlp = "text", ["otlp-sample"] = "text",
    ["allow-remote"] = "switch" },
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
    if command == "work" then command = "serve" end
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

local function check_words(words)
  if #words ~= 1 then quit(USAGE, "want one app, e.g.: luaweb apps/hello.lua") end
  script = words[1]
end

local function load(words)
  check_words(words)
  local loaded = require("luaweb.app").load(script)
  local capp = loaded:install()
  return loaded, capp
end

-- Has spans sent to a collector, where one is named.
local function trace_requests(flags)
  local service = script:match "([^/]+)$":gsub("%.lua$", "")
  local config, why = require("luaweb.tracing.config").read(flags, service)
  if why then quit(USAGE, why) end
  if not config then return end
  local exporter = require "luaweb.tracing.exporter"
  exporter.start(config)
  exporter.stop_with_worker()
end

local commands = {}

-- In a worker: loads the app, for the master to let it serve.
function commands.work(words, flags)
  timer.sleep(0) -- to start this Lua state has taken long already
  local app, capp = load(words)
  trace_requests(flags)
  if app.on_start then app.on_start(app) end
  local list = table.concat(routes.lines(routes.of(app)), "\n")
  C.luaweb_loaded(abi.host, capp, app.workers or 0, list, #list)
end

-- The same for `luaweb dev`: an app that does not load is shown, where none serves yet.
function commands.dev(words, flags)
  timer.sleep(0)
  check_words(words)
  local dev = require "luaweb.dev"
  local app, capp, why = dev.load(script, flags["allow-remote"])
  if not app then quit(APP_WRONG, why) end
  local list = dev.list(routes.lines(routes.of(app)))
  C.luaweb_loaded(abi.host, capp, 1, list, #list)
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
---@param name string          work, routes, explain, check or test
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
