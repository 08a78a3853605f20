-- SPDX-License-Identifier: MIT
-- Kills a process after so many instructions of what it does (ptrace, single steps), so
-- that every moment of an operation has its turn.
local ffi = require "ffi"
local fork = require "spec.support.fork"

ffi.cdef [[
long ptrace(long request, int pid, void *address, void *data);
int raise(int signal);
int memcmp(const void *a, const void *b, size_t size);
]]

local C = ffi.C
local TRACEME, CONT, KILL, SINGLESTEP = 0, 7, 8, 9
local SIGSTOP = fork.SIGSTOP

local M = {}
local status = ffi.new "int[1]"

local EINTR = 4

local function wait(pid)
  while C.waitpid(pid, status, 0) ~= pid do
    assert(ffi.errno() == EINTR, "waitpid")
  end
  return status[0] % 256 == 127 -- stopped, not ended
end

--- Starts a child that stands still before `fn`.
local function start(fn)
  local pid = fork.start(function()
    C.ptrace(TRACEME, 0, nil, nil)
    C.raise(SIGSTOP)
    fn()
    C.raise(SIGSTOP)
  end)
  assert(wait(pid), "a child that stands still")
  return pid
end

local function finish(pid)
  fork.kill(pid)
  C.ptrace(KILL, pid, nil, nil)
  while wait(pid) do C.ptrace(CONT, pid, nil, nil) end
end

--- Runs `fn` in a child, instruction by instruction, until `memory`, which it shares
--- with us, has changed so many times, and kills it there.
---@param changes integer
---@param memory ffi.cdata*
---@param size integer
---@param fn fun()   best one call of C: what else it does is stepped through as well
---@return boolean is_done  it had come to its end before
function M.kill_at_change(changes, memory, size, fn)
  local pid, is_done = start(fn), false
  local copy = ffi.new("uint8_t[?]", size)
  ffi.copy(copy, memory, size)
  while changes > 0 and not is_done do
    C.ptrace(SINGLESTEP, pid, nil, nil)
    assert(wait(pid))
    is_done = math.floor(status[0] / 256) % 256 == SIGSTOP
    if C.memcmp(copy, memory, size) ~= 0 then
      ffi.copy(copy, memory, size)
      changes = changes - 1
    end
  end
  finish(pid)
  return is_done
end

return M
