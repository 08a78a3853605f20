-- SPDX-License-Identifier: MIT
-- Field lines that a connection sent before (core/http/memo.h).
local ffi = require "ffi"
local pure = require "spec.support.pure"
local heads = require "spec.support.heads"

pure.load "http/memo"

local LINES = "Host: a:80\r\nAccept: text/html \r\nX:\r\n\r\n"

local memo
before_each(function() memo = ffi.new "struct lw_head_memo" end)

local function read(text) return heads.read(text, nil, memo) end

--- What is read of a head that is not known, but for its being known.
local function plain(text)
  local head = assert(heads.read(text))
  head.is_known = true
  return head
end

describe("field lines that came before", function()
  it("are known, whatever the request line is, and say the same", function()
    assert.is_false(read("GET / HTTP/1.1\r\n" .. LINES).is_known)
    for _, line in ipairs { "GET /", "PUT /a?b", "X http://b/" } do
      local text = line .. " HTTP/1.1\r\n" .. LINES
      assert.same(plain(text), read(text))
    end
  end)

  it("are known however the octets arrive", function()
    local text = "GET / HTTP/1.1\r\n" .. LINES
    read(text)
    for cut = 1, #text - 1 do
      local status, state, size = heads.scan(text, { cut, #text }, nil, memo)
      assert.same({ 0, #text, 5 }, { status, size, state[0].lines })
    end
  end)

  it("are not known when they differ anywhere", function()
    local text = "GET / HTTP/1.1\r\n" .. LINES
    for at = 17, #text - 4 do
      read(text)
      local other = text:sub(1, at - 1) .. "," .. text:sub(at + 1)
      local head = read(other)
      assert.is_true(head == nil or not head.is_known)
      assert.same(heads.read(other), head)
    end
  end)

  it("are read anew for another version", function()
    read("GET / HTTP/1.1\r\n" .. LINES)
    assert.is_false(read("GET / HTTP/1.0\r\n" .. LINES).keep_alive)
    assert.is_true(read("GET / HTTP/1.1\r\n" .. LINES).keep_alive)
  end)

  it("are forgotten when others come, and with content", function()
    local text = "GET / HTTP/1.1\r\n" .. LINES
    for _, other in ipairs {
      "GET / HTTP/1.1\r\nHost: b\r\n\r\n",
      "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\n",
      "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n",
      "POST / HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\n\r\n",
      "GET http://b/ HTTP/1.1\r\n" .. LINES:gsub("X", "Y"),
    } do
      read(text)
      read(other)
      assert.is_false(read(text).is_known)
    end
  end)

  it("are not known when they are many, or long", function()
    local long = "X: " .. ("y"):rep(512) .. "\r\n"
    for _, lines in ipairs { ("X: y\r\n"):rep(16), long } do
      local text = "GET / HTTP/1.1\r\nHost: a\r\n" .. lines .. "\r\n"
      read(text)
      assert.is_false(read(text).is_known)
    end
  end)

  it("need room like others", function()
    local text = "GET / HTTP/1.1\r\n" .. LINES
    read(text)
    assert.equal(431, (select(2, heads.read(text, 2, memo))))
  end)
end)
