-- SPDX-License-Identifier: MIT
-- Lines of the access log (core/http/access.h): their form, their dates, and that no
-- octet of a client leaves its field.
local ffi = require "ffi"
local json = require "luaweb.json"
local pure = require "spec.support.pure"

local C = pure.load "http/access"

local COMBINED, JSON = C.LW_ACCESS_COMBINED, C.LW_ACCESS_JSON
local FORMATS = { combined = COMBINED, JSON = JSON }
local SLICES = { "id", "trace", "peer", "method", "target", "referer", "user_agent",
  "resource" }
local MOST = 16384 -- octets of a field (LW_ACCESS_FIELD)
local GUARD = "\1\2\3\4"

--- The line of these facts, without regard to what they are; it stays within its bound.
---@param format integer
---@param facts table   slices as strings, numbers as numbers
---@return string line
local function write(format, facts)
  local access = ffi.new "struct lw_access"
  for name, value in pairs(facts) do
    if type(value) == "string" then
      access[name].data, access[name].size = value, #value
    else
      access[name] = value
    end
  end
  local bound = tonumber(C.lw_access_bound(access))
  local out = ffi.new("char[?]", bound + #GUARD)
  ffi.copy(out + bound, GUARD, #GUARD)
  local size = tonumber(C.lw_access_write(access, format, out))
  assert(size <= bound, ("%d octets, more than %d"):format(size, bound))
  assert.equal(GUARD, ffi.string(out + bound, #GUARD))
  return ffi.string(out, size)
end

local function facts_with(changes)
  local facts = {
    time_ms = 1796036207123LL, id = "8e0bab-1", trace = "0af7651916cd",
    peer = "127.0.0.1", method = "GET",
    target = "/hello/fred?x=1", referer = "http://example.com/", user_agent = "curl/8",
    resource = "/hello{/name}", minor_version = 1, status = 200, octets = 12,
    duration_us = 1234567,
  }
  for name, value in pairs(changes or {}) do facts[name] = value end
  return facts
end

local function combined(changes)
  return write(COMBINED, facts_with(changes))
end

local function read_json(changes)
  return assert(json.decode(write(JSON, facts_with(changes))))
end

local all_octets = {}
for octet = 0, 255 do all_octets[#all_octets + 1] = string.char(octet) end
all_octets = table.concat(all_octets)

-- Octets as the code points of the same number, in UTF-8.
local function as_text(octets)
  return (octets:gsub("[\128-\255]", function(c)
    return string.char(192 + math.floor(c:byte() / 64), 128 + c:byte() % 64)
  end))
end

describe("A line in the combined format", function()
  it("has peer, time, request, status, octets, referer and user agent", function()
    assert.equal('127.0.0.1 - - [30/Nov/2026:10:56:47 +0000] '
      .. '"GET /hello/fred?x=1 HTTP/1.1" 200 12 "http://example.com/" "curl/8"\n',
      combined())
  end)

  it("has a dash in the place of what is not known", function()
    assert.equal('- - - [30/Nov/2026:10:56:47 +0000] "-" 400 0 "-" "-"\n',
      combined { peer = "", method = "", target = "", referer = "", user_agent = "",
        status = 400, octets = 0 })
  end)

  it("tells HTTP/1.0 from HTTP/1.1", function()
    assert.matches('"GET /hello/fred%?x=1 HTTP/1%.0"', combined { minor_version = 0 })
  end)

  it("has a status of three digits even when there was no answer", function()
    assert.matches('" 000 0 "', combined { status = 0, octets = 0 })
  end)

  it("escapes quotes, backslashes, control octets and those above 0x7e", function()
    local line = combined { user_agent = 'a"b\\c\r\nd\0e\127f\255' }
    assert.matches([[ "a\x22b\x5cc\x0d\x0ad\x00e\x7ff\xff"]], line, 1, true)
  end)
end)

describe("A line as JSON", function()
  it("has its fields in this order", function()
    assert.equal('{"time":"2026-11-30T10:56:47.123Z","id":"8e0bab-1",'
      .. '"trace":"0af7651916cd",'
      .. '"peer":"127.0.0.1","method":"GET","target":"/hello/fred?x=1",'
      .. '"version":"1.1","status":200,"octets":12,"duration":1.234567,'
      .. '"resource":"/hello{/name}","referer":"http://example.com/",'
      .. '"user_agent":"curl/8"}\n', write(JSON, facts_with()))
  end)

  it("leaves out what is not known", function()
    local bare = { time_ms = 0, status = 400 }
    assert.equal('{"time":"1970-01-01T00:00:00.000Z","status":400,"octets":0,'
      .. '"duration":0.000000}\n', write(JSON, bare))
  end)

  it("gives every octet back as the code point of its number", function()
    for _, name in ipairs(SLICES) do
      assert.equal(as_text(all_octets), read_json({ [name] = all_octets })[name])
    end
  end)

  it("counts in microseconds, however long it took", function()
    assert.equal(0.000001, read_json({ duration_us = 1 }).duration)
    assert.equal(86400.999999, read_json({ duration_us = 86400999999 }).duration)
  end)

  it("counts octets beyond 32 bits", function()
    assert.equal(2 ^ 40, read_json({ octets = 2 ^ 40 }).octets)
  end)
end)

describe("A line for the eye", function()
  local function line(changes, format)
    return write(format or C.LW_ACCESS_TERMINAL, facts_with(changes))
  end

  it("has method, status, time, size, target and resource", function()
    assert.equal("GET     200 1.23 s    12 B     /hello/fred?x=1  /hello{/name}\n",
      line())
    assert.equal("DELETE  404 0.4 ms    0 B      /x\n", line { method = "DELETE",
      status = 404, duration_us = 456, octets = 0, target = "/x", resource = "" })
    assert.equal("-       400 0.0 ms    12 kB    -\n", line { method = "", target = "",
      status = 400, duration_us = 0, octets = 12345, resource = "" })
  end)

  it("has the colour of its status", function()
    for status, colour in pairs { [200] = 32, [304] = 36, [404] = 33, [503] = 31 } do
      assert.equal(("GET    \27[%dm %d\27[0m\27[2m 1.23 s    12 B    \27[0m "
        .. "/x\27[2m  /y\27[0m\n"):format(colour, status), line({ status = status,
          target = "/x", resource = "/y" }, C.LW_ACCESS_COLOURED))
    end
  end)

  it("lets no octet of a client steer the terminal", function()
    local text = line { method = "G\27[m", target = all_octets, resource = all_octets }
    assert.matches("^[ -~]+\n$", text)
  end)
end)

describe("The time of a line", function()
  local function both(seconds)
    return combined({ time_ms = seconds * 1000LL }):match "%[(.-)%]",
      read_json({ time_ms = seconds * 1000LL }).time
  end

  local MONTHS = { "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct",
                   "Nov", "Dec" }

  for seconds, day in pairs {
    [0]             = "1970-01-01", [68169600]    = "1972-02-29",
    [68256000]      = "1972-03-01", [951782400]   = "2000-02-29",
    [951868800]     = "2000-03-01", [978220800]   = "2000-12-31",
    [1709164800]    = "2024-02-29", [1740700800]  = "2025-02-28",
    [1740787200]    = "2025-03-01", [1798675200]  = "2026-12-31",
    [4107456000]    = "2100-02-28", [4107542400]  = "2100-03-01",
    [13574563200]   = "2400-02-29", [253402214400] = "9999-12-31",
  } do
    it("knows " .. day, function()
      local year, month, date = day:match "(%d+)-(%d+)-(%d+)"
      local combined_time, json_time = both(seconds)
      assert.equal(("%s/%s/%s:00:00:00 +0000"):format(date, MONTHS[tonumber(month)],
        year), combined_time)
      assert.equal(day .. "T00:00:00.000Z", json_time)
    end)
  end

  it("is that of the system's calendar, on any day of 400 years", function()
    local at, step = 0, 86400 * 11 + 3671 -- so that all hours and days come up
    while at < 400 * 365.2425 * 86400 do
      local combined_time, json_time = both(at)
      assert.equal(os.date("!%d/%b/%Y:%H:%M:%S +0000", at), combined_time)
      assert.equal(os.date("!%Y-%m-%dT%H:%M:%S.000Z", at), json_time)
      at = at + step
    end
  end)
end)

describe("A very long field", function()
  it("is whole up to 16 KiB", function()
    assert.equal(("x"):rep(MOST), read_json({ target = ("x"):rep(MOST) }).target)
  end)

  it("is cut beyond, which dots tell", function()
    local cut = ("x"):rep(MOST) .. "..."
    assert.equal(cut, read_json({ target = ("x"):rep(MOST + 1) }).target)
    local line = combined { user_agent = ("x"):rep(2 ^ 20) }
    assert(line:sub(-#cut - 4) == (' "%s"\n'):format(cut), #line .. " octets")
  end)

  it("leaves a line below 1 MiB, even where all are and all is escaped", function()
    local facts = {}
    for _, name in ipairs(SLICES) do facts[name] = ("\255"):rep(2 ^ 20) end
    for _, format in pairs(FORMATS) do assert(#write(format, facts) < 2 ^ 20) end
  end)
end)

describe("Whatever octets the fields have,", function()
  local function random_octets()
    local octets = {}
    for i = 1, math.random(0, 40) do octets[i] = string.char(math.random(0, 255)) end
    return table.concat(octets)
  end

  local function random_facts()
    local facts = {
      time_ms = math.random(0, 253402300799) * 1000LL,
      minor_version = math.random(0, 1), status = math.random(0, 599),
      octets = math.random(0, 2 ^ 52), duration_us = math.random(0, 2 ^ 52),
    }
    for _, name in ipairs(SLICES) do facts[name] = random_octets() end
    return facts
  end

  it("a combined line is one line of nine fields", function()
    for _ = 1, 2000 do
      local line = write(COMBINED, random_facts())
      assert.matches('^[ -~]+ %- %- %[[^%]"]+%] "[^"]*" %d%d%d %d+ "[^"]+" "[^"]+"\n$',
        line)
      assert.equal(#line, line:find("\n", 1, true))
    end
  end)

  it("a JSON line is one line that reads back as what went in", function()
    for _ = 1, 2000 do
      local facts = random_facts()
      local line = write(JSON, facts)
      assert.matches("^[ -~]+\n$", line)
      local read = assert(json.decode(line))
      for _, name in ipairs(SLICES) do
        local text = as_text(facts[name])
        assert.equal(text ~= "" and text or nil, read[name])
      end
      assert.equal(facts.status, read.status)
    end
  end)
end)
