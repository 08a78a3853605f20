-- SPDX-License-Identifier: MIT
-- What a head says about its message (core/http/head.h): framing, persistence and
-- expectation; and the corpus of requests, read to the end.  RFC 9112 §6, §9.3;
-- RFC 9110 §8.6, §10.1.1.
local ffi = require "ffi"
local pure = require "spec.support.pure"
local heads = require "spec.support.heads"

local C = pure.load "http/chunked"
local with, status_with = heads.with, heads.status_with

--- Text for a title: quoted, with escapes for what does not print.
local function shown(text)
  return (("%q"):format(text):gsub("[^\32-\126]", function(octet)
    return ("\\%d"):format(octet:byte())
  end))
end

local function framing(lines, minor)
  local head, status = with(lines, minor)
  return head and { head.framing, head.length } or status
end

describe("Content-Length", function()
  local function length(value)
    return framing("Content-Length:" .. value .. "\r\n")
  end

  it("is decimal digits with white space around them", function()
    assert.same({ "length", "5" }, length "5")
    assert.same({ "length", "0" }, length " 0")
    assert.same({ "length", "5" }, length "\t5  \t")
    assert.same({ "length", "10" }, length " 010")
    assert.same({ "length", "5" }, length(" " .. ("0"):rep(40) .. "5"))
  end)

  it("goes up to the largest signed number of 64 bits", function()
    assert.same({ "length", "4294967301" }, length "4294967301")
    assert.same({ "length", "9223372036854775807" }, length "9223372036854775807")
    for _, value in ipairs {
      "9223372036854775808", "9223372036854775813", "18446744073709551615",
      "18446744073709551616", "18446744073709551621", "1" .. ("0"):rep(40),
    } do
      assert.equal(400, length(value), value)
    end
  end)

  for _, value in ipairs {
    "", " ", "+5", "-5", "-0", "0x5", "5 5", "5,6", "5,5", "5;", "5.0", "0_5", "a5",
    "5a",
    "\"5\"", "5,", ",5", "5\0", "\v5", "\194\1785",
  } do
    it(("is refused as %s"):format(shown(value)), function()
      assert.equal(400, length(value))
    end)
  end

  it("is refused when it comes twice, even with the same number", function()
    assert.equal(400, status_with "Content-Length: 5\r\nContent-Length: 5\r\n")
    assert.equal(400, status_with "Content-Length: 0\r\ncontent-length: 31\r\n")
  end)

  it("counts in HTTP/1.0 too, and for every method", function()
    assert.same({ "length", "5" }, framing("Content-Length: 5\r\n", 0))
    local head = heads.read "GET / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\n"
    assert.same({ "length", "5" }, { head.framing, head.length })
  end)

  it("may be missing, then there is no content", function()
    assert.same({ "none", "0" }, framing "")
  end)
end)

describe("Transfer-Encoding", function()
  local function coding(...)
    local lines = {}
    for i, value in ipairs { ... } do
      lines[i] = "Transfer-Encoding:" .. value .. "\r\n"
    end
    return framing(table.concat(lines))
  end

  it("is chunked, in any case, with white space around it", function()
    for _, value in ipairs { " chunked", "Chunked", "\tCHUNKED \t" } do
      assert.same({ "chunked", "0" }, coding(value))
    end
  end)

  for _, value in ipairs {
    "", "identity", "xchunked", "chunkedchunked", "chunk", "chunked, gzip", "gzip,",
    "chunked, identity", "chun ked", "chunked\0", "\vchunked", "\160chunked\160",
    "chunked;q=1", "\"chunked\"", ",", "chunked,",
  } do
    it(("is refused as %s: where would it end?"):format(shown(value)), function()
      assert.equal(400, coding(" " .. value))
    end)
  end

  for _, value in ipairs { "gzip, chunked", "x,chunked", ",chunked" } do
    it(("is not implemented as %s"):format(shown(value)), function()
      assert.equal(501, coding(" " .. value))
    end)
  end

  it("is one list over all its lines", function()
    assert.equal(501, coding("gzip", "chunked"))
    assert.equal(400, coding("chunked", "gzip"))
    assert.equal(400, coding("chunked", "chunked"))
    assert.equal(400, coding("chunked", ""))
  end)

  it("is refused together with Content-Length", function()
    assert.equal(400, status_with "Transfer-Encoding: chunked\r\nContent-Length: 4\r\n")
    assert.equal(400, status_with "Content-Length: 4\r\nTransfer-Encoding: chunked\r\n")
    assert.equal(400, status_with "Content-Length: 4\r\nTransfer-Encoding: gzip\r\n")
  end)

  it("is refused in HTTP/1.0", function()
    assert.equal(400, status_with("Transfer-Encoding: chunked\r\n", 0))
  end)

  it("is not Transfer_Encoding", function()
    assert.same({ "length", "5" },
      framing "Transfer_Encoding: chunked\r\nContent-Length: 5\r\n")
  end)
end)

