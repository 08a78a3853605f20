-- SPDX-License-Identifier: MIT
-- The border checks what Lua gives (core/base/abi.h): a slip of the Lua half must not
-- become octets that break a message.
local abi = require "luaweb.abi"
local test = require "luaweb.test"
local web = require "luaweb"

local C, host = abi.C, abi.host

local function raw_of(fn)
  local client = test.app(web.app { web.get("/", fn) })
  local conn = client:raw "GET / HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n"
  local octets = ""
  while true do
    local more = conn:receive(2)
    if not more then break end
    octets = octets .. more
  end
  conn:close()
  return octets
end

describe("the border", function()
  it("takes no media type that would be more than one header", function()
    local octets = raw_of(function(req)
      local bad = "text/plain\r\nX-Evil: 1"
      C.luaweb_reply(host, abi.request_at(req[1]), req[2], 200, bad, #bad, "x", 1)
    end)
    assert.is_nil(octets:find "Evil")
  end)

  it("takes no octets for no chunk", function()
    local octets = raw_of(function(req)
      local r, generation = abi.request_at(req[1]), req[2]
      C.luaweb_start(host, r, generation, 200, nil, 0, -1)
      C.luaweb_write(host, r, generation, "", 0)
      C.luaweb_finish(host, r, generation)
    end)
    assert.equal("0\r\n\r\n", octets:match "^.-\r\n\r\n(.*)$")
  end)
end)
