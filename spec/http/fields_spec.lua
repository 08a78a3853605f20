-- SPDX-License-Identifier: MIT
-- Field lines, names and lists (core/http/fields.h): RFC 9112 §5, RFC 9110 §5.
local ffi = require "ffi"
local pure = require "spec.support.pure"

local C = pure.load "http/fields"

local ROOM = 8

--- Text for a title: quoted, with escapes for what does not print.
local function shown(text)
  return (("%q"):format(text):gsub("[^\32-\126]", function(octet)
    return ("\\%d"):format(octet:byte())
  end))
end

local function slice(text)
  return ffi.new("struct luaweb_slice", { text, #text })
end

--- Looks for the end in pieces of `step` octets.  Gives the last answer, the size of
--- the section and how many octets had come when the answer came.
local function scan(text, step, size, count)
  local state = ffi.new "struct lw_scan[1]"
  local limits = ffi.new("struct lw_fields_limits", { size or 8192, count or 100 })
  local why = ffi.new "const char *[1]"
  local status
  for come = step, #text + step - 1, step do
    come = math.min(come, #text)
    status = C.lw_fields_scan(state, text, come, limits, why)
    if status ~= 1 then return status, tonumber(state[0].at), come end
  end
  return status, tonumber(state[0].at), #text
end

--- Reads a section: a list of { name, value }, or nil, status and sentence.
local function parse(text, room)
  local data = ffi.new("char[?]", #text)
  ffi.copy(data, text, #text)
  local fields = ffi.new("struct luaweb_field[?]", ROOM)
  local count = ffi.new("uint32_t[1]", room or ROOM)
  local why = ffi.new "const char *[1]"
  local status = C.lw_fields_parse(data, #text, fields, count, why)
  if status ~= 0 then return nil, status, ffi.string(why[0]) end
  local list = {}
  for i = 0, count[0] - 1 do
    local name, value = fields[i].name, fields[i].value
    assert.is_true(name.data >= data and value.data >= name.data + name.size)
    assert.is_true(value.data + value.size <= data + #text)
    list[i + 1] = { pure.string(name), pure.string(value) }
  end
  return list
end

local function value_of(line)
  local list = parse(line .. "\r\n\r\n")
  return list and list[1][2]
end

describe("the end of the field lines", function()
  it("is the first blank line, whatever follows", function()
    assert.same({ 0, 2, 2 }, { scan("\r\n", 2) })
    assert.same({ 0, 8, 20 }, { scan("A: b\r\n\r\nC: d\r\n\r\nEFGH", 20) })
  end)

  it("is found however the octets arrive", function()
    local text = "Host: a\r\nX:\r\nY: z\r\n\r\n"
    for step = 1, #text do
      assert.same({ 0, #text, #text }, { scan(text, step) })
    end
  end)

  it("is waited for", function()
    local text = "Host: a\r\n\r\n"
    for size = 1, #text - 1 do
      assert.equal(1, (scan(text:sub(1, size), 1)))
    end
  end)

  for title, text in pairs {
    ["a bare LF ends a line"] = "A: b\nC: d\r\n\r\n",
    ["a bare LF is the blank line"] = "A: b\r\n\n",
    ["a bare LF comes first"] = "\nA: b\r\n\r\n",
    ["a line is folded with a space"] = "A: b\r\n c\r\n\r\n",
    ["a line is folded with a tab"] = "A: b\r\n\tc\r\n\r\n",
    ["white space comes first"] = " A: b\r\n\r\n",
    ["a line is nothing but white space"] = "A: b\r\n \r\n\r\n",
  } do
    it("is not looked for when " .. title, function()
      for step = 1, #text do
        assert.equal(400, (scan(text, step)))
      end
    end)
  end

  it("must come within the limit of octets", function()
    local text = "A: " .. ("b"):rep(92) .. "\r\nC\r\n\r\n"
    for _, step in ipairs { 1, 7, #text } do
      assert.equal(0, (scan(text, step, #text)))
      assert.equal(431, (scan(text, step, #text - 1)))
    end
    local _, _, came = scan(("x"):rep(100), 1, 50)
    assert.equal(51, came)
  end)

  it("must come within the limit of lines", function()
    local text = ("A: b\r\n"):rep(5) .. "\r\n"
    for _, step in ipairs { 1, 7, #text } do
      assert.equal(0, (scan(text, step, nil, 5)))
      assert.equal(431, (scan(text, step, nil, 4)))
    end
  end)
end)

describe("field lines", function()
  it("give names as sent and values without outer white space, in order", function()
    assert.same({ { "Host", "a" }, { "x-T", "a:b: c" }, { "HOST", "b  c\td" } },
      parse "Host: a\r\nx-T:a:b: c\r\nHOST: \t b  c\td\t \r\n\r\n")
    assert.same({}, parse "\r\n")
  end)

  it("may have empty values", function()
    assert.same({ { "A", "" }, { "B", "" }, { "C", "d" } },
      parse "A:\r\nB: \t \r\nC: d\r\n\r\n")
  end)

  it("say nothing about framing here", function()
    assert.same({ { "Transfer-Encoding", "gzip" } },
      parse "Transfer-Encoding: gzip\r\n\r\n")
    assert.same({ { "Connection", "upgrade" }, { "Upgrade", "x" }, { "A", "b" } },
      parse "Connection: upgrade\r\nUpgrade: x\r\nA: b\r\n\r\n")
    assert.equal("5", value_of "Content-Length:\t5  \t")
  end)

  it("may have every token octet in a name, and no other", function()
    for octet = 0, 255 do
      local char = string.char(octet)
      local is_token = char:find "^[%w!#$%%&'*+%-.^_`|~]$" ~= nil
      for _, line in ipairs(char == ":" and {} or { "X%sA: 1", "%sA: 1", "X%s: 1" }) do
        local is_read = value_of(line:gsub("%%s", (char:gsub("%%", "%%%%")))) ~= nil
        assert.equal(is_token, is_read, line .. octet)
      end
      assert.equal(is_token and 1 or 0, tonumber(C.lw_token_size(char, 1)))
    end
  end)

  it("may have every octet but controls in a value", function()
    for octet = 0, 255 do
      local char = string.char(octet)
      local is_allowed = octet == 9 or (octet >= 32 and octet ~= 127)
      local value = "a" .. char .. "b"
      for _, name in ipairs { "X: ", "Connection: ", "Upgrade: ", "TE: " } do
        local wanted = is_allowed and value or nil
        assert.equal(wanted, value_of(name .. value), name .. octet)
      end
    end
  end)

  for _, line in ipairs {
    "X : 1", "X\t: 1", "Content-Length : 5", "NoColon", "Content-Length 10", ":", ": v",
    "X: evil\0", "X: a\r", "X:\r", "\rX: a", "X: a\0\t", "a b: c", "TE : x",
  } do
    it(("%s is refused"):format(shown(line)), function()
      local list, status = parse(line .. "\r\n\r\n")
      assert.is_nil(list)
      assert.equal(400, status)
    end)
  end

  it("are refused when there is no room for one more", function()
    assert.equal(2, #parse("A: b\r\nC: d\r\n\r\n", 2))
    assert.same({ nil, 431, "there are too many fields" },
      { parse("A: b\r\nC: d\r\n\r\n", 1) })
  end)

  it("are refused when the blank line is missing or is not the last", function()
    assert.is_nil(parse "A: b\r\n")
    assert.is_nil(parse "A: b\r\n\r\nC: d\r\n\r\n")
  end)
end)

describe("a field name", function()
  local names = {
    ["Accept"] = "ACCEPT", ["Accept-Charset"] = "ACCEPT_CHARSET",
    ["Accept-Encoding"] = "ACCEPT_ENCODING", ["Accept-Language"] = "ACCEPT_LANGUAGE",
    ["Access-Control-Request-Headers"] = "REQUEST_HEADERS",
    ["Access-Control-Request-Method"] = "REQUEST_METHOD",
    ["Authorization"] = "AUTHORIZATION", ["Connection"] = "CONNECTION",
    ["Content-Encoding"] = "CONTENT_ENCODING", ["Content-Length"] = "CONTENT_LENGTH",
    ["Content-Language"] = "CONTENT_LANGUAGE", ["Content-Range"] = "CONTENT_RANGE",
    ["Content-Type"] = "CONTENT_TYPE", ["Cookie"] = "COOKIE", ["Expect"] = "EXPECT",
    ["Host"] = "HOST", ["If-Match"] = "IF_MATCH", ["If-None-Match"] = "IF_NONE_MATCH",
    ["If-Modified-Since"] = "IF_MODIFIED_SINCE", ["If-Range"] = "IF_RANGE",
    ["If-Unmodified-Since"] = "IF_UNMODIFIED_SINCE", ["Origin"] = "ORIGIN",
    ["Range"] = "RANGE", ["TE"] = "TE", ["Transfer-Encoding"] = "TRANSFER_ENCODING",
    ["Upgrade"] = "UPGRADE",
  }

  for name, constant in pairs(names) do
    it(name .. " has its bit in any case", function()
      local bit = C["LW_HAS_" .. constant]
      assert.equal(bit, C.lw_field_bit(slice(name)))
      assert.equal(bit, C.lw_field_bit(slice(name:lower())))
      assert.equal(bit, C.lw_field_bit(slice(name:upper())))
      assert.equal(0, C.lw_field_bit(slice(name:gsub(".$", "x"))))
      assert.equal(0, C.lw_field_bit(slice(name:gsub("^.", "x"))))
      assert.equal(0, C.lw_field_bit(slice(name:gsub("%-", "_") .. "-")))
    end)
  end

  it("has no bit when no decision looks at it, whatever its size", function()
    for size = 0, 64 do
      assert.equal(0, C.lw_field_bit(slice(("x"):rep(size))))
    end
    assert.equal(0, C.lw_field_bit(slice "Transfer_Encoding"))
  end)

  it("finds its first field in any case", function()
    local fields = ffi.new("struct luaweb_field[3]")
    for i, name in ipairs { "Host", "X-A", "x-a" } do
      fields[i - 1].name = slice(name)
    end
    assert.is_true(C.lw_fields_find(fields, 3, slice "x-A") == fields + 1)
    assert.is_true(C.lw_fields_find(fields, 3, slice "X-B") == nil)
    assert.is_true(C.lw_fields_find(fields, 1, slice "X-A") == nil)
  end)
end)

describe("a comma list", function()
  local function members(text)
    local list = ffi.new("struct luaweb_slice[1]", { slice(text) })
    local member = ffi.new "struct luaweb_slice[1]"
    local found = {}
    while C.lw_list_next(list, member) do found[#found + 1] = pure.string(member[0]) end
    return found
  end

  it("gives its members without white space and without empty ones", function()
    assert.same({ "a", "b c", "\"d\"" }, members " a ,\t,b c,, \"d\"\t")
    assert.same({}, members "")
    assert.same({}, members " ,\t, ")
  end)

  it("has a token in any case, as a whole member", function()
    for _, text in ipairs { "close", "Close", "a, CLOSE", ",,close", "close\t,a" } do
      assert.is_true(C.lw_list_has(slice(text), slice "close"), text)
    end
    for _, text in ipairs { "", "closed", "xclose", "\"close\"", "clo,se", "close x",
    } do
      assert.is_false(C.lw_list_has(slice(text), slice "close"), text)
    end
  end)
end)
