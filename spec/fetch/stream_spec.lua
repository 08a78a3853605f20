-- SPDX-License-Identifier: MIT
-- A response that streams: its pieces, and what becomes of its connection.
local eventually = require "spec.support.eventually"
local faulty = require "spec.support.faulty_server"
local job = require "luaweb.job"
local pool = require "luaweb.fetch.pool"
local scope = require "luaweb.scope"
local test = require "luaweb.test"
local web = require "luaweb"

after_each(function()
  pool.close_idle()
  faulty.clean()
end)

local function pack(...)
  return { n = select("#", ...), ... }
end

local function answering(octets)
  return faulty.answering(octets).url
end

local CHUNKED = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
  .. "3\r\nabc\r\n4\r\ndefg\r\n0\r\nX-Sum: 7\r\n\r\n"

local function fetch(octets, options)
  return web.fetch(answering(octets), options)
end

describe("a streamed response", function()
  local function streamed(octets)
    return assert(fetch(octets, { stream = true }))
  end

  it("gives its pieces in a loop, then its trailers", function()
    local res, pieces = streamed(CHUNKED), {}
    for piece in res:chunks() do pieces[#pieces + 1] = piece end
    assert.equal("abcdefg", table.concat(pieces))
    assert.equal("7", res.trailers["x-sum"])
    assert.is_nil((res:read()))
  end)

  it("gives its pieces one by one", function()
    local res, all = streamed(CHUNKED), ""
    while true do
      local piece, message = res:read()
      assert.is_nil(message)
      if not piece then break end
      all = all .. piece
    end
    assert.equal("abcdefg", all)
  end)

  it("keeps its connection once it was read to the end, and no sooner", function()
    local res = streamed(CHUNKED)
    assert.same({ 1, 0 }, { pool.count() })
    for _ in res:chunks() do end
    assert.same({ 1, 1 }, { pool.count() })
  end)

  it("closes its connection when it is closed before", function()
    local server = faulty.start(function(conn)
      conn:receive_request()
      conn:send "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc"
      conn.is_gone = conn:is_left()
    end)
    local res = assert(web.fetch(server.url, { stream = true }))
    assert.equal("abc", res:read())
    res:close()
    assert.same({ 0, 0 }, { pool.count() })
    assert.same({ n = 3, nil, "the stream was closed", "reset" }, pack(res:read()))
    eventually("it is left", function() return server.conns[1].is_gone end)
  end)

  it("is closed with the scope of the job that asked", function()
    local res
    scope.run(function(own)
      own:spawn(function() res = streamed "HTTP/1.1 200 OK\r\n\r\nabc" end):join()
      assert.equal(1, (pool.count()))
    end)
    assert.equal(0, (pool.count()))
    assert.equal("the stream was closed", select(2, res:read()))
  end)

  it("is closed with the request of the handler that asked, wherever", function()
    local url, kept = answering "HTTP/1.1 200 OK\r\n\r\nabc", {}
    local function open()
      local res = assert(web.fetch(url, { stream = true }))
      kept[#kept + 1] = res
    end
    local handler
    local client = test.app(web.app {
      web.get("/", function() return handler() end),
    })
    handler = function()
      open()
      job.spawn(open):join()
      job.all { open, open }
      assert.equal(4, (pool.count()))
      return "fine"
    end
    assert.equal("fine", client:get("/").body)
    assert.equal(0, (pool.count()))
    handler = function()
      open()
      return web.streaming(function(out) out:write(kept[5]:read()) end)
    end
    assert.equal("abc", client:get("/").body)
    assert.equal(0, (pool.count()))
  end)

  it("may come out of job.all", function()
    local url = answering(CHUNKED)
    local all = scope.run(function()
      local results = job.all { function()
        return assert(web.fetch(url, { stream = true }))
      end }
      return results[1]:read()
    end)
    assert.equal("abc", all)
    assert.same({ 0, 0 }, { pool.count() })
  end)

  it("is closed when nothing refers to it any more", function()
    job.spawn(function() streamed "HTTP/1.1 200 OK\r\n\r\nabc" end):join()
    for _ = 1, 200 do
      collectgarbage()
      if pool.count() == 0 then break end
      web.sleep(0.01)
    end
    assert.equal(0, (pool.count()))
  end)

  it("may be what a handler answers with", function()
    local url = answering(CHUNKED)
    local function copy(res)
      return web.streaming(function(out)
        for piece in res:chunks() do out:write(piece) end
      end)
    end
    local client = test.app(web.app {
      web.get("/", function()
        return copy(assert(web.fetch(url, { stream = true })))
      end),
      web.get("/job", function()
        return copy(job.spawn(web.fetch, url, { stream = true }):join())
      end),
      web.get("/alt", function()
        return copy(web.fetch_alt(url, { stream = true }):sync())
      end),
    })
    for _, path in ipairs { "/", "/job", "/alt" } do
      assert.equal("abcdefg", client:get(path).body)
    end
  end)

  it("has no body, text or JSON", function()
    local res = streamed(faulty.ok "x")
    assert.has_error(function() res:json() end)
    assert.error_matches(function() return res.body end,
      "res.body: the content streams; read it with res:read() or res:chunks()", 1, true)
    local ok, message = pcall(function() return res:text() .. "" end)
    assert.is_false(ok)
    assert.matches("res:text: the content streams; read it with res:chunks", message)
    res:close()
  end)

  it("is asked for: else res:read and res:chunks raise", function()
    local res = assert(fetch(faulty.ok "x"))
    assert.has_error(function() res:read() end)
    assert.has_error(function() res:chunks() end)
  end)
end)
