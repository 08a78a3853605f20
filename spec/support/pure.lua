-- SPDX-License-Identifier: MIT
-- Reaches the pure layers of the C core (base, http, route, machine) through FFI:
-- declares their headers and loads the test-only shared library.
local ffi = require "ffi"
local lfs = require "lfs"

local M = {}
local declared = {}
local numbers = {} -- of the headers: a size may be named in one and used in others
local library

-- The build that runs the specs.
local function build_dir()
  return lfs.symlinkattributes("/proc/self/exe", "target"):match "^(.*)/"
end

--- Where the library is.
function M.path()
  return build_dir() .. "/libluaweb_pure.so"
end

--- Declares core/`name`.h for ffi and gives the library that has its functions.
---@param name string   e.g. "http/date"; what it includes is to be loaded before
---@return ffi.namespace*
function M.load(name)
  if not declared[name] then
    declared[name] = true
    if name ~= "base/abi" then M.load "base/abi" end
    local lines = {}
    for line in io.lines("core/" .. name .. ".h") do
      local bare = line:gsub("%s*/%*.*$", "")
      local macro, number = bare:match "^#define%s+([%w_]+)%s+(%d+)$"
      if macro then numbers[macro] = number end -- the size of an array
      if not line:match "^%s*#" then lines[#lines + 1] = line end
    end
    local text = table.concat(lines, "\n"):gsub("[%a_][%w_]*", numbers)
    local ok, err = pcall(ffi.cdef, text)
    -- Inside luaweb the border is declared already.
    if not ok and not err:find "attempt to redefine" then error(err, 0) end
  end
  library = library or ffi.load(M.path())
  return library
end

--- The octets of a slice as a Lua string.
function M.string(slice)
  return ffi.string(slice.data, slice.size)
end

--- Reads a corpus: one JSON object a line, from LUAWEB_CASES or spec/cases.
---@return table[]
function M.cases(name)
  local cjson = require "cjson"
  local list = {}
  local dir = os.getenv "LUAWEB_CASES" or "spec/cases"
  for line in io.lines(dir .. "/" .. name .. ".jsonl") do
    if line:find "%S" then list[#list + 1] = cjson.decode(line) end
  end
  return list
end

--- The octets that a corpus string stands for: each code point 0..255 is one octet.
---@param value string|table  a string, {"repeat", "count"}, or a list of these
---@return string
function M.octets(value)
  if type(value) == "string" then
    return (value:gsub("[\194\195][\128-\191]", function(pair)
      return string.char((pair:byte(1) - 194) * 64 + pair:byte(2))
    end))
  end
  if value["repeat"] then return M.octets(value["repeat"]):rep(value.count) end
  local parts = {}
  for i, part in ipairs(value) do parts[i] = M.octets(part) end
  return table.concat(parts)
end

return M
