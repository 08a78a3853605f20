-- SPDX-License-Identifier: MIT
-- The scope of a request: what a handler starts ends with its request, whatever way
-- that ends; and what is meant to outlive it does.
local chan = require "luaweb.chan"
local concurrent = require "spec.support.concurrent"
local error_log = require "spec.support.error_log"
local ivar = require "luaweb.ivar"
local job = require "luaweb.job"
local scope = require "luaweb.scope"
local test = require "luaweb.test"
local web = require "luaweb"

local handler
local client = test.app(web.app {
  web.any("/", function(req) return handler(req) end),
  web.resource("/walk", web.machine {
    exists = function(req)
      req.state.work = job.spawn(handler)
      return true
    end,
    handle_ok = function(req) return tostring(req.state.work:join()) end,
  }),
  web.resource("/refused", web.machine {
    exists = function()
      handler()
      return false
    end,
    handle_ok = "x",
  }),
})

-- A job that waits for ever, and takes a while to end.
local function linger(L, name)
  job.ensure(function() web.sleep(30) end, function()
    web.sleep(0.02)
    L(name .. " ended")
  end)
end

describe("a job that a handler has started", function()
  it("T99 is cancelled and has ended before the answer is sent", function()
    local L = concurrent.log()
    handler = function()
      job.spawn(linger, L, "child")
      web.sleep(0)
      L "returns"
      return "answer"
    end
    assert.equal("answer", client:get("/").body)
    assert.same({ "returns", "child ended" }, { unpack(L) })
  end)

  it("never runs when the handler ends before", function()
    local L = concurrent.log()
    local work
    handler = function()
      work = job.spawn(function() L "runs" end)
      return "answer"
    end
    assert.equal("answer", client:get("/").body)
    assert.equal("cancelled", work:status())
    assert.error_matches(function() work:join() end, "its request has ended")
    assert.equal(0, #L)
  end)

  it("ends when the handler raises", function()
    local L = concurrent.log()
    handler = function()
      job.spawn(linger, L, "child")
      web.sleep(0)
      error "broken"
    end
    local log = error_log.of(function() assert.equal(500, client:get("/").status) end)
    assert.same({ "child ended" }, { unpack(L) })
    assert.matches("broken", log)
  end)

  it("ends when the handler yields to nobody", function()
    local L, ended = concurrent.log(), ivar.new()
    handler = function()
      scope.finally(function(status) ended:fill(status) end)
      job.spawn(linger, L, "child")
      web.sleep(0)
      coroutine.yield()
    end
    local log = error_log.of(function() assert.equal(500, client:get("/").status) end)
    assert.matches("coroutine.yield can't be called here", log)
    assert.equal("failed", ended:read())
    assert.same({ "child ended" }, { unpack(L) })
  end)

  it("ends before a stream's last octet is sent", function()
    local L = concurrent.log()
    handler = function()
      return web.streaming(function(out)
        job.spawn(linger, L, "child")
        out:write "content"
        web.sleep(0)
        L "written"
      end)
    end
    assert.equal("content", client:get("/").body)
    assert.same({ "written", "child ended" }, { unpack(L) })
  end)

  it("lives on while what the handler returned streams", function()
    handler = function()
      local work = job.spawn(function()
        web.sleep(0.01)
        return "from the job"
      end)
      return web.streaming(function(out) out:write(work:join()) end)
    end
    assert.equal("from the job", client:get("/").body)
  end)

  it("lives through the walk, for the functions that come later", function()
    handler = function()
      web.sleep(0.01)
      return "from the job"
    end
    assert.equal("from the job", client:get("/walk").body)
  end)

  it("ends where C answers, too", function()
    local L = concurrent.log()
    handler = function() job.spawn(linger, L, "child") web.sleep(0) end
    assert.equal(404, client:get("/refused").status)
    for _ = 1, 500 do
      if L[1] then break end
      web.sleep(0.01)
    end
    assert.same({ "child ended" }, { unpack(L) })
  end)

  it("starts others that end with it", function()
    local L = concurrent.log()
    handler = function()
      job.spawn(function() job.spawn(linger, L, "grandchild") web.sleep(30) end)
      web.sleep(0.01)
      return "answer"
    end
    assert.equal("answer", client:get("/").body)
    assert.same({ "grandchild ended" }, { unpack(L) })
  end)

  it("is told to the error log when it fails, and harms nothing else", function()
    handler = function()
      job.spawn(function() error "its own affair" end)
      web.sleep(0.01)
      return "answer"
    end
    local log = error_log.of(function()
      assert.equal("answer", client:get("/").body)
    end)
    assert.matches(" error %[%x+%-%x+%] a job failed: .*its own affair", log)
  end)

  it("does not outlive its request, nor the next on the connection", function()
    local conn, seen = client:connect(), {}
    for i = 1, 5 do
      handler = function()
        seen[i] = scope.current()
        job.spawn(web.sleep, 30)
        web.sleep(0)
        return 204
      end
      conn:send "GET / HTTP/1.1\r\nHost: h\r\n\r\n"
      assert.matches("^HTTP/1.1 204", conn:receive(5))
      assert.equal(0, seen[i].count)
      assert.error_matches(function() seen[i]:spawn(print) end, "this scope has ended")
    end
    conn:close()
  end)
end)

describe("a finalizer of a request", function()
  local function status_of(fn)
    local got
    handler = function()
      scope.finally(function(status, err) got = { status, tostring(err) } end)
      return fn()
    end
    client:get "/"
    return got
  end

  it("learns how the handler has ended", function()
    assert.same({ "ok", "nil" }, status_of(function() return "x" end))
    assert.same({ "ok", "nil" }, status_of(function() error(404) end))
    error_log.of(function()
      local status, err = unpack(status_of(function() error "broken" end))
      assert.equal("failed", status)
      assert.matches("broken", err)
    end)
  end)

  it("runs last in first out, after the jobs and before the answer, and may wait",
    function()
      local L = concurrent.log()
      handler = function()
        scope.finally(function() L "first registered" end)
        scope.finally(function() web.sleep(0.01) L "last registered" end)
        job.spawn(linger, L, "child")
        web.sleep(0)
        return "answer"
      end
      assert.equal("answer", client:get("/").body)
      assert.same({ "child ended", "last registered", "first registered" },
        { unpack(L) })
    end)

  it("is logged when it fails; the others run and the answer is sent", function()
    local L = concurrent.log()
    handler = function()
      scope.finally(function() L "runs" end)
      scope.finally(function() error "of a finalizer" end)
      return "answer"
    end
    local log = error_log.of(function()
      assert.equal("answer", client:get("/").body)
    end)
    assert.same({ "runs" }, { unpack(L) })
    assert.matches("error %[%x+%-%x+%] a finalizer failed: .*of a finalizer", log)
  end)

  it("can't be registered where no scope ends", function()
    assert.error_matches(function() scope.finally(print) end,
      "scope.finally: no scope ends here")
  end)
end)

describe("job.background", function()
  it("T100 outlives its request, whose handle it can't use any more", function()
    local c, work = chan.new(), nil
    handler = function(req)
      work = job.background(function()
        local value = c:take()
        local ok, err = pcall(function() return req.path end)
        return { value, ok, err, (pcall(req.text, req)) }
      end)
      return "started"
    end
    assert.equal("started", client:get("/").body)
    c:give "given"
    local value, ok, err, read = unpack(work:join())
    assert.same({ "given", false, false }, { value, ok, read })
    assert.matches("this request has ended", err)
  end)

  it("is bounded in number", function()
    local c, jobs = chan.new(), {}
    for i = 1, 10000 do jobs[i] = job.background(c.take, c) end
    assert.error_matches(function() job.background(print) end,
      "job.background: 10000 jobs run in the background")
    for i = 1, 10000 do jobs[i]:cancel "enough" end
    web.sleep(0.01)
    job.background(function() end):join()
  end)
end)

describe("job.context", function()
  it("has the id of the request, for its jobs and those in the background", function()
    local id, ids = nil, {}
    handler = function(req)
      id = req.id
      job.context().tenant = "t"
      ids[1] = job.context().request_id
      job.spawn(function() ids[2] = job.context().request_id end):join()
      scope.run(function() ids[3] = job.context().request_id end)
      ids[4] = job.background(function()
        web.sleep(0.02)
        return job.context().request_id .. job.context().tenant
      end)
      return 204
    end
    client:get "/"
    assert.same({ id, id, id }, { ids[1], ids[2], ids[3] })
    assert.equal(id .. "t", ids[4]:join())
  end)

  it("is inherited, and what is written in an inner scope stays there", function()
    handler = function()
      local outer = job.context()
      outer.a, outer.b = 1, 2
      local seen = scope.run(function()
        job.context().b = 3
        return { job.context().a, job.context().b }
      end)
      return { seen[1], seen[2], outer.b }
    end
    assert.same({ 1, 3, 2 }, client:get("/"):json())
  end)
end)
