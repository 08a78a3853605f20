-- SPDX-License-Identifier: MIT
-- What people who run other servers have told of in public, tried on what the processes
-- of this one do together: requests that a reload or an upgrade loses, old processes
-- that never end, work that nobody takes over, logs that are opened anew.
local eventually = require "spec.support.eventually"
local job = require "luaweb.job"
local lfs = require "lfs"
local process = require "spec.support.process"
local tree = require "spec.support.tree"
local web = require "luaweb"

local ROOT = process.get "/"

after_each(process.clean)

-- An app of two workers with this in front of its fields, and what "/" gives.
local function serve(before, root, ...)
  local child = process.serve(process.file("app.lua", ([[
local web = require "luaweb"
local pid = io.open "/proc/self/stat":read "*n"
%s
return web.app { web.get("/", function() return %s end) }
]]):format(before, root or '"root"')), "--workers", "2", ...)
  eventually("both run", function() return #child:workers() == 2 end)
  child:reload() -- so both serve
  return child
end

-- Gives the pid of the master that took over, when the last one has ended.
local function upgrade(child)
  child:signal "USR2"
  child:says "upgrade: pid %d+ serves, this one ends"
  eventually("the old master ends", function() return not tree.is_alive(child.pid) end)
  return tonumber(child:errors():match "upgrade: pid (%d+) serves")
end

local function finish(child, pid)
  tree.signal(pid, "TERM")
  assert.equal(0, (child:wait()))
  assert.is_nil(child:errors():match "[^\n]* error [^\n]*")
end

describe("clients that ask without a pause", function()
  -- Clients that ask while fn runs; each answer goes to `look`, which may give a new
  -- connection.  Gives how many answers there were.
  local function ask_while(child, look, fn)
    local jobs, is_over, answers = {}, false, 0
    for i = 1, 8 do
      jobs[i] = job.spawn(function()
        local conn = child:connect()
        while not is_over do
          local answer = child:ask(ROOT, conn)
          assert.equal("root", answer.body)
          answers = answers + 1
          conn = look(answer, conn) or conn
          web.sleep(0)
        end
        conn:close()
      end)
    end
    fn()
    is_over = true
    for i = 1, 8 do jobs[i]:join() end
    return answers
  end

  it("lose no request and no connection by 20 reloads", function()
    local child = serve ""
    local answers = ask_while(child, function(answer)
      assert.is_nil(answer:header "connection")
    end, function()
      for _ = 1, 20 do child:reload() end
    end)
    assert(answers > 100, answers)
    child:stop()
  end)

  it("lose no request by an upgrade, and no connection without being told", function()
    local child, told, pid = serve "", 0, nil
    ask_while(child, function(answer, conn)
      if answer:header "connection" ~= "close" then return end
      told = told + 1
      conn:close()
      return child:connect()
    end, function()
      pid = upgrade(child)
    end)
    assert(told >= 8, told)
    finish(child, pid)
  end)
end)

describe("an upgrade", function()
  it("ends the old processes at the deadline, whatever streams they have", function()
    local child = serve([[
local function stream(out)
  out:write "begun"
  web.sleep(3600)
end]], "web.streaming(stream)", "--drain-timeout", "0.3")
    local conn, octets = child:connect(ROOT), ""
    eventually("the stream began", function()
      octets = octets .. (conn:receive(1) or "")
      return octets:find "begun"
    end)
    local pid = upgrade(child)
    assert.equal("reset", select(2, process.rest(conn)))
    finish(child, pid)
  end)

  it("and a reload leave one, of the new, that does what is done once", function()
    local path = process.path "calls"
    local child = serve(([[
web.every(0.02, function()
  local file = io.open(%q, "a")
  file:write(pid, "\n")
  file:close()
end, { once = true })]]):format(path))
    local function called_by()
      local pids, calls = {}, 0
      os.remove(path)
      eventually("it is called", function()
        calls, pids = 0, {}
        for line in lfs.attributes(path) and io.lines(path) or function() end do
          calls, pids[#pids + 1] = calls + 1, line ~= pids[#pids] and line or nil
        end
        return calls >= 10
      end)
      assert.equal(1, #pids)
      return tonumber(pids[1])
    end
    child:reload()
    called_by()
    local pid = upgrade(child)
    local caller = called_by()
    local workers = tree.children(pid)
    assert(caller == workers[1] or caller == workers[2], caller)
    finish(child, pid)
  end)
end)

describe("an access log of several workers", function()
  local function has_open(pid, path)
    local folder = ("/proc/%d/fd/"):format(pid)
    for name in lfs.dir(folder) do
      if lfs.symlinkattributes(folder .. name, "target") == path then return true end
    end
  end

  it("is opened anew by each, also by one that is started later", function()
    local path = process.path "access.log"
    local child = serve("", nil, "--access-log", path)
    local function ask_some(times)
      for _ = 1, times do assert.equal(200, child:ask(ROOT).status) end
    end
    local function has(name, lines)
      eventually(name .. " has its lines", function()
        local found = 0
        for _ in lfs.attributes(name) and io.lines(name) or function() end do
          found = found + 1
        end
        return found == lines
      end)
    end
    ask_some(20)
    has(path, 20)
    assert(os.rename(path, path .. ".1"))
    child:signal "USR1"
    eventually("nobody has the old one", function()
      for _, pid in ipairs(child:workers()) do
        if has_open(pid, path .. ".1") then return false end
      end
      return lfs.attributes(path)
    end)
    child:signal_worker "KILL"
    ask_some(20)
    has(path, 20)
    has(path .. ".1", 20)
  end)
end)
