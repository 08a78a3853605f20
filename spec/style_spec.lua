-- SPDX-License-Identifier: MIT
-- The form of every source file, where no other tool looks: licence line, length, white
-- space, and no work left for later.
local lfs = require "lfs"

local ROOTS = { "core", "lua", "apps", "spec", "bench", ".ci" }
local SCRIPTS = { "CMakeLists.txt", "core/install-packages", ".ci/run",
  "spec/large_bodies" }
local MOST_LINES = { c = 400, h = 400, lua = 300 }

-- Files that stay whole although they are longer, each with its reason.
local LONGER = {
  ["lua/luaweb/graph.lua"] = "the decision graph is one table",
}

local function sources_below(dir, list)
  if lfs.attributes(dir, "mode") ~= "directory" then return end
  for entry in lfs.dir(dir) do
    local path = dir .. "/" .. entry
    local is_hidden = entry:sub(1, 1) == "."
    if not is_hidden and lfs.attributes(path, "mode") == "directory" then
      sources_below(path, list)
    elseif not is_hidden and MOST_LINES[entry:match "%.(%w+)$"] then
      list[#list + 1] = path
    end
  end
end

local function sources()
  local list = {}
  for _, root in ipairs(ROOTS) do sources_below(root, list) end
  for _, path in ipairs(SCRIPTS) do list[#list + 1] = path end
  table.sort(list)
  return list
end

local function line_faults(path, line, number)
  local faults = {}
  local function add(rule)
    faults[#faults + 1] = ("%s:%d: %s"):format(path, number, rule)
  end
  if line:find "%s$" then add "white space at the end" end
  if line:find "\t" then add "a tab" end
  if line:find("TO" .. "DO", 1, true) then add "work left for later" end
  return faults
end

--- Everything wrong with the form of a file, as "file:line: rule".
local function check(path, text)
  local faults, number = {}, 0
  for line in text:gmatch "([^\n]*)\n" do
    number = number + 1
    for _, fault in ipairs(line_faults(path, line, number)) do
      faults[#faults + 1] = fault
    end
  end
  local most = MOST_LINES[path:match "%.(%w+)$"]
  if most and number > most and not LONGER[path] then
    faults[#faults + 1] = ("%s:%d: more than %d lines"):format(path, number, most)
  end
  local head = text:gsub("^#![^\n]*\n", ""):match "^[^\n]*"
  if not head:find "SPDX%-License%-Identifier: MIT%f[^%w]" then
    faults[#faults + 1] = path .. ":1: no SPDX-License-Identifier: MIT"
  end
  if text:sub(-1) ~= "\n" or text:sub(-2) == "\n\n" then
    faults[#faults + 1] = ("%s:%d: does not end with one newline"):format(path, number)
  end
  return faults
end

describe("the form of", function()
  for _, path in ipairs(sources()) do
    it(path .. " is the house's", function()
      local file = assert(io.open(path, "rb"))
      local text = file:read "*a"
      file:close()
      local faults = check(path, text)
      assert(#faults == 0, table.concat(faults, "\n"))
    end)
  end
end)

describe("the check of the form", function()
  local spdx = "/* SPDX-License-Identifier: MIT\n */\n"

  it("is content with a file that keeps the rules", function()
    assert.same({}, check("core/x.c", spdx))
    assert.same({}, check(".ci/run", "#!/bin/bash\n# SPDX-License-Identifier: MIT\n"))
  end)

  it("names file, line and rule of a fault", function()
    assert.same({ "core/x.c:3: white space at the end" },
      check("core/x.c", spdx .. "x \n"))
    assert.same({ "core/x.c:3: a tab" }, check("core/x.c", spdx .. "\tx\n"))
    assert.same({ "core/x.c:3: work left for later" },
      check("core/x.c", spdx .. "// TO" .. "DO x\n"))
    assert.same({ "core/x.c:1: no SPDX-License-Identifier: MIT" },
      check("core/x.c", "x\n"))
    assert.same({ "core/x.c:401: more than 400 lines" },
      check("core/x.c", spdx .. ("x\n"):rep(399)))
    assert.same({ "lua/x.lua:301: more than 300 lines" },
      check("lua/x.lua", spdx .. ("x\n"):rep(299)))
  end)

  it("wants one newline at the end", function()
    assert.matches("one newline", check("core/x.c", spdx .. "x")[1])
    assert.matches("one newline", check("core/x.c", spdx .. "x\n\n")[1])
  end)
end)
