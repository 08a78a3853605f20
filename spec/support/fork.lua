-- SPDX-License-Identifier: MIT
-- A second process for what is shared among processes.  The child runs one function and
-- is gone without any ending of the runtime: it may call C and nothing that waits.
local ffi = require "ffi"

ffi.cdef [[
int fork(void);
void _exit(int status);
int waitpid(int pid, int *status, int options);
int getpid(void);
int kill(int pid, int signal);
int usleep(unsigned microseconds);
]]

local C = ffi.C
local EINTR = 4
local M = { SIGKILL = 9, SIGCONT = 18, SIGSTOP = 19 }

--- Runs `fn` in a child; what it returns is the child's exit status, an error is 99.
---@param fn fun(): integer?
---@return integer pid
function M.start(fn)
  local pid = C.fork()
  if pid == 0 then
    local ok, status = pcall(fn)
    if not ok then io.stderr:write("in a child: ", tostring(status), "\n") end
    C._exit(ok and status or ok and 0 or 99)
  end
  assert(pid > 0, "fork")
  return pid
end

--- Waits for its end.
---@return integer? status  its exit status, nil when a signal ended it
---@return integer? signal
function M.wait(pid)
  local status = ffi.new "int[1]"
  while C.waitpid(pid, status, 0) ~= pid do
    assert(ffi.errno() == EINTR, "waitpid")
  end
  local signal = status[0] % 128
  if signal ~= 0 then return nil, signal end
  return math.floor(status[0] / 256) % 256
end

--- Runs `fn` in a child to its end.
function M.run(fn)
  return M.wait(M.start(fn))
end

function M.kill(pid, signal)
  C.kill(pid, signal or M.SIGKILL)
end

--- For a child that is to be killed in the middle: stays where it is.
function M.stay()
  while true do C.usleep(100000) end
end

function M.pid() return C.getpid() end

function M.sleep_ms(ms) C.usleep(ms * 1000) end

return M
