-- SPDX-License-Identifier: MIT
-- Connections to other servers (lua/luaweb/client/dial.lua, race.lua): which address of
-- a host answers first, and what is told when none does.
local abi = require "luaweb.abi"
local descriptors = require("spec.support.client").descriptors
local dial = require "luaweb.client.dial"
local error_of = require("spec.support.client").error_of
local eventually = require "spec.support.eventually"
local faulty_server = require "spec.support.faulty_server"
local ffi = require "ffi"
local lfs = require "lfs"
local process = require "spec.support.process"
local race = require "luaweb.client.race"
local receive_all = require("spec.support.client").receive_all
local test = require "luaweb.test"
local web = require "luaweb"

local C, host = abi.C, abi.host

local HAS_V6 = (function()
  local file = io.open "/proc/net/if_inet6"
  local line = file and file:read "*l"
  if file then file:close() end
  return line ~= nil
end)()

local app = web.app { web.get("/", function() return "hello" end) }

--- Listens at an address, and gives the port.
local function listen(address, port)
  local capp = app:install()
  local result = C.luaweb_listen(host, capp, address, port or 0)
  assert(result >= 0, "can't listen on " .. address)
  return result
end

local function is_served(conn)
  conn:send "GET / HTTP/1.0\r\n\r\n"
  local octets = receive_all(conn)
  conn:close()
  return octets:find "^HTTP/1.1 200 " and octets:find "\r\n\r\nhello$"
end

after_each(function()
  faulty_server.clean()
  process.clean()
end)

describe("dial.open", function()
  it("connects to an address", function()
    local port = test.app(app):over_socket().port
    assert.is_truthy(is_served(assert(dial.open { host = "127.0.0.1", port = port })))
  end)

  if HAS_V6 then
    it("connects to an address of version 6, in brackets or not", function()
      local port = listen "::1"
      assert.is_truthy(is_served(assert(dial.open { host = "::1", port = port })))
      assert.is_truthy(is_served(assert(dial.open { host = "[::1]", port = port })))
    end)
  end

  it("connects to a name", function()
    local port = test.app(app):over_socket().port
    assert.is_truthy(is_served(assert(dial.open { host = "localhost", port = port })))
  end)

  it("connects to a unix socket", function()
    local path = process.path "socket"
    listen("unix:" .. path)
    assert.is_truthy(is_served(assert(dial.open { unix = path })))
  end)

  it("leaves no descriptor to programs that are started", function()
    local server = faulty_server.start(function(conn) conn:receive() end)
    local before = {}
    for fd in lfs.dir "/proc/self/fd" do before[fd] = true end
    local conn = assert(dial.open { host = "127.0.0.1", port = server.port })
    local seen = 0
    for fd in lfs.dir "/proc/self/fd" do
      local info = not before[fd] and io.open("/proc/self/fdinfo/" .. fd)
      if info then
        local flags = tonumber(info:read("*a"):match "flags:%s*(%d+)", 8)
        assert.equal(tonumber("2000000", 8), bit.band(flags, tonumber("2000000", 8)))
        info:close()
        seen = seen + 1
      end
    end
    conn:close()
    assert.is_true(seen > 0)
  end)
end)

describe("what can't be reached", function()
  it("is told with the address and the reason", function()
    local port = faulty_server.closed_port()
    local before = descriptors()
    assert.same({ nil, ("can't connect to 127.0.0.1 port %d: 127.0.0.1: connection "
      .. "refused"):format(port), "connect" },
      { dial.open { host = "127.0.0.1", port = port } })
    eventually("all others are closed", function()
      return descriptors() <= before
    end)
  end)

  it("is told for each address of a name", function()
    local port = faulty_server.closed_port()
    local _, message, kind = dial.open { host = "localhost", port = port }
    assert.equal("connect", kind)
    assert.matches("^can't connect to localhost port %d+: .*127.0.0.1: connection "
      .. "refused", message)
  end)

  it("is a name that there is not", function()
    local conn, message, kind = dial.open { host = "nothing.invalid", port = 80 }
    assert.is_nil(conn)
    assert.matches('^can\'t look up the host "nothing.invalid": ', message)
    assert.equal("name", kind)
  end)

  it("is given up when the time is over", function()
    local server = faulty_server.deaf()
    local before = descriptors()
    assert.same({ nil, ("can't connect to 127.0.0.1 port %d within 0.1 s: 127.0.0.1: "
      .. "no answer"):format(server.port), "timeout" },
      { dial.open { host = "127.0.0.1", port = server.port, timeout = 0.1 } })
    eventually("all others are closed", function()
      return descriptors() <= before
    end)
  end)

  it("is a unix socket that there is not", function()
    local path = process.path "nothing"
    assert.same({ nil, ("can't connect to %s: unix:%s: no such file or directory")
      :format(path, path), "connect" }, { dial.open { unix = path } })
  end)

  it("is a unix socket with a path that is too long", function()
    local _, message, kind = dial.open { unix = "/" .. ("x"):rep(200) }
    assert.matches("invalid argument$", message)
    assert.equal("connect", kind)
  end)
end)

