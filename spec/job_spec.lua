-- SPDX-License-Identifier: MIT
-- Jobs (lua/luaweb/job.lua): functions that run beside each other, and what becomes of
-- what they return and raise.
local error_log = require "spec.support.error_log"
local job = require "luaweb.job"
local test = require "luaweb.test"
local web = require "luaweb"

describe("job.spawn", function()
  it("runs the function when the caller waits, not before", function()
    local ran = false
    local spawned = job.spawn(function() ran = true end)
    assert.is_false(ran)
    spawned:join()
    assert.is_true(ran)
  end)

  it("hands on arguments and results, nil among them", function()
    local function count(...) return select("#", ...), ... end
    local spawned = job.spawn(count, nil, 2, nil)
    local results = { n = select("#", spawned:join()), spawned:join() }
    assert.same({ n = 4, 3, nil, 2, nil }, results)
    assert.equal(0, select("#", job.spawn(function() end):join()))
  end)

  it("runs jobs in the order of spawning, each up to its first wait", function()
    local order, jobs = {}, {}
    for i = 1, 3 do
      jobs[i] = job.spawn(function()
        order[#order + 1] = i
        web.sleep(0.001 * (4 - i))
        order[#order + 1] = -i
      end)
    end
    for i = 1, 3 do jobs[i]:join() end
    assert.same({ 1, 2, 3 }, { order[1], order[2], order[3] })
    assert.equal(6, #order)
  end)

  it("wants a function", function()
    assert.error_matches(function() job.spawn "x" end, "job.spawn wants a function")
    assert.error_matches(function() job.spawn() end, "job.spawn wants a function")
  end)

  it("may be called in a coroutine of the app's own", function()
    local spawned = coroutine.wrap(function()
      return job.spawn(function() return 7 end)
    end)()
    assert.equal(7, spawned:join())
  end)
end)

describe("job:join", function()
  it("waits for the end, however many wait", function()
    local slow = job.spawn(function()
      web.sleep(0.02)
      return "done"
    end)
    local joiners = {}
    for i = 1, 3 do joiners[i] = job.spawn(function() return slow:join() end) end
    for i = 1, 3 do assert.equal("done", joiners[i]:join()) end
    assert.equal("done", slow:join())
  end)

  it("raises what the job raised, as it was", function()
    local object = setmetatable({}, {})
    for _, raised in ipairs { object, "text", 42, print, true } do
      local spawned = job.spawn(function() error(raised, 0) end)
      local ok, again = pcall(spawned.join, spawned)
      assert.same({ false, true }, { ok, raised == again })
    end
    local with_nil = job.spawn(function() error(nil) end)
    assert.same({ false, nil }, { pcall(with_nil.join, with_nil) })
  end)

  it("raises a message with its place in the job", function()
    local spawned = job.spawn(function() error "broken" end)
    local ok, message = pcall(spawned.join, spawned)
    assert.is_false(ok)
    assert.matches("^spec/job_spec.lua:%d+: broken$", message)
  end)

  it("can't be called by the job itself", function()
    local spawned
    spawned = job.spawn(function() return pcall(spawned.join, spawned) end)
    local ok, message = spawned:join()
    assert.is_false(ok)
    assert.matches("a job can't wait for its own end", message)
  end)

  it("raises the end of a recursion that had none", function()
    local function deeper(n) return deeper(n + 1) + 1 end
    local spawned = job.spawn(deeper, 1)
    local ok, message = pcall(spawned.join, spawned)
    assert.is_false(ok)
    assert.matches("stack overflow", message)
  end)

  it("raises an error when the job yielded by itself", function()
    local spawned = job.spawn(function()
      web.sleep(0)
      coroutine.yield()
    end)
    local ok, message = pcall(spawned.join, spawned)
    assert.is_false(ok)
    assert.matches("^coroutine.yield can't be called here", message)
  end)
end)

describe("job.self", function()
  it("is the job that runs, also after a wait", function()
    local spawned = job.spawn(function()
      local before = job.self()
      web.sleep(0)
      return before, job.self(), coroutine.wrap(job.self)()
    end)
    local before, after, within = spawned:join()
    assert.is_true(before == spawned and after == spawned and within == spawned)
  end)

  it("is nil in a handler", function()
    local client = test.app(web.app { web.get("/", function()
      web.sleep(0)
      return tostring(job.self())
    end) })
    assert.equal("nil", client:get("/").body)
  end)
end)

describe("a job that fails", function()
  local function log_of(fn)
    return (error_log.of(function()
      job.spawn(fn)
      web.sleep(0.01)
    end))
  end

  it("is in the error log with its traceback, when nobody waits for it", function()
    local log = log_of(function()
      local function helper() error "broken" end
      helper()
    end)
    assert.matches(" error a job failed: spec/job_spec.lua:%d+: broken\n", log)
    assert.matches("job_spec.lua:%d+: in function 'helper'\n", log)
    assert.is_nil(log:find "luaweb/job.lua")
  end)

  it("is not in the error log when somebody waits for it", function()
    assert.equal("", log_of(function()
      local spawned = job.spawn(error, "broken")
      pcall(spawned.join, spawned)
    end))
  end)

  local function deeper(n) return deeper(n + 1) + 1 end
  for title, raised in pairs {
    ["an object that can't be told"] = setmetatable({}, { __tostring = error }),
    ["an object that recurses when told"] = setmetatable({}, { __tostring = deeper }),
    ["a table"] = {}, ["a coroutine"] = coroutine.create(print), ["false"] = false,
  } do
    it("with " .. title .. " harms nobody", function()
      assert.matches(" error a job failed: %(error object is a " .. type(raised),
        log_of(function() error(raised) end))
    end)
  end

  it("with a recursion without end harms nobody", function()
    assert.matches(" error a job failed: .*stack overflow",
      log_of(function() deeper(1) end))
  end)

  it("by yielding is in the error log", function()
    assert.matches(" error a job failed: coroutine.yield can't be called here.*\n"
      .. ".*job_spec.lua:%d+: in function", log_of(function() coroutine.yield() end))
  end)
end)

describe("a handler that joins a job", function()
  local run
  local client = test.app(web.app {
    web.get("/", function() return job.spawn(run):join() end),
    web.get("/quick", function() return "quick" end),
  })

  local function answer_of(fn)
    run = fn
    local res
    local log = error_log.of(function() res = client:get "/" end)
    return res.status, res.body, log
  end

  it("answers with what it returns", function()
    assert.same({ 200, "from the job", "" }, { answer_of(function()
      web.sleep(0.01)
      return "from the job"
    end) })
  end)

  it("answers with the status or response that it raises", function()
    assert.same({ 404, "404 Not Found\n", "" }, { answer_of(function()
      error(404)
    end) })
    assert.same({ 403, "no", "" }, { answer_of(function()
      error(web.text("no"):status(403))
    end) })
  end)

  it("answers 500 to any other error, which is logged once", function()
    local status, _, log = answer_of(function() error "broken" end)
    assert.equal(500, status)
    assert.matches(" error %[[%x-]+%] GET /: spec/job_spec.lua:%d+: broken\n", log)
    assert.is_nil(log:find "a job failed")
  end)

  it("is served beside jobs that never come to rest", function()
    local stop = false
    local function next_one() if not stop then job.spawn(next_one) end end
    for _ = 1, 3 do job.spawn(next_one) end
    assert.equal("quick", client:get("/quick").body)
    stop = true
  end)
end)

describe("a job that reads a request", function()
  local reader
  local client = test.app(web.app {
    web.post("/", function(req)
      reader = job.background(function() return req:bytes() end)
      web.sleep(0.01)
      return 202
    end),
  })

  it("learns at once that it has ended, while it waits for more", function()
    local log = error_log.of(function()
      local conn = client:raw("POST / HTTP/1.1\r\nHost: h\r\n"
        .. "Content-Length: 5\r\n\r\nab")
      assert.matches("^HTTP/1.1 202 ", conn:receive(5))
      web.sleep(0.02)
      conn:close()
    end)
    assert.matches("error %[%x+%-%x+%] a job failed: this request has ended", log)
    assert.error_matches(function() reader:join() end, "this request has ended")
  end)
end)
