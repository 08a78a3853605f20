-- SPDX-License-Identifier: MIT
-- Runs one program of the suite and ends, under luaweb as under another host of LuaJIT:
-- BENCH_FILE has it, BENCH_CASE is its name there, BENCH_N how much it does, and with
-- BENCH_JIT=off it is interpreted.  Prints operations, seconds of CPU and KiB of the
-- most memory that was resident; then what the program gives beside its count.
if os.getenv "BENCH_JIT" == "off" then
  jit.off()
  jit.flush()
end

-- By the name of the case: runs it, checks what came out, gives how many operations
-- that were, and a text of further figures.
---@type table<string, fun(n: integer): integer, string?>
local programs = assert(loadfile(os.getenv "BENCH_FILE"))()

local function peak_kib()
  for line in io.lines "/proc/self/status" do
    local kib = line:match "^VmHWM:%s*(%d+)"
    if kib then return kib end
  end
end

local run = programs[os.getenv "BENCH_CASE"]
local n = tonumber(os.getenv "BENCH_N")
collectgarbage()
local start = os.clock()
local count, further = run(n)
local seconds = os.clock() - start
print(("%d %.6f %s %s"):format(count, seconds, peak_kib(), further or ""))
io.stdout:flush()
os.exit(0)
