-- SPDX-License-Identifier: MIT
-- Runs busted's specs inside luaweb, in the job that calls it: so a spec may wait as a
-- handler may.  Owns the list of spec files, the count and the report; the rest is
-- busted's.  It never exits the process and never reads `arg`.
local limit = require "luaweb.test.limit"

local M = {}

local TIMEOUT = 60 -- seconds that a spec may take

local NO_BUSTED = "luaweb test needs busted: apt-get install lua-busted "
  .. "(from the sources: core/install-packages --test)"

---@class luaweb.SpecOptions
---@field roots string[]?    files, and directories to search for *_spec.lua ("spec")
---@field filter string?     a Lua pattern: only tests whose full name matches run
---@field verbose boolean?   a line for every test too, and tracebacks
---@field timeout number?     seconds that a spec may take (60); 0: no limit
---@field out file*?         where the report goes, default standard output

---@class luaweb.SpecRun
---@field passed integer
---@field failed integer     failures, errors and pending cases alike
---@field verbose boolean
---@field out file*
---@field busted table
---@field broken table<table, boolean>   tests that failed and have not ended yet
---@field at_file integer    how many results there were when the running file began
---@field is_filtered boolean
---@field late table<table, string>   tests that took too long, and what to say of it
---@field note any           what the running test gave to pending()

-- Finding the files -------------------------------------------------------------------

