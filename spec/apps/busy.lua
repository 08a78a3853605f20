-- SPDX-License-Identifier: MIT
-- Work for threads of the pool.
local function busy(n)
  local x = 0
  for i = 1, n do x = (x + i) % 1000003 end
  return x
end
return { busy = busy }
