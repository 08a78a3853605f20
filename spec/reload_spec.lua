-- SPDX-License-Identifier: MIT
-- A reload: a new generation takes over in all workers or in none, and nobody's
-- connection, request or stream is lost over it.
local eventually = require "spec.support.eventually"
local ffi = require "ffi"
local process = require "spec.support.process"
local tree = require "spec.support.tree"

local ROOT = process.get "/"

ffi.cdef "void __asan_init(void);"

-- AddressSanitizer keeps 256 MiB of what was freed.
local keeps_freed = pcall(function() return ffi.C.__asan_init end)

-- "/" tells the version, which is written into the script; %s: what runs before.
local APP = [[
local web = require "luaweb"
%s
return web.app {
  web.get("/", function() return "%s" end),
  web.get("/slow", function() print "begun" web.sleep(0.5) return "slow %s" end),
  web.get("/stream", function()
    return web.streaming(function(out)
      print "begun"
      for i = 1, 5 do out:write(i .. ",") web.sleep(0.1) end
    end)
  end),
  web.get("/endless", function() print "begun" web.sleep(60) end),
  on_stop = function() print "stopped %s" end,
}
]]

after_each(process.clean)

local function write(version, before)
  return process.file("app.lua", APP:format(before or "", version, version, version))
end

local function serve(...)
  local child = process.serve(write "one", ...)
  child:expect "/stream"
  return child
end

-- How often the log has this pattern.
local function count(child, pattern)
  return select(2, child:errors():gsub(pattern, ""))
end

local function reloads(child)
  return count(child, "reload: generation %d+ serves")
end

-- Asks for a reload and waits until it has succeeded.
local function reload(child)
  local before = reloads(child)
  child:signal "HUP"
  eventually("the reload succeeds", function() return reloads(child) > before end)
end

local function reload_fails(child, why)
  child:signal "HUP"
  eventually("the reload fails", function()
    return child:errors():find("reload: the old generation goes on: " .. why)
  end)
end

