-- SPDX-License-Identifier: MIT
-- Content that is sent piece by piece, while the answer is watched for.
local alt = require "luaweb.alt"
local eventually = require "spec.support.eventually"
local faulty = require "spec.support.faulty_server"
local job = require "luaweb.job"
local pool = require "luaweb.fetch.pool"
local test = require "luaweb.test"
local upload = require "luaweb.fetch.upload"
local web = require "luaweb"

after_each(function()
  pool.close_idle()
  faulty.clean()
end)

-- A function that gives these pieces, and then nothing.
local function pieces(...)
  local list, at = { ... }, 0
  return function()
    at = at + 1
    return list[at]
  end
end

describe("a body that is a function", function()
  it("is sent in chunks as it comes, empty pieces left out", function()
    local server = faulty.answering(faulty.ok "fine")
    assert(web.fetch(server.url, { body = pieces("abc", "", "0123456789abcdef") }))
    local request = server.requests[1]
    assert.matches("^POST / .*\r\nTransfer%-Encoding: chunked\r\n\r\n$", request.head)
    assert.equal("3\r\nabc\r\n10\r\n0123456789abcdef\r\n0\r\n\r\n", request.content)
    assert.same({ 1, 1 }, { pool.count() })
  end)

  it("is sent as it is where its length is given", function()
    local server = faulty.answering(faulty.ok "fine")
    assert(web.fetch(server.url, { body = pieces("abc", "de"),
      headers = { ["Content-Length"] = 5 } }))
    local request = server.requests[1]
    assert.matches("\r\nContent%-Length: 5\r\n\r\n$", request.head)
    assert.equal("abcde", request.content)
  end)

  it("may wait, and fields may come behind its chunks", function()
    local server = faulty.answering(faulty.ok "fine")
    local give, sum = pieces("abc", "de"), 0
    assert(web.fetch(server.url, {
      body = function()
        web.sleep(0.01)
        local piece = give()
        sum = sum + #(piece or "")
        return piece
      end,
      trailers = function() return { ["X-Sum"] = sum } end,
    }))
    assert.equal("3\r\nabc\r\n2\r\nde\r\n0\r\nX-Sum: 5\r\n\r\n",
      server.requests[1].content)
  end)

  it("waits while the server is slow", function()
    local given, gate = 0, false
    local server = faulty.start(function(conn)
      conn:receive_head()
      eventually("the gate opens", function() return gate end)
      local rest = ""
      repeat rest = rest:sub(-9) .. conn:receive() until rest:find "\r\n0\r\n\r\n$"
      conn:send(faulty.ok "fine")
    end)
    local piece, left = ("x"):rep(65536), 1024 -- 64 MiB
    local running = job.spawn(function()
      return assert(web.fetch(server.url, { body = function()
        left = left - 1
        if left < 0 then return nil end
        given = given + #piece
        return piece
      end }))
    end)
    local before
    repeat -- until the buffers of both sockets are full
      before = given
      web.sleep(0.05)
    until given == before and given > 0
    assert(given < 32 * 2 ^ 20, given .. " octets were taken")
    gate = true
    assert.equal("fine", running:join().body)
    assert.equal(64 * 2 ^ 20, given)
  end)

  it("may be answered while it is read", function()
    local client = test.app(web.app {
      web.post("/", function(req)
        return web.streaming(function(out)
          for chunk in req:chunks() do out:write(chunk:upper()) end
        end):status(200)
      end),
    }):over_socket()
    local give, is_answered = pieces("abc", "def", ("x"):rep(100000)), false
    local res = assert(web.fetch(("http://127.0.0.1:%d/"):format(client.port), {
      stream = true,
      body = function()
        local piece = give()
        if piece == "def" then
          eventually("the answer has begun", function() return is_answered end)
        end
        return piece
      end,
    }))
    is_answered = true
    local all = {}
    for piece in res:chunks() do all[#all + 1] = piece end
    assert.equal("ABCDEF" .. ("X"):rep(100000), table.concat(all))
  end)
end)

describe("a body that is a long text", function()
  it("is sent in parts, each of which is a sign of life", function()
    local sent, moves = {}, 0
    local link = { socket = { send = function(_, octets)
      sent[#sent + 1] = octets
      return true
    end } }
    local clock = { move = function() moves = moves + 1 end }
    local going = upload.start(link, "head", { body = ("x"):rep(200000) }, clock)
    eventually("all is sent", function() return going.is_done end)
    assert.same({ 65536, 65536, 65536, 3396 },
      { #sent[1], #sent[2], #sent[3], #sent[4] })
    assert.equal("head" .. ("x"):rep(200000), table.concat(sent))
    assert.equal(4, moves)
  end)
end)

describe("a body that waits", function()
  it("is cancelled when the time of the fetch is over", function()
    local server, stopped = faulty.start(function(conn) conn:is_left() end), nil
    local _, _, kind = web.fetch(server.url, { timeout = 0.05, body = function()
      local ok, err = pcall(web.sleep, 10)
      stopped = not ok and alt.is_cancelled(err)
      error(err, 0)
    end })
    assert.equal("timeout", kind)
    eventually("it is stopped", function() return stopped end)
  end)
end)

describe("a body that is wrong", function()
  local function raised(options, pattern)
    local server = faulty.start(function(conn)
      conn:receive_head()
      conn.is_gone = conn:is_left()
    end)
    local ok, err = pcall(web.fetch, server.url, options)
    assert.is_false(ok)
    assert.matches(pattern, tostring(err))
    eventually("the connection is closed", function()
      return server.conns[1].is_gone
    end)
    assert.equal(0, (pool.count()))
  end

  it("raises in who has called web.fetch, and the connection is closed", function()
    raised({ body = function() error "no more paper" end }, "no more paper")
    raised({ body = function() return 42 end },
      "web.fetch: body gave a number: its pieces are strings")
    raised({ body = pieces "abc", trailers = function() return { ["X:"] = "a" } end },
      '"X:" is not a header name')
  end)

  it("raises even when the answer is whole, and a stream does so at its end", function()
    local answered = false
    local server = faulty.start(function(conn)
      conn:receive_head()
      conn:send(faulty.ok "fine")
      conn:is_left()
    end)
    local res = assert(web.fetch(server.url, { stream = true, body = function()
      eventually("the answer is there", function() return answered end)
      error "no more paper"
    end }))
    answered = true
    eventually("it has failed", function() return pool.count() == 0 end)
    local ok, err = pcall(function()
      repeat local piece = res:read() until not piece
    end)
    assert.is_false(ok)
    assert.matches("no more paper", err)
  end)

  it("raises what it raised, be it no string", function()
    local own = setmetatable({}, { __tostring = function() return "mine" end })
    raised({ body = function() error(own) end }, "mine")
  end)

  it("is longer or shorter than it was said to be", function()
    local headers = { ["Content-Length"] = 4 }
    raised({ body = pieces("abc", "de"), headers = headers },
      "body has more octets than Content%-Length says %(4%)")
    raised({ body = pieces "abc", headers = headers },
      "body has fewer octets than Content%-Length says %(4%)")
  end)
end)

describe("an answer that comes before the request is whole", function()
  local REFUSAL = "HTTP/1.1 413 Content Too Large\r\nContent-Length: 2\r\n\r\nno"

  it("is given, and the connection closed: no more is taken from the app", function()
    local server = faulty.start(function(conn)
      conn:receive_head()
      conn:send(REFUSAL)
      conn.is_gone = conn:is_left()
    end)
    local given = 0
    local res = assert(web.fetch(server.url, { body = function()
      given = given + 1
      web.sleep(0.005)
      return "x"
    end }))
    assert.equal(413, res.status)
    assert.equal("no", res.body)
    local before = given
    eventually("it is closed", function() return server.conns[1].is_gone end)
    assert(given <= before + 1)
    assert.equal(0, (pool.count()))
  end)

  it("ends the sending before its content is there", function()
    local server = faulty.start(function(conn)
      conn:receive_head()
      conn:send(REFUSAL:sub(1, -2))
      conn.is_gone = conn:is_left()
    end)
    local stopped
    local res = assert(web.fetch(server.url, { stream = true, body = function()
      local ok, err = pcall(web.sleep, 10)
      stopped = not ok and alt.is_cancelled(err)
      error(err, 0)
    end }))
    eventually("it is stopped", function() return stopped end)
    assert.equal("n", res:read())
    res:close()
  end)

  it("is given when nobody takes the content any more", function()
    local server = faulty.start(function(conn)
      conn:receive_head()
      conn:send(REFUSAL)
      web.sleep(0.1)
    end)
    local res = assert(web.fetch(server.url, { body = ("x"):rep(2 ^ 25) }))
    assert.equal(413, res.status)
    assert.equal("no", res.body)
    assert.equal(0, (pool.count()))
  end)

  it("is given even when the request could not be sent", function()
    local server = faulty.start(function(conn)
      conn:send(REFUSAL)
      conn:finish()
      conn:receive_head()
    end)
    local res = assert(web.fetch(server.url, { body = "x" }))
    assert.equal(413, res.status)
    assert.equal("no", res.body)
  end)
end)
