-- SPDX-License-Identifier: MIT
-- Every name that apps may use for waiting: that it is there, and that no other is.
-- A name that goes, or comes, does so here as well.
local stream = require "luaweb.stream"
local web = require "luaweb"

local modules = {
  alt = "always both choose choose_random foreign guard idle is_alternative "
    .. "is_cancelled never once poll race raises sync with_nack",
  bounded = "closed new",
  broadcast = "closed new too_slow",
  bus = "closed publish subscribe topics",
  chan = "ask call new request",
  ivar = "IVar failed new",
  job = "all all_fast await background both context dump ensure map_all offload "
    .. "on_uncaught run_alt self seq server shield spawn start stats try yield",
  latch = "new within",
  lock = "new",
  mailbox = "new",
  mvar = "new",
  promise = "failed lazy of spawn",
  stream = "after cons defer empty every fail first_of from is_stream iterate lazy "
    .. "merge of once repeatedly source unfold",
}

local of_alternatives = "catch finally on_abort poll sync try wrap wrap_error "
  .. "wrap_value"

local function module(name) return require("luaweb." .. name) end

local objects = {
  ["an alternative"] = { module("alt").never, of_alternatives },
  ["a bounded queue"] = { module("bounded").new(1),
    "close each len put put_alt take try_put try_take " .. of_alternatives },
  ["a broadcast"] = { module("broadcast").new(), "close publish subscribe" },
  ["a channel"] = { module("chan").new(),
    "give give_alt send take try_give try_take " .. of_alternatives },
  ["an ivar"] = { module("ivar").new(),
    "fail fill get is_full read try_fail try_fill " .. of_alternatives },
  ["a job"] = { module("job").spawn(function() end),
    "cancel done_alt join status " .. of_alternatives:gsub("sync ", "") }, -- join is
  ["a latch"] = { module("latch").new(1),
    "add done hold spawn wait " .. of_alternatives },
  ["a lock"] = { module("lock").new(), "acquire_alt is_held with" },
  ["a mailbox"] = { module("mailbox").new(),
    "len send take try_take " .. of_alternatives },
  ["an mvar"] = { module("mvar").new(),
    "fill modify read read_alt take update " .. of_alternatives },
  ["a promise"] = { module("promise").of(1),
    "get is_fulfilled read " .. of_alternatives },
  ["a scope"] = { module("scope").new(false, false), "cancel finally spawn" },
  ["a source"] = { stream.source(), "close fail push tap" },
  ["a stream"] = { stream.empty(), "buffer_latest catch chunks collect concat drain "
    .. "each filter filter_map find flat_map fold latest map map_pipelined next "
    .. "next_alt on_close skip skip_while switch_map take take_while values_alt" },
  ["a subscriber"] = { module("broadcast").new():subscribe(),
    "close lag take " .. of_alternatives },
}

local function words_of(text)
  local words = {}
  for word in text:gmatch "%S+" do words[#words + 1] = word end
  return words
end

describe("the names of waiting", function()
  for name, text in pairs(modules) do
    it("in luaweb." .. name, function()
      local there = {}
      for key in pairs(module(name)) do there[#there + 1] = key end
      table.sort(there)
      assert.same(words_of(text), there)
    end)
  end

  for name, case in pairs(objects) do
    it("of " .. name, function()
      for _, word in ipairs(words_of(case[2])) do
        assert(type(case[1][word]) == "function", word)
      end
    end)
  end

  it("in luaweb.scope", function()
    for _, word in ipairs { "current", "ensure", "finally", "run", "shield", "with" } do
      assert.equal("function", type(module("scope")[word]))
    end
  end)

  it("in luaweb itself", function()
    for _, word in ipairs { "after", "every", "fetch", "fetch_alt", "proxy",
      "sleep" } do
      assert.equal("function", type(web[word]))
    end
    assert.is_true(module("alt").is_alternative(web.stopping))
  end)
end)

describe("a number that is none", function()
  local job, latch = module "job", module "latch"
  local broadcast = module "broadcast"
  local function map(max) return job.map_all({ 1, 2 }, tostring, { max = max }) end

  for _, n in ipairs { -1, 0.5, 0 / 0, "2" } do
    it("is refused at the place of the call: " .. tostring(n), function()
      for message, call in pairs {
        ["latch.new wants a whole number"] = function() latch.new(n) end,
        ["latch:add wants a whole number"] = function() latch.new(1):add(n) end,
        ["cap must be a whole number"] = function() broadcast.new { cap = n } end,
        ["max must be a number, 1 or more"] = function() map(n) end,
      } do
        local ok, err = pcall(call)
        assert.is_false(ok, message)
        assert.matches("names_spec.lua:%d+: .*" .. message, err)
      end
    end)
  end

  it("may be infinite where it bounds what runs at once", function()
    assert.same({ n = 2, "1", "2" }, map(math.huge))
    assert.same({ n = 0 }, job.map_all({}, tostring))
  end)
end)
