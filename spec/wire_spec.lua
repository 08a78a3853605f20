-- SPDX-License-Identifier: MIT
-- The promises of spec/wire/*.md: every example is played block by block and octet by
-- octet, against the cases application over the memory transport.
local lfs = require "lfs"
local test = require "luaweb.test"
local player = require "spec.support.wire_player"

local DIRECTORY = "spec/wire/"

local function documents()
  local names = {}
  for name in lfs.dir(DIRECTORY) do
    if name:find "%.md$" then names[#names + 1] = name end
  end
  table.sort(names)
  return names
end

for _, name in ipairs(documents()) do
  local document = player.read(DIRECTORY .. name)
  describe("wire: " .. document.title, function()
    local client

    lazy_setup(function() client = test.app "spec/apps/cases.lua" end)

    for _, example in ipairs(document.examples) do
      it(example.title, function()
        local fault = player.play(example, client:connect())
        assert(fault == nil, fault)
      end)

      it(example.title .. ", octet by octet", function()
        local fault = player.play(example, client:connect(), 1)
        assert(fault == nil, fault)
      end)
    end
  end)
end
