-- SPDX-License-Identifier: MIT
-- The header of the PROXY protocol (core/http/proxy_header.h), version 1 and 2.
local ffi = require "ffi"
local header = require "spec.support.proxy_header"
local pure = require "spec.support.pure"

pure.load "base/peer"
local C = pure.load "http/proxy_header"

local MORE = 1
local V4, V6, UNIX = header.V4, header.V6, header.UNIX

-- The result, the client as text, the octets of the header, and why it is none.
local function read(octets)
  local peer, size = ffi.new "struct lw_peer[1]", ffi.new "size_t[1]"
  local why, text = ffi.new "const char *[1]", ffi.new "char[46]"
  -- A copy of its own, so that a sanitizer sees an octet too many.
  local copy = ffi.new("char[?]", math.max(#octets, 1))
  ffi.copy(copy, octets, #octets)
  local result = C.lw_proxy_header_read(ffi.new("struct luaweb_slice", copy, #octets),
    size, peer, why)
  C.lw_peer_write(peer[0], text)
  return result, ffi.string(text), tonumber(size[0]),
    why[0] ~= nil and ffi.string(why[0]) or nil
end

local LONGEST = "PROXY UNKNOWN " .. ("x"):rep(91) .. "\r\n"

local good = {
  ["a TCP4 line"] = { "PROXY TCP4 192.0.2.1 198.51.100.1 4444 443\r\n", "192.0.2.1" },
  ["a TCP6 line"] = { "PROXY TCP6 2001:DB8::1 ::1 0 65535\r\n", "2001:db8::1" },
  ["a TCP6 line with an IPv4 address in it"] =
    { "PROXY TCP6 ::ffff:192.0.2.1 ::ffff:198.51.100.1 1 2\r\n", "192.0.2.1" },
  ["the longest TCP6 line"] = { "PROXY TCP6 ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff "
    .. "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff 65535 65535\r\n",
    "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff" },
  ["a line that does not know"] = { "PROXY UNKNOWN\r\n", "" },
  ["a line that does not know, but says something"] =
    { "PROXY UNKNOWN ffff::1 what 1 2\r\n", "" },
  ["the longest line"] = { LONGEST, "" },
  ["a block of IPv4"] = { header.version_2(0x21, 0x11, V4), "192.0.2.1" },
  ["a block of IPv6"] = { header.version_2(0x21, 0x21, V6), "2001:db8::9" },
  ["a block of IPv4 in IPv6"] = { header.version_2(0x21, 0x21,
    ("\0"):rep(10) .. "\255\255\192\0\2\7" .. V6:sub(17)), "192.0.2.7" },
  ["a block of datagrams"] = { header.version_2(0x21, 0x12, V4), "192.0.2.1" },
  ["a block of unix sockets"] = { header.version_2(0x21, 0x31, UNIX), "unix:" },
  ["a block without family"] = { header.version_2(0x21, 0x00, ""), "" },
  ["a block without family, but with octets"] =
    { header.version_2(0x21, 0x00, "what?"), "" },
  ["a LOCAL block"] = { header.version_2(0x20, 0x00, ""), "" },
  ["a LOCAL block with addresses, which don't count"] =
    { header.version_2(0x20, 0x11, V4), "" },
  ["a LOCAL block of any family"] = { header.version_2(0x20, 0xff, "x"), "" },
  ["a block with something added"] = { header.version_2(0x21, 0x11,
    V4 .. header.added(1, "h2") .. header.added(2, "a.example")), "192.0.2.1" },
  ["a block with something added that is cut short"] =
    { header.version_2(0x21, 0x11, V4 .. "\1\255\255"), "192.0.2.1" },
  ["the longest block"] =
    { header.version_2(0x21, 0x11, V4 .. ("x"):rep(4096 - 16 - #V4)), "192.0.2.1" },
}

describe("The header of a proxy", function()
  for name, case in pairs(good) do
    local octets, client = unpack(case)
    it("may be " .. name, function()
      local result, found, size = read(octets .. "GET / HTTP/1.1\r\n")
      assert.same({ 0, client, #octets }, { result, found, size })
    end)

    it("is awaited to its last octet: " .. name, function()
      for i = 0, #octets - 1 do assert.equal(MORE, (read(octets:sub(1, i)))) end
      assert.equal(0, (read(octets)))
    end)
  end
end)

local NONE = "it does not begin with a PROXY header"
local FAMILY = "the PROXY header is for none of TCP4, TCP6, UNKNOWN"
local ADDRESS = "the PROXY header has an address that is none of its family"
local PORTS = "the PROXY header does not end in two ports"
local ENDLESS = "the line of the PROXY header does not end"
local VERSION = "the version or command of the PROXY header is not known"
local BLOCK_FAMILY = "the family of the PROXY header is not known"
local SHORT = "the addresses of the PROXY header are cut short"
local LONG = "the PROXY header is too long"

local function line(rest) return "PROXY " .. rest .. "\r\n" end

local bad = {
  { "a request", "GET / HTTP/1.1\r\n", NONE },
  { "lower case", "proxy TCP4", NONE },
  { "a space in front", " PROXY TCP4", NONE },
  { "an empty line in front", "\r\nPROXY", NONE },
  { "a NUL", "\0", NONE },
  { "no space", "PROXY\tTCP4", NONE },
  { "another signature", "\r\n\r\n\0\r\nQUIT\r", NONE },
  { "no family", line "", FAMILY },
  { "another family", line "UDP4 192.0.2.1 192.0.2.2 1 2", FAMILY },
  { "a family in lower case", line "tcp4 192.0.2.1 192.0.2.2 1 2", FAMILY },
  { "what only begins as UNKNOWN", line "UNKNOWNS", FAMILY },
  { "two spaces", line " TCP4 192.0.2.1 192.0.2.2 1 2", FAMILY },
  { "IPv6 as TCP4", line "TCP4 ::1 ::1 1 2", ADDRESS },
  { "IPv4 as TCP6", line "TCP6 192.0.2.1 192.0.2.2 1 2", ADDRESS },
  { "a name", line "TCP4 localhost 192.0.2.2 1 2", ADDRESS },
  { "a bad destination", line "TCP4 192.0.2.1 192.0.2 1 2", ADDRESS },
  { "a zero in front", line "TCP4 192.0.2.01 192.0.2.2 1 2", ADDRESS },
  { "a missing address", line "TCP4 192.0.2.1", ADDRESS },
  { "two spaces between addresses", line "TCP4 192.0.2.1  192.0.2.2 1 2", ADDRESS },
  { "a NUL in an address", line "TCP4 192.0.2.1\0 192.0.2.2 1 2", ADDRESS },
  { "no ports", line "TCP4 192.0.2.1 192.0.2.2", PORTS },
  { "one port", line "TCP4 192.0.2.1 192.0.2.2 1", PORTS },
  { "three ports", line "TCP4 192.0.2.1 192.0.2.2 1 2 3", PORTS },
  { "a port too high", line "TCP4 192.0.2.1 192.0.2.2 65536 2", PORTS },
  { "a port with a zero in front", line "TCP4 192.0.2.1 192.0.2.2 01 2", PORTS },
  { "a port that is none", line "TCP4 192.0.2.1 192.0.2.2 http 2", PORTS },
  { "a space at the end", line "TCP4 192.0.2.1 192.0.2.2 1 2 ", PORTS },
  { "a line feed alone", "PROXY TCP4 192.0.2.1 192.0.2.2 1 2\n\r\n", PORTS },
  { "a line without end", "PROXY UNKNOWN " .. ("x"):rep(93), ENDLESS },
  { "version 1 in a block", header.version_2(0x11, 0x11, V4), VERSION },
  { "version 3", header.version_2(0x31, 0x11, V4), VERSION },
  { "another command", header.version_2(0x22, 0x11, V4), VERSION },
  { "another family of a block", header.version_2(0x21, 0x41, V4), BLOCK_FAMILY },
  { "another transport", header.version_2(0x21, 0x13, V4), BLOCK_FAMILY },
  { "too little for IPv4", header.version_2(0x21, 0x11, V4:sub(2)), SHORT },
  { "too little for IPv6", header.version_2(0x21, 0x21, V6:sub(2)), SHORT },
  { "too little for unix sockets", header.version_2(0x21, 0x31, UNIX:sub(2)), SHORT },
  { "nothing for IPv4", header.version_2(0x21, 0x11, ""), SHORT },
  { "a block too long", header.version_2(0x21, 0x11, "", 4096 - 15), LONG },
  { "the longest size", header.version_2(0x21, 0x11, V4, 65535), LONG },
  { "LOCAL and too long", header.version_2(0x20, 0x00, "", 65535), LONG },
}

describe("A header of a proxy is refused with", function()
  for _, case in ipairs(bad) do
    it(case[1], function()
      local result, client, _, why = read(case[2])
      assert.same({ 400, "", case[3] }, { result, client, why })
    end)
  end

  it("what is none, at the first octet that shows it", function()
    assert.equal(400, (read "G"))
    assert.equal(400, (read "PROXX"))
    assert.equal(400, (read "\r\n\r\nG"))
  end)

  it("another version, before its size is known", function()
    assert.equal(400, (read(header.version_2(0x31, 0x11, V4):sub(1, 13))))
  end)
end)
