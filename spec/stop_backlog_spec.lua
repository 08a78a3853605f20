-- SPDX-License-Identifier: MIT
-- The end of the process when much else goes on: clients that wait to be accepted, one
-- more signal, on_stop and finalizers that misbehave, a path that is another's.
local lfs = require "lfs"
local process = require "spec.support.process"
local web = require "luaweb"

local CLOSING = "Connection: close\r\n"

after_each(process.clean)

-- An app with these further fields and routes, which may print.
local function app(text)
  return process.file("app.lua", ([[
local web = require "luaweb"
local function spin(seconds)
  local began = os.clock()
  while os.clock() - began < seconds do end
end
return web.app {
  web.get("/", function() return "root" end),
  %s
}
]]):format(text))
end

-- Waits until the error log has this.
local function says(child, pattern)
  for _ = 1, 100 do
    if child:errors():find(pattern) then return end
    web.sleep(0.02)
  end
  error(("no %q in the log:\n%s"):format(pattern, child:errors()), 2)
end

local function count(text, pattern)
  return select(2, text:gsub(pattern, ""))
end

local function now()
  return tonumber((assert(io.open "/proc/uptime"):read "*n"))
end

describe("a stop", function()
  it("answers all who were connected, though a turn was busy", function()
    local CLIENTS = 400
    local child = process.serve(app [[
      web.get("/busy", function() print "begun" spin(0.6) return "busy" end),
    ]])
    local busy, conns = child:connect(process.get "/busy"), {}
    child:expect "^begun$"
    for i = 1, CLIENTS do conns[i] = child:connect(process.get("/", CLOSING)) end
    child:signal "TERM"
    local answered = 0
    for i = 1, CLIENTS do
      answered = answered + count(process.rest(conns[i]), "^HTTP/1%.1 200 .*root$")
      conns[i]:close()
    end
    assert.equal(CLIENTS, answered)
    assert.equal("busy", process.answers(busy).body)
    busy:close()
    assert.equal(0, (child:wait()))
  end)

  for _, signal in ipairs { "TERM", "INT" } do
    it("is not aborted by a SIG" .. signal .. " while all is taken down", function()
      local child = process.serve(app [[
        on_start = function()
          _G.last = newproxy(true)
          getmetatable(_G.last).__gc = function()
            io.stderr:write "closing\n"
            spin(0.4)
          end
        end,
      ]])
      child:signal "TERM"
      says(child, "^closing\n")
      child:signal(signal)
      local code = child:wait()
      assert(code == 0 or code == 130 or code == 143, "code " .. code)
    end)
  end

  it("lets a finalizer look at a request whose handler never ended", function()
    local child = process.serve(app [[
      web.get("/keep/{name}", function(req)
        local function look()
          return req.method .. req.path .. tostring(req.query.a)
        end
        _G.last = newproxy(true)
        getmetatable(_G.last).__gc = function()
          io.stderr:write("looked: ", type(select(2, pcall(look))), "\n")
        end
        print "begun"
        web.sleep(60)
      end),
    ]], "--drain-timeout", "0.1")
    local conn = child:connect(process.get "/keep/it?a=1")
    child:expect "^begun$"
    child:signal "TERM"
    assert.equal(0, (child:wait()))
    conn:close()
    assert.matches("looked: string\n$", child:errors())
  end)
end)

describe("on_stop", function()
  -- Ends soon, with one error in the log; gives the log.
  local function ends_with_one_error(on_stop)
    local child = process.serve(app("on_stop = function() " .. on_stop .. " end,"))
    local began = now()
    child:signal "TERM"
    assert.equal(0, (child:wait()))
    assert(now() - began < 20) -- the drain timeout is 30
    local log = child:errors()
    assert.equal(1, count("\n" .. log, "\n%S+ error "), log)
    return log
  end

  it("that yields to nobody ends the process, and is logged once", function()
    ends_with_one_error "coroutine.yield()"
  end)

  it("that raises an object is logged once", function()
    assert.matches("on_stop failed", ends_with_one_error "error({})")
  end)

  it("that raises an object whose __tostring fails is logged once", function()
    local log = ends_with_one_error [[
      error(setmetatable({}, { __tostring = function() error "no text" end }))
    ]]
    assert.matches("on_stop failed: .*%(its __tostring failed%)", log)
  end)
end)

describe("the path of a unix socket", function()
  local function serve(path, ...)
    local child = process.start("spec/apps/cases.lua", "--listen", "unix:" .. path, ...)
    child:expect "unix:"
    return child
  end

  it("is removed at the stop", function()
    local path = process.path "one.sock"
    local child = serve(path)
    assert.equal("socket", lfs.attributes(path, "mode"))
    child:stop()
    assert.is_nil(lfs.attributes(path, "mode"))
  end)

  it("stays when another server has taken it over meanwhile", function()
    local path = process.path "two.sock"
    local first = serve(path)
    os.remove(path)
    local second = serve(path, "--control", process.path "second.control",
      "--pid-file", process.path "second.pid")
    first:stop()
    assert.equal("socket", lfs.attributes(path, "mode"))
    second:stop()
    assert.is_nil(lfs.attributes(path, "mode"))
  end)
end)
