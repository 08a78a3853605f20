-- SPDX-License-Identifier: MIT
-- Files and folders whose changes count while an app is developed: then it is loaded
-- anew.  Otherwise nothing is watched, and nothing happens here.
local abi = require "luaweb.abi"
local ffi = require "ffi"

local C = abi.C
local M = {}

local function add(path, what)
  local error_code = C.luaweb_dev_watch(abi.host, path, what)
  if error_code == 0 then return true end
  return nil, ("can't watch %s: %s"):format(path,
    ffi.string(C.luaweb_error(abi.host, error_code)))
end

--- Watches a file, which need not be there yet.
---@param path string
---@return true? ok
---@return string? message
function M.file(path) return add(path, C.LUAWEB_WATCH_FILE) end

--- Watches all in a folder and those below it, but for what is hidden.
---@param path string
---@return true? ok
---@return string? message
function M.folder(path) return add(path, C.LUAWEB_WATCH_FOLDER) end

--- Watches what apps are written in, by suffix, in a folder and those below it.
---@param path string
---@return true? ok
---@return string? message
function M.sources(path) return add(path, C.LUAWEB_WATCH_SOURCES) end

return M
