-- SPDX-License-Identifier: MIT
-- Writers of a shared table are killed (kill -9) at every store of every operation, and
-- again and again at random; about 20 seconds of an idle processor:
--   luaweb test spec/faults/shared_writers.lua
local death = require "spec.support.shared_death"

local RANDOM_S = 8

describe("writers of a shared table that are killed", function()
  for _, operation in ipairs(death.operations) do
    it("at every store of: " .. operation.name, function()
      local f = death.at_every_store(operation, operation.step or 1)
      print(("%-22s %4d deaths, %3d undone, longest wait of others %.0f us"):format(
        operation.name, f.deaths, f.undone, f.longest_us))
    end)
  end

  it("at random", function()
    local f = death.at_random(RANDOM_S)
    print(("at random: %d deaths in %d writes (%d evictions), %d undone, "
      .. "longest wait of others %.0f us"):format(f.deaths, f.writes, f.evictions,
      f.undone, f.longest_us))
    assert.is_true(f.undone > 0)
  end)
end)
