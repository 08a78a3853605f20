-- SPDX-License-Identifier: MIT
-- Servers that are too slow or too fast hold up nobody but who asks them.
local clocks = require "luaweb.fetch.clock"
local dial = require "luaweb.client.dial"
local faulty = require "spec.support.faulty_server"
local job = require "luaweb.job"
local reader = require "luaweb.client.reader"
local upload = require "luaweb.fetch.upload"
local web = require "luaweb"

after_each(faulty.clean)

local function eventually(what, holds)
  for _ = 1, 500 do
    if holds() then return end
    web.sleep(0.01)
  end
  error("never: " .. what, 2)
end

-- Sends until the buffers of both sockets are full.
local function fill(socket)
  local piece = ("x"):rep(65536)
  repeat
    while socket:send_now(piece) > 0 do end
    web.sleep(0.05)
  until socket:send_now(piece) == 0
end

describe("a connection that takes no more octets", function()
  it("does not hold up who would send a small request on it", function()
    local is_over = false
    local server = faulty.start(function()
      eventually("the client is done", function() return is_over end)
    end)
    local link = { close = function() end,
      socket = assert(dial.open { host = "127.0.0.1", port = server.port }) }
    fill(link.socket)
    local begun
    local sending = job.spawn(function()
      begun = upload.start(link, "GET / HTTP/1.1\r\n\r\n", { body = false },
        clocks.new(10, 10))
    end)
    local ok, err = pcall(eventually, "it is begun", function() return begun end)
    if begun then begun:stop() end
    sending:cancel "the spec is over"
    link.socket:close()
    is_over = true
    assert(ok, err)
    assert.is_false(begun.is_done)
  end)
end)

-- Runs something that never waits, beside a job that counts how often it gets a turn.
local function turns_beside(fn)
  local turns, is_over = 0, false
  job.spawn(function()
    while not is_over do
      web.sleep(0.001)
      turns = turns + 1
    end
  end)
  local ok, err = pcall(fn, function() return turns end)
  is_over = true
  assert(ok, err)
  return turns
end

describe("a server that sends faster than its answer is read", function()
  it("leaves the others their turns, however small the pieces are", function()
    local octets = ("1\r\nx\r\n"):rep(10000)
    local its_reader = reader.new { receive = function() return octets end }
    octets = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" .. octets
    its_reader:begin "GET"
    assert(its_reader:head())
    octets = ("1\r\nx\r\n"):rep(10000)
    turns_beside(function(turns)
      for _ = 1, 5000000 do
        assert(its_reader:read())
        if turns() > 5 then return end
      end
      error("nobody else had a turn", 0)
    end)
    its_reader:done()
  end)
end)

describe("a server that takes content faster than it is made", function()
  it("leaves the others their turns", function()
    local link = { close = function() end, socket = {
      send = function() return true end,
      send_now = function(_, octets) return #octets end,
    } }
    turns_beside(function(turns)
      local left = 5000000
      local sending = upload.start(link, "", { body = function()
        left = left - 1
        return left > 0 and turns() <= 5 and "x" or nil
      end }, clocks.new(100, 100))
      for _ = 1, 1000 do
        if sending.is_done then break end
        web.sleep(0.01)
      end
      assert(left > 0, "nobody else had a turn")
    end)
  end)
end)
