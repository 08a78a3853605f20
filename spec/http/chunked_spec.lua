-- SPDX-License-Identifier: MIT
-- The chunked transfer coding (core/http/chunked.h): RFC 9112 §7.1.
local ffi = require "ffi"
local pure = require "spec.support.pure"

pure.load "http/fields"
local C = pure.load "http/chunked"

--- Decodes `text`, of which `step` octets more have come each time the decoder asks.
--- Gives the last answer, the content, the trailer section and the octets used.
local function decode(text, step, extensions, trailers)
  local limits = ffi.new("struct lw_chunked_limits", extensions or 4096,
    trailers or 8192)
  local chunked, piece = ffi.new "struct lw_chunked", ffi.new "struct luaweb_slice[1]"
  local used, why = ffi.new "size_t[1]", ffi.new "const char *[1]"
  local start = ffi.cast("const char *", text)
  local parts, at, come = {}, 0, math.min(step or #text, #text)
  while true do
    local data = ffi.new("struct luaweb_slice", start + at, come - at)
    local status = C.lw_chunked_next(chunked, data, limits, used, piece, why)
    if status >= 100 then return status, ffi.string(why[0]) end
    at = at + tonumber(used[0])
    assert.is_true(at <= come)
    if status == 0 then
      assert.is_true(piece[0].size > 0)
      assert.is_true(piece[0].data >= data.data)
      assert.is_true(piece[0].data + piece[0].size == start + at)
      parts[#parts + 1] = pure.string(piece[0])
    elseif status == 2 then
      return 2, table.concat(parts), pure.string(piece[0]), at
    elseif come == #text then
      return 1, table.concat(parts), nil, at
    else
      come = math.min(come + step, #text)
    end
  end
end

local function content(text)
  local status, body, _, used = decode(text .. "GET /")
  if status == 2 then
    assert.equal(#text, used)
    return body
  end
  return nil, status
end

describe("a chunked body", function()
  for title, case in pairs {
    ["upper-case digits"] = { "A\r\n0123456789\r\n0\r\n\r\n", "0123456789" },
    ["lower-case digits and zeros"] = { "0000000a\r\n0123456789\r\n0\r\n\r\n",
      "0123456789" },
    ["several zeros at the end"] = { "5\r\nhello\r\n6\r\n world\r\n000\r\n\r\n",
      "hello world" },
    ["CRLF as content"] = { "2\r\n\r\n\r\n0\r\n\r\n", "\r\n" },
    ["content like a last chunk"] = { "1\r\n0\r\n0\r\n\r\n", "0" },
    ["no content"] = { "0\r\n\r\n", "" },
    ["many chunks"] = { ("1\r\nz\r\n"):rep(500) .. "0\r\n\r\n", ("z"):rep(500) },
    ["one large chunk"] = { "1000\r\n" .. ("q"):rep(4096) .. "\r\n0\r\n\r\n",
      ("q"):rep(4096) },
    ["an extension"] = { "1;ext=val\r\nA\r\n0;ext=val\r\n\r\n", "A" },
    ["extensions of all kinds"] = {
      "1;a;b=c;d=\"e;f=\\\"\t\\\\ \255\";0=f\r\nA\r\n0\r\n\r\n", "A" },
    ["white space around separators"] = { "1 \t;\ta = b ;c= \"\" ; d\r\nA\r\n0\r\n\r\n",
      "A" },
  } do
    it("is decoded with " .. title .. ", however it arrives", function()
      assert.equal(case[2], content(case[1]))
      for _, step in ipairs { 1, 2, 3, 7 } do
        local status, body, trailers, used = decode(case[1], step)
        assert.same({ 2, case[2], "\r\n", #case[1] }, { status, body, trailers, used })
      end
    end)
  end

  it("is waited for", function()
    local text = "5;a=\"b\"\r\nhello\r\n0\r\nX: y\r\n\r\n"
    for size = 0, #text - 1 do
      assert.equal(1, (decode(text:sub(1, size))))
      assert.equal(1, (decode(text:sub(1, size), 1)))
    end
  end)

  it("gives content as soon as it has come", function()
    local status, body = decode "5\r\nhe"
    assert.same({ 1, "he" }, { status, body })
  end)

  it("may announce chunks of any size that fits in 64 bits", function()
    for _, digits in ipairs { "FFFFFFFFFFFFFFFF", "100000005", "80000005" } do
      local status, body = decode(digits .. "\r\nhello\r\n0\r\n\r\n")
      assert.same({ 1, "hello\r\n0\r\n\r\n" }, { status, body })
    end
    assert.equal("A", content("0000000000000001\r\nA\r\n0\r\n\r\n"))
  end)
end)

describe("a chunked body is refused", function()
  for title, text in pairs {
    ["with a prefix 0x"] = "0x5\r\nhello\r\n",
    ["with a sign"] = "+5\r\nhello\r\n",
    ["with a letter behind the size"] = "5h\r\nhello\r\n",
    ["without a size"] = "\r\nhello\r\n",
    ["with an extension instead of a size"] = ";a\r\nhello\r\n",
    ["with white space before the size"] = " 5\r\nhello\r\n",
    ["with white space behind the size"] = "5 \r\nhello\r\n",
    ["with white space behind an extension"] = "5;a \r\nhello\r\n",
    ["with white space behind a value"] = "5;a=b \r\nhello\r\n",
    ["with an extension without a name"] = "5;\r\nhello\r\n",
    ["with an extension that is only a value"] = "5;=a\r\nhello\r\n",
    ["with an extension without its value"] = "5;a=\r\nhello\r\n",
    ["with two values"] = "5;a=b=c\r\nhello\r\n",
    ["with a token behind a quoted string"] = "5;a=\"b\"c\r\nhello\r\n",
    ["with an open quoted string"] = "5;a=\"b\r\nhello\r\n",
    ["with an open escape"] = "5;a=\"b\\\r\nhello\r\n",
    ["with a control octet in a quoted string"] = "5;a=\"\1\"\r\nhello\r\n",
    ["with DEL in a quoted string"] = "5;a=\"\127\"\r\nhello\r\n",
    ["with an escaped control octet"] = "5;a=\"\\\0\"\r\nhello\r\n",
    ["with a NUL behind the size"] = "5\0\r\nhello\r\n",
    ["with a bare LF behind the size"] = "5\nhello\r\n",
    ["with LF and a semicolon"] = "5\n;\r\nhello\r\n",
    ["with a bare CR behind the size"] = "5\rhello\r\n",
    ["with a bare CR in an extension"] = "5;ext=val\rue\r\nhello\r\n",
    ["with content longer than its size"] = "5\r\nhelloX\r\n",
    ["with content shorter than its size"] = "5\r\nhell\r\n0\r\n\r\n",
    ["with content without line end"] = "5\r\nhello0\r\n\r\n",
    ["with content that ends in LF"] = "5\r\nhello\n0\r\n\r\n",
    ["with content that ends in CR"] = "5\r\nhello\rX0\r\n\r\n",
    ["with a blank line instead of the last chunk"] = "3\r\nfoo\r\n\r\n",
    ["with a size of 17 digits"] = "10000000000000005\r\nhello\r\n",
    ["with a size of 17 digits F"] = "FFFFFFFFFFFFFFFFF\r\nhello\r\n",
    ["with 17 zeros"] = "00000000000000000\r\n",
    ["with a bare LF behind the last chunk"] = "0\n\n",
    ["with a bare LF as the blank line"] = "0\r\n\n",
    ["with a bare LF behind a trailer"] = "0\r\nX: y\n\r\n",
    ["with a folded trailer"] = "0\r\nX: y\r\n z\r\n\r\n",
    ["with white space before the first trailer"] = "0\r\n X: y\r\n\r\n",
  } do
    it(title .. ", however it arrives", function()
      for step = 1, #text do assert.equal(400, (decode(text, step))) end
    end)
  end

  it("with more octets of extensions in all than the limit", function()
    local text = ("1;abc\r\nA\r\n"):rep(3) .. "0;abc\r\n\r\n"
    for _, step in ipairs { 1, #text } do
      assert.equal(2, (decode(text, step, 16)))
      assert.equal(400, (decode(text, step, 15)))
    end
    assert.equal(400, (decode("5;x=" .. ("e"):rep(20000))))
  end)
end)

describe("the trailer section", function()
  local text = "1\r\nA\r\n0\r\nX-Trail: 1\r\nY:\r\n\r\n"

  it("is lent as field lines with their blank line", function()
    for step = 1, #text do
      local status, body, trailers, used = decode(text .. "GET", step)
      assert.same({ 2, "A", "X-Trail: 1\r\nY:\r\n\r\n", #text },
        { status, body, trailers, used })
    end
  end)

  it("is left unused until it is whole", function()
    for size = #"1\r\nA\r\n0\r\n", #text - 1 do
      local status, _, _, used = decode(text:sub(1, size), 1)
      assert.same({ 1, #"1\r\nA\r\n0\r\n" }, { status, used })
    end
  end)

  it("is answered with 431 beyond its limit", function()
    for _, step in ipairs { 1, #text } do
      assert.equal(2, (decode(text, step, nil, 18)))
      assert.equal(431, (decode(text, step, nil, 17)))
    end
    assert.equal(431, (decode("0\r\n" .. ("X-T: aaaaaaaa\r\n"):rep(2000), 1000)))
  end)
end)