describe("the connection", function()
  local function keep_alive(lines, minor)
    return with(lines, minor).keep_alive
  end

  it("is kept by HTTP/1.1 unless Connection has close", function()
    assert.is_true(keep_alive "")
    for _, value in ipairs {
      "keep-alive", "closed", "xclose", "\"close\"", "", "Host",
    } do
      assert.is_true(keep_alive("Connection: " .. value .. "\r\n"), value)
    end
    for _, value in ipairs {
      "close", "Close", "keep-alive, close", "close, keep-alive", ",,close", " close\t",
      "upgrade, close", ("a,"):rep(1500) .. "close",
    } do
      assert.is_false(keep_alive("Connection: " .. value .. "\r\n"), value)
    end
    assert.is_false(keep_alive "Connection: keep-alive\r\nConnection: close\r\n")
    assert.is_true(keep_alive "Proxy-Connection: close\r\n")
  end)

  it("is kept by HTTP/1.0 if Connection has keep-alive and no close", function()
    assert.is_false(keep_alive("", 0))
    assert.is_true(keep_alive("Connection: Keep-Alive\r\n", 0))
    assert.is_false(keep_alive("Connection: keep-alive, close\r\n", 0))
  end)

  it("is not changed by Upgrade", function()
    assert.is_true(keep_alive "Connection: Upgrade\r\nUpgrade: foo/2\r\n")
    assert.same({ "length", "5" },
      framing "Connection: Upgrade\r\nUpgrade: foo/2\r\nContent-Length: 5\r\n")
  end)
end)

describe("Expect", function()
  it("has 100-continue in any case", function()
    assert.is_true(with("Expect: 100-continue\r\n").expects_continue)
    assert.is_true(with("Expect: ,100-Continue\r\n").expects_continue)
    assert.is_false(with("").expects_continue)
    assert.is_false(with("Expect:\r\n").expects_continue)
  end)

  it("may have what only a machine can refuse", function()
    assert.is_false(with("Expect: tea\r\n").expects_continue)
    assert.is_true(with("Expect: 100-continue, tea\r\n").expects_continue)
  end)

  it("is overlooked in HTTP/1.0", function()
    assert.is_false(with("Expect: 100-continue\r\n", 0).expects_continue)
    assert.is_false(with("Expect: tea\r\n", 0).expects_continue)
  end)

  it("gives way to faults of the message", function()
    assert.equal(400, status_with "Expect: tea\r\nTransfer-Encoding: gzip\r\n")
  end)
end)

-- The corpus: what a connection that reads all content would see. --------------------

--- How much of `text` the content of `head` has; nil and the status when it is refused,
--- or nil when it is not whole.
local function content_size(head, text)
  if head.framing == "none" then return 0 end
  if head.framing == "length" then
    local size = tonumber(head.length)
    if size <= #text then return size end
    return nil
  end
  local chunked, piece = ffi.new "struct lw_chunked", ffi.new "struct luaweb_slice[1]"
  local limits = ffi.new("struct lw_chunked_limits", 4096, 8192)
  local used, why, at = ffi.new "size_t[1]", ffi.new "const char *[1]", 0
  local status
  repeat
    local rest = ffi.cast("const char *", text) + at
    local data = ffi.new("struct luaweb_slice", rest, #text - at)
    status = C.lw_chunked_next(chunked, data, limits, used, piece, why)
    at = at + tonumber(used[0])
  until status ~= 0
  if status == 2 then return at end
  return nil, status >= 100 and status or nil
end

--- What becomes of each request of a connection: 200, or the status that refuses it.
--- The second result tells that the connection is still in step.
local function play(text)
  local results = {}
  while true do
    text = text:sub(1 + tonumber(C.lw_head_skip(text, #text)))
    local head, refusal = heads.read(text)
    local size
    if head then size, refusal = content_size(head, text:sub(head.size + 1)) end
    if refusal == 1 then refusal = nil end
    results[#results + 1] = size and 200 or refusal
    if not size then return results, not refusal and #text == 0 end
    if not head.keep_alive then return results, false end
    text = text:sub(head.size + size + 1)
  end
end

--- Whether an expected answer is possible: what we read the application may answer with
--- any status that is not ours alone.
local function allows(expected, result)
  for _, status in ipairs(expected.status) do
    if result == 200 and status ~= 400 and status ~= 501 and status ~= 505 then
      return true
    end
    if status == result or status == tostring(result):sub(1, 1) .. "xx" then
      return true
    end
  end
  return false
end

local function matches(outcome, results, in_step)
  if not outcome.responses then return false end
  if #outcome.responses == 0 then
    return outcome.conn ~= "open" and results[1] ~= 200
  end
  if #outcome.responses ~= #results then return false end
  for i, expected in ipairs(outcome.responses) do
    if not allows(expected, results[i]) then return false end
  end
  return outcome.conn ~= "open" or in_step
end

describe("the corpus of requests", function()
  for _, case in ipairs(pure.cases "h1-requests") do
    it(("%s %s"):format(case.id, case.title), function()
      local sent = {}
      for _, step in ipairs(case.steps) do
        if step.send then sent[#sent + 1] = pure.octets(step.send) end
      end
      local results, in_step = play(table.concat(sent))
      for _, outcome in ipairs(case.accept) do
        if matches(outcome, results, in_step) then return end
      end
      error(("%s, in step: %s"):format(table.concat(results, " "), tostring(in_step)))
    end)
  end
end)
