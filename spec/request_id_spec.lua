-- SPDX-License-Identifier: MIT
-- What names a request: where it comes from, and where it is told.
local process = require "spec.support.process"

local APP = [[
local job = require "luaweb.job"
local web = require "luaweb"
return web.app {
  web.get("/", function(req) return req.id end),
  web.get("/trace", function(req) return req.trace.trace_id end),
  web.get("/broken", function() error "boom" end),
  web.get("/own", function() return web.status(500):header("x-request-id", "mine") end),
  web.get("/busy", function() return 503 end),
  web.get("/later", function(req)
    job.background(function()
      web.sleep(0.01)
      error "late"
    end)
    return req.id
  end),
  web.resource("/constant", web.machine { handle_ok = "same", allowed = 503 }),
}
]]

local OURS = "^%x%x%x%x%x%x%-%x+$"

after_each(process.clean)

local function serve(...)
  return process.serve(process.file("app.lua", APP), ...)
end

local function field_of(answer) return answer:header "x-request-id" end

local function given(id) return "X-Request-Id: " .. id .. "\r\n" end

describe("the name of a request", function()
  it("is told in errors of the server: as a field, and in the body", function()
    local child = serve()
    local answer = child:ask(process.get "/broken")
    local id = field_of(answer)
    assert.matches(OURS, id)
    assert.equal("500 Internal Server Error\nRequest id: " .. id .. "\n", answer.body)
    assert.is_truthy(child:errors():find(("[%s] GET /broken: "):format(id), 1, true))
    answer = child:ask(process.get("/busy", "Accept: application/problem+json\r\n"))
    assert.equal(('"request_id":"%s"}\n'):format(field_of(answer)),
      answer.body:match '"request_id".*')
  end)

  it("is told in no other answer", function()
    local child = serve()
    for _, path in ipairs { "/", "/missing" } do
      local answer = child:ask(process.get(path))
      assert.is_nil(field_of(answer))
      assert.is_nil(answer.body:find "Request id")
    end
  end)

  it("is told in all answers with --request-id all, each its own", function()
    local child = serve("--request-id", "all")
    local answer = child:ask(process.get "/")
    assert.equal(answer.body, field_of(answer))
    local missing = process.get "/missing"
    local conn = child:connect(missing:rep(3))
    local seen = {}
    for _, one in ipairs { process.answers(conn, 3) } do
      local id = field_of(one)
      assert.equal("404 Not Found\nRequest id: " .. id .. "\n", one.body)
      assert.is_nil(seen[id])
      seen[id] = true
    end
    conn:close()
  end)

  it("is told in no answer with --request-id none", function()
    local answer = serve("--request-id", "none"):ask(process.get "/broken")
    assert.equal("500 Internal Server Error\n", answer.body)
    assert.is_nil(field_of(answer))
  end)

  it("is another in each error that C gives alone, however often it comes", function()
    local conn = serve():connect(process.get "/constant":rep(3))
    local first, second, third = process.answers(conn, 3)
    assert.equal(503, first.status)
    assert.is_true(field_of(first) ~= field_of(second))
    assert.is_true(field_of(second) ~= field_of(third))
    conn:close()
  end)

  it("is not told twice where the app has set the field", function()
    local answer = serve():ask(process.get "/own")
    assert.equal("mine", field_of(answer))
  end)

  it("is in the log of a job that the request has left behind", function()
    local child = serve()
    local id = child:ask(process.get "/later").body
    child:ask(process.get "/")
    for _ = 1, 100 do
      if child:errors():find("late", 1, true) then break end
      require("luaweb").sleep(0.02)
    end
    assert.is_truthy(child:errors():find("[" .. id .. "] a job failed: ", 1, true))
  end)
end)

describe("the trace of a request", function()
  it("is in its line of the JSON log, where somebody has asked for it", function()
    local log = process.path "log"
    local child = serve("--access-log", "json:" .. log)
    local id = child:ask(process.get "/trace").body
    child:ask(process.get "/")
    child:signal "TERM"
    child:wait()
    local first, second = assert(io.open(log)):read("*l", "*l")
    assert.is_truthy(first:find('"trace":"' .. id .. '"', 1, true), first)
    assert.is_nil(second:find("trace", 1, true))
  end)
end)

describe("the name that came with a request", function()
  it("is not taken from just anyone", function()
    local answer = serve():ask(process.get("/", given "theirs"))
    assert.matches(OURS, answer.body)
  end)

  it("is taken from a trusted proxy", function()
    local child = serve("--trusted-proxy", "127.0.0.0/8")
    assert.equal("theirs", child:ask(process.get("/", given "theirs")).body)
    child = serve("--trusted-proxy", "10.0.0.0/8")
    assert.matches(OURS, child:ask(process.get("/", given "theirs")).body)
  end)

  it("is taken from anyone with --request-id-from anyone, and stands everywhere",
    function()
      local log = process.path "log"
      local child = serve("--request-id-from", "anyone", "--access-log", "json:" .. log)
      local id = ("a.b_c-d~e:f+g/h=i@j"):rep(6)
      assert.equal(id, child:ask(process.get("/", given(id))).body)
      local answer = child:ask(process.get("/broken", given "their-2"))
      assert.equal("their-2", field_of(answer))
      assert.matches("Request id: their%-2\n$", answer.body)
      assert.is_truthy(child:errors():find("[their-2] GET /broken: ", 1, true))
      child:signal "TERM"
      child:wait()
      local text = assert(io.open(log)):read "*a"
      assert.is_truthy(text:find('"' .. id .. '"', 1, true))
      assert.is_truthy(text:find('"their-2"', 1, true))
    end)

  for why, lines in pairs {
    ["is empty"] = given "",
    ["has 129 octets"] = given(("x"):rep(129)),
    ["has a space"] = given "a b",
    ["has a quote"] = given 'a"b',
    ["has markup"] = given "<b>",
    ["has a bracket, as the log has"] = given "a]",
    ["has a comma"] = given "a,b",
    ["has other letters"] = given "\195\169",
    ["comes twice"] = given "one" .. given "two",
  } do
    it("is not taken when it " .. why, function()
      local answer = serve("--request-id-from", "anyone"):ask(process.get("/", lines))
      assert.matches(OURS, answer.body)
    end)
  end

  it("may have 128 octets", function()
    local id = ("x"):rep(128)
    local child = serve("--request-id-from", "anyone", "--request-id", "all")
    local answer = child:ask(process.get("/missing", given(id)))
    assert.equal(id, field_of(answer))
    assert.equal("404 Not Found\nRequest id: " .. id .. "\n", answer.body)
  end)
end)

describe("--request-id and --request-id-from", function()
  for _, case in ipairs {
    { "--request-id", "some", "want errors, all or none" },
    { "--request-id", "", "want errors, all or none" },
    { "--request-id-from", "me", "want proxies or anyone" },
  } do
    it(("take no %q: code 2"):format(case[2]), function()
      local run = process.run("app.lua", case[1], case[2])
      assert.equal(2, run.code)
      assert.is_truthy(run.errors:find(("luaweb: %s %s: %s"):format(unpack(case)), 1,
        true), run.errors)
    end)
  end
end)
