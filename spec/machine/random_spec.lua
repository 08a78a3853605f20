-- SPDX-License-Identifier: MIT
-- Compiled programs against the plain walk of the same graph, on machines and requests
-- at random: status, fields, content, and the answers to all that is asked.  Every run
-- is the same; LUAWEB_SEED makes it another one, and LUAWEB_ROUNDS a longer one.  What
-- differs is told as walk_spec.lua can have it pasted.
local agreement = require "spec.support.agreement"
local error_log = require "spec.support.error_log"
local random = require "spec.support.random"
local random_machine = require "spec.support.random_machine"
local random_request = require "spec.support.random_request"

local SEED = tonumber(os.getenv "LUAWEB_SEED") or 1
local ROUNDS = tonumber(os.getenv "LUAWEB_ROUNDS") or 150
local PARTS = 10    -- each of which may take as long as a spec may
local MACHINES = 10 -- in an app
local REQUESTS = 16 -- for each machine

-- Every fourth request goes without a trace: then C may take shorter ways.
local function check(app, index, r, path)
  for i = 1, REQUESTS do
    local text = random_request.text(r, path, app:methods(index))
    local difference = app:difference(index, text, i % 4 > 0)
    if difference then
      error(("LUAWEB_SEED=%d: %s"):format(SEED, difference), 0)
    end
  end
end

-- Functions of machines that raise errors are logged.
local function for_rounds(r, count, fn)
  error_log.of(function()
    for _ = 1, count do fn(r) end
  end)
end

describe("compiled programs and the plain walk", function()
  local r = random.new(SEED) -- goes on from part to part

  for part = 1, PARTS do
    it(("agree on what machines at random answer, %d of %d"):format(part, PARTS),
      function()
        for_rounds(r, math.ceil(ROUNDS / PARTS), function()
          local texts = {}
          for i = 1, MACHINES do texts[i] = random_machine.text(r) end
          local app = agreement.of(texts)
          for i = 1, MACHINES do check(app, i, r, "/r" .. i) end
        end)
      end)
  end

  it("agree on what is answered where no resource matches", function()
    for_rounds(random.new(SEED), ROUNDS, function(of_unmatched)
      local text = random_machine.unmatched_text(of_unmatched)
      check(agreement.of_unmatched(text), 1, of_unmatched, "/missing")
    end)
  end)
end)
