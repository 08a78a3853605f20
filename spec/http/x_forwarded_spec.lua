-- SPDX-License-Identifier: MIT
-- X-Forwarded-For, -Proto and -Host as trusted proxies write them, alone and beside
-- Forwarded (core/http/forwarded.h).
local forwarded = require "spec.support.forwarded"

local MALFORMED = "X-Forwarded-* is malformed"
local DIFFER = "Forwarded and X-Forwarded-* do not say the same"

-- What these say: X-Forwarded-For, -Proto, -Host, each a text or a list of lines.
local function read(peers, schemes, hosts)
  local fields = {}
  local names = { "X-Forwarded-For", "X-Forwarded-Proto", "X-Forwarded-Host" }
  for i = 1, 3 do
    local lines = ({ peers, schemes, hosts })[i] or {}
    for _, line in ipairs(type(lines) == "table" and lines or { lines }) do
      fields[#fields + 1] = { names[i], line }
    end
  end
  return forwarded.read(fields)
end

describe("X-Forwarded-For names the client", function()
  for text, peer in pairs {
    ["192.0.2.1"]                        = "192.0.2.1",
    [" 192.0.2.1\t"]                     = "192.0.2.1",
    ["192.0.2.1:4711"]                   = "192.0.2.1",
    ["2001:DB8::1"]                      = "2001:db8::1",
    ["[2001:db8::1]"]                    = "2001:db8::1",
    ["[2001:db8::1]:80"]                 = "2001:db8::1",
    ["::ffff:192.0.2.1"]                 = "192.0.2.1",
    ["unknown"]                          = "unknown",
    ["_hidden"]                          = "_hidden",
    [",192.0.2.1,,"]                     = "192.0.2.1",
    ["6.6.6.6, 192.0.2.1"]               = "192.0.2.1",
    ["6.6.6.6,192.0.2.1,10.0.0.1,fd00::1"] = "192.0.2.1",
    ["10.0.0.9, 10.0.0.1"]               = "10.0.0.9",
    ["rubbish, 192.0.2.1"]               = "192.0.2.1",
    ["10.0.0.9, unknown, 10.0.0.1"]      = "unknown",
  } do
    it("in " .. text, function() assert.same({ peer = peer }, (read(text))) end)
  end

  it("over several lines", function()
    assert.same({ peer = "192.0.2.1" }, (read { "6.6.6.6", "192.0.2.1, 10.0.0.1", "" }))
  end)

  it("in any case", function()
    assert.same({ peer = "192.0.2.1" },
      (forwarded.lines("x-forwarded-FOR", "192.0.2.1")))
  end)
end)

describe("X-Forwarded-For is malformed with", function()
  for text, what in pairs {
    ["client.example"]       = "a name",
    ["192.0.2.256"]          = "an address that is none",
    ["192.0.2.1:"]           = "an empty port",
    ["192.0.2.1:x"]          = "a port that is none",
    ["192.0.2.1 192.0.2.2"]  = "a space for a comma",
    ["\"192.0.2.1\""]        = "quotes",
    ["for=192.0.2.1"]        = "the form of Forwarded",
    ["[::1"]                 = "a bracket that does not close",
    ["[192.0.2.1]"]          = "IPv4 in brackets",
    ["::1:http"]             = "a name as the port of IPv6",
    ["192.0.2.1;"]           = "a semicolon",
  } do
    it(what .. ": nothing is taken", function()
      for _, before in ipairs { "", "192.0.2.7, " } do
        local found, why, result = read(before .. text, "https", "a.example")
        assert.same({ MALFORMED, -1 }, { why, result })
        assert.is_nil(found)
      end
    end)
  end
end)

describe("X-Forwarded-Proto and X-Forwarded-Host", function()
  it("are those of the client's request, where there is one", function()
    assert.same({ peer = "192.0.2.1", scheme = "https", host = "a.example:8443" },
      (read("192.0.2.1, 10.0.0.1", "HTTPS", "a.example:8443")))
  end)

  it("may be there alone", function()
    assert.same({ scheme = "https" }, (read(nil, "https")))
    assert.same({ host = "[::1]" }, (read(nil, nil, "[::1]")))
  end)

  it("are read in step with X-Forwarded-For, where there are as many", function()
    assert.same({ peer = "192.0.2.1", scheme = "https", host = "a.example" },
      (read("6.6.6.6, 192.0.2.1, 10.0.0.1", { "http", "https, http" },
        "evil.example, a.example, inner")))
  end)

  it("are not looked at to the left of the client", function()
    assert.same({ peer = "192.0.2.1", scheme = "https" },
      (read("6.6.6.6, 192.0.2.1", "gopher, https")))
  end)

  for what, case in pairs {
    ["more schemes than addresses"]  = { "192.0.2.1", "http, https" },
    ["fewer schemes than addresses"] = { "6.6.6.6, 192.0.2.1, 10.0.0.1",
      "http, https" },
    ["several schemes alone"]        = { nil, "https, https" },
    ["more hosts than addresses"]    = { "192.0.2.1", nil, "a.example, b" },
    ["two lines of a host"]          = { "192.0.2.1", nil, { "a.example", "b" } },
    ["another scheme"]               = { "192.0.2.1", "ftp" },
    ["another scheme of many hops"]  = { "192.0.2.1, 10.0.0.1", "wss" },
    ["a host with a space"]          = { "192.0.2.1", nil, "a b" },
    ["a host with a path"]           = { "192.0.2.1, 10.0.0.1", nil, "a/b" },
    ["a scheme in quotes"]           = { "192.0.2.1", "\"https\"" },
  } do
    it("are malformed with " .. what .. ": nothing is taken", function()
      local found, why, result = read(case[1], case[2], case[3])
      assert.same({ MALFORMED, -1 }, { why, result })
      assert.is_nil(found)
    end)
  end

  it("count as not there where they are empty", function()
    assert.same({ peer = "192.0.2.1" }, (read("192.0.2.1", "", " , ")))
  end)
end)

-- What Forwarded and X-Forwarded-For, -Proto, -Host say together.
local function both(standard, peers, scheme, host)
  local fields = { { "X-Forwarded-For", peers }, { "Forwarded", standard } }
  if scheme then fields[#fields + 1] = { "X-Forwarded-Proto", scheme } end
  if host then fields[#fields + 1] = { "X-Forwarded-Host", host } end
  return forwarded.read(fields)
end

describe("Forwarded beside X-Forwarded-*", function()
  it("is believed where both say the same", function()
    assert.same({ peer = "192.0.2.1" }, (both("for=192.0.2.1", "6.6.6.6, 192.0.2.1")))
    assert.same({ peer = "2001:db8::1", scheme = "https", host = "a.example" },
      (both("for=\"[2001:db8::1]:80\";proto=https;host=a.example", "2001:DB8:0::1",
        "HTTPS", "A.example")))
    assert.same({ peer = "_x" }, (both("for=_x", "_x")))
  end)

  for what, case in pairs {
    ["another address"]         = { "for=6.6.6.6", "192.0.2.1" },
    ["another kind of address"] = { "for=unknown", "192.0.2.1" },
    ["another hidden name"]     = { "for=_a", "_b" },
    ["no address"]              = { "proto=https", "192.0.2.1", "https" },
    ["another scheme"]          = { "for=192.0.2.1;proto=https", "192.0.2.1", "http" },
    ["a scheme more"]           = { "for=192.0.2.1;proto=https", "192.0.2.1" },
    ["a scheme less"]           = { "for=192.0.2.1", "192.0.2.1", "https" },
    ["another host"]            = { "for=192.0.2.1;host=evil.example", "192.0.2.1", nil,
      "a.example" },
    ["a host more"]             = { "for=192.0.2.1;host=evil.example", "192.0.2.1" },
    ["a fault"]                 = { "for=\"", "192.0.2.1" },
    ["what is good beside a fault"] = { "for=192.0.2.1", "rubbish" },
    ["a fault beside a fault"]  = { "rubbish", "rubbish" },
    ["nothing"]                 = { "", "192.0.2.1" },
  } do
    it("is refused with " .. what, function()
      local found, why, result = both(unpack(case, 1, 4))
      assert.same({ DIFFER, 400 }, { why, result })
      assert.is_nil(found)
    end)
  end
end)
