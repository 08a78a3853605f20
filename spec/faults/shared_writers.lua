-- SPDX-License-Identifier: MIT
-- What spec/faults/shared_writers runs: lines "= what|value|unit", or what is wrong.
local death = require "spec.support.shared_death"

local RANDOM_S = 6
local STEPS_S = 5 -- for each operation, on a machine that has other work

local function say(what, value, unit)
  print(("= %s|%.0f|%s"):format(what, value, unit or ""))
end

describe("writers of a shared table that are killed", function()
  local deaths, undone, longest_us = 0, 0, 0
  for _, operation in ipairs(death.operations) do
    it("at every store of: " .. operation.name, function()
      local f = death.at_every_store(operation, operation.step or 1, STEPS_S)
      deaths, undone = deaths + f.deaths, undone + f.undone
      longest_us = math.max(longest_us, f.longest_us)
    end)
  end

  it("at random", function()
    say("deaths, each at another store", deaths)
    say("of these, to be undone or taken over", undone)
    say("longest wait of others", longest_us, "us")
    local f = death.at_random(RANDOM_S)
    say("deaths at random", f.deaths)
    say("of these, in the middle", f.undone)
    say("writes meanwhile", f.writes)
    say("longest wait of others for 20 keys", f.longest_us, "us")
    assert.is_true(f.undone > 0)
  end)
end)
