-- SPDX-License-Identifier: MIT
-- Numbers that look random and follow from a seed, so that a run can be repeated; and
-- what is made of them: picks, parts of lists.  Owns its state, nothing else.
local M = {}

local PRIME, FACTOR = 2147483647, 48271 -- Park and Miller; products are exact

---@class spec.Random
---@field private state integer
local Random = {}
Random.__index = Random

---@param seed integer   1 to 2147483646
---@return spec.Random
function M.new(seed)
  return setmetatable({ state = seed % (PRIME - 1) + 1 }, Random)
end

--- A whole number from 1 to n.
---@param n integer
function Random:number(n)
  self.state = self.state * FACTOR % PRIME
  return self.state % n + 1
end

--- Whether something happens that does so in so many of a hundred cases.
---@param percent integer
function Random:chance(percent)
  return self:number(100) <= percent
end

--- One item of a list.
function Random:pick(list)
  return list[self:number(#list)]
end

--- Between `least` and `most` different items of a list, in any order.
---@return any[]
function Random:some(list, least, most)
  local left, taken = { unpack(list) }, {}
  local count = least - 1 + self:number(math.min(most, #list) - least + 1)
  for i = 1, count do taken[i] = table.remove(left, self:number(#left)) end
  return taken
end

return M
