-- SPDX-License-Identifier: MIT
-- A server is a master and its workers: how many there are, what becomes of one that
-- dies, and how connections find one that lives.
local eventually = require "spec.support.eventually"
local process = require "spec.support.process"
local tree = require "spec.support.tree"

local ROOT = process.get "/"

-- "/" tells which process answers.
local APP = [[
local ffi = require "ffi"
local web = require "luaweb"
ffi.cdef "int getpid(void); void _exit(int code);"
return web.app {
  web.get("/", function() return tostring(ffi.C.getpid()) end),
  web.get("/exit", function() ffi.C._exit(3) end),
  web.get("/busy", function()
    local began = os.time()
    while os.time() < began + 3 do end
    return tostring(ffi.C.getpid())
  end),
  web.get("/slow", function() web.sleep(0.5) return "slow" end),
}
]]

after_each(process.clean)

-- Connections, and how many of them each process has.
local function connect_all(child, count)
  local conns, counts = {}, {}
  for i = 1, count do conns[i] = child:connect(ROOT) end
  for i = 1, count do
    local pid = tonumber(process.answers(conns[i]).body)
    conns[i].pid = pid
    counts[pid] = (counts[pid] or 0) + 1
  end
  return conns, counts
end

local function close_all(conns)
  for _, conn in ipairs(conns) do conn:close() end
end

-- Waits until each worker has answered.
local function all_serve(child, count)
  eventually("each worker answers", function()
    local conns, counts = connect_all(child, 8 * count)
    close_all(conns)
    local found = 0
    for _, pid in ipairs(child:workers()) do
      if counts[pid] then found = found + 1 end
    end
    return found == count and found == #child:workers()
  end)
end

local function serve(count, ...)
  local child = process.serve(process.file("app.lua", APP), "--workers",
    tostring(count), ...)
  all_serve(child, count)
  return child
end

local function is_refused(value)
  local ended = process.run("apps/hello.lua", "--workers", value)
  assert.equal(2, ended.code)
  assert.equal(("luaweb: --workers %s: want auto, or a number from 1 to 64\n")
    :format(value), ended.errors:match "^[^\n]*\n")
end

