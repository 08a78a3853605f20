-- SPDX-License-Identifier: MIT
-- The units for systemd: what must be in them, and what never may.
local function settings(name)
  local list = {}
  local text = ""
  for line in io.lines("core/process/" .. name) do
    text = text .. (line:gsub("\\$", "\0") .. "\n"):gsub("%z\n%s*", " ")
  end
  for key, value in text:gmatch "\n(%u%w+)=([^\n]*)" do
    list[key] = (list[key] and list[key] .. " " or "") .. value
  end
  return list
end

describe("the service", function()
  local service = settings "luaweb@.service"

  it("leaves LuaJIT its machine code", function()
    assert.is_nil(service.MemoryDenyWriteExecute)
  end)

  it("is told of by the master, and only by it", function()
    assert.equal("notify", service.Type)
    assert.equal("main", service.NotifyAccess)
    assert.is_truthy(tonumber(service.WatchdogSec))
  end)

  it("reloads over the control socket that it starts with", function()
    local path = service.ExecStart:match "%-%-control (%S+)"
    assert.equal("luaweb reload --control " .. path, service.ExecReload)
    assert.equal("%t/" .. service.RuntimeDirectory, path:match "^(.*)/")
  end)

  it("waits for longer than the drain takes, and kills nobody before", function()
    assert.equal("mixed", service.KillMode)
    assert.is_true(tonumber(service.TimeoutStopSec) > 30)
  end)

  it("has nothing of root's but low ports", function()
    assert.equal("yes", service.NoNewPrivileges)
    assert.equal("yes", service.DynamicUser)
    assert.equal("CAP_NET_BIND_SERVICE", service.CapabilityBoundingSet)
    assert.equal("strict", service.ProtectSystem)
  end)
end)

describe("the socket", function()
  it("is one that luaweb can take", function()
    local socket = settings "luaweb@.socket"
    assert.is_truthy(socket.ListenStream)
    assert.is_nil(socket.Accept)
  end)
end)
