-- SPDX-License-Identifier: MIT
-- Sends the URL's path as many times in one write as the first argument says.
local requests

function init(args)
  local list = {}
  for i = 1, tonumber(args[1] or 1) do list[i] = wrk.format() end
  requests = table.concat(list)
end

function request()
  return requests
end
