-- SPDX-License-Identifier: MIT
-- HTTP/1.1 on the wire: every case of h1-requests.jsonl, played against the cases
-- application over the memory transport and over a real socket.  All cases of a
-- transport are played, many at a time, before the first of them is reported.
local test = require "luaweb.test"
local pure = require "spec.support.pure"
local player = require "spec.support.h1_player"

local WIDTH = 48     -- cases played at the same time; most of a case is waiting

local cases = pure.cases "h1-requests"

local function conformance(transport, open)
  describe("HTTP/1.1 over " .. transport, function()
    local outcomes

    lazy_setup(function()
      local client = open(test.app "spec/apps/cases.lua")
      outcomes = player.play_all(cases, function() return client:connect() end, WIDTH)
    end)

    for _, case in ipairs(cases) do
      it(("%s [%s] %s"):format(case.id, case.level, case.title), function()
        local outcome = outcomes[case.id]
        assert(outcome.ok, outcome.text)
      end)
    end
  end)
end

conformance("memory", function(client) return client end)
conformance("a socket", function(client) return client:over_socket() end)
