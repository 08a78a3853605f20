-- SPDX-License-Identifier: MIT
-- The lines of the control socket, and what it does with clients that keep to nothing.
local control = require "spec.support.control"
local lfs = require "lfs"
local process = require "spec.support.process"
local web = require "luaweb"

local ffi = require "ffi"
ffi.cdef "unsigned geteuid(void);"

local HELLO = "apps/hello.lua"
local CLIENTS = 16

after_each(process.clean)

describe("the control socket", function()
  it("is its owner's alone", function()
    local child = process.serve(HELLO)
    local path = control.path(child.port, ".sock")
    assert.equal("rw-------", lfs.symlinkattributes(path, "permissions"))
  end)

  it("answers a command with lines, then ok", function()
    local child = process.serve(HELLO)
    assert.matches("^luaweb %d+%.%d+%.%d+\nok\n$", control.ask(child, "version"))
    assert.matches("\n1 .*\nok\n$", control.ask(child, "status"))
    assert.matches("^{.*}\nok\n$", control.ask(child, "status json"))
  end)

  it("answers several commands in their order", function()
    local child = process.serve(HELLO)
    local conn = control.connect(child, "version\nreload\nversion\r\nvers")
    conn:send "ion\n"
    local text = ""
    while not text:match "luaweb.*generation.*luaweb.*luaweb.*ok\n" do
      text = text .. assert(conn:receive(10))
    end
    assert.matches("^luaweb %S+\nok\ngeneration 2 [^\n]*\nok\nluaweb %S+\nok\nluaweb"
      .. " %S+\nok\n$", text)
    conn:close()
  end)

  it("names the commands to who sends another", function()
    local child = process.serve(HELLO)
    for _, line in ipairs { "", "reload now", "Stop", "status  json", "version\0" } do
      assert.matches("^error 2 no such command; there are reload, stop, [^\n]*\n$",
        control.ask(child, line))
    end
  end)

  it("runs a command whose line has no end, when no more comes", function()
    local child = process.serve(HELLO)
    local conn = control.connect(child, "version")
    conn:finish()
    assert.matches("^luaweb %S+\nok\n$", control.answer(conn))
    assert.same({ "", "closed" }, { process.rest(conn) })
    conn:close()
  end)

  it("refuses a command that is too long, and closes", function()
    local child = process.serve(HELLO)
    local conn = control.connect(child, ("x"):rep(255))
    assert.equal("error 2 this command is too long\n", control.answer(conn))
    assert.matches("^$", (process.rest(conn)))
    conn:close()
  end)

  it("has one line for an error of many, which reload prints as they are", function()
    local path = process.file("app.lua", "return require('luaweb').app {}")
    local child = process.serve(path)
    process.file("app.lua", [[error("one\ntwo\\three\27[31m\nok", 0)]])
    local told = control.ask(child, "reload")
    assert.matches("^error 1 [^\n]*one\\n[^\n]*two\\\\three[^\n]*\n$", told)
    assert.is_nil(told:find "\27")
    local ended = process.run("reload", "--listen", "127.0.0.1:" .. child.port)
    assert.matches("^luaweb: [^\n]*one\n[^\n]*two\\three[^\n]*\n%s*ok\n$", ended.errors)
  end)

  it("closes a connection that says nothing", function()
    local child = process.serve(HELLO)
    local conn = control.connect(child)
    local received, ending = process.rest(conn, 15)
    assert.same({ "", "closed" }, { received, ending })
    conn:close()
  end)

  it("tells more clients than it has room for, and serves the others", function()
    local child = process.serve(HELLO)
    local conns = {}
    for i = 1, CLIENTS do
      conns[i] = control.connect(child, "version\n")
      assert.matches("ok\n$", control.answer(conns[i]))
    end
    local other = control.connect(child)
    assert.equal("error 5 too many clients at once: try again\n", control.answer(other))
    other:close()
    for i = 1, CLIENTS do
      conns[i]:send "version\n"
      assert.matches("ok\n$", control.answer(conns[i]))
      conns[i]:close()
    end
    require "spec.support.eventually"("there is room again", function()
      return control.ask(child, "version"):find "ok\n$"
    end)
    child:stop()
  end)

  it("is not stopped by clients that send and never read", function()
    local child = process.serve(HELLO)
    local conn = control.connect(child)
    local count = 0
    repeat
      count = count + 1
      local sent = conn:send(("status json\n"):rep(20), 0.2)
    until not sent or count == 500
    assert.matches("ok\n$", control.ask(child, "version"))
    conn:close()
    child:stop()
  end)

  it("tells who waits for a reload when the server stops", function()
    local path = process.file("app.lua", "return require('luaweb').app {}")
    local child = process.serve(path)
    process.file("app.lua", "require('luaweb').sleep(60)")
    local conn = control.connect(child, "reload\n")
    web.sleep(0.1)
    child:signal "TERM"
    assert.matches("^error 1 the server stops\n$", control.answer(conn))
    conn:close()
    child:wait()
  end)

  it("hears root and the server's user only", function()
    local child = process.serve(HELLO)
    local path = control.path(child.port, ".sock")
    if ffi.C.geteuid() ~= 0 then -- nobody else can even connect
      assert.equal("rw-------", lfs.symlinkattributes(path, "permissions"))
      return
    end
    os.execute(("chmod 777 %s && chmod 755 %s"):format(path, path:match "^(.*)/"))
    local pipe = assert(io.popen(("setpriv --reuid 65534 --clear-groups %s status "
      .. "--control %s 2>&1; echo $?"):format(process.binary, path)))
    local text = pipe:read "*a"
    pipe:close()
    assert.equal("luaweb: only root and the user of this server may do this\n5\n", text)
  end)
end)
