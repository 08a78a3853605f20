-- SPDX-License-Identifier: MIT
-- What a client sends stays in its field of its line of the access log, in any format.
local log_file = require "spec.support.log_file"
local process = require "spec.support.process"

local APP = [[
local web = require "luaweb"
return web.app {
  web.get("/", function() return "root" end),
  web.get("/id{/rest}", function(req) return req.id end),
}
]]

after_each(process.clean)

-- Serves with a log in this format and sends these octets; the path of the log.
local function play(format, octets)
  local path = process.path "access.log"
  local child = process.serve(process.file("app.lua", APP), "--access-log",
    format .. ":" .. path)
  local conn = child:connect(octets)
  conn:finish()
  process.rest(conn)
  conn:close()
  return path
end

local function entry_of(octets)
  return log_file.entries(1, play("json", octets))[1]
end

describe("What a client sends", function()
  -- Octets as the code points of the same number, in UTF-8.
  local function as_text(octets)
    return (octets:gsub("[\128-\255]", function(c)
      return string.char(192 + math.floor(c:byte() / 64), 128 + c:byte() % 64)
    end))
  end

  local high = {}
  for octet = 128, 255 do high[#high + 1] = string.char(octet) end
  high = table.concat(high)

  for name, value in pairs {
    quotes = [[", "status": 200, "x": "]],
    backslashes = [[\" \n \u000a \]],
    braces = "{}}{",
    ["a tab"] = "a\tb",
    ["octets above 0x7f"] = high,
    ["UTF-8"] = "\195\169\226\130\172\240\159\152\128",
    ["a line of its own, escaped"] = [[\r\n127.0.0.1 - - [forged] "GET / HTTP/1.1"]],
  } do
    it("stays in its field: " .. name, function()
      local entry = entry_of(process.get("/", "User-Agent: " .. value
        .. "\r\nReferer: " .. value .. "\r\n"))
      assert.equal(as_text(value), entry.user_agent)
      assert.equal(as_text(value), entry.referer)
      assert.equal(200, entry.status)
    end)
  end

  it("is whole in a target as long as it may be", function()
    local target = "/id/" .. ("x"):rep(8188)
    assert.equal(target, entry_of(process.get(target)).target)
  end)

  it("is cut where it is longer than 16 KiB", function()
    local entry = entry_of(process.get("/", "User-Agent: " .. ("x"):rep(30000)
      .. "\r\n"))
    assert.equal(("x"):rep(16384) .. "...", entry.user_agent)
  end)

  it("may be a method of its own", function()
    local entry = entry_of("VERSION-CONTROL / HTTP/1.1\r\nHost: a\r\n\r\n")
    assert.equal("VERSION-CONTROL", entry.method)
  end)
end)

describe("A line in the combined format", function()
  local function line_of(octets)
    return log_file.lines(1, play("combined", octets))[1]
  end

  local TIME = "%[%d%d/%u%l%l/%d%d%d%d:%d%d:%d%d:%d%d %+0000%]"

  it("has what every tool expects there", function()
    assert.matches("^127%.0%.0%.1 %- %- " .. TIME .. ' "GET / HTTP/1%.1" 200 4 '
      .. '"http://example%.com/" "spec/1"$', line_of(process.get("/",
      "Referer: http://example.com/\r\nUser-Agent: spec/1\r\n")))
  end)

  it("has dashes for what is not known", function()
    assert.matches("^127%.0%.0%.1 %- %- " .. TIME .. ' "%-" 400 %d+ "%-" "%-"$',
      line_of "what?\r\n\r\n")
  end)

  it("keeps quotes, backslashes and octets above 0x7e in their field", function()
    assert.matches([["%-" "a\x22 200 9 \x22b\x5c\xc3\xa9"$]], line_of(process.get("/",
      "User-Agent: a\" 200 9 \"b\\\195\169\r\n")))
  end)
end)
