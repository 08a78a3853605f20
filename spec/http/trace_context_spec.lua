-- SPDX-License-Identifier: MIT
-- Trace context (core/http/trace_context.h): W3C Trace Context §3.2, §3.3, level 1, and
-- what level 2 allows beyond.
local ffi = require "ffi"
local pure = require "spec.support.pure"

pure.load "base/abi_trace"
local C = pure.load "http/trace_context"

local TRACE, PARENT = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"
local SOUND = ("00-%s-%s-01"):format(TRACE, PARENT)

-- Slices point into texts, which therefore stay; behind each there is one octet more.
local texts = {}

local function slice(text)
  texts[#texts + 1] = text .. "0"
  return ffi.new("struct luaweb_slice", texts[#texts], #text)
end

--- Trace id, parent id and flags; nil: it is malformed.
local function read(text)
  local trace = ffi.new "struct luaweb_trace[1]"
  ffi.fill(trace, ffi.sizeof(trace), 42)
  local before = ffi.string(trace, ffi.sizeof(trace))
  if not C.lw_traceparent_read(slice(text), trace) then
    assert.equal(before, ffi.string(trace, ffi.sizeof(trace)))
    return nil
  end
  assert.equal(1, trace[0].has_parent)
  return ffi.string(trace[0].trace_id, 32), ffi.string(trace[0].parent_id, 16),
    trace[0].flags
end

describe("a traceparent", function()
  it("has a version, two ids and flags", function()
    assert.same({ TRACE, PARENT, 1 }, { read(SOUND) })
    assert.same({ TRACE, PARENT, 0 }, { read(SOUND:gsub("01$", "00")) })
  end)

  it("has two flags that are known; others are not taken over", function()
    for flags, known in pairs { ["02"] = 2, ["03"] = 3, ["04"] = 0, ["ff"] = 3,
      ["f0"] = 0, ["09"] = 1 } do
      assert.same({ TRACE, PARENT, known }, { read((SOUND:gsub("01$", flags))) })
    end
  end)

  it("of a later version counts as far as it is known", function()
    for _, text in ipairs { "01-%s-%s-01", "cc-%s-%s-01", "fe-%s-%s-01-",
      "01-%s-%s-01-what-comes-later", "cc-%s-%s-01-01" } do
      assert.same({ TRACE, PARENT, 1 }, { read(text:format(TRACE, PARENT)) })
    end
  end)

  for why, text in pairs {
    ["is empty"] = "",
    ["has version ff, which is none"] = "ff-" .. TRACE .. "-" .. PARENT .. "-01",
    ["has more behind version 00"] = SOUND .. "-01",
    ["has an octet behind version 00"] = SOUND .. "0",
    ["has a dash behind version 00"] = SOUND .. "-",
    ["has more behind a later version, without a dash"] =
      "cc-" .. TRACE .. "-" .. PARENT .. "-01.x",
    ["has an upper-case version"] = "CC-" .. TRACE .. "-" .. PARENT .. "-01",
    ["has a version of other letters"] = "0x-" .. TRACE .. "-" .. PARENT .. "-01",
    ["has a version of one digit"] = "0-" .. TRACE .. "-" .. PARENT .. "-001",
    ["has a version of three digits"] = "000-" .. TRACE .. "-" .. PARENT .. "-1",
    ["has an upper-case trace id"] = "00-" .. TRACE:upper() .. "-" .. PARENT .. "-01",
    ["has a trace id of zeros"] = "00-" .. ("0"):rep(32) .. "-" .. PARENT .. "-01",
    ["has a trace id with another letter"] =
      "00-" .. TRACE:gsub("^.", "g") .. "-" .. PARENT .. "-01",
    ["has a short trace id"] = "00-" .. TRACE:sub(2) .. "-" .. PARENT .. "-01",
    ["has a long trace id"] = "00-" .. TRACE .. "0-" .. PARENT .. "-01",
    ["has an upper-case parent id"] = "00-" .. TRACE .. "-" .. PARENT:upper() .. "-01",
    ["has a parent id of zeros"] = "00-" .. TRACE .. "-" .. ("0"):rep(16) .. "-01",
    ["has a parent id with another letter"] =
      "00-" .. TRACE .. "-" .. PARENT:gsub(".$", ".") .. "-01",
    ["has a short parent id"] = "00-" .. TRACE .. "-" .. PARENT:sub(2) .. "-01",
    ["has no flags"] = "00-" .. TRACE .. "-" .. PARENT .. "-",
    ["has one digit of flags"] = "00-" .. TRACE .. "-" .. PARENT .. "-1",
    ["has upper-case flags"] = "00-" .. TRACE .. "-" .. PARENT .. "-0A",
    ["has flags of other letters"] = "00-" .. TRACE .. "-" .. PARENT .. "-.0",
    ["has other dashes"] = (SOUND:gsub("%-", "_")),
    ["has none"] = (SOUND:gsub("%-", "")),
    ["has a space in front"] = " " .. SOUND,
    ["has two of them"] = SOUND .. "," .. SOUND,
  } do
    it("that " .. why .. " is none", function()
      assert.is_nil((read(text)))
    end)
  end

  it("is none at any length below its own", function()
    for size = 0, #SOUND - 1 do assert.is_nil((read(SOUND:sub(1, size)))) end
  end)
end)

describe("a tracestate", function()
  local function is_valid(text) return C.lw_tracestate_valid(slice(text)) end

  for _, text in ipairs {
    "a=1", "foo=1,bar=2", "foo=1 , bar=2", "foo=1,\tbar=2", "foo=1,,bar=2", ",foo=1,",
    "a-_*/0=1", "1a=1", "t0@sys=v", "0t/*@s-_=v", "a= 1", "a=b c", "a=!\"#~",
    ("z"):rep(256) .. "=1", ("t"):rep(241) .. "@" .. ("v"):rep(14) .. "=1",
    "a=" .. ("v"):rep(256),
  } do
    it(("may be %q"):format(text:sub(1, 40)), function()
      assert.is_true(is_valid(text))
    end)
  end

  for _, text in ipairs {
    "", " ", ",", "a", "a=", "=1", "A=1", "aB=1", "a.b=1", "a b=1", "a =1", "-a=1",
    "a@=1", "@a=1", "a@@b=1", "a@b@c=1", "a@1b=1", "a=1=2", "a=\195\169", "a=\1",
    "a=1,b", "a=1,B=2", ("z"):rep(257) .. "=1",
    ("t"):rep(242) .. "@v=1", "t@" .. ("v"):rep(15) .. "=1", "a=" .. ("v"):rep(257),
  } do
    it(("can't be %q"):format(text:sub(1, 40)), function()
      assert.is_false(is_valid(text))
    end)
  end

  it("has 32 members at most", function()
    local members = {}
    for i = 1, 32 do members[i] = ("k%d=%d"):format(i, i) end
    assert.is_true(is_valid(table.concat(members, ",")))
    members[33] = "one=more"
    assert.is_false(is_valid(table.concat(members, ",")))
  end)
end)

describe("a trace's number", function()
  it("is the end of its id, and the ids that are written are 16 digits", function()
    local trace = ffi.new "struct luaweb_trace[1]"
    C.lw_traceparent_read(slice(SOUND), trace)
    assert.equal(0x8448eb211c80319cULL, C.lw_trace_number(trace))
    local hex = ffi.new "char[17]"
    C.lw_trace_hex(0x8448eb211c80319cULL, hex)
    assert.equal("8448eb211c80319c", ffi.string(hex))
    C.lw_trace_hex(1, hex)
    assert.equal("0000000000000001", ffi.string(hex))
  end)
end)
