-- SPDX-License-Identifier: MIT
-- Password hashes on the thread pool (lua/luaweb/auth/secret.lua): what they
-- are, what they cost, how many at once, and where waiting for them can't work.
local abi = require "luaweb.abi"
local error_log = require "spec.support.error_log"
local ffi = require "ffi"
local job = require "luaweb.job"
local process = require "spec.support.process"
local response = require "luaweb.response"
local secret = require "luaweb.auth.secret"
local test = require "luaweb.test"
local web = require "luaweb"

local C, host = abi.C, abi.host

local FORM = "^%$argon2id%$v=19%$m=65536,t=2,p=1%$[%w+/]+%$[%w+/]+$"
local hash = web.password_hash "secret"

--- How many hashes the pool computes for what `fn` does.
local function cost_of(fn)
  local before = secret.computed()
  fn()
  return secret.computed() - before
end

after_each(process.clean)

describe("web.password_hash", function()
  it("gives argon2id text with two passes over 64 MiB", function()
    assert.matches(FORM, hash)
  end)

  it("takes another salt each time", function()
    assert.not_equal(hash, web.password_hash "secret")
  end)

  for title, password in pairs {
    ["nothing"] = "", ["a NUL"] = "se\0cret", ["octets beyond ASCII"] = "\195\169\255",
    ["4096 octets"] = ("x"):rep(4096),
  } do
    it("takes " .. title, function()
      local made = web.password_hash(password)
      assert.is_true(web.password_verify(password, made))
      assert.is_false(web.password_verify(password .. "\0", made))
      assert.is_false(web.password_verify(password:sub(1, 2) .. "t", made))
    end)
  end

  it("refuses more than 4096 octets at the place of the call", function()
    assert.equal(0, cost_of(function()
      local ok, message = pcall(function()
        local made = web.password_hash(("x"):rep(4097))
        return made
      end)
      assert.is_false(ok)
      assert.matches("password_spec.lua:%d+: web.password_hash takes at most 4096",
        message)
    end))
  end)

  for _, value in ipairs { 1, {}, true } do
    it("refuses a " .. type(value), function()
      assert.error_matches(function() web.password_hash(value) end,
        "wants a string, not a " .. type(value))
    end)
  end

  it("lets others run meanwhile", function()
    local is_done, turns = false, 0
    local hashing = job.spawn(function()
      web.password_hash "x"
      is_done = true
    end)
    while not is_done do
      web.sleep(0.001)
      turns = turns + 1
    end
    hashing:join()
    assert.is_true(turns > 2)
  end)
end)

describe("web.password_verify", function()
  it("knows the password", function()
    assert.is_true(web.password_verify("secret", hash))
  end)

  for _, password in ipairs { "", "secre", "secret ", "Secret", "secret\0", hash } do
    it("refuses " .. ("%q"):format(password), function()
      assert.is_false(web.password_verify(password, hash))
    end)
  end

  it("refuses a password above 4096 octets without a hash's work", function()
    assert.equal(0, cost_of(function()
      assert.is_false(web.password_verify(("x"):rep(4097), hash))
    end))
  end)

  it("without a hash costs as much, and answers false", function()
    for _, known in ipairs { hash, false } do
      assert.equal(1, cost_of(function()
        assert.is_false(web.password_verify("x", known or nil))
      end))
    end
  end)

  for title, case in pairs {
    ["argon2id with four lanes"] = { "correct horse battery staple",
      "$argon2id$v=19$m=65536,t=3,p=4$MIIRqgvgQbgj220jfp0MPA$"
        .. "YfwJSVjtjSU0zzV/P3S9nnQ/USre2wvJMjfCIjrTQbg" },
    ["argon2i"] = { "password", "$argon2i$v=19$m=65536,t=2,p=1$c29tZXNhbHQ$"
      .. "wWKIMhR9lyDFvRz9YTZweHKfbftvj+qf+YFY4NeBbtA" },
  } do
    it("knows hashes that others made: " .. title, function()
      assert.is_true(web.password_verify(case[1], case[2]))
      assert.is_false(web.password_verify(case[1] .. "x", case[2]))
    end)
  end

  local parts = hash:match "p=1(.*)$"
  for text, why in pairs {
    [""]                                             = "wants a hash that",
    ["secret"]                                       = "wants a hash that",
    ["$2b$12$" .. ("x"):rep(53)]                     = "wants a hash that",
    [hash .. "\0"]                                   = "wants a hash that",
    [hash .. ("A"):rep(256)]                         = "wants a hash that",
    ["$argon2id$v=19$m=262145,t=1,p=1" .. parts]     = "more than 256 MiB or",
    ["$argon2id$v=19$m=65536,t=17,p=1" .. parts]     = "or 16 passes",
    ["$argon2id$v=19$m=65536,t=2,p=1$AAAA$AAAA"]     = "a damaged hash",
  } do
    it("raises what is wrong with the hash " .. ("%q"):format(text), function()
      local ok, message = pcall(function()
        local is_known = web.password_verify("secret", text)
        return is_known
      end)
      assert.is_false(ok)
      assert.matches("password_spec.lua:%d+: web.password_verify", message)
      assert.matches(why, message)
    end)
  end

  it("wants a hash or nil, and a password", function()
    assert.error_matches(function() web.password_verify("x", false) end, "or nil")
    assert.error_matches(function() web.password_verify(nil, hash) end, "a string")
  end)
end)