describe("--workers", function()
  it("is how many processes serve, beside the one that was started", function()
    local child = serve(3)
    local _, counts = connect_all(child, 1)
    assert.is_nil(counts[child.pid])
    child:stop()
  end)

  it("is a number from 1 to 64, or auto", function()
    for _, value in ipairs { "0", "65", "many", "-1", "1.5", "" } do
      is_refused(value)
    end
  end)

  it("is one for each core that we may use, unless it is given", function()
    local allowed = io.popen "nproc"
    local cores = allowed:read "*n"
    allowed:close()
    local child = process.start("apps/hello.lua", "--listen", "127.0.0.1:0")
    child:expect "http://"
    eventually("all workers run", function()
      return #child:workers() == math.min(cores, 64)
    end)
    child:stop()
  end)

  it("is overruled by the app, which may keep state that can't be shared", function()
    local path = process.file("app.lua", [[
return require("luaweb").app { workers = 1 }
]])
    local child = process.serve(path, "--workers", "3")
    child:stop()
    assert.equal("", child:errors())
    assert.equal(0, #child:workers())
  end)
end)

describe("--pin-workers", function()
  it("keeps each worker on one core", function()
    local child = serve(2, "--pin-workers")
    for _, pid in ipairs(child:workers()) do
      local file = assert(io.open(("/proc/%d/status"):format(pid)))
      assert.matches("Cpus_allowed_list:%s+%d+\n", file:read "*a")
      file:close()
    end
    child:stop()
  end)
end)

describe("connections", function()
  for _, count in ipairs { 64, 256 } do
    it(("are spread evenly: %d over 2 workers"):format(count), function()
      local child = serve(2)
      local _, ends = process.rest(child:connect(), 1.5) -- the short ones are forgotten
      assert.equal("timeout", ends)
      local conns, counts = connect_all(child, count)
      for pid, has in pairs(counts) do
        assert(math.abs(has - count / 2) <= 8, ("%d has %d"):format(pid, has))
      end
      close_all(conns)
      child:stop()
    end)
  end
end)

describe("a worker that dies", function()
  it("is replaced, and the log says how it died", function()
    local child = serve(2)
    local victim = child:workers()[1]
    tree.signal(victim, "KILL")
    eventually("it is replaced", function()
      local now = child:workers()
      return #now == 2 and now[1] ~= victim and now[2] ~= victim
    end)
    all_serve(child, 2)
    assert.matches("error worker 1 %(pid " .. victim .. "%) was ended by signal 9 "
      .. "%(Killed%); it is started again at once; 1 of 2 serve\n", child:errors())
  end)

  it("is replaced when it is the only one", function()
    local child = serve(1)
    tree.signal(child:workers()[1], "ABRT")
    local answer = child:ask(ROOT) -- it waits for the next one
    assert.equal(child:workers()[1], tonumber(answer.body))
    assert.matches("signal 6 %(Aborted%)", child:errors())
  end)

  it("is replaced when the app itself ended it", function()
    local child = serve(2)
    child:connect(process.get "/exit")
    eventually("it is said", function()
      return child:errors():find "ended with exit code 3; it is started again"
    end)
    all_serve(child, 2)
  end)

  it("takes only its own connections with it", function()
    local child = serve(2)
    local conns = connect_all(child, 16)
    local victim = child:workers()[1]
    tree.signal(victim, "KILL")
    eventually("it is dead", function() return child:workers()[1] ~= victim end)
    for _, conn in ipairs(conns) do
      if conn.pid == victim then
        assert.is_nil((conn:receive(5)))
      else
        assert.equal(conn.pid, tonumber(child:ask(ROOT, conn).body))
      end
    end
    close_all(conns)
  end)
end)

describe("a worker that can't load its app any more", function()
  local function break_one(child)
    process.file("app.lua", "local x = 1\nerror 'no database'")
    tree.signal(child:workers()[1], "KILL")
    eventually("it is tried again and again", function()
      return child:errors():find "again in 0.2 s"
    end)
  end

  it("is tried again after times that double, and the log says why", function()
    local child = serve(2)
    break_one(child)
    local log = child:errors()
    assert.matches("again in 0.1 s; 1 of 2 serve: [^\n]*app%.lua:2: no database\n.*"
      .. "again in 0.2 s; 1 of 2 serve: [^\n]*app%.lua:2: no database\n", log)
  end)

  it("leaves its connections to the others", function()
    local child = serve(2)
    local survivor = child:workers()[2]
    break_one(child)
    local conns, counts = connect_all(child, 40)
    assert.same({ [survivor] = 40 }, counts)
    close_all(conns)
  end)

  it("serves again when the app is mended", function()
    local child = serve(2)
    break_one(child)
    process.file("app.lua", APP)
    all_serve(child, 2)
  end)

  it("gets its share of connections that others had got, when they come again",
    function()
      local child = serve(2)
      break_one(child)
      local conns = connect_all(child, 64)
      process.file("app.lua", APP)
      eventually("both run", function() return #child:workers() == 2 end)
      eventually("half of them have found it", function()
        local counts = {}
        for i, conn in ipairs(conns) do
          local answer = child:ask(ROOT, conn)
          counts[answer.body] = (counts[answer.body] or 0) + 1
          if answer:header "connection" == "close" then
            conn:close()
            conns[i] = child:connect()
          end
        end
        local _, fewest = next(counts)
        for _, has in pairs(counts) do fewest = math.min(fewest, has) end
        return fewest < 64 and fewest >= 22
      end)
      close_all(conns)
    end)

  it("is tried at once when a reload is asked for", function()
    local child = serve(1)
    break_one(child)
    process.file("app.lua", APP)
    child:signal "HUP"
    eventually("it has loaded", function()
      return child:errors():find "reload: generation %d+ serves in 1 worker"
    end)
    assert.equal(200, child:ask(ROOT).status)
  end)
end)

describe("a worker that stands still", function()
  it("leaves connections that come to the others, until it goes on", function()
    local child = serve(2, "--stall-timeout", "0")
    local busy = child:connect(process.get "/busy")
    process.rest(busy, 0.2) -- it has begun, and been noticed
    local conns, counts = connect_all(child, 40)
    close_all(conns)
    assert.is_nil((busy:receive(0.001))) -- so it stood still all the time
    local who = next(counts)
    assert.same({ [who] = 40 }, counts)
    assert(who ~= tonumber(process.answers(busy).body))
    busy:close()
    all_serve(child, 2)
    child:stop()
  end)
end)

describe("a master that dies", function()
  it("leaves workers that answer what they have begun, and end", function()
    local child = serve(2)
    local workers = child:workers()
    local conn = child:connect(process.get "/slow")
    child:connect():close() -- so the one before it has been accepted
    assert.equal(200, child:ask(ROOT).status)
    child:signal "KILL"
    assert.equal("slow", process.answers(conn).body)
    conn:close()
    child:wait()
    for _, pid in ipairs(workers) do
      eventually("it has ended", function() return not tree.is_alive(pid) end)
    end
    assert.matches("the master is gone: this worker drains and ends", child:errors())
  end)
end)

describe("--workers", function()
  for _, text in ipairs { "0", "65", " 3", "+3", "-18446744073709551615", "1e1" } do
    it(("is no %q"):format(text), function()
      local ended = process.run("app.lua", "--workers", text)
      assert.equal(2, ended.code)
      assert.matches("want auto, or a number from 1 to 64", ended.errors)
    end)
  end
end)
