-- SPDX-License-Identifier: MIT
-- Who may know whom: reads the #include lines of core/ and the require lines of lua/,
-- and holds them against the layers.  A violation names its file, line and rule.
local lfs = require "lfs"

-- From the ground up: a folder includes itself and what stands before it.
local LAYERS = { "base", "http", "route", "machine", "share", "net", "host", "process" }
local LEVEL = {}
for level, name in ipairs(LAYERS) do LEVEL[name] = level end

-- Headers of libraries: how low a layer may still include them, and how high.
local LIBRARIES = {
  { header = "^openssl/",     lowest = "net",  highest = "net", name = "OpenSSL" },
  { header = "^uv%.h$",       lowest = "net",  name = "libuv" },
  { header = "^uv/",          lowest = "net",  name = "libuv" },
  { header = "^lua",          lowest = "host", name = "Lua" },
  { header = "^lauxlib%.h$",  lowest = "host", name = "Lua" },
  { header = "^lualib%.h$",   lowest = "host", name = "Lua" },
}

-- Reading -----------------------------------------------------------------------------

local function files_below(dir, ending, list)
  list = list or {}
  for entry in lfs.dir(dir) do
    local path = dir .. "/" .. entry
    if entry:sub(1, 1) ~= "." then
      if lfs.attributes(path, "mode") == "directory" then
        files_below(path, ending, list)
      elseif path:find(ending) then
        list[#list + 1] = path
      end
    end
  end
  table.sort(list)
  return list
end

local function read(path)
  local file = assert(io.open(path, "rb"))
  local text = file:read "*a"
  file:close()
  return text
end

--- Every line with its number.
local function lines_of(text)
  local number, list = 0, {}
  for line in (text .. "\n"):gmatch "(.-)\n" do
    number = number + 1
    list[number] = line
  end
  return ipairs(list)
end

local function exists(path)
  return lfs.attributes(path, "mode") == "file"
end

-- The rules: nil, or what is wrong ----------------------------------------------------

local function check_own(layer, target)
  local folder = target:match "^([%w_]+)/"
  if not folder then return "an include names its folder: \"" .. target .. "\"" end
  if not LEVEL[folder] then return folder .. " is no layer of core/" end
  if LEVEL[folder] > LEVEL[layer] then
    return ("%s may include itself and what is below, not %s"):format(layer, folder)
  end
  if not exists("core/" .. target) then return "there is no core/" .. target end
end

local function check_library(layer, header)
  for _, library in ipairs(LIBRARIES) do
    local lowest, highest = LEVEL[library.lowest], LEVEL[library.highest or "process"]
    local is_known = LEVEL[layer] >= lowest and LEVEL[layer] <= highest
    if header:find(library.header) and not is_known then
      return ("%s knows nothing of %s (<%s>)"):format(layer, library.name, header)
    end
  end
end

--- The violations of one C file, as "file:line: rule".
local function check_includes(path, text)
  local layer = path:match "^core/([%w_]+)/"
  if not LEVEL[layer] then return { path .. ":1: not in the folder of a layer" } end
  local found = {}
  for number, line in lines_of(text) do
    local own = line:match "^%s*#%s*include%s*\"([^\"]+)\""
    local header = line:match "^%s*#%s*include%s*<([^>]+)>"
    local rule = own and check_own(layer, own)
      or header and check_library(layer, header)
    if rule then found[#found + 1] = ("%s:%d: %s"):format(path, number, rule) end
  end
  return found
end

--- The luaweb modules that a text requires: { {name, line}, ... }.
local function requires_of(text)
  local found = {}
  for number, line in lines_of(text) do
    local code = line:gsub("%-%-.*$", "")
    for name in code:gmatch "%f[%w_]require%s*%(?%s*[\"'](luaweb[%w_.]*)[\"']" do
      found[#found + 1] = { name = name, line = number }
    end
  end
  return found
end

local function module_name(path)
  return (path:gsub("^lua/", ""):gsub("%.lua$", ""):gsub("/init$", ""):gsub("/", "."))
end

--- One cycle among modules as "a -> b -> a", or nil.  `needs` is name -> list of names.
local function find_cycle(needs)
  local state, trail = {}, {}
  local function visit(name)
    trail[#trail + 1] = name
    state[name] = "open"
    for _, other in ipairs(needs[name] or {}) do
      if state[other] == "open" then
        local first = #trail
        while trail[first] ~= other do first = first - 1 end
        return table.concat(trail, " -> ", first) .. " -> " .. other
      end
      local cycle = not state[other] and visit(other)
      if cycle then return cycle end
    end
    state[name] = "closed"
    trail[#trail] = nil
  end
  local names = {}
  for name in pairs(needs) do names[#names + 1] = name end
  table.sort(names)
  for _, name in ipairs(names) do
    local cycle = not state[name] and visit(name)
    if cycle then return cycle end
  end
end

--- The first line that uses the debug library, or nil.
local function debug_line(text)
  for number, line in lines_of(text) do
    local code = line:gsub("%-%-.*$", ""):gsub("\\.", "")
    if code:find "require%s*%(?%s*[\"']debug[\"']" then return number end
    code = code:gsub("\"[^\"]*\"", "\"\""):gsub("'[^']*'", "''")
    if (" " .. code):find "[^%w_.:]debug%s*[.%[]" then return number end
  end
end

local function none(violations)
  assert(#violations == 0, table.concat(violations, "\n"))
end

describe("the layers of core/", function()
  local files = files_below("core", "%.[ch]$")

  it("are all there", function()
    local all = table.concat(files, "\n")
    for _, layer in ipairs(LAYERS) do
      local is_there = all:find("core/" .. layer .. "/", 1, true) ~= nil
      assert.is_true(is_there, "no file in core/" .. layer)
    end
  end)

  for _, path in ipairs(files) do
    it(path .. " includes only its own folder and folders below", function()
      none(check_includes(path, read(path)))
    end)
  end
end)

describe("the modules of lua/", function()
  local files = files_below("lua", "%.lua$")
  local module_files, needs = {}, {}
  for _, path in ipairs(files) do
    local names = {}
    for i, need in ipairs(requires_of(read(path))) do names[i] = need.name end
    needs[module_name(path)], module_files[module_name(path)] = names, path
  end

  for _, path in ipairs(files) do
    it(path .. " requires only modules that exist", function()
      local found = {}
      for _, need in ipairs(requires_of(read(path))) do
        if not module_files[need.name] then
          found[#found + 1] = ("%s:%d: there is no module %s"):format(path, need.line,
            need.name)
        end
      end
      none(found)
    end)
  end

  it("do not need each other in a circle", function()
    assert.is_nil(find_cycle(needs))
  end)

  it("leave the debug library to one of them", function()
    local users = {}
    for _, path in ipairs(files) do
      local line = debug_line(read(path))
      if line then
        users[#users + 1] = ("%s:%d: one module only uses debug"):format(path, line)
      end
    end
    if #users > 1 then none(users) end
  end)
end)

describe("the check of the layers", function()
  local function first(path, line)
    return check_includes(path, line)[1]
  end

  it("refuses a folder above, naming file, line and rule", function()
    assert.equal("core/http/x.c:2: http may include itself and what is below, not net",
      first("core/http/x.c", "\n#include \"net/loop.h\""))
  end)

  it("refuses a header without its folder, and one that is not there", function()
    assert.matches("names its folder", first("core/http/x.c", "#include \"x.h\""))
    assert.matches("no core/base/nowhere.h",
      first("core/http/x.c", "#include \"base/nowhere.h\""))
  end)

  it("refuses a file outside the layers", function()
    assert.matches("core/x.c:1: not in", first("core/x.c", ""))
    assert.matches("extra is no layer",
      first("core/net/x.c", "# include \"extra/x.h\""))
  end)

  it("refuses OpenSSL but in net", function()
    assert.matches("host knows nothing of OpenSSL",
      first("core/host/x.c", "#include <openssl/ssl.h>"))
    assert.matches("http knows nothing of OpenSSL",
      first("core/http/x.c", "#include <openssl/ssl.h>"))
    assert.is_nil(first("core/net/x.c", "#include <openssl/ssl.h>"))
  end)

  it("refuses libuv below net and Lua below host", function()
    assert.matches("machine knows nothing of libuv",
      first("core/machine/x.c", "#include <uv.h>"))
    assert.matches("net knows nothing of Lua",
      first("core/net/x.c", "#include <lua.h>"))
    assert.matches("nothing of Lua", first("core/base/x.c", "#  include <lauxlib.h>"))
  end)

  it("lets a layer include itself, the ground and its libraries", function()
    assert.is_nil(first("core/host/x.c",
      "#include <lua.h>\n#include <uv.h>\n#include \"base/abi.h\""))
  end)

  it("sees a circle of modules", function()
    assert.equal("b -> c -> b", find_cycle { a = { "b" }, b = { "c" }, c = { "b" } })
    assert.is_nil(find_cycle { a = { "b", "c" }, b = { "c" }, c = {} })
  end)

  it("sees requires in every form, and none in a comment", function()
    local found = requires_of "local a = require(\"luaweb.a\")\nrequire 'luaweb.b'.c()"
    assert.same({ name = "luaweb.a", line = 1 }, found[1])
    assert.same({ name = "luaweb.b", line = 2 }, found[2])
    assert.same({}, requires_of "-- see require \"luaweb.a\"\nrequire \"ffi\"")
  end)

  it("sees the debug library, and not a field or a word of that name", function()
    assert.equal(2, debug_line "\nlocal t = debug.traceback")
    assert.equal(1, debug_line "local d = require \"debug\"")
    assert.is_nil(debug_line "log.debug(\"debug.x\") -- debug.y\nself.debug.z = 1")
  end)
end)