describe("a unix socket whose line is full", function()
  local path, fd, fillers

  before_each(function()
    path, fillers = process.path "full", {}
    local address = ffi.new "uint8_t[110]"
    address[0] = 1 -- AF_UNIX
    ffi.copy(address + 2, path)
    local function open() return C.spec_socket(1, 0x80801, 0) end
    fd = open()
    assert(C.spec_bind(fd, address, 110) == 0 and C.spec_listen(fd, 0) == 0)
    local result
    repeat
      fillers[#fillers + 1] = open()
      result = C.spec_connect(fillers[#fillers], address, 110)
    until result ~= 0
  end)

  after_each(function()
    for _, filler in ipairs(fillers) do C.spec_close(filler) end
    C.spec_close(fd)
  end)

  it("is waited for, and given up when the time is over", function()
    local _, message, kind = dial.open { unix = path, timeout = 0.1 }
    assert.matches("within 0.1 s: unix:.*: too many want to connect$", message)
    assert.equal("timeout", kind)
  end)

  it("is connected to when there is room", function()
    local conn
    local dialling = require("luaweb.job").spawn(function()
      conn = dial.open { unix = path }
    end)
    web.sleep(0.03)
    assert.is_nil(conn)
    local accepted = {}
    repeat accepted[#accepted + 1] = C.spec_accept4(fd, nil, nil, 0x80800)
    until accepted[#accepted] < 0
    dialling:join()
    for _, one in ipairs(accepted) do C.spec_close(one) end
    assert(conn):close()
  end)
end)

describe("several addresses", function()
  local later = C.luaweb_now(host) + 3600

  it("are tried by turns of their version, each in its order", function()
    assert.same({ "::1", "127.0.0.1", "::2", "127.0.0.2", "::3" },
      race.interleave { "::1", "::2", "::3", "127.0.0.1", "127.0.0.2" })
    assert.same({ "127.0.0.1", "::1", "127.0.0.2" },
      race.interleave { "127.0.0.1", "127.0.0.2", "::1" })
  end)

  it("give way to the next when one refuses", function()
    local port = test.app(app):over_socket().port
    local before = descriptors()
    local id = assert(race.connect({ "127.0.0.2", "127.0.0.3", "127.0.0.1" }, port,
      later))
    eventually("all others are closed", function() -- ours, and the server's
      return descriptors() <= before + 2
    end)
    local conn = require("luaweb.client.socket").adopt(id)
    assert.is_truthy(is_served(conn))
  end)

  it("give way to the next when one does not answer", function()
    local server = faulty_server.deaf()
    listen("127.0.0.2", server.port)
    local before = descriptors()
    local id = assert(race.connect({ "127.0.0.1", "127.0.0.2" }, server.port, later))
    eventually("all others are closed", function()
      return descriptors() <= before + 2
    end)
    local conn = require("luaweb.client.socket").adopt(id)
    assert.is_truthy(is_served(conn))
  end)

  it("are all told when none answers", function()
    local port = faulty_server.closed_port()
    local id, report, kind = race.connect({ "127.0.0.1", "127.0.0.2", "::1" }, port,
      later)
    assert.is_nil(id)
    assert.matches("^127.0.0.1: connection refused; ::1: [%w ]+; 127.0.0.2: connection "
      .. "refused$", report)
    assert.equal("connect", kind)
  end)

  it("are not all tried when there are many", function()
    local port, addresses = faulty_server.closed_port(), {}
    for i = 1, 100 do addresses[i] = "127.0.0." .. i end
    local _, report = race.connect(addresses, port, later)
    assert.equal(16, select(2, report:gsub("refused", "")))
  end)
end)

describe("the options of dial.open", function()
  for message, options in pairs {
    ["wants a table of options"] = "localhost",
    ["has no option hots"] = { hots = "localhost" },
    ["host wants a string, not a number"] = { host = 1, port = 80 },
    ["wants either a host or the path of a unix socket"] = { port = 80 },
    ["wants a port from 1 to 65535"] = { host = "localhost" },
    ["wants a port from 1 to 6553[5]"] = { host = "localhost", port = 65536 },
    ["wants a port from 1 to 655[3]5"] = { host = "localhost", port = 80.5 },
    ["timeout wants seconds, more than 0"] = { unix = "/x", timeout = 0 },
    ["timeout wants seconds, more than [0]"] = { unix = "/x", timeout = 0 / 0 },
    ["unix wants a path"] = { unix = "" },
    ["unix wants a pat[h]"] = { unix = "/x\0" },
    ["over a unix socket, tls wants a name"] = { unix = "/x", tls = {} },
    ["has no option tls.verfy"] = { unix = "/x", tls = { name = "a", verfy = false } },
    ["tls.verify wants a boolean, not a string"] =
      { unix = "/x", tls = { name = "a", verify = "no" } },
    ["tls.ca_file wants a path"] = { unix = "/x", tls = { name = "a", ca_file = "" } },
    ["tls.alpn wants names of protocols, 1 to 255 octets each"] =
      { unix = "/x", tls = { name = "a", alpn = { "" } } },
    ["tls.alpn has more than 16 names"] = { unix = "/x", tls = { name = "a",
      alpn = { 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17 } } },
    ["tls.name: it has characters that no host name has"] =
      { unix = "/x", tls = { name = "a b" } },
  } do
    it("are checked: " .. message, function()
      assert.matches("^[^:]*dial_spec.lua:%d+: dial.open[:]? " .. message .. "$",
        error_of(function()
          local conn = dial.open(options)
          return conn
        end))
    end)
  end
end)
