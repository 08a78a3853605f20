-- SPDX-License-Identifier: MIT
-- As many resources as BENCH_HANDLERS says, /r/1 and up, each with a Lua function of
-- its own: compiled one by one, so that the JIT compiler can't take them for the same.
-- GET enters Lua; OPTIONS of the same path is routed the same way and answered by C.
local web = require "luaweb"

local resources = {}
for i = 1, tonumber(os.getenv "BENCH_HANDLERS") do
  local handler = assert(loadstring(("return function() return 'answer %d' end")
    :format(i)))()
  resources[i] = web.get("/r/" .. i, handler)
end

return web.app(resources)