local function add_directory(lfs, dir, list)
  for entry in lfs.dir(dir) do
    local path = dir == "." and entry or dir .. "/" .. entry
    local is_hidden = entry:sub(1, 1) == "."
    if not is_hidden and lfs.symlinkattributes(path, "mode") == "directory" then
      add_directory(lfs, path, list)
    elseif not is_hidden and entry:find "_spec%.lua$" then
      list[#list + 1] = path
    end
  end
end

local function files_of(lfs, root)
  local mode = lfs.attributes(root, "mode")
  if mode == "file" then
    if not root:find "%.lua$" then return nil, "not a Lua file: " .. root end
    return { root }
  elseif mode ~= "directory" then
    return nil, "no spec found in " .. root .. ": there is no such file or directory"
  end
  local list = {}
  add_directory(lfs, root, list)
  if not list[1] then return nil, "no spec found in " .. root .. " (*_spec.lua)" end
  table.sort(list)
  return list
end

--- Every spec file once, those of one root sorted by name.
local function find_files(roots)
  local lfs = require "lfs"
  local list, is_listed = {}, {}
  for _, given in ipairs(roots) do
    local root = given:gsub("^%./+(.)", "%1"):gsub("(.)/+$", "%1")
    local files, message = files_of(lfs, root)
    if not files then return nil, message end
    for _, file in ipairs(files) do
      if not is_listed[file] then list[#list + 1] = file end
      is_listed[file] = true
    end
  end
  return list
end

-- The report --------------------------------------------------------------------------

--- The words of a test: the names of its describe blocks and its own.
local function full_name(run, element)
  local names = {}
  while element and element.descriptor ~= "file" and element.descriptor ~= "suite" do
    table.insert(names, 1, tostring(element.name or element.descriptor))
    element = run.busted.context.parent(element)
  end
  return table.concat(names, " ")
end

--- Where a test or a block is written, "file:line"; a spec file is its name.
local function place_of(element)
  local trace = element.trace
  if not trace or not trace.source then return tostring(element.name or "?") end
  return ("%s:%d"):format(trace.source:gsub("^@", ""), trace.currentline)
end

local function indent(text)
  return "  " .. text:gsub("%s+$", ""):gsub("\n", "\n  ")
end

local function report(run, word, element, message, trace)
  local head = word .. " " .. place_of(element) .. " " .. full_name(run, element)
  local lines = { (head:gsub("%s+$", "")), indent(tostring(message or "no message")) }
  if run.verbose and trace and trace.traceback then
    lines[3] = indent(trace.traceback:gsub("^\n", "", 1))
  end
  run.out:write(table.concat(lines, "\n"), "\n\n")
  run.out:flush()
end

-- What busted tells -------------------------------------------------------------------

--- Something failed in a test or around it: in a file, a describe block, a setup.
local function on_problem(run, word, element, message, trace)
  message, run.late[element] = run.late[element] or message, nil
  report(run, word, element, message, trace)
  if element.descriptor == "it" then
    run.broken[element] = true          -- counted when the test ends
  else
    run.failed = run.failed + 1
  end
end

local function on_test_end(run, element, status)
  local note = run.note
  run.note = nil
  run.broken[element] = nil
  if status == "success" then
    run.passed = run.passed + 1
    if run.verbose then
      run.out:write(("ok %s (%.0f ms)\n"):format(full_name(run, element),
        (element.duration or 0) * 1000))
      run.out:flush()
    end
    return
  end
  run.failed = run.failed + 1
  if status == "pending" then
    report(run, "PENDING", element,
      (note and tostring(note) .. "\n" or "") .. "A skipped case counts as failed.")
  end
end

--- Names the file before it runs, so that a crash or a hang can be placed.
local function on_file_start(run, element)
  run.at_file = run.passed + run.failed
  run.out:write(element.name, "\n")
  run.out:flush()
end

--- A file without a test, say one that reads an empty list of cases, proves nothing.
local function on_file_end(run, element)
  if run.passed + run.failed == run.at_file and not run.is_filtered then
    on_problem(run, "ERROR", element, "The file has no test.")
  end
end

local function subscribe(run)
  local function listen(channel, fn)
    run.busted.subscribe(channel, function(element, _parent, ...)
      fn(element, ...)
      return nil, true                  -- busted's other subscribers get it too
    end, { priority = 1 })
  end
  for _, kind in ipairs { "failure", "error" } do
    local word = kind == "failure" and "FAILED" or "ERROR"
    listen({ kind }, function(element, message, trace)
      on_problem(run, word, element, message, trace)
    end)
  end
  listen({ "pending" }, function(_element, message) run.note = message end)
  listen({ "test", "end" }, function(...) on_test_end(run, ...) end)
  listen({ "file", "start" }, function(element) on_file_start(run, element) end)
  listen({ "file", "end" }, function(element) on_file_end(run, element) end)
end

-- Running -----------------------------------------------------------------------------

local function load_busted()
  local is_there, core = pcall(require, "busted.core")
  if is_there then return core() end
  local is_missing = tostring(core):find("module 'busted.core' not found", 1, true)
  return nil, is_missing and NO_BUSTED or NO_BUSTED .. "\n" .. tostring(core)
end

local function new_run(options)
  local busted, message = load_busted()
  if not busted then return nil, message end
  require "busted"(busted)
  -- busted would forget the modules that a file loaded and load them anew for the next.
  -- But ffi takes the methods of a type only once, and specs must see the scheduler
  -- that runs us.  So modules stay; a spec that wants otherwise has `insulate`.
  busted.register("file", "file", {})
  busted.hide "file"
  local run = { passed = 0, failed = 0, at_file = 0, broken = {}, late = {},
    busted = busted, is_filtered = options.filter ~= nil,
    verbose = options.verbose or false, out = options.out or io.stdout }
  subscribe(run)
  local timeout = options.timeout or TIMEOUT
  if timeout > 0 then limit.set(busted, timeout, run.late) end
  require "busted.modules.filter_loader"()(busted, {
    filter = { options.filter }, filterOut = {}, tags = {}, excludeTags = {},
  })
  return run
end

local function execute(run, files)
  local load_files = require "busted.modules.test_file_loader"(run.busted, { "lua" })
  load_files(files, {}, { excludes = {} })
  require "busted.execute"(run.busted)(1, {})
  for _ in pairs(run.broken) do run.failed = run.failed + 1 end
end

--- Lets require find spec.support.* and what the app has, from the current directory.
local function extend_path()
  local here = "./?.lua;./?/init.lua;"
  if package.path:sub(1, #here) ~= here then package.path = here .. package.path end
end

--- Runs specs and reports on them: each file, what failed with its place and message,
--- and as the last line `N passed, N failed`.  Waits when they wait.  Once in a Lua
--- state: busted can't be set up twice.
---@param options luaweb.SpecOptions
---@return integer? passed   nil: nothing was run, and the second value says why
---@return integer|string failed   failures, errors and pending cases
---@return boolean? is_good   true when something passed and nothing failed
function M.run(options)
  local filter, roots = options.filter, options.roots or { "spec" }
  if filter and not pcall(string.find, "", filter) then
    return nil, "not a Lua pattern: --filter=" .. filter
  end
  extend_path()
  local run, no_busted = new_run(options)
  if not run then return nil, no_busted end
  local files, no_files = find_files(roots)
  if not files then return nil, no_files end
  execute(run, files)
  if run.passed + run.failed == 0 then
    return nil, filter and "no test matches --filter=" .. filter
      or "no test in " .. table.concat(roots, ", ")
  end
  run.out:write(("%d passed, %d failed\n"):format(run.passed, run.failed))
  run.out:flush()
  return run.passed, run.failed, run.failed == 0
end

return M
