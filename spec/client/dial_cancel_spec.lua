-- SPDX-License-Identifier: MIT
-- What a dialling that is cancelled leaves behind: nothing, wherever it waited.  A wait
-- that raises stands for the cancellation.
local abi = require "luaweb.abi"
local alt = require "luaweb.alt"
local descriptors = require("spec.support.client").descriptors
local dial = require "luaweb.client.dial"
local faulty_server = require "spec.support.faulty_server"
local job = require "luaweb.job"
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
