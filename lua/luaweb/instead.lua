-- SPDX-License-Identifier: MIT
-- Calls that other libraries have and that are not there: they raise, and say which
-- call does it here.  They are members of the class, so that what is there costs
-- nothing more.
local M = {}

--- Adds such calls to a class.
---@param class table
---@param what string   e.g. "bounded"
---@param calls table<string, string>   by the name that is not there: what does it
function M.say(class, what, calls)
  for name, advice in pairs(calls) do
    class[name] = function()
      error(("%s:%s is not there: %s"):format(what, name, advice), 2)
    end
  end
end

return M
