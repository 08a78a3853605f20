-- SPDX-License-Identifier: MIT
-- What becomes of the last generation after a reload: it ends what it has begun, up to
-- a deadline, and then its memory is back.
local eventually = require "spec.support.eventually"
local process = require "spec.support.process"

local APP = [[
local web = require "luaweb"
local log = require "luaweb.log"

return web.app {
  on_stop = function() log.info "on_stop ran" end,
  web.get("/", function() return "GENERATION" end),
  web.get("/slow", function() web.sleep(0.5) return "GENERATION" end),
  web.get("/stream", function()
    return web.streaming(function(out)
      out:write "GENERATION"
      web.stopping:sync()
      out:write " stops"
    end)
  end),
  web.get("/stubborn", function()
    return web.streaming(function(out)
      out:write "GENERATION"
      web.sleep(3600)
    end)
  end),
}
]]

after_each(process.clean)

local function write(generation)
  return process.file("app.lua", (APP:gsub("GENERATION", generation)))
end

local function ask(conn, target)
  assert(conn:send(process.get(target)))
  return process.answers(conn).body
end

-- Reloads, and waits until it is so on an open connection.
local function reload(child, conn, generation)
  write(generation)
  child:signal "HUP"
  eventually("it serves " .. generation, function()
    return ask(conn, "/") == generation
  end)
end

local function has_logged(child, pattern)
  eventually("the log has " .. pattern, function()
    return child:errors():find(pattern)
  end)
end

describe("the last generation", function()
  it("answers what it has begun, and the new one what comes next", function()
    local child = process.serve(write "one")
    local slow, conn = child:connect(process.get "/slow"), child:connect()
    for _ = 1, 3 do assert.equal("one", ask(conn, "/")) end
    reload(child, conn, "two")
    assert.equal("one", process.answers(slow).body)
    assert.equal("two", ask(slow, "/"))
    has_logged(child, "on_stop ran")
    child:stop()
  end)

  it("has streams that wait for web.stopping end well", function()
    local child = process.serve(write "one")
    local stream, conn = child:connect(process.get "/stream"), child:connect()
    local octets = ""
    local function has(text)
      eventually("the stream has " .. text, function()
        octets = octets .. (stream:receive(0.1) or "")
        return octets:find(text, 1, true)
      end)
    end
    has "one"
    reload(child, conn, "two")
    has " stops\r\n0\r\n\r\n"
    assert.equal("two", ask(stream, "/"))
    child:stop()
  end)

  it("is cut at its deadline", function()
    local child = process.serve(write "one", "--drain-timeout", "0.2")
    local stream, conn = child:connect(process.get "/stubborn"), child:connect()
    eventually("the stream began", function() return stream:receive(1) end)
    reload(child, conn, "two")
    has_logged(child, "generation 1: 1 request was cut")
    assert.equal("two", ask(conn, "/"))
    child:stop()
  end)

  it("waits no longer when there are too many like it", function()
    local child = process.serve(write "one")
    local conn, streams = child:connect(), {}
    for i = 1, 10 do
      streams[i] = child:connect(process.get "/stubborn")
      eventually("the stream began", function() return streams[i]:receive(1) end)
      reload(child, conn, "g" .. i)
    end
    has_logged(child, "generation 1: 1 request was cut")
    assert.is_nil(child:errors():find "generation 3: 1 request was cut")
    child:signal "TERM"
    child:signal "TERM"
    child:wait()
  end)
end)
