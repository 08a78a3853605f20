-- SPDX-License-Identifier: MIT
-- Timers and sockets belong to a Lua state: see spec/net/owners.c, which this runs.
local process = require "spec.support.process"

after_each(process.clean)

describe("two hosts on one loop", function()
  it("wake each for its own, and end without the other", function()
    local program = process.binary:match "^(.*)/" .. "/owners"
    local pipe = assert(io.popen(("%s %s 2>&1"):format(program, process.path "owned")))
    local output = pipe:read "*a"
    pipe:close()
    assert.equal("good\n", output)
  end)
end)
