-- SPDX-License-Identifier: MIT
-- Labels and series, which all processes share (core/share/metrics.c), and the text
-- that they go into (core/share/page.c).
local exposition = require "spec.support.exposition"
local ffi = require "ffi"
local fork = require "spec.support.fork"
local pure = require "spec.support.pure"
local share = require "spec.support.share"

local lib = share.lib
pure.load "share/page"
ffi.cdef [[
uint32_t lw_metrics_label(struct luaweb_slice text);
struct luaweb_slice lw_metrics_label_text(uint32_t label);
uint32_t lw_metrics_find(uint32_t key);
void lw_metrics_write(struct lw_page *page);
]]

local OTHER, UNMATCHED = 0, 1
local LABELS, SERIES, ROOM = 2048, 16384, 232

local function slice(text)
  return ffi.new("struct luaweb_slice", text, #text)
end

local function label(text) return lib.lw_metrics_label(slice(text)) end

local function text_of(number) return pure.string(lib.lw_metrics_label_text(number)) end

-- The same bits as lw_metrics_key.
local function key(number, method, status)
  return 2 ^ 31 + number * 2 ^ 13 + method * 2 ^ 10 + status
end

local function page_of(fn)
  local page = ffi.new "struct lw_page"
  fn(page)
  local text = ffi.string(page.data, page.size)
  lib.lw_page_free(page)
  return text
end

local function value(text)
  return page_of(function(page) lib.lw_page_value(page, text, #text) end)
end

local function number(n)
  return page_of(function(page) lib.lw_page_number(page, n) end)
end

describe("a label", function()
  it("has one number, and its text", function()
    local first = label "/hello{/name}"
    assert.equal(first, label "/hello{/name}")
    assert.not_equal(first, label "/hello")
    assert.equal("/hello{/name}", text_of(first))
  end)

  it("has the same number in another process, whoever asks first", function()
    local mine = label "/mine"
    assert.equal(0, fork.run(function()
      label "/theirs"
      return label "/mine" == mine and 0 or 1
    end))
    local theirs = label "/theirs"
    assert.equal(0, fork.run(function()
      return label "/theirs" == theirs and 0 or 1
    end))
  end)

  it("may be one that is always there", function()
    assert.equal(OTHER, label "other")
    assert.equal(OTHER, label "")
    assert.equal(UNMATCHED, label "unmatched")
    assert.equal("unmatched", text_of(UNMATCHED))
  end)

  it("is cut between characters where it is too long", function()
    local long = "/" .. ("ä"):rep(200)
    local short = text_of(label(long))
    assert.equal("/" .. ("ä"):rep((ROOM - 3 - 1) / 2) .. "...", short)
    assert.equal(label(long), label(long .. "more"))
    local whole = ("x"):rep(ROOM)
    assert.equal(whole, text_of(label(whole)))
  end)
end)

describe("text for Prometheus", function()
  it("has values of labels escaped", function()
    assert.equal([[a\"b\\c\nd]], value 'a"b\\c\nd')
    assert.equal("ä\239\191\189!", value "ä\255!")
  end)

  it("has numbers whole, or with a point", function()
    assert.equal("0", number(0))
    assert.equal("9007199254740", number(9007199254740))
    assert.equal("0.00025", number(0.00025))
    assert.equal("-1.5", number(-1.5))
    assert.equal("1e-09", number(1e-9))
    assert.equal("+Inf", number(math.huge))
    assert.equal("NaN", number(0 / 0))
  end)

  it("can be read although nothing was counted", function()
    local seen = exposition.read(page_of(lib.lw_metrics_write))
    assert.equal(1, (seen:sum "luaweb_build_info"))
    assert.equal(0, (seen:sum "luaweb_requests_total"))
  end)
end)

-- Last in this file: what is full stays full.
describe("what finds no room", function()
  it("has the label other, and known labels keep theirs", function()
    local known = label "/known"
    local count = 0
    for i = 1, LABELS do
      if label("/many/" .. i) ~= OTHER then count = count + 1 end
    end
    assert.is_true(count > LABELS / 2 and count <= LABELS * 3 / 4, count)
    assert.equal(known, label "/known")
    assert.equal(OTHER, label "/one/more")
  end)

  it("is counted under other with its method and status", function()
    local known = lib.lw_metrics_find(key(5, 1, 200))
    local seen, count = {}, 0
    for i = 0, SERIES do
      local place = lib.lw_metrics_find(key(10 + math.floor(i / 900), 2, 100 + i % 900))
      if not seen[place] then count = count + 1 end
      seen[place] = true
    end
    assert.is_true(count > SERIES / 2 and count < SERIES, count)
    assert.equal(known, lib.lw_metrics_find(key(5, 1, 200)))
    local fresh = lib.lw_metrics_find(key(6, 3, 201))
    assert.equal(lib.lw_metrics_find(key(OTHER, 3, 201)), fresh)
    assert.not_equal(lib.lw_metrics_find(key(OTHER, 3, 204)), fresh)
  end)

  it("ends in one series that is always there", function()
    for status = 100, 999 do
      for method = 0, 7 do lib.lw_metrics_find(key(OTHER, method, status)) end
    end
    local last = lib.lw_metrics_find(key(OTHER, 0, 0))
    assert.equal(last, lib.lw_metrics_find(key(OTHER, 7, 999)))
    assert.equal(last, lib.lw_metrics_find(key(7, 7, 998)))
  end)
end)
