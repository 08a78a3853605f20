-- SPDX-License-Identifier: MIT
-- What a dialling that is cancelled leaves behind: nothing, wherever it waited.  Where
-- a certain wait is meant, one that raises stands for the cancellation.
local abi = require "luaweb.abi"
local alt = require "luaweb.alt"
local descriptors = require("spec.support.client").descriptors
local dial = require "luaweb.client.dial"
local faulty_server = require "spec.support.faulty_server"
local job = require "luaweb.job"
local names = require "luaweb.client.names"
local process = require "spec.support.process"
local tls_server = require "spec.support.tls_server"
local wake = require "luaweb.wake"
local web = require "luaweb"

local C, host = abi.C, abi.host

local CANCELLED = {} -- as the error of a cancelled job, no text

local wait_for = wake.wait_for

--- Dials, and has the wait with that number raise.
local function dial_until(number, options)
  local count, is_waiting = 0, false
  wake.wait_for = function(...)
    count = count + 1
    is_waiting = count == number
    if is_waiting then error(CANCELLED, 0) end
    return wait_for(...)
  end
  local ok, err = pcall(dial.open, options)
  wake.wait_for = wait_for
  assert.is_true(is_waiting, "there is no such wait")
  assert.is_false(ok)
  assert.equal(CANCELLED, err)
end

after_each(function()
  wake.wait_for = wait_for
  faulty_server.clean()
  process.clean()
end)

describe("a dialling that is cancelled", function()
  it("leaves the line of look-ups", function()
    local begun = {}
    repeat
      local lookup = C.luaweb_lookup_begin(host, "localhost")
      if lookup ~= nil then begun[#begun + 1] = lookup end
    until lookup == nil
    C.luaweb_lookup_free(host, table.remove(begun)) -- one place
    dial_until(1, { host = "waits.in.line", port = 80 })
    local lookup = C.luaweb_lookup_begin(host, "localhost")
    assert.is_true(lookup ~= nil)
    begun[#begun + 1] = lookup
    for _, one in ipairs(begun) do C.luaweb_lookup_free(host, one) end
  end)

  it("closes all that it has tried", function()
    local server = faulty_server.deaf()
    local before = descriptors()
    dial_until(1, { host = "127.0.0.1", port = server.port })
    assert.equal(before, descriptors())
  end)

  it("closes what it has not secured yet", function()
    local server = faulty_server.start(function(conn) conn:is_left() end)
    local options = { host = "127.0.0.1", port = server.port, tls = { verify = false } }
    for _, number in ipairs { 1, 2, 2 } do -- connecting, certificates, handshake
      local before = descriptors()
      dial_until(number, options)
      for _, conn in ipairs(server.conns) do conn:is_left() end
      assert.is_true(descriptors() <= before + 1) -- the server's end
      web.sleep(0.01)
    end
  end)

  it("ends at once, and the server sees it leave", function()
    local server = faulty_server.start(function(conn) conn:is_left() end)
    local running = job.spawn(dial.open, { host = "127.0.0.1", port = server.port,
      tls = { verify = false } })
    repeat web.sleep(0.002) until server.conns[1] -- it waits for the handshake
    running:cancel "enough"
    local ok, err = pcall(running.join, running)
    assert.is_false(ok)
    assert.is_true(alt.is_cancelled(err))
    assert.is_true(server.conns[1]:is_left())
  end)

  it("leaves the look-up to others who wait for it", function()
    local name = "left.to.others.invalid"
    local addresses, message
    local other = job.spawn(function() addresses, message = names.resolve(name) end)
    local running = job.start(dial.open, { host = name, port = 80 })
    running:cancel "enough"
    other:join()
    assert.is_nil(addresses)
    assert.matches("can't look up", message)
  end)

  it("is not begun by a job that was cancelled before", function()
    local server = faulty_server.start(function(conn) conn:is_left() end)
    local running = job.spawn(function()
      job.self():cancel "enough"
      dial.open { host = "127.0.0.1", port = server.port }
    end)
    local ok, err = pcall(running.join, running)
    assert.is_false(ok)
    assert.is_true(alt.is_cancelled(err))
    web.sleep(0.01)
    assert.equal(0, #server.conns)
  end)

  it("does no harm to the next", function()
    local server = tls_server.start(function(conn) conn:receive() end)
    local options = { host = "localhost", port = server.port,
      tls = { ca_file = server.certificate:file() } }
    for number = 1, 2 do dial_until(number, options) end
    local conn = assert(dial.open(options))
    conn:close()
  end)
end)

describe("a send that is cancelled", function()
  for _, kind in ipairs { "plain", "secured" } do
    it("lets nothing more be sent, but receives, on a socket that is " .. kind,
      function()
        local function script(peer)
          peer:send "still here"
          repeat web.sleep(0.01) until (peer.conn or peer).fd < 0
        end
        local server, trust
        if kind == "plain" then
          server = faulty_server.start(script)
        else
          server = tls_server.start(script)
          trust = { ca_file = server.certificate:file() }
        end
        local conn = assert(dial.open { host = "localhost", port = server.port,
          tls = trust })
        local running = job.start(conn.send, conn, ("x"):rep(20000000))
        assert.same({ nil, "torn" }, { conn:send "y" })
        running:cancel "enough"
        pcall(running.join, running)
        assert.same({ nil, "torn" }, { conn:send "y" })
        assert.equal("still here", conn:receive(10))
        conn:close()
      end)
  end
end)
