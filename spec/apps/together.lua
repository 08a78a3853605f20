-- SPDX-License-Identifier: MIT
-- What workers do together: a topic that is listened to in each, and a function that is
-- called in one of them.
local bus = require "luaweb.bus"
local web = require "luaweb"

local pid = io.open "/proc/self/stat":read "*n"
local generation = tostring {} -- differs from state to state
local heard, calls = {}, 0

local function listen()
  for text in bus.subscribe("news", { cap = 65536 }):each() do
    heard[#heard + 1] = text
  end
end

web.every(0.02, function() calls = calls + 1 end, { once = true })

return web.app {
  on_start = function() require("luaweb.job").server(listen) end,
  web.get("/who", function()
    return { pid = pid, generation = generation, heard = #heard, last = heard[#heard],
      calls = calls }
  end),
  web.post("/news", function(req)
    local text, times = req:text(), tonumber(req.query.times or "1")
    for i = 1, times do bus.publish("news", times == 1 and text or text .. i) end
    return { pid = pid }
  end),
}
