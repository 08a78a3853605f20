-- SPDX-License-Identifier: MIT
-- What an app's answer to a question means, for the reference walk: true, false, nil, a
-- number, a response.  Owns nothing.
local machines = require "spec.support.reference_machine"

local M = {}

function M.is_read(walk)
  return walk.request.method == "GET" or walk.request.method == "HEAD"
end

-- A number of the app's ends the walk, if a number may say that.
function M.number(walk, number)
  local is_status = number % 1 == 0 and number >= 200 and number <= 599
  if not is_status or number == 206 or number == 416 then
    error({ fault = "the number " .. number .. " is no answer" }, 0)
  end
  if number == 304 and not M.is_read(walk) then
    error({ fault = "304 is for GET and HEAD" }, 0)
  end
  return number
end

-- nil is no.
local function answer_of(walk, given)
  if given == nil or type(given) == "boolean" then return given == true end
  if type(given) == "number" then return M.number(walk, given) end
  if machines.is_response(given) then error({ response = given }, 0) end
  error({ fault = "a decision answered with a " .. type(given) }, 0)
end

-- The key of a row, or its default.
function M.ask(walk, row)
  if walk.machine[row.name] == nil then return row.default end
  return answer_of(walk, machines.value(walk, row.name))
end

-- A row that C answers unless the machine has its key.
function M.unless_asked(answer)
  return function(walk, row)
    if walk.machine[row.name] ~= nil then return M.ask(walk, row) end
    return answer(walk, row)
  end
end

return M
