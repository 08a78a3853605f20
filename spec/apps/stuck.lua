-- SPDX-License-Identifier: MIT
-- Handlers and jobs that do not come back, for spec/watchdog_spec.lua, which finds the
-- lines by the words at their ends.
local web = require "luaweb"
local ffi = require "ffi"
local job = require "luaweb.job"
local monotime = require("system").monotime

ffi.cdef "int poll(void *none, unsigned long count, int ms);"
ffi.cdef "int getpid(void);"

local function forever()
  local x = 0
  while true do x = (x + 1) % 7 end -- compiled
end

local interpreted = function()
  local x = 0
  while true do x = (x + 1) % 7 end -- interpreted
end
jit.off(interpreted)

local busy = require("busy").busy

local function keep_pool_busy()
  for _ = 1, 4 do
    job.background(function() while true do job.offload("busy", "busy", 3e7) end end)
  end
  for _ = 1, 2 do
    job.background(function() while true do web.password_hash "secret" end end)
  end
  web.sleep(0.05)
end

local function in_coroutine()
  coroutine.wrap(function()
    forever() -- inner
  end)()
end

local function collect()
  getmetatable(newproxy(true)).__gc = function()
    while true do end -- finalizer
  end
  collectgarbage()
  collectgarbage()
end

return web.app {
  web.get("/pid", function() return tostring(ffi.C.getpid()) end),
  web.get("/loop{/more*}", function() -- handler
    print "begun"
    forever() -- called
    return ""
  end),
  web.get("/interpreted", function()
    interpreted()
    return ""
  end),
  web.get("/waited", function()
    web.sleep(0.001)
    forever()
    return ""
  end),
  web.get("/old", function()
    print "begun"
    web.sleep(1)
    forever() -- old
    return ""
  end),
  web.get("/coroutine", function()
    in_coroutine() -- outer
    return ""
  end),
  web.resource("/decision", web.machine {
    allowed = function() -- decision
      forever()
      return true
    end,
    handle_ok = "",
  }),
  web.get("/job", function()
    job.background(function() -- job
      forever()
    end)
    return "begun"
  end),
  web.get("/job_in_coroutine", function()
    job.spawn(function()
      web.sleep(0.001)
      in_coroutine()
    end):join()
    return ""
  end),
  web.get("/busy", function()
    keep_pool_busy()
    return "busy"
  end),
  web.get("/pool", function()
    keep_pool_busy()
    forever()
    return ""
  end),
  web.get("/execute", function()
    os.execute "exec sleep 20 >/dev/null 2>&1" -- execute
    return ""
  end),
  web.get("/find", function()
    local text = ("a"):rep(3000) .. "b"
    return tostring(text:find(("a*"):rep(20) .. "c")) -- find
  end),
  web.get("/poll", function()
    local sum = 0
    for i = 1, 1000 do
      sum = sum + ffi.C.poll(nil, 0, i == 900 and 50000 or 0) -- poll
    end
    return tostring(sum)
  end),
  web.get("/finalizer", function()
    collect()
    return ""
  end),
  web.get("/slow", function()
    local stop = monotime() + 0.25 -- no more on a busy machine, where CPU is scarce
    while monotime() < stop do busy(1000) end
    return "slow"
  end),
  web.get("/blocks", function()
    os.execute "sleep 0.25"
    return "blocked"
  end),
}