describe("SIGHUP", function()
  it("loads the app anew", function()
    local child = serve()
    assert.equal("one", child:ask(ROOT).body)
    write "two"
    reload(child)
    assert.equal("two", child:ask(ROOT).body)
    child:stop()
  end)

  it("says how many workers serve the new generation", function()
    local child = serve("--workers", "2")
    eventually("both run", function() return #child:workers() == 2 end)
    reload(child)
    assert.matches("info  reload: asked for by SIGHUP\n.*info  reload: generation 2 "
      .. "serves in 2 workers, after %d+ ms\n", child:errors())
  end)

  it("is done again when it comes while one runs, once for all that come", function()
    local child = serve()
    write("two", "web.sleep(0.3)")
    child:signal "HUP"
    eventually("it is said", function() return count(child, "SIGHUP") == 1 end)
    for i = 2, 4 do
      child:signal "HUP"
      eventually("it is said", function() return count(child, "SIGHUP") == i end)
    end
    eventually("two reloads", function() return reloads(child) == 2 end)
    reload(child)
    assert.equal(3, reloads(child))
  end)
end)

describe("a reload", function()
  it("in which a worker ends says that it may be asked for again", function()
    local child = serve()
    write("two", "os.exit(7)")
    reload_fails(child, "worker 1 ended meanwhile, the log says how: ask again\n")
    write "three"
    assert.equal("three", child:ask(ROOT).body)
  end)

  it("does not change the number of workers, but says so", function()
    local child = serve()
    write("two", "local app = web.app\n"
      .. "web.app = function(t) t.workers = 2 return app(t) end")
    reload(child)
    assert.equal(1, #child:workers())
    assert.matches("warn  the app wants 2 workers now; there are 1 until the next",
      child:errors())
  end)

  it("leads the next request of an open connection to the new generation", function()
    local child = serve()
    local conn = child:connect()
    assert.equal("one", child:ask(ROOT, conn).body)
    write "two"
    reload(child)
    assert.equal("two", child:ask(ROOT, conn).body)
    conn:close()
  end)

  it("lets the old generation finish a request", function()
    local child = serve()
    local conn = child:connect(process.get "/slow")
    child:expect "^begun$"
    write "two"
    reload(child)
    assert.equal("slow one", process.answers(conn).body)
    assert.equal("two", child:ask(ROOT, conn).body)
    conn:close()
  end)

  it("lets a stream run to its end", function()
    local child = serve()
    local conn = child:connect(process.get "/stream")
    child:expect "^begun$"
    reload(child)
    assert.equal("1,2,3,4,5,", process.answers(conn).body)
    assert.equal("one", child:ask(ROOT, conn).body)
    conn:close()
  end)

  it("runs on_stop of the old generation when its last request has ended", function()
    local child = serve()
    write "two"
    reload(child)
    child:expect "^stopped one$"
    child:signal "TERM"
    child:expect "^stopped two$"
  end)

  it("cuts what the old generation does after --drain-timeout, and says so", function()
    local child = serve("--drain-timeout", "0.3")
    local conn = child:connect(process.get "/endless")
    child:expect "^begun$"
    reload(child)
    assert.is_nil((conn:receive(5)))
    eventually("it is said", function()
      return child:errors():find "generation 1: 1 request was cut"
    end)
    conn:close()
    assert.equal("one", child:ask(ROOT).body)
  end)

  it("gives the memory of the old generation back, 200 times", function()
    local child = serve()
    for _ = 1, 40 do reload(child) end
    local before = child:status "VmRSS"
    for _ = 1, 160 do reload(child) end
    local more = child:status "VmRSS" - before
    assert(more < (keeps_freed and 262144 or 4096), ("%d KiB more"):format(more))
  end)
end)

describe("a script that does not load", function()
  it("changes nothing, and the log has its file and line", function()
    local child = serve()
    process.file("app.lua", "local x\nx.y = 1")
    reload_fails(child, "[^\n]*app%.lua:2: attempt to index")
    assert.equal("one", child:ask(ROOT).body)
    write "two"
    reload(child)
    assert.equal("two", child:ask(ROOT).body)
  end)

  it("in one worker only changes nothing in any of them", function()
    local child = serve("--workers", "2")
    eventually("both run", function() return #child:workers() == 2 end)
    reload(child)
    local mark = process.file("mark", "")
    write("two", ("if os.rename(%q, %q) then error 'only here' end")
      :format(mark, mark .. ".taken"))
    reload_fails(child, "[^\n]*app%.lua:2: only here")
    for _ = 1, 20 do assert.equal("one", child:ask(ROOT).body) end
    reload(child)
    for _ = 1, 20 do assert.equal("two", child:ask(ROOT).body) end
  end)
end)

describe("a worker that dies while it loads", function()
  it("ends the reload: the old generation goes on, the next one succeeds", function()
    local child = serve("--workers", "2")
    eventually("both run", function() return #child:workers() == 2 end)
    reload(child)
    write("two", "print 'loading' io.flush() web.sleep(0.5)")
    child:signal "HUP"
    child:expect "^loading$"
    tree.signal(child:workers()[1], "KILL")
    eventually("it is said", function()
      return child:errors():find "the old generation goes on: worker %d ended"
    end)
    reload(child)
    for _ = 1, 20 do assert.equal("two", child:ask(ROOT).body) end
  end)

  it("is started once, with the next generation that was asked for", function()
    local child = serve()
    write("two", 'web.sleep(0.5)')
    child:signal "HUP"
    eventually("it loads", function() return count(child, "asked for") == 1 end)
    child:signal "HUP"
    eventually("another is wanted", function()
      return count(child, "after the one that runs") == 1
    end)
    child:signal_worker "KILL"
    eventually("the next reload succeeds", function() return reloads(child) == 1 end)
    assert.equal("two", child:ask(ROOT).body)
    assert.equal(1, #child:workers())
    assert.equal(1, count(child, "it is started again"))
  end)
end)