describe("waiting for a hash where it can't work", function()
  for what, fn in pairs {
    ["web.password_hash"]   = function() web.password_hash "x" end,
    ["web.password_verify"] = function() web.password_verify(("x"):rep(5000)) end,
  } do
    it("is an error that names " .. what, function()
      assert.equal(0, cost_of(function()
        local ok, message = pcall(table.sort, { 2, 1 }, fn)
        assert.is_false(ok)
        assert.matches("password_spec.lua:%d+: " .. what .. " can't wait here", message)
        ok, message = coroutine.resume(coroutine.create(fn))
        assert.is_false(ok)
        assert.matches(what .. " can't wait here", message)
      end))
    end)
  end
end)

describe("many passwords at once", function()
  it("wait in a line of 32 behind the two that are hashed; others get 503", function()
    local client = test.app(web.app {
      web.get("/", function() return (web.password_hash "x") end),
    })
    local request, conns = "GET / HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n", {}
    local counts = {}
    local log = error_log.of(function()
      for i = 1, 37 do conns[i] = client:raw(request) end
      for _, conn in ipairs(conns) do
        local answer = conn:receive(30)
        local status = answer:match "^HTTP/1.1 (%d+)"
        counts[status] = (counts[status] or 0) + 1
        if status == "503" then assert.matches("\r\nRetry%-After: 1\r\n", answer) end
        conn:close()
      end
    end)
    assert.matches("^[^\n]* warn  too many passwords [^\n]*\n$", log)
    assert.equal(37, counts["200"] + counts["503"])
    assert.is_true(counts["200"] >= 34) -- more, if one ended before the last came
    assert.matches(FORM, client:get("/").body)
  end)

  it("raise the 503 as an answer, which a job can catch", function()
    local refused, jobs = 0, {}
    for i = 1, 35 do
      jobs[i] = job.spawn(function()
        local ok, raised = pcall(web.password_verify, "x", nil)
        if ok then return end
        assert.equal(response.Response, getmetatable(raised))
        refused = refused + 1
      end)
    end
    for _, one in ipairs(jobs) do one:join() end
    assert.equal(1, refused)
  end)
end)

describe("a hash that nobody waits for any more", function()
  it("is computed to its end where that does not matter to the app", function()
    local answer
    local client = test.app(web.app { web.resource("/", web.machine {
      on_disconnect = "ignore",
      handle_ok = function()
        answer = web.password_hash "x"
        return answer
      end,
    }) })
    local conn = client:raw "GET / HTTP/1.1\r\nHost: h\r\n\r\n"
    web.sleep(0.01)
    conn:close()
    for _ = 1, 1000 do
      if answer then break end
      web.sleep(0.01)
    end
    assert.matches(FORM, answer)
  end)

  it("leaves the line at once, wherever it stands; one that runs ends", function()
    local hasher, begun = C.luaweb_hasher_new(host), {}
    for i = 1, 7 do begun[i] = C.luaweb_hash_begin(host, hasher, "x", 1, nil) end
    for _, i in ipairs { 1, 3, 7, 5 } do C.luaweb_hash_free(host, begun[i]) end
    local text = ffi.new "const char *[1]"
    for _, i in ipairs { 2, 4, 6 } do
      while C.luaweb_hash_result(host, begun[i], text) == C.LUAWEB_HASH_WAIT do
        web.sleep(0.01)
      end
      assert.matches(FORM, ffi.string(text[0]))
    end
    assert.equal(4, tonumber(C.luaweb_hasher_count(host, hasher))) -- 1, 2, 4, 6
    C.luaweb_hasher_free(host, hasher)
    for _, i in ipairs { 2, 4, 6 } do C.luaweb_hash_free(host, begun[i]) end
  end)

  it("ends with the process, without a fault", function()
    local path = process.file("app.lua", [[
local web, job = require "luaweb", require "luaweb.job"
for _ = 1, 10 do job.spawn(web.password_hash, "x") end
web.sleep(0.01)
return web.app { web.get("/", function() return "" end) }
]])
    local ended = process.run("routes", path)
    assert.same({ 0, "" }, { ended.code, ended.errors })
  end)
end)
