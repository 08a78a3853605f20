-- SPDX-License-Identifier: MIT
-- What goes to the error log while something runs: standard error is a file meanwhile.
-- It is put back whatever happens.
local ffi = require "ffi"

ffi.cdef [[
int dup(int fd);
int dup2(int from, int to);
int close(int fd);
int fileno(void *file);
]]

local C = ffi.C
local STDERR = 2

local M = {}

--- Runs a function, which may wait.
---@param fn function
---@return string log     all that was written to standard error
---@return any result     of the function
function M.of(fn)
  local file = assert(io.tmpfile())
  io.stderr:flush()
  local saved = C.dup(STDERR)
  assert(saved >= 0 and C.dup2(C.fileno(file), STDERR) == STDERR)
  local ok, result = pcall(fn)
  io.stderr:flush()
  C.dup2(saved, STDERR)
  C.close(saved)
  file:seek "set"
  local text = file:read "*a"
  file:close()
  if not ok then error(result, 0) end
  return text, result
end

return M
