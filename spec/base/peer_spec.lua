-- SPDX-License-Identifier: MIT
-- Addresses of the other side, and the networks that they may lie in
-- (core/base/peer.h).
local ffi = require "ffi"
local pure = require "spec.support.pure"

local C = pure.load "base/peer"

local function slice_of(text)
  return ffi.new("struct luaweb_slice", text, #text)
end

local function read(text)
  local peer = ffi.new "struct lw_peer[1]"
  return C.lw_peer_read(slice_of(text), peer) and peer[0] or nil
end

local function written(peer)
  local text = ffi.new "char[46]"
  local size = C.lw_peer_write(peer, text)
  assert.equal(size, #ffi.string(text))
  return ffi.string(text)
end

describe("An address", function()
  for text, shown in pairs {
    ["192.0.2.1"]              = "192.0.2.1",
    ["0.0.0.0"]                = "0.0.0.0",
    ["255.255.255.255"]        = "255.255.255.255",
    ["::"]                     = "::",
    ["::1"]                    = "::1",
    ["2001:DB8:0:0:0:0:0:1"]   = "2001:db8::1",
    ["2001:db8::192.0.2.1"]    = "2001:db8::c000:201",
    ["::ffff:192.0.2.1"]       = "192.0.2.1",
    ["::FFFF:c000:0201"]       = "192.0.2.1",
    ["::fffe:192.0.2.1"]       = "::fffe:c000:201",
    ["ffff:ffff:ffff:ffff:ffff:ffff:255.255.255.255"] =
      "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff",
  } do
    it("may be " .. text, function() assert.equal(shown, written(read(text))) end)
  end

  for _, text in ipairs {
    "", " ", "192.0.2", "192.0.2.256", "192.0.2.1.1", "192.0.2.01", "0x7f.0.0.1",
    "192.0.2.1 ", " 192.0.2.1", "2130706433", "127.1", "192.0.2.1:80", "[::1]", ":",
    ":::", "::1::", "1:2:3:4:5:6:7", "1:2:3:4:5:6:7:8:9", "::12345", "::g", "localhost",
    "::1\0", "192.0.2.1\0", "fe80::1%lo", "::192.0.2.256", ("1"):rep(46),
    ("1"):rep(10000),
  } do
    it("is not " .. ("%q"):format(text:sub(1, 60)), function()
      assert.is_nil(read(text))
    end)
  end

  it("of a unix socket is written as one, and none as nothing", function()
    assert.equal("unix:", written(ffi.new("struct lw_peer", C.LW_FAMILY_UNIX)))
    assert.equal("", written(ffi.new("struct lw_peer", C.LW_FAMILY_NONE)))
  end)
end)

local function networks(...)
  local set = ffi.new "struct lw_networks[1]"
  for _, text in ipairs { ... } do
    assert.is_true(C.lw_networks_add(set, slice_of(text)))
  end
  return set
end

local function has(set, text)
  return C.lw_networks_have(set, read(text))
end

describe("A set of networks", function()
  for network, case in pairs {
    ["192.0.2.1"]         = { { "192.0.2.1", "::ffff:192.0.2.1" },
      { "192.0.2.0", "192.0.2.2", "::1", "c000:201::" } },
    ["10.0.0.0/8"]        = { { "10.0.0.0", "10.255.255.255" },
      { "9.255.255.255", "11.0.0.0" } },
    ["10.128.0.0/9"]      = { { "10.128.0.0", "10.255.0.1" }, { "10.127.255.255" } },
    ["192.0.2.128/31"]    = { { "192.0.2.128", "192.0.2.129" },
      { "192.0.2.130", "192.0.2.127" } },
    ["192.0.2.1/32"]      = { { "192.0.2.1" }, { "192.0.2.0" } },
    ["0.0.0.0/0"]         = { { "1.2.3.4", "255.255.255.255" }, { "::1" } },
    ["::1"]               = { { "::1" }, { "::", "::2", "0.0.0.1", "127.0.0.1" } },
    ["fd00::/8"]          = { { "fd00::", "fdff:ffff::1" }, { "fc00::", "fe00::" } },
    ["2001:db8::/33"]     = { { "2001:db8:7fff::1" }, { "2001:db8:8000::" } },
    ["2001:db8::4/127"]   = { { "2001:db8::5" }, { "2001:db8::6" } },
    ["::/0"]              = { { "::", "ffff::" }, { "0.0.0.0" } },
  } do
    it("has of " .. network .. " what lies in it, and nothing else", function()
      local set = networks(network)
      for _, text in ipairs(case[1]) do assert.is_true(has(set, text), text) end
      for _, text in ipairs(case[2]) do assert.is_false(has(set, text), text) end
    end)
  end

  it("has all of several", function()
    local set = networks("192.0.2.1", "10.0.0.0/8", "::1")
    assert.is_true(has(set, "192.0.2.1") and has(set, "10.1.1.1") and has(set, "::1"))
    assert.is_false(has(set, "192.0.2.2"))
  end)

  it("has those who come by unix sockets only where that is said", function()
    local peer = ffi.new("struct lw_peer", C.LW_FAMILY_UNIX)
    assert.is_false(C.lw_networks_have(networks("0.0.0.0/0", "::/0"), peer))
    local set = networks "unix:"
    assert.is_true(C.lw_networks_have(set, peer))
    assert.is_true(C.lw_networks_any(set))
    assert.is_false(has(set, "127.0.0.1"))
  end)

  it("has nobody at first, and never who is not known", function()
    assert.is_false(C.lw_networks_any(networks()))
    assert.is_false(has(networks(), "0.0.0.0"))
    local peer = ffi.new("struct lw_peer", C.LW_FAMILY_NONE)
    assert.is_false(C.lw_networks_have(networks("0.0.0.0/0", "::/0", "unix:"), peer))
  end)

  for _, text in ipairs {
    "", "/", "/8", "10.0.0.0/", "10.0.0.0/33", "10.0.0.0/08", "10.0.0.0/-1",
    "10.0.0.0/8 ", "10.0.0.0/8/8", "10.0.0.1/8", "192.0.2.1/31",
    "::1/127", "::/129", "fd00::1/8",
    "10.0.0.0/255.0.0.0", "localhost", "unix", "unix:/run/x", "10.0.0.0/1000",
  } do
    it("does not take " .. ("%q"):format(text), function()
      local set = ffi.new "struct lw_networks[1]"
      assert.is_false(C.lw_networks_add(set, slice_of(text)))
      assert.is_false(C.lw_networks_any(set))
    end)
  end

  it("has room for 64, and says when it is full", function()
    local set = ffi.new "struct lw_networks[1]"
    for i = 1, 64 do
      assert.is_true(C.lw_networks_add(set, slice_of("10.0.0." .. i)))
    end
    assert.is_false(C.lw_networks_add(set, slice_of "10.0.0.65"))
    assert.is_true(has(set, "10.0.0.64"))
  end)
end)
