-- SPDX-License-Identifier: MIT
-- A connection that repeats itself (core/net/repeat.h, core/http/memo.h): what is
-- copied or taken over must be what would have been answered anyway.
local process = require "spec.support.process"
local test = require "luaweb.test"
local web = require "luaweb"

local asked = 0
local client = test.app(web.app {
  includes = { web.machine { web.cors { origins = { "http://a.example" } } } },
  web.resource("/constant", web.machine { handle_ok = "the same" }),
  web.resource("/choice", web.machine {
    available_languages = { "en", "de" },
    handle_ok = function(req) return req.accepted.language or "none" end,
  }),
  web.get("/counted", function()
    asked = asked + 1
    return tostring(asked)
  end),
})

local function head(line, fields)
  return line .. " HTTP/1.1\r\nHost: h\r\n" .. (fields or "") .. "\r\n"
end

local heads = {
  head "GET /constant",
  head "HEAD /constant",
  head("GET /constant", 'If-None-Match: "x"\r\n'),
  head("GET /constant", "If-None-Match: *\r\n"),
  head("GET /constant", "Origin: http://a.example\r\n"),
  head("GET /constant", "Origin: http://b.example\r\n"),
  head "OPTIONS /constant",
  head "DELETE /constant",
  head "BREW /constant",
  head "GET /missing",
  head("GET /missing", "Accept: text/html\r\n"),
  head("GET /choice", "Accept-Language: de\r\n"),
  head("GET /choice", "Accept-Language: en\r\n"),
  head("GET /choice", "Accept-Language: fr\r\n"),
  "GET /constant HTTP/1.0\r\nHost: h\r\nConnection: keep-alive\r\n\r\n",
}

-- What comes until nothing comes, without the dates, and without the names of requests
-- (which are not of one length) in what goes wrong.
local function answers(conn)
  local octets = ""
  while true do
    local more = conn:receive(0.03)
    if not more then break end
    octets = octets .. more
  end
  octets = octets:gsub("Date: [^\r]+", "Date: now"):gsub("%x%x%x%x%x%x%-%x+", "id")
  return (octets:gsub("Length: %d+(\r\n[^\r]+\r\nX%-Request%-Id)", "Length: n%1"))
end

local alone = {}
for i, octets in ipairs(heads) do
  local conn = client:raw(octets)
  alone[i] = answers(conn)
  conn:close()
end

describe("a head that comes again", function()
  for i, octets in ipairs(heads) do
    it("is answered as before: " .. octets:gsub("\r\n", " | "), function()
      local conn = client:raw(octets:rep(3))
      assert.equal(alone[i]:rep(3), answers(conn))
      conn:send(octets)
      assert.equal(alone[i], answers(conn))
      conn:close()
    end)
  end

  it("is answered as on a connection of its own, whatever came before", function()
    local seed = tonumber(os.getenv "LUAWEB_SEED") or 7
    for _ = 1, 20 do
      local sent, wanted = {}, {}
      for i = 1, 12 do
        seed = (seed * 1103515245 + 12345) % 2147483648
        local chosen = math.floor(seed / 65536) % #heads + 1
        sent[i], wanted[i] = heads[chosen], alone[chosen]
      end
      local conn = client:raw(table.concat(sent))
      assert.equal(table.concat(wanted), answers(conn))
      conn:close()
    end
  end)

  it("is answered when it comes octet by octet", function()
    local conn = client:raw(heads[1])
    answers(conn)
    for i = 1, #heads[1] do conn:send(heads[1]:sub(i, i)) end
    assert.equal(alone[1], answers(conn))
    conn:close()
  end)

  it("asks Lua each time where Lua has a part", function()
    local before = asked
    local conn = client:raw(head("GET /counted"):rep(5))
    answers(conn)
    conn:close()
    assert.equal(before + 5, asked)
  end)
end)

describe("a server that must do more than answer", function()
  local APP = "spec/apps/constant.lua"
  local REQUEST = "GET / HTTP/1.1\r\nHost: h\r\n\r\n"
  local child

  after_each(function()
    if child then child:stop() end
    child = nil
  end)
  after_each(process.clean)

  it("counts repeated requests for --max-requests", function()
    child = process.serve(APP, "--max-requests", "3")
    local conn = child:connect(REQUEST:rep(5))
    local octets = process.rest(conn)
    assert.equal(3, select(2, octets:gsub("HTTP/1.1 200", "")))
    assert.matches("Connection: close", octets)
    conn:close()
  end)

  it("logs each repeated request", function()
    child = process.serve(APP, "--access-log", "-")
    local conn = child:connect(REQUEST:rep(3))
    answers(conn)
    conn:close()
    child:stop()
    assert.equal(3, select(2, child.output:gsub('"GET / HTTP/1.1" 200', "")))
    child = nil
  end)
end)
